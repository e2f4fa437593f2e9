"""What becomes of a log directory, and of its broker, at a start; no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kafka_unclean_recovery.log_dir.tree import Unreadable


class Fate(StrEnum):
    """STARTS: all is well. OFFLINE: the directory goes offline, and a broker that has others lives
    on without it. ENDS: the broker ends, whatever else it has."""

    STARTS = "starts"
    OFFLINE = "offline"
    ENDS = "ends the broker"


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason why a log directory does not start. file: the whole path, fit to print. remedy: the
    safe way out, a sentence's end that begins with a verb."""

    fate: Fate
    file: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}; {self.remedy}"


_OF_A_LOG = "a broker ends over it while it starts: "


class EndsBroker(Unreadable):
    """A broker ends over what it reads. why: without the file's name."""

    def __init__(self, why: str) -> None:
        super().__init__(f"{_OF_A_LOG}{why}")
        self.why = why


def ends_over(problem: str | None) -> str | None:
    """Return the problem of a replica if it is one over which its broker ends."""
    return problem if problem is not None and problem.startswith(_OF_A_LOG) else None


@dataclass(frozen=True, slots=True)
class DirectoryStart:
    """What a start makes of one log directory; causes by file, the same file once for each.
    metadata: it has the controllers' log."""

    directory: str
    causes: tuple[Cause, ...] = ()
    metadata: bool = False

    @property
    def fate(self) -> Fate:
        fates = {cause.fate for cause in self.causes}
        return next((fate for fate in (Fate.ENDS, Fate.OFFLINE) if fate in fates), Fate.STARTS)


def broker_fate(starts: Iterable[DirectoryStart]) -> Fate:
    """Return what becomes of a broker that has these log directories and no others: it ends where
    one of them ends it, where none is left, and where the one with the controllers' log goes
    offline (kafka.server.ReplicaManager.handleLogDirFailure). OFFLINE: it lives on without
    some."""
    known = list(starts)
    fates = [start.fate for start in known]
    offline = [start for start in known if start.fate is Fate.OFFLINE]
    if Fate.ENDS in fates or (offline and len(offline) == len(known)):
        return Fate.ENDS
    if any(start.metadata for start in offline):
        return Fate.ENDS
    return Fate.OFFLINE if offline else Fate.STARTS
