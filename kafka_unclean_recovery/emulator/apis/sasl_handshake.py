"""SaslHandshake (17) is refused here, because it comes out of turn: the listener has no SASL, or
the client has logged in. The module `sasl` answers the one that comes before all other requests."""

from __future__ import annotations

from typing import Any

from kafka.protocol.sasl import SaslHandshakeRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import Errors


async def answer(_context: Context, _request: Any) -> Fields:
    return {"error_code": Errors.ILLEGAL_SASL_STATE, "mechanisms": []}


API = Api(SaslHandshakeRequest, 0, 1, answer)
