"""SaslAuthenticate (36) is refused here, because it comes out of turn, as in sasl_handshake."""

from __future__ import annotations

from typing import Any

from kafka.protocol.sasl import SaslAuthenticateRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.kafka_names import Errors


async def answer(_context: Context, _request: Any) -> Fields:
    return {
        "error_code": Errors.ILLEGAL_SASL_STATE,
        "error_message": "SaslAuthenticate request received after successful authentication",
        "auth_bytes": b"",
    }


API = Api(SaslAuthenticateRequest, 0, 2, answer)
