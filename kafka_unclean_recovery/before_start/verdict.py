"""What a broker's start will do to one replica on its disk; no I/O.

Sources of the rules:

- kafka.log.LogManager (loadLog, isStrayKraftReplica): a directory whose topic id the metadata does
  not have, whose partition is not assigned to the broker, or that has no topic id, is put aside as
  `-stray` and stays there; one that ends in `-delete` is deleted after file.delete.delay.ms.
- kafka.server.AbstractFetcherThread: a follower truncates to where its lineage parts from the
  leader's (planning/lineage.py). One whose log ends below the leader's log start is emptied, and
  begins again there.
- PartitionChangeBuilder, ClusterControlManager (KIP-966): whom a broker that registers finds as
  leader. A stop that was not clean takes it out of the ELR; if then nobody is left in ISR and ELR,
  the last known leader is elected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafka_unclean_recovery.before_start.outside import BY_EPOCHS
from kafka_unclean_recovery.before_start.replica import OwnDisk, OwnReplica
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.model import EpochLineage, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, tail_of
from kafka_unclean_recovery.planning.log_trust import cross_check
from kafka_unclean_recovery.planning.reach import kept_under
from kafka_unclean_recovery.wording import count_text

# Brokers from before topic ids tell one of these.
_NO_TOPIC_ID = ("", "00000000-0000-0000-0000-000000000000")


class Effect(StrEnum):
    """The effect of the start on a replica.

    LEADS: it is kept, and leads again by itself. WAITS: it is kept, and has no leader. TRUNCATED:
    the records from an offset on are deleted. EMPTIED: all of them are, and the log begins again at
    the leader's log start. STRAY: its directory is put aside as `-stray`. OFFLINE: the broker
    starts without its log directory. REFUSED: the broker will not start. EPOCH_FELL_BACK: the
    controller has an older leader epoch than the disk, so what follows can't be told.
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

    @property
    def destroys(self) -> bool:
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

    def unread(self, own: int) -> tuple[int, ...]:
        """Return the other replicas whose logs nobody has read."""
        replicas = self.state.replicas if self.state else ()
        return tuple(sorted(b for b in replicas if b != own and b not in self.logs))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The effect of the start on one replica.

    offset: from here on records are deleted. records: how many are deleted; at most so many in a
    compacted topic. unique: how many of them no other known log has. expired: how many are deleted
    besides, because the leader deleted them on purpose (retention, DeleteRecords). None is unknown.
    unread: other replicas that may have some of them, and whose logs nobody has read.
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


def judge(replica: OwnReplica, disk: OwnDisk, known: Known) -> Verdict:
    """Return the verdict on one replica."""
    if (decided := _by_its_disk_alone(replica, disk)) is not None:
        return decided
    if disk.unsettled is not None:
        return Verdict(replica, Effect.UNKNOWN, disk.unsettled)
    if known.untold is not None:
        return Verdict(replica, Effect.UNKNOWN, known.untold)
    if replica.nameless is not None:
        return Verdict(replica, Effect.UNKNOWN, f"its topic id can't be told: {replica.nameless}")
    state = known.state
    if (stray := _stray(replica, disk.broker, state)) is not None:
        records = None if replica.log is None else _all_records(replica.log)
        return Verdict(replica, Effect.STRAY, stray, records=records)
    assert state is not None
    if disk.broker in state.removing_replicas:
        why = "a reassignment in progress takes it off this broker, and deletes it once complete"
        return Verdict(replica, Effect.DELETED, why)
    if replica.kind is DirectoryKind.FUTURE:
        why = "it is a copy that was not finished, from another log directory of this broker"
        return Verdict(replica, Effect.UNKNOWN, why)
    return _in_use(replica, disk, state, known)


def _by_its_disk_alone(replica: OwnReplica, disk: OwnDisk) -> Verdict | None:
    if disk.refused is not None:
        return Verdict(replica, Effect.REFUSED, disk.refused)
    if replica.offline is not None:
        return Verdict(replica, Effect.OFFLINE, replica.offline)
    if replica.kind is DirectoryKind.DELETED:
        why = "it is marked to be deleted: the start deletes it after file.delete.delay.ms"
        return Verdict(replica, Effect.DELETED, why)
    if replica.kind is DirectoryKind.STRAY:
        return Verdict(replica, Effect.STRAY, "it was put aside before, and stays where it is")
    return None


