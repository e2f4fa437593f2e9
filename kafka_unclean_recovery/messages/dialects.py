"""This module lists the dialects of GetReplicaLogInfo by name, and the feature by which an emulated
broker says that it is one.

A key proves nothing: its meaning on a node is known from the user, or because the node is an
emulated one.
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
"""An emulated broker lists this feature as supported in ApiVersions, in versions 1 to 1: up to
version 3 of that answer Kafka leaves out features whose lowest version is 0."""


REQUESTS: Mapping[Dialect, Any] = {
    Dialect.KIP_966: GetReplicaLogInfoKip966Request,
    Dialect.REVERTED: GetReplicaLogInfoRevertedRequest,
    Dialect.KIP_1275: GetReplicaLogInfoKip1275Request,
}
