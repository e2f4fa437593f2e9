"""A share group (KIP-932) of real consumers, which had read records that an election gave up."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.groups import ListGroupsRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.broker.share_groups import ShareState
from kafka_unclean_recovery.messages.share_groups import (
    AlterShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
    ReadShareGroupStateRequest,
)
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.records import create_topic, produce
from tests.real.releases import NEWEST, OLDEST, ONE

pytestmark = pytest.mark.skipif(
    ONE == OLDEST, reason=f"Kafka {ONE} has no share groups: KAFKA_RELEASE={NEWEST} has"
)
TOPIC, GROUP = "orders", "workers"
DEAD, COORDINATOR, SURVIVOR = 1, 2, 3
HELD, GIVEN_UP = 10, 10
NEW = 5
TIMEOUT = 60.0
PROPERTIES = {
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
# As many partitions as brokers take them to have.
_INTERNAL = {"__consumer_offsets": 4, "__share_group_state": 1}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Yield a cluster: the group read all 20 records of the dead leader; the new one has ten."""
    directory = tmp_path_factory.mktemp("shared")
    with KafkaCluster.create(directory / "c", ONE, brokers=3, properties=PROPERTIES) as cluster:
        cluster.start()
        connection = cluster.connection()
        for topic, count in _INTERNAL.items():
            create_topic(connection, topic, [[COORDINATOR]] * count, {"cleanup.policy": "compact"})
        create_topic(connection, TOPIC, [[DEAD, SURVIVOR]])
        produce(connection, TOPIC, 0, HELD)
        _lose(cluster, SURVIVOR)
        earliest = ("--add-config", "share.auto.offset.reset=earliest")
        which = ("--entity-type", "groups", "--entity-name", GROUP)
        cluster.script(
            "kafka-configs", *_servers(cluster), "--alter", *which, *earliest, timeout=TIMEOUT
        )
        produce(connection, TOPIC, 0, GIVEN_UP, first=HELD)
        assert _consumed(cluster, HELD + GIVEN_UP) == list(range(HELD + GIVEN_UP))
        _lose(cluster, DEAD)
        cluster.start_node(SURVIVOR)
        cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline)
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes")
        assert Cli(directory).recover(cluster, *elect).code == 0
        cluster.start_node(DEAD)
        cluster.wait_until_partitions(
            TOPIC, lambda seen: set(seen.isr) == {DEAD, SURVIVOR}, TIMEOUT
        )
        yield cluster


def _lose(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker})


def _servers(cluster: KafkaCluster) -> tuple[str, str]:
    return "--bootstrap-server", cluster.bootstrap_servers


def _consumed(cluster: KafkaCluster, count: int) -> list[int]:
    """Return what a consumer of the group gets, until so many have come or none comes any more."""
    limit = ("--max-messages", str(count), "--timeout-ms", "15000")
    which = ("--topic", TOPIC, "--group", GROUP)
    done = cluster.script(
        "kafka-console-share-consumer", *_servers(cluster), *which, *limit, timeout=TIMEOUT
    )
    return sorted(int(line) for line in done.stdout.split() if line.isdigit())


def _care(cluster: KafkaCluster, home: Path, *flags: str) -> Finished:
    asked = ("aftercare", *_servers(cluster), "--topics", TOPIC, "--format", "json", *flags)
    return Cli(home).offline(*asked)


def _groups(done: Finished) -> list[dict[str, Any]]:
    return [group for row in done.json["partitions"] for group in row["groups"]]


