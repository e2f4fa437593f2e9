"""What a user chooses by name. Light to import, for --help knows the names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ScanMode(StrEnum):
    """How much of a log's files is looked at: checkpoints and the last headers; with CRCs from
    the recovery point on, as a broker does after an unclean stop; with CRCs of everything."""

    FAST = "fast"
    RECOVER = "recover"
    DEEP = "deep"


class Dialect(StrEnum):
    """Of GetReplicaLogInfo; best first: those that tell the epoch of the last record before the
    one that does not."""

    KIP_966 = "kip-966"
    REVERTED = "reverted"
    KIP_1275 = "kip-1275"


class Transport(StrEnum):
    """How replicas are asked how far they go."""

    AUTO = "auto"
    REPLICA_LOG_INFO = "replica-log-info"
    LIST_OFFSETS = "list-offsets"


class ElectionMethod(StrEnum):
    """How a designated leader is elected."""

    AUTO = "auto"
    DESIGNATED = "designated"
    REORDER = "reorder"


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which mechanisms the user asked for; `dialect` is None unless it was named."""

    transport: Transport = Transport.AUTO
    election_method: ElectionMethod = ElectionMethod.AUTO
    dialect: Dialect | None = None
