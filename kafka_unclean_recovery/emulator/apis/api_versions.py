"""ApiVersions (18) lists the APIs that are answered, and their versions (KIP-35, KIP-511), to who
means this node (KIP-1242)."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.disks.metadata_records import metadata_level
from kafka_unclean_recovery.kafka_names import ELR_VERSION, METADATA_VERSION, Errors
from kafka_unclean_recovery.mechanisms import EMULATOR_FEATURE
from kafka_unclean_recovery.messages.api_versions import ApiVersionsRequest

# An emulated broker says by this feature that it is one.
_EMULATOR = {"name": EMULATOR_FEATURE, "min_version": 1, "max_version": 1}


HIGHEST_WITHOUT_NODES = 4
"""The highest version of a release whose requests name no node."""
_ANY_NODE = -1


async def answer(context: Context, request: Any) -> Fields:
    if request.version > HIGHEST_WITHOUT_NODES and (error := _misled(context, request)):
        return {"error_code": error, "api_keys": []}
    fields = _fields(context, Errors.NONE)
    return fields | _features(context) if request.version >= 3 else fields


def _misled(context: Context, request: Any) -> int:
    """Return the error for a request that is meant for another node, NONE for any other."""
    cluster, node = request.cluster_id, request.node_id
    if (cluster is None) != (node == _ANY_NODE):
        return Errors.INVALID_REQUEST
    here = (context.emulation.cluster_id, context.broker.id)
    return (
        Errors.NONE if cluster is None or (cluster, node) == here else Errors.REBOOTSTRAP_REQUIRED
    )


def _features(context: Context) -> Fields:
    """Return the feature levels that have an effect here: the supported ones, and the finalized
    ones as this broker knows them."""
    state = context.state
    metadata = metadata_level(state.release)
    supported = [{"name": METADATA_VERSION, "min_version": metadata, "max_version": metadata}]
    finalized = {METADATA_VERSION: metadata}
    if highest := state.release.highest_elr_version:
        supported.append({"name": ELR_VERSION, "min_version": 0, "max_version": highest})
        finalized[ELR_VERSION] = int(state.release.elr)
    return {
        "supported_features": [*supported, _EMULATOR],
        "finalized_features_epoch": state.end_offset - 1,
        "finalized_features": [
            {"name": name, "min_version_level": level, "max_version_level": level}
            for name, level in finalized.items()
            if level
        ],
    }


def unsupported_version(context: Context) -> Fields:
    """Return the answer, in version 0, to a version that is not known."""
    return _fields(context, Errors.UNSUPPORTED_VERSION)


def _fields(context: Context, error: int) -> Fields:
    keys = [
        {"api_key": key, "min_version": low, "max_version": high}
        for key, (low, high) in sorted(context.versions.items())
    ]
    return {"error_code": error, "api_keys": keys}


API = Api(ApiVersionsRequest, 0, 5, answer)
