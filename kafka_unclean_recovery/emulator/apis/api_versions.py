"""ApiVersions (18): what is answered, in which versions (KIP-35, KIP-511)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.metadata import ApiVersionsRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.error_codes import NONE, UNSUPPORTED_VERSION
from kafka_unclean_recovery.messages.dialects import EMULATOR_FEATURE

# What an emulated broker says that it is.
_FEATURES = [{"name": EMULATOR_FEATURE, "min_version": 1, "max_version": 1}]


async def answer(context: Context, request: Any) -> Fields:
    fields = _fields(context, NONE)
    return fields | {"supported_features": _FEATURES} if request.version >= 3 else fields


def unsupported_version(context: Context) -> Fields:
    """The answer in version 0 to a version that is not known."""
    return _fields(context, UNSUPPORTED_VERSION)


def _fields(context: Context, error: int) -> Fields:
    keys = [
        {"api_key": key, "min_version": low, "max_version": high}
        for key, (low, high) in sorted(context.versions.items())
    ]
    return {"error_code": error, "api_keys": keys}


API = Api(ApiVersionsRequest, 0, 4, answer)