def _stray(replica: OwnReplica, broker: int, state: PartitionState | None) -> str | None:
    """Return why the start puts the replica aside, or None."""
    if replica.topic_id is None:
        return "it has no topic id, so it is put aside; nothing was written to it, as a rule"
    if state is None:
        return f"the controller does not have its topic (topic id {replica.topic_id}): deleted"
    if state.topic_id not in (replica.topic_id, *_NO_TOPIC_ID):
        return (
            f"its topic (topic id {replica.topic_id}) was deleted, and made again under the same"
            f" name (topic id {state.topic_id})"
        )
    if broker not in state.replicas:
        where = ", ".join(map(str, state.replicas))
        return f"its partition was moved away: it is on brokers {where}"
    return None


def _all_records(log: ReplicaLog) -> int | None:
    if log.log_end_offset is None or log.log_start_offset is None or not log.sure:
        return None
    return log.log_end_offset - log.log_start_offset


def _in_use(replica: OwnReplica, disk: OwnDisk, state: PartitionState, known: Known) -> Verdict:
    log = replica.log
    if log is None:
        return Verdict(replica, Effect.UNKNOWN, "it was not read: the scan was interrupted")
    newest = _newest_epoch(log)
    if newest is not None and newest > state.leader_epoch:
        why = (
            f"it has seen leader epoch {newest}, and the controller {state.leader_epoch}: the"
            " metadata log has lost records since"
        )
        return Verdict(replica, Effect.EPOCH_FELL_BACK, why)
    if (doubt := log.problem or log.suspect) is not None:
        return Verdict(replica, Effect.UNKNOWN, f"its disk does not tell for sure: {doubt}")
    if known.led_unseen is not None:
        return Verdict(replica, Effect.UNKNOWN, known.led_unseen)
    if state.offline:
        return _recovered(_leaderless(replica, disk, state, known), log)
    if state.leader == disk.broker:
        if not known.live and state.isr == (disk.broker,) and (disk.stopped_clean or not state.elr):
            why = "the metadata log has it as the leader, and nobody else in the ISR"
            return _recovered(_keeps(Verdict(replica, Effect.LEADS, why, leader=disk.broker)), log)
        why = (
            "the controller still has this broker as the leader: it has not noticed its end yet;"
            " ask again in a moment"
            if known.live
            else "the metadata log has it as the leader, and others that may lead before it is back"
        )
        return Verdict(replica, Effect.UNKNOWN, why)
    return _recovered(_follows(replica, log, state, known, disk.broker), log)


def _newest_epoch(log: ReplicaLog) -> int | None:
    return log.epochs[-1].epoch if log.epochs else log.last_written_leader_epoch


def _recovered(verdict: Verdict, log: ReplicaLog) -> Verdict:
    """Return the verdict with what the recovery of a damaged log cuts off first."""
    damage = log.scanned.damage if log.scanned else None
    if damage is None or verdict.effect.untold:
        return verdict
    why = f"the start cuts off what can't be read, for {damage}; then {verdict.why}"
    if verdict.effect.destroys:
        return replace(verdict, why=why, unique=None)
    end = log.log_end_offset
    return replace(verdict, effect=Effect.TRUNCATED, why=why, offset=end, records=None, unique=None)


def _leaderless(replica: OwnReplica, disk: OwnDisk, state: PartitionState, known: Known) -> Verdict:
    leads = _why_it_leads(disk.broker, state, disk.stopped_clean)
    if leads is not None:
        return _keeps(Verdict(replica, Effect.LEADS, leads, leader=disk.broker))
    if known.unlisted:
        broker, doubt = min(known.unlisted.items())
        why = f"there is no leader, and broker {broker}, which may become it, {doubt}"
        more = f"; {_either(known)}" if known.unclean is None else ""
        return Verdict(replica, Effect.UNKNOWN, f"{why}{more}")
    if known.unclean is None:
        return Verdict(replica, Effect.UNKNOWN, _either(known))
    if known.unclean:
        why = "there is no leader, and unclean.leader.election.enable lets it lead"
        return _keeps(Verdict(replica, Effect.LEADS, why, leader=disk.broker))
    why = "there is no leader, and it may not lead: it stays as it is until one is elected"
    return _keeps(Verdict(replica, Effect.WAITS, why))


def _either(known: Known) -> str:
    return (
        "it leads again if unclean.leader.election.enable is true, else it waits for a leader;"
        f" which of them, {known.unclean_untold}"
    )


def _keeps(verdict: Verdict) -> Verdict:
    return replace(verdict, records=0, unique=0, expired=0)


