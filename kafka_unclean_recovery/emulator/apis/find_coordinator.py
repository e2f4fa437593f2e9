"""FindCoordinator (10) names a live broker for each group, and for each transactional id (KIP-699).

A producer with a transactional id next asks that broker for a producer id, and is refused at once.
Without a coordinator it would go on asking for one until its time-out.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.metadata.find_coordinator import FindCoordinatorRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.broker.coordination import coordinator_of
from kafka_unclean_recovery.kafka_names import Errors

_GROUP, _TRANSACTION = 0, 1


async def answer(context: Context, request: Any) -> Fields:
    kind = request.key_type if request.version >= 1 else _GROUP
    if request.version < 4:
        return _find(context, kind, request.key)
    return {
        "coordinators": [
            {"key": key} | _find(context, kind, key) for key in request.coordinator_keys
        ]
    }


def _find(context: Context, kind: int, key: str) -> Fields:
    found = coordinator_of(context, key) if kind in (_GROUP, _TRANSACTION) else None
    if found is None:
        nobody = {"node_id": -1, "host": "", "port": -1, "error_message": None}
        return nobody | {"error_code": Errors.COORDINATOR_NOT_AVAILABLE}
    host, port = context.address(found)
    somebody = {"node_id": found, "host": host, "port": port, "error_message": None}
    return somebody | {"error_code": Errors.NONE}


API = Api(FindCoordinatorRequest, 0, 6, answer)
