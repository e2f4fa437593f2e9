"""The dialects of GetReplicaLogInfo by name, and how an emulated broker says that it is one.

A key proves nothing: what it means on a node is known from its user, or from the node being ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.get_replica_log_info import (
    GetReplicaLogInfoKip966Request,
    GetReplicaLogInfoKip1275Request,
    GetReplicaLogInfoRevertedRequest,
)

EMULATOR_FEATURE = "kafka.unclean.recovery.emulator"
"""Among the supported features of an emulated broker's ApiVersions, versions 1 to 1: up to version
3 of that answer Kafka leaves out features whose lowest version is 0."""


REQUESTS: Mapping[Dialect, Any] = {
    Dialect.KIP_966: GetReplicaLogInfoKip966Request,
    Dialect.REVERTED: GetReplicaLogInfoRevertedRequest,
    Dialect.KIP_1275: GetReplicaLogInfoKip1275Request,
}