def _why_it_leads(broker: int, state: PartitionState, clean: bool) -> str | None:
    """Return why the controller elects the broker once it is back, None if it does not."""
    if broker in state.isr:
        return "it is in the ISR, and there is no leader"
    if clean and broker in state.elr and not state.isr:
        return "it is in the ELR, there is no leader, and its stop was clean"
    others = {*state.isr, *state.elr} - {broker}
    if not others and state.last_known_elr == (broker,):
        how = "its stop was clean" if clean else "its stop was not clean"
        return f"it is the last known leader, and nobody else is in ISR and ELR; {how}"
    return None


def _follows(
    replica: OwnReplica, log: ReplicaLog, state: PartitionState, known: Known, own: int
) -> Verdict:
    found = Verdict(replica, Effect.UNKNOWN, "", leader=state.leader)
    leader = known.logs.get(state.leader)
    if leader is None or leader.problem is not None:
        why = "nobody has read it" if leader is None else leader.problem
        return replace(
            found, why=f"the log of its leader, broker {state.leader}, is unknown: {why}"
        )
    start, end = leader.log_start_offset, log.log_end_offset
    if log.empty:
        return _keeps(replace(found, effect=Effect.KEPT, why="it holds no record"))
    kept = _kept(replica, log, leader, state)
    if kept is None or start is None or end is None:
        doubt = leader.suspect or leader.unproven or "their leader epochs are not known"
        why = f"it can't be compared with the log of broker {state.leader}: {doubt}"
        return replace(found, why=why)
    if (firm := _start_by_epochs(leader)) is not None and (log.log_start_offset or 0) < firm:
        why = (
            f"the disk of its leader, broker {state.leader}, does not tell where its log starts:"
            f" at {start}, or at {firm}, up to where its records were deleted"
        )
        return replace(found, why=why)
    if end <= start:
        why = (
            f"it ends at {end}, and the log of its leader, broker {state.leader}, begins at"
            f" {start}: it is emptied, and begins again there"
        )
        return _destroyed(found, Effect.EMPTIED, why, log, log.log_start_offset or 0, known, own)
    expired = max(0, min(kept, start) - (log.log_start_offset or 0))
    if kept < end:
        why = f"from {kept} on it holds what its leader, broker {state.leader}, lacks"
        cut = _destroyed(found, Effect.TRUNCATED, why, log, kept, known, own)
        return replace(cut, expired=expired)
    why = f"it follows broker {state.leader}, which has all of it"
    if expired:
        why += f" but {count_text(expired, 'record')} that it deleted below its log start {start}"
    return replace(found, effect=Effect.KEPT, why=why, records=0, unique=0, expired=expired)


def _start_by_epochs(leader: ReplicaLog) -> int | None:
    """Return the offset that the log of a scanned leader starts at if DeleteRecords moved it since
    the last checkpoint of log starts, a minute apart: its epochs begin there at once. None where
    both tell the same."""
    if leader.scanned is None or leader.log_start_offset is None or leader.epochs is None:
        return None
    begin = leader.epochs[0].start_offset if leader.epochs else leader.log_end_offset
    return begin if begin is not None and begin > leader.log_start_offset else None


def _kept(
    replica: OwnReplica, log: ReplicaLog, leader: ReplicaLog, state: PartitionState
) -> int | None:
    """Return the exclusive end of what the replica keeps; None where that is not sure."""
    if leader.source == BY_EPOCHS:
        return kept_under(log, leader)
    _, checked = cross_check(
        state, [leader, log], compacted=replica.compacted, covered=[leader.broker, log.broker]
    )
    return kept_under(checked, leader)


def _destroyed(
    found: Verdict,
    effect: Effect,
    why: str,
    log: ReplicaLog,
    offset: int,
    known: Known,
    own: int,
) -> Verdict:
    tail = tail_of(log.epochs or (), offset)
    most = "; at most so many, for the topic is compacted" if found.replica.compacted else ""
    others = [o for b, o in known.logs.items() if b != own and o.source != BY_EPOCHS]
    unique = beyond_all(tail, others)
    if unique is None:
        for other in others:
            if not other.sure or other.epochs is None:
                doubt = (
                    other.problem
                    or other.suspect
                    or other.unproven
                    or "its leader epochs are not known"
                )
                why += f"; what broker {other.broker} has of that is unknown: {doubt}"
    return replace(
        found,
        effect=effect,
        why=why + most,
        offset=offset,
        records=count_once([tail]),
        unique=unique,
        unread=known.unread(own),
        expired=0,
    )


def beyond_all(tail: EpochLineage, others: Sequence[ReplicaLog]) -> int | None:
    """Return how many records of the tail no other log has; None where a log that may have some
    can't be compared."""
    sure = [log.epochs for log in others if log.sure and log.epochs is not None]
    alone = count_once([tail, *sure]) - count_once(sure)
    return alone if alone == 0 or len(sure) == len(others) else None
