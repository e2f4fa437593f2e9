"""What a broker's start will do to one replica that it has, or should have; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kafka_unclean_recovery.before_start.replica import OwnReplica
from kafka_unclean_recovery.model import PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.led_on_return import LedOnReturn


class Effect(StrEnum):
    """The effect of the start on a replica.

    LEADS: it is kept, and leads again by itself. WAITS: it is kept, and has no leader. TRUNCATED:
    the records from an offset on are deleted. EMPTIED: all of them are, and the log begins again at
    the leader's log start. STRAY: its directory is put aside as `-stray`. OFFLINE: the broker
    starts without its log directory. REFUSED: the broker will not start. EPOCH_FELL_BACK: the
    controller has an older leader epoch than the disk, so what follows can't be told.
    BEGINS_EMPTY: its directory, or every segment in it, is not there, so the broker makes an empty
    one.
    """

    KEPT = "kept"
    LEADS = "leads"
    WAITS = "waits"
    TRUNCATED = "truncated"
    EMPTIED = "emptied"
    STRAY = "stray"
    DELETED = "deleted"
    OFFLINE = "offline"
    REFUSED = "refused"
    EPOCH_FELL_BACK = "epoch_fell_back"
    UNKNOWN = "unknown"
    BEGINS_EMPTY = "begins_empty"

    @property
    def deletes(self) -> bool:
        """Return True where the start deletes something, which may all have expired."""
        return self in (Effect.TRUNCATED, Effect.EMPTIED, Effect.DELETED)

    @property
    def untold(self) -> bool:
        return self in (Effect.UNKNOWN, Effect.EPOCH_FELL_BACK)


@dataclass(frozen=True, slots=True)
class Known:
    """The facts about one partition from outside of the disk.

    state: as the controller has it, None where it has none (`gone`) or it is not known (`untold`
    says why). logs: of the other brokers, by broker. unread: other replicas whose logs nobody has
    read. unclean: unclean.leader.election.enable of the topic, None where `unclean_untold` says why
    it is not known. live: the controller was asked, and no metadata log read. led_unseen: it looks
    as if nobody led it, and a broker does that is not listed: which, and how it would be. unlisted:
    why brokers of other replicas are not known to be dead though they are not listed, by broker.
    lost: brokers whose disks are lost for good.
    """

    state: PartitionState | None = None
    gone: bool = False
    untold: str | None = None
    logs: Mapping[int, ReplicaLog] = field(default_factory=dict)
    unclean: bool | None = None
    unclean_untold: str = "is not known"
    live: bool = True
    led_unseen: str | None = None
    unlisted: Mapping[int, str] = field(default_factory=dict)
    lost: frozenset[int] = frozenset()

    def unread(self, own: int) -> tuple[int, ...]:
        """Return the other replicas whose logs nobody has read."""
        replicas = set(self.state.replicas if self.state else ()) - self.lost
        return tuple(sorted(b for b in replicas if b != own and b not in self.logs))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The effect of the start on one replica.

    offset: from here on records are deleted. records: how many are deleted; at most so many in a
    compacted topic. unique: how many of them no other known log has. expired: how many are deleted
    besides, because the leader deleted them on purpose (retention, DeleteRecords). None is unknown.
    unread: other replicas that may have some of them, and whose logs nobody has read. led: the
    election that the start brings about where there is no leader, and what the others lose by it;
    None where nobody is elected. may_lead: without its directory it would begin empty, and may be
    elected all the same. remedy: a command that lets the start keep the log. cut_first: the start
    fails, and may recover this log before: from `offset` on it cuts off what can't be read.
    """

    replica: OwnReplica
    effect: Effect
    why: str
    offset: int | None = None
    records: int | None = None
    unique: int | None = None
    expired: int | None = None
    leader: int | None = None
    unread: tuple[int, ...] = ()
    led: LedOnReturn | None = None
    may_lead: bool = False
    remedy: str | None = None
    cut_first: bool = False

    @property
    def deletes(self) -> bool:
        """Return True where the start deletes something, which may all have expired."""
        return self.effect.deletes or self.cut_first

    @property
    def destroys_own(self) -> bool:
        """Return True where the start deletes records of this replica; what has expired is none."""
        return self.deletes and self.records != 0

    @property
    def destroys_others(self) -> bool:
        return self.led is not None and self.led.destroys

    @property
    def untold(self) -> bool:
        """Return True where it can't be told what the start does to this replica, or to others."""
        return self.effect.untold or (self.led is not None and bool(self.led.cuts.untold))


def failed(replica: OwnReplica, effect: Effect, why: str) -> Verdict:
    """Return the verdict on a replica of a start that fails while the broker loads its logs. Other
    logs than the one that it fails over may be recovered by then.

    Source: kafka.log.LogManager.loadLogs, where a directory goes offline, and the broker ends, once
    the jobs of all logs have run.
    """
    damage = replica.log.scanned.damage if replica.log and replica.log.scanned else None
    if damage is None or replica.log is None:
        return Verdict(replica, effect, why)
    why = f"{why}; before that it may cut off what can't be read of this log, for {damage}"
    return Verdict(replica, effect, why, offset=replica.log.log_end_offset, cut_first=True)
