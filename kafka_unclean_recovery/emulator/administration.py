"""These functions make topics, records and elections inside the emulation, through the APIs that
clients use.

No request made here is intercepted or delayed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from kafka.record.default_records import DefaultRecordBatchBuilder

from kafka_unclean_recovery.emulator.apis import (
    alter_partition_reassignments,
    create_topics,
    delete_topics,
    elect_leaders,
    incremental_alter_configs,
    produce,
)
from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import BROKER, TOPIC
from kafka_unclean_recovery.emulator.broker.share_groups import ShareGroup, ShareState
from kafka_unclean_recovery.emulator.listener import wire
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import ElectionType
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.messages.elect_leaders import DESIGNATED

_ON_THE_WIRE = {
    ElectionType.PREFERRED: 0,
    ElectionType.UNCLEAN: 1,
    ElectionType.DESIGNATED: DESIGNATED,
}
_SET, _DELETE = 0, 1
_DEFAULT = -1
_ALL = -1
_BATCH_BYTES = 1 << 20


class Refused(ValueError):
    """The cluster refused a request. The text names Kafka's error."""


async def create_topic(
    context: Context,
    name: str,
    partitions: int | None,
    replication_factor: int | None,
    assignment: Sequence[Sequence[int]] | None,
    configs: Mapping[str, str],
) -> None:
    """Create a topic. `assignment`: the replicas of each partition, in place of both numbers."""
    assignments = [
        {"partition_index": number, "broker_ids": list(replicas)}
        for number, replicas in enumerate(assignment or ())
    ]
    topic = {
        "name": name,
        "num_partitions": _DEFAULT if partitions is None else partitions,
        "replication_factor": _DEFAULT if replication_factor is None else replication_factor,
        "assignments": assignments,
        "configs": [{"name": key, "value": value} for key, value in configs.items()],
    }
    answer = await _ask(context, create_topics.API, 7, {"topics": [topic]})
    _check(f"topic {name} can't be created", answer["topics"][0].get("error_code", 0))


async def share_group(
    context: Context, group: str, which: tuple[str, int], start: int, done: tuple[int, int]
) -> None:
    """Put a share group where its consumers, which are not emulated, would have brought it."""
    name, number = which
    emulation = context.emulation
    topic = emulation.state.topic(name)
    if topic is None or number not in topic.partitions:
        raise Refused(f"there is no partition {name}-{number}")
    found = emulation.share_groups.setdefault(group, ShareGroup(group))
    epoch = topic.partitions[number].leader_epoch
    found.states[TopicIdPartition(topic.topic_id, number)] = ShareState(
        start, done, epoch, newest_epoch=epoch
    )


async def delete_topic(context: Context, name: str) -> None:
    answer = await _ask(context, delete_topics.API, 6, {"topics": [{"name": name}]})
    _check(f"topic {name} can't be deleted", answer["responses"][0].get("error_code", 0))


async def alter_configs(
    context: Context, topic: str | None, configs: Mapping[str, str | None]
) -> None:
    """Set configs of a topic, or of all brokers. A value of None removes a config."""
    changes = [
        {"name": key, "config_operation": _DELETE if value is None else _SET, "value": value}
        for key, value in configs.items()
    ]
    kind = BROKER if topic is None else TOPIC
    resource = {"resource_type": kind, "resource_name": topic or "", "configs": changes}
    answer = await _ask(context, incremental_alter_configs.API, 1, {"resources": [resource]})
    _check("configs can't be altered", answer["responses"][0].get("error_code", 0))


async def elect(
    context: Context,
    kind: ElectionType,
    partition: tuple[str, int] | None,
    designated_leader: int | None,
) -> None:
    """Elect a leader for one partition, or for all in need. ELECTION_NOT_NEEDED is no refusal."""
    asked: Fields | None = None
    if partition is not None:
        asked = {"topic": partition[0], "partitions": [partition[1]]}
        if designated_leader is not None:
            asked["designated_leaders"] = [designated_leader]
    version = 3 if kind is ElectionType.DESIGNATED else 2
    if version > context.versions[int(elect_leaders.API.request.API_KEY)][1]:
        raise ValueError("this release knows no designated elections; start it as kip-966")
    values = {
        "election_type": _ON_THE_WIRE[kind],
        "topic_partitions": None if asked is None else [asked],
    }
    answer = await _ask(context, elect_leaders.API, version, values)
    _check(f"{kind} election", answer.get("error_code", 0))
    for topic in answer["replica_election_results"]:
        for result in topic["partition_result"]:
            named = f"{topic['topic']}-{result['partition_id']}"
            if result.get("error_code", 0) != Errors.ELECTION_NOT_NEEDED:
                _check(f"{kind} election of {named}", result.get("error_code", 0))


async def reassign(
    context: Context, partition: tuple[str, int], replicas: Sequence[int] | None
) -> None:
    """Give a partition other replicas. None cancels a reassignment that is in progress."""
    name, number = partition
    asked = {"partition_index": number, "replicas": None if replicas is None else list(replicas)}
    values = {"topics": [{"name": name, "partitions": [asked]}]}
    answer = await _ask(context, alter_partition_reassignments.API, 0, values)
    row = answer["responses"][0]["partitions"][0]
    _check(f"{name}-{number} can't be reassigned", row.get("error_code", 0))


async def write(
    context: Context,
    topic: str,
    partition: int,
    values: Sequence[bytes],
    acks: int,
    timeout_seconds: float,
) -> None:
    """Write one batch to the leader, whose `context` this is. `acks`: -1 for all, 1, 0."""
    data = {"index": partition, "records": _batch(values)}
    asked = {
        "transactional_id": None,
        "acks": acks,
        "timeout_ms": int(timeout_seconds * 1000),
        "topic_data": [{"name": topic, "partition_data": [data]}],
    }
    answer = await _ask(context, produce.API, 9, asked)
    if answer is not None:
        row = answer["responses"][0]["partition_responses"][0]
        _check(f"records of {topic}-{partition} are not acknowledged", row.get("error_code", 0))


def _batch(values: Sequence[bytes]) -> bytes:
    builder: Any = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, _BATCH_BYTES)  # type: ignore[no-untyped-call]
    now = int(time.time() * 1000)
    for offset, value in enumerate(values):
        if builder.append(offset, now, None, value, []) is None:
            raise ValueError(f"a batch holds {_BATCH_BYTES} bytes; write fewer records at a time")
    return bytes(builder.build())


async def _ask(context: Context, api: Api, version: int, values: Fields) -> Any:
    request = wire.build(api.request, version, values)
    return await api.answer(context, request)


def _check(what: str, code: int) -> None:
    if code:
        raise Refused(f"{what}: {Errors(code).name}")