def test_a_share_group_that_had_read_what_is_gone_is_told_of_and_set_back(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    told = _care(cluster, tmp_path)
    assert told.code == 1, told
    (group,) = _groups(told)
    assert group == {
        "group": GROUP,
        "committed_offset": HELD + GIVEN_UP,
        "committed_leader_epoch": 0,
        "resume_offset": HELD,
        "refilled": False,
        "share_done_to": HELD + GIVEN_UP,
    }
    (line,) = (line for line in told.stderr.splitlines() if "--reset-share-groups" in line)
    command = shlex.split(line.partition("kafka-unclean-recovery ")[2])
    done = Cli(tmp_path).offline(*command)
    assert f"orders-0: share group workers: set to {HELD}\n" in done.stderr, done
    assert done.code == 0, done
    produce(cluster.connection(), TOPIC, 0, NEW, first=100)
    new = list(range(100, 100 + NEW))
    assert _consumed(cluster, NEW) == new
    assert _care(cluster, tmp_path).code == 0


Everyone = Callable[[Any, int, Mapping[str, Any]], list[Any]]
"""Sends a request in this version with these values to each broker, and returns their answers."""


@contextmanager
def _everyone(servers: str) -> Iterator[Everyone]:
    with ExitStack() as opened:
        places = (server.rsplit(":", 1) for server in servers.split(","))
        wires = [opened.enter_context(Wire(host, int(port))) for host, port in places]

        def ask(request: Any, version: int, values: Mapping[str, Any]) -> list[Any]:
            return [wire.ask(build(request, values), version) for wire in wires]

        yield ask


def _described(ask: Everyone, group: str, topics: Any = None) -> list[Any]:
    values = {"groups": [{"group_id": group, "topics": topics}]}
    groups = [answer.groups[0] for answer in ask(DescribeShareGroupOffsetsRequest, 0, values)]
    return sorted(
        (told.error_code, [(topic.topic_name, _positions(topic)) for topic in told.topics])
        for told in groups
    )


def _positions(topic: Any) -> list[tuple[int, int, int]]:
    return [(p.start_offset, p.leader_epoch, p.error_code) for p in topic.partitions]


def _state(ask: Everyone, topic_id: Any, epoch: int) -> list[Any]:
    partitions = [{"partition": 0, "leader_epoch": epoch}]
    values = {"group_id": GROUP, "topics": [{"topic_id": topic_id, "partitions": partitions}]}
    answers = ask(ReadShareGroupStateRequest, 0, values)
    found = [answer.results[0].partitions[0] for answer in answers]
    return sorted(
        (p.error_code, p.start_offset if p.error_code == 0 else None, _done(p)) for p in found
    )


def _done(partition: Any) -> list[tuple[int, int]]:
    """Return what is acknowledged, joined."""
    joined: list[tuple[int, int]] = []
    for batch in (each for each in partition.state_batches if each.delivery_state == 2):
        if joined and joined[-1][1] + 1 == batch.first_offset:
            joined[-1] = (joined[-1][0], batch.last_offset)
        else:
            joined.append((batch.first_offset, batch.last_offset))
    return joined


def _set(ask: Everyone, group: str, topic: str, offset: int) -> list[Any]:
    partitions = [{"partition_index": 0, "start_offset": offset}]
    values = {"group_id": group, "topics": [{"topic_name": topic, "partitions": partitions}]}
    answers = ask(AlterShareGroupOffsetsRequest, 0, values)
    return sorted(
        (a.error_code, [p.error_code for t in a.responses for p in t.partitions]) for a in answers
    )


def _told(ask: Everyone, topic_id: Any, epoch: int) -> list[Any]:
    """Return the answers about the group and about what is not there; it is set in the end."""
    listed = [g for a in ask(ListGroupsRequest, 5, {}) for g in a.groups if g.group_id == GROUP]
    return [
        [(g.group_type.lower(), g.protocol_type, g.group_state) for g in listed],
        _described(ask, GROUP),
        _described(ask, "nobody"),
        _described(ask, GROUP, [{"topic_name": TOPIC, "partitions": [0]}]),
        _state(ask, topic_id, epoch),
        _state(ask, topic_id, epoch - 1),
        _set(ask, "nobody", TOPIC, 4),
        _set(ask, GROUP, "none", 4),
        _set(ask, GROUP, TOPIC, 4),
        _described(ask, GROUP),
        _state(ask, topic_id, -1),
        _state(ask, topic_id, 0),
    ]


def test_the_emulator_answers_of_share_groups_as_a_real_cluster_does(cluster: KafkaCluster) -> None:
    with _everyone(cluster.bootstrap_servers) as ask:
        values = {"groups": [{"group_id": GROUP, "topics": None}]}
        answers = ask(DescribeShareGroupOffsetsRequest, 0, values)
        (topic,) = (t for answer in answers for t in answer.groups[0].topics)
        position = topic.partitions[0]
        told = _told(ask, topic.topic_id, position.leader_epoch)
    (done,) = [batches for error, _, batches in told[4] if error == 0]
    batch = (done[0][0], done[0][1] + 1) if done else (0, 0)
    state = ShareState(
        position.start_offset, batch, position.leader_epoch, 0, position.leader_epoch
    )
    with Cluster(Options(brokers=3, release=ONE)) as emulated:
        emulated.create_topic(TOPIC, assignment=[[DEAD, SURVIVOR]])
        emulated.share_group(GROUP, TOPIC, 0, start=0)
        states = emulated.look(lambda e: e.share_groups[GROUP].states)
        (key,) = states
        emulated.look(lambda _: states.update({key: state}))
        with _everyone(emulated.bootstrap_servers) as ask:
            ours = _told(ask, key.topic_id, position.leader_epoch)
    assert ours == told, f"{ours} for {told}"
