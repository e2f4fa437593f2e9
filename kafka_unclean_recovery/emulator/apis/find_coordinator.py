"""FindCoordinator (10): there is none, ever, which clients take for "not yet" (no groups, no
transactions)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.metadata.find_coordinator import FindCoordinatorRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.error_codes import COORDINATOR_NOT_AVAILABLE

_NOBODY: Fields = {
    "error_code": COORDINATOR_NOT_AVAILABLE,
    "error_message": "the emulator has no coordinators",
    "node_id": -1,
    "host": "",
    "port": -1,
}


async def answer(_: Context, request: Any) -> Fields:
    if request.version < 4:
        return _NOBODY
    return {"coordinators": [{"key": key} | _NOBODY for key in request.coordinator_keys]}


API = Api(FindCoordinatorRequest, 0, 6, answer)
