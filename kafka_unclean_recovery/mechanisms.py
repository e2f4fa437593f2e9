"""The mechanisms that a user chooses by name. The module is light to import, as --help needs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ScanMode(StrEnum):
    """How much of a log's files a scan reads. FAST: checkpoints and the last headers. RECOVER: also
    all from the recovery point on with CRCs, as a broker does after an unclean stop. DEEP:
    everything with CRCs."""

    FAST = "fast"
    RECOVER = "recover"
    DEEP = "deep"


class Dialect(StrEnum):
    """The dialects of GetReplicaLogInfo, best first: the dialects that tell the epoch of the last
    record come before the one that does not."""

    KIP_966 = "kip-966"
    REVERTED = "reverted"
    KIP_1275 = "kip-1275"


class Transport(StrEnum):
    """The ways to ask replicas how far their logs go."""

    AUTO = "auto"
    REPLICA_LOG_INFO = "replica-log-info"
    LIST_OFFSETS = "list-offsets"


class ElectionMethod(StrEnum):
    """The ways to elect a designated leader."""

    AUTO = "auto"
    DESIGNATED = "designated"
    REORDER = "reorder"


@dataclass(frozen=True, slots=True)
class Wishes:
    """The mechanisms that the user asked for; `dialect` is None unless the user named it."""

    transport: Transport = Transport.AUTO
    election_method: ElectionMethod = ElectionMethod.AUTO
    dialect: Dialect | None = None


EMULATOR_FEATURE = "kafka.unclean.recovery.emulator"
"""An emulated broker lists this feature as supported in ApiVersions, in versions 1 to 1: up to
version 3 of that answer Kafka leaves out features whose lowest version is 0."""
