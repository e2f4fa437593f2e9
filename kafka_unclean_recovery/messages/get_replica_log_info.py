"""GetReplicaLogInfo, which no released Kafka speaks, in the three dialects that exist.

A dialect is chosen by name. A node that advertises one of these keys may mean something else by
it: key 93 does on Apache Kafka's trunk.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from kafka_unclean_recovery import messages


class GetReplicaLogInfoKip966Request(ApiMessage, load_json=messages):
    """KIP-966 and krabka: names the broker that is asked."""


class GetReplicaLogInfoKip966Response(ApiMessage, load_json=messages):
    """Both epochs; an error has words; REQUEST_LIMIT_REACHED marks what was left out."""


class GetReplicaLogInfoKip1275Request(ApiMessage, load_json=messages):
    """KIP-1275: partitions only."""


class GetReplicaLogInfoKip1275Response(ApiMessage, load_json=messages):
    """The current epoch only, so that its ranking needs the lineage from elsewhere."""


class GetReplicaLogInfoRevertedRequest(ApiMessage, load_json=messages):
    """Merged into Apache Kafka and reverted: partitions only."""


class GetReplicaLogInfoRevertedResponse(ApiMessage, load_json=messages):
    """Both epochs, an error without words."""
