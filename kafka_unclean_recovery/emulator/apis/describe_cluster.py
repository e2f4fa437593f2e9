"""DescribeCluster (60) lists brokers, from version 2 on also fenced ones (KIP-700, KIP-1073)."""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin.cluster import DescribeClusterRequest

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.security import rights
from kafka_unclean_recovery.kafka_names import Errors

_BROKERS = 1


async def answer(context: Context, request: Any) -> Fields:
    if request.version >= 1 and request.endpoint_type != _BROKERS:
        return {"error_code": Errors.MISMATCHED_ENDPOINT_TYPE, "cluster_id": "", "brokers": []}
    live = context.live()
    fenced = request.version >= 2 and request.include_fenced_brokers
    listed = context.listed() if fenced else live
    fields: Fields = {
        "cluster_id": context.emulation.cluster_id,
        "controller_id": live[0] if live else -1,
        "brokers": [_broker(context, id_, id_ not in live) for id_ in listed],
    }
    if request.include_cluster_authorized_operations:
        fields["authorized_operations"] = rights.CLUSTER
    return fields


def _broker(context: Context, id_: int, fenced: bool) -> Fields:
    host, port = context.address(id_)
    return {"broker_id": id_, "host": host, "port": port, "is_fenced": fenced}


API = Api(DescribeClusterRequest, 0, 2, answer)
