"""What an unclean recovery is (KIP-966, "Unclean recovery"): values, and which replica is best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum


class Strategy(Enum):
    """unclean.recovery.strategy."""

    NONE = "None"
    """Stop the partition on potential data loss."""

    BALANCED = "Balanced"
    """Recover when all who were in the ELR last can be asked, and wait for them."""

    AGGRESSIVE = "Aggressive"
    """Recover as fast as possible, from whoever answers."""


def strategy_named(name: str) -> Strategy | None:
    """In any case; None when there is no such strategy."""
    return next((s for s in Strategy if s.value.lower() == name.strip().lower()), None)


@dataclass(frozen=True, slots=True)
class LogInfo:
    """A replica's answer to GetReplicaLogInfo. `log_end_offset` is exclusive; an empty log has -1
    as its last written leader epoch. `broker_epoch`: of the incarnation that has answered."""

    broker_epoch: int
    last_written_leader_epoch: int
    log_end_offset: int


@dataclass(frozen=True, slots=True)
class Recovery:
    """One that goes on. It is in no metadata log: the next controller begins it anew.

    requested: by ElectLeaders, whatever the partition's own strategy is.
    """

    strategy: Strategy
    requested: bool = False
    timed_out: bool = False
    answers: Mapping[int, LogInfo] = field(default_factory=dict)


def longest_log(answers: Mapping[int, LogInfo], replicas: Iterable[int]) -> int:
    """Highest leader epoch, then longest log; the first of the replicas where several are equal,
    which the text leaves open."""

    def reach(replica: int) -> tuple[int, int]:
        info = answers[replica]
        return info.last_written_leader_epoch, info.log_end_offset

    return max((replica for replica in replicas if replica in answers), key=reach)
