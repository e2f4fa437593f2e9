"""This module has GetReplicaLogInfo, which no released Kafka speaks, in the three dialects that
exist.

A dialect is chosen by name, because a key proves nothing: a node that advertises one may mean
another message by it, as Apache Kafka 4.4 does by key 93. The meaning of a key on a node is
known from the user, or because the node is an emulated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.protocol.api_message import ApiMessage

from kafka_unclean_recovery import messages
from kafka_unclean_recovery.mechanisms import Dialect


class GetReplicaLogInfoKip966Request(ApiMessage, load_json=messages):
    """The request of KIP-966 and krabka names the broker that is asked."""


class GetReplicaLogInfoKip966Response(ApiMessage, load_json=messages):
    """The answer has both epochs and a message for an error; REQUEST_LIMIT_REACHED marks partitions
    that were left out."""


class GetReplicaLogInfoKip1275Request(ApiMessage, load_json=messages):
    """The request of KIP-1275 names partitions only."""


class GetReplicaLogInfoKip1275Response(ApiMessage, load_json=messages):
    """The answer has the current epoch only, so its ranking needs the lineage from elsewhere."""


class GetReplicaLogInfoRevertedRequest(ApiMessage, load_json=messages):
    """The request that was merged into Apache Kafka and reverted names partitions only."""


class GetReplicaLogInfoRevertedResponse(ApiMessage, load_json=messages):
    """The answer has both epochs, and an error without a message."""


REQUESTS: Mapping[Dialect, Any] = {
    Dialect.KIP_966: GetReplicaLogInfoKip966Request,
    Dialect.REVERTED: GetReplicaLogInfoRevertedRequest,
    Dialect.KIP_1275: GetReplicaLogInfoKip1275Request,
}
