"""GetReplicaLogInfo tells the log ends and epochs of replicas, in the one dialect that the cluster
was made with.

The API's key is the dialect's (KIP-966 and krabka 1020, KIP-1275 1275, the one merged and reverted
93).
"""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener.request_limits import SERVED_AT_ONCE
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS

_OF_DIALECT = {
    Dialect.KIP_966: ("last_written_leader_epoch", "current_leader_epoch", "error_message"),
    Dialect.REVERTED: ("last_written_leader_epoch", "current_leader_epoch"),
    Dialect.KIP_1275: ("partition_leader_epoch",),
}
_COMMON = ("partition", "log_end_offset", "error_code")


def api(dialect: Dialect) -> Api:
    async def answer(context: Context, request: Any) -> Fields:
        return _answer(context, request, dialect)

    return Api(REQUESTS[dialect], 0, 0, answer)


def _answer(context: Context, request: Any, dialect: Dialect) -> Fields:
    topics = request.topic_partitions or []
    wanted = [(topic.topic_id, number) for topic in topics for number in topic.partitions]
    served, beyond = wanted[:SERVED_AT_ONCE], wanted[SERVED_AT_ONCE:]
    infos = [(topic_id, _info(context, topic_id, number)) for topic_id, number in served]
    if dialect is Dialect.KIP_966:
        limit = Errors.REQUEST_LIMIT_REACHED
        infos += [(topic_id, _failed(number, limit)) for topic_id, number in beyond]
    fields: Fields = {
        "broker_epoch": context.broker.epoch,
        "topic_partition_log_info_list": _by_topic(infos, (*_COMMON, *_OF_DIALECT[dialect])),
    }
    return fields if dialect is Dialect.KIP_966 else fields | {"has_more_data": bool(beyond)}


def _by_topic(infos: list[tuple[Any, Fields]], names: tuple[str, ...]) -> list[Fields]:
    """Return the answers by topic, with the fields that the dialect has."""
    topics: dict[Any, list[Fields]] = {}
    for topic_id, info in infos:
        topics.setdefault(topic_id, []).append({name: info[name] for name in names})
    return [{"topic_id": id_, "partition_log_info": found} for id_, found in topics.items()]


def _info(context: Context, topic_id: Any, number: int) -> Fields:
    topic = context.topic(None, topic_id)
    if topic is None:
        return _failed(number, Errors.UNKNOWN_TOPIC_ID)
    if number not in topic.partitions:
        return _failed(number, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    replica = context.replica(topic, number)
    if replica is None:
        return _failed(number, context.no_replica(topic, number, Errors.NOT_LEADER_OR_FOLLOWER))
    return {
        "partition": number,
        "last_written_leader_epoch": replica.log.last_written_epoch,
        "current_leader_epoch": replica.leader_epoch,
        "partition_leader_epoch": replica.leader_epoch,
        "log_end_offset": replica.log.end_offset,
        "error_code": Errors.NONE,
        "error_message": None,
    }


def _failed(number: int, error: int) -> Fields:
    known = {code.value: code.name for code in Errors} | {
        Errors.REQUEST_LIMIT_REACHED: "REQUEST_LIMIT_REACHED"
    }
    return {
        "partition": number,
        "last_written_leader_epoch": -1,
        "current_leader_epoch": -1,
        "partition_leader_epoch": -1,
        "log_end_offset": -1,
        "error_code": error,
        "error_message": known.get(error),
    }
