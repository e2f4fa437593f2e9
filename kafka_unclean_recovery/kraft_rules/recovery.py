"""These values describe an unclean recovery (KIP-966, "Unclean recovery"), and `longest_log` picks
its best replica."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Strategy(Enum):
    """The values of the config unclean.recovery.strategy."""

    NONE = "None"
    """Stop the partition on potential data loss."""

    BALANCED = "Balanced"
    """Recover when all members of the last known ELR can be asked, and wait for their answers."""

    AGGRESSIVE = "Aggressive"
    """Recover as fast as possible, from the replicas that answer."""


def strategy_named(name: str) -> Strategy | None:
    """Return the strategy of this name, in upper or lower case, or None when there is none."""
    return next((s for s in Strategy if s.value.lower() == name.strip().lower()), None)


@dataclass(frozen=True, slots=True)
class LogInfo:
    """A replica's answer to GetReplicaLogInfo. `log_end_offset` is exclusive; an empty log has -1
    as its last written leader epoch. `broker_epoch` is that of the incarnation that has
    answered."""

    broker_epoch: int
    last_written_leader_epoch: int
    log_end_offset: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery that goes on. It is in no metadata log, so the next controller begins it anew.

    requested: ElectLeaders has asked for it, whatever the partition's own strategy is.
    """

    strategy: Strategy
    requested: bool = False
    timed_out: bool = False
    answers: Mapping[int, LogInfo] = field(default_factory=dict)


def longest_log(answers: Mapping[int, LogInfo], replicas: Iterable[int]) -> int:
    """Return the replica with the highest last written leader epoch, then the longest log. Of
    several equal ones it returns the first in `replicas`, as KIP-966 leaves the choice open."""

    def reach(replica: int) -> tuple[int, int]:
        info = answers[replica]
        return info.last_written_leader_epoch, info.log_end_offset

    return max((replica for replica in replicas if replica in answers), key=reach)
