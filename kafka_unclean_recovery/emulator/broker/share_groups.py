"""A ShareGroup is a share group (KIP-932) as its coordinators hold it: without consumers, which the
emulator does not serve. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition

NO_LEADER_EPOCH = 0
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class ShareState:
    """How far a group has come on one partition. done: what it has acknowledged from the start
    offset on, [first, end). leader_epoch: of the leader that wrote this, or read it last; 0 after
    the offset was set. state_epoch: how often it was set. newest_epoch: of the newest leader that
    read or wrote this, whatever was set since; an older one is fenced."""

    start_offset: int
    done: tuple[int, int] = (0, 0)
    leader_epoch: int = NO_LEADER_EPOCH
    state_epoch: int = 0
    newest_epoch: int = 0


@dataclass(slots=True)
class ShareGroup:
    """The state of a group by partition."""

    id: str
    states: dict[TopicIdPartition, ShareState] = field(default_factory=dict)
