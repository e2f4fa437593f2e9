"""ElectLeaders (43) elects preferred, unclean and, in version 3, designated leaders (KIP-460,
KIP-1275).

Version 3 is spoken only where the release has designated elections. It has a limit: partitions
beyond it get REQUEST_LIMIT_REACHED (KIP-966, "ElectLeadersRequest").
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.listener.request_limits import SERVED_AT_ONCE
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.messages.elect_leaders import DESIGNATED, ElectLeadersRequest

HIGHEST_WITHOUT_DESIGNATION = 2
_TYPES = {
    0: ev.ElectionType.PREFERRED,
    1: ev.ElectionType.UNCLEAN,
    DESIGNATED: ev.ElectionType.DESIGNATED,
}


async def answer(context: Context, request: Any) -> Fields:
    event = _event(request)
    if event is None:
        return {"error_code": Errors.INVALID_REQUEST, "replica_election_results": []}
    event, beyond = _within_limit(event, request.version)
    response = context.emulation.happen(event)
    assert isinstance(response, ev.ElectLeadersResponse)
    topics: dict[str, list[Fields]] = {}
    for topic, number, error in response.results:
        result = _result(number, error, _message(context, topic, number, error))
        topics.setdefault(topic, []).append(result)
    for topic, number in beyond:
        result = _result(number, Errors.REQUEST_LIMIT_REACHED, "REQUEST_LIMIT_REACHED")
        topics.setdefault(topic, []).append(result)
    results = [{"topic": topic, "partition_result": found} for topic, found in topics.items()]
    return {"error_code": response.error, "replica_election_results": results}


def _result(number: int, error: int, message: str | None) -> Fields:
    return {"partition_id": number, "error_code": error, "error_message": message}


def _message(context: Context, topic: str, number: int, error: Errors) -> str | None:
    """Return Kafka's message for an error whose usual text it does not use, or None."""
    if error is not Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return None
    if context.topic(topic, None) is None:
        return f"No such topic as {topic}"
    return f"No such partition as {topic}-{number}"


def _within_limit(
    event: ev.ElectLeaders, version: int
) -> tuple[ev.ElectLeaders, tuple[tuple[str, int], ...]]:
    """Return (the event that is served, the partitions that are not). A request for all partitions
    has no limit."""
    if version < 3 or event.partitions is None:
        return event, ()
    served, beyond = event.partitions[:SERVED_AT_ONCE], event.partitions[SERVED_AT_ONCE:]
    designated = event.designated[:SERVED_AT_ONCE]
    return replace(event, partitions=served, designated=designated), beyond


def _event(request: Any) -> ev.ElectLeaders | None:
    """Return the event of a request, or None when the request is invalid."""
    kind = _TYPES.get(request.election_type if request.version >= 1 else 0)
    if kind is None or (kind is ev.ElectionType.DESIGNATED and request.version < 3):
        return None
    if request.topic_partitions is None:
        return ev.ElectLeaders(kind, None)
    partitions = tuple(
        (t.topic, number) for t in request.topic_partitions for number in t.partitions
    )
    if kind is not ev.ElectionType.DESIGNATED:
        return ev.ElectLeaders(kind, partitions)
    designated: list[int] = []
    for topic in request.topic_partitions:
        if len(topic.designated_leaders or ()) != len(topic.partitions):
            return None
        designated += topic.designated_leaders or ()
    return ev.ElectLeaders(kind, partitions, tuple(designated))


API = Api(ElectLeadersRequest, 0, 3, answer)
