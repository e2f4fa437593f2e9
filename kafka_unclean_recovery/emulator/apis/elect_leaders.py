"""ElectLeaders (43): preferred, unclean and, in version 3, designated leaders (KIP-460, KIP-1275).

Version 3 is spoken only where the release has designated elections.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.controller import events as ev
from kafka_unclean_recovery.emulator.error_codes import INVALID_REQUEST
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
        return {"error_code": INVALID_REQUEST, "replica_election_results": []}
    response = context.emulation.happen(event)
    assert isinstance(response, ev.ElectLeadersResponse)
    return {
        "error_code": response.error,
        "replica_election_results": [
            {
                "topic": topic,
                "partition_result": [
                    {
                        "partition_id": number,
                        "error_code": error,
                        "error_message": error.name if error else None,
                    }
                    for _, number, error in results
                ],
            }
            for topic, results in groupby(response.results, key=lambda result: result[0])
        ],
    }


def _event(request: Any) -> ev.ElectLeaders | None:
    """None when the request is not one."""
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
