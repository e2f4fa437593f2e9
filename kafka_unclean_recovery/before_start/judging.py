"""Judge what a broker's start will do to one replica; no I/O.

Sources of the rules:

- kafka.log.LogManager (loadLog, isStrayKraftReplica): a directory whose topic id the metadata does
  not have, whose partition is not assigned to the broker, or that has no topic id, is put aside as
  `-stray` and stays there, unless the broker runs on ZooKeeper; one that ends in `-delete` is
  deleted after file.delete.delay.ms.
- What the metadata puts on the broker and is not there begins empty (planning/started_replica.py).
- Who leads then: planning/self_election.py; what followers lose: following.py.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_unclean_recovery.before_start.electing import (
    begun_empty,
    if_empty,
    leader_itself,
    leaderless,
    may_lead,
    not_sure,
    write_back,
)
from kafka_unclean_recovery.before_start.following import follows
from kafka_unclean_recovery.before_start.replica import OwnDisk, OwnReplica
from kafka_unclean_recovery.before_start.verdict import Effect, Known, Verdict, failed
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.model import NO_TOPIC_ID, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.reach import records_beyond
from kafka_unclean_recovery.planning.started_replica import begins_empty
from kafka_unclean_recovery.wording import count_text

_ON_ZOOKEEPER = (
    "; so by a broker on KRaft. This one last ran on ZooKeeper (meta.properties of version 0): on"
    " ZooKeeper a broker puts nothing aside, and its controller decides of the replica"
)


def judge(replica: OwnReplica, disk: OwnDisk, known: Known) -> Verdict:
    """Return the verdict on one replica."""
    return replace(_judged(replica, disk, known), may_lead=may_lead(disk, known))


def _judged(replica: OwnReplica, disk: OwnDisk, known: Known) -> Verdict:
    if (decided := _by_its_disk_alone(replica, disk)) is not None:
        return decided
    if (unknown := _unknown(replica, disk, known)) is not None:
        return Verdict(replica, Effect.UNKNOWN, f"{unknown}{if_empty(replica, disk, known)}")
    state = known.state
    if (stray := _stray(replica, disk.broker, state)) is not None:
        if disk.zookeeper:
            return Verdict(replica, Effect.UNKNOWN, f"{stray}{_ON_ZOOKEEPER}")
        return _put_aside(replica, disk, known, stray)
    assert state is not None
    if disk.broker in state.removing_replicas:
        why = "a reassignment in progress takes it off this broker, and deletes it once complete"
        return Verdict(replica, Effect.DELETED, why)
    if replica.gone is not None:
        found = Verdict(replica, Effect.BEGINS_EMPTY, replica.gone)
        return begun_empty(found, disk, state, known)
    if replica.kind is DirectoryKind.FUTURE:
        why = "it is a copy that was not finished, from another log directory of this broker"
        return Verdict(replica, Effect.UNKNOWN, why)
    if replica.replaced_by is not None:
        return _replaced(replica, replica.replaced_by)
    return _in_use(replica, disk, state, known)


def _by_its_disk_alone(replica: OwnReplica, disk: OwnDisk) -> Verdict | None:
    if disk.refused is not None and disk.refused_late:
        return failed(replica, Effect.REFUSED, disk.refused)
    if disk.refused is not None:
        return Verdict(replica, Effect.REFUSED, disk.refused)
    if replica.offline is not None:
        return failed(replica, Effect.OFFLINE, replica.offline)
    if replica.kind is DirectoryKind.DELETED:
        why = "it is marked to be deleted: the start deletes it after file.delete.delay.ms"
        return Verdict(replica, Effect.DELETED, why)
    if replica.kind is DirectoryKind.STRAY:
        return Verdict(replica, Effect.STRAY, "it was put aside before, and stays where it is")
    return None


def _unknown(replica: OwnReplica, disk: OwnDisk, known: Known) -> str | None:
    """Return why nothing can be told of the replica, or None."""
    if disk.unsettled is not None:
        return disk.unsettled
    if known.untold is not None:
        return known.untold
    if replica.nameless is not None:
        return f"its topic id can't be told: {replica.nameless}"
    return replica.not_given


def _put_aside(replica: OwnReplica, disk: OwnDisk, known: Known, why: str) -> Verdict:
    """Return the verdict on a stray. Where the metadata puts the partition on this broker all the
    same, the broker begins it empty."""
    records = None if replica.log is None else _all_records(replica.log)
    found = Verdict(replica, Effect.STRAY, why, records=records)
    state = known.state
    if state is None or disk.broker not in state.replicas:
        return found
    return begun_empty(replace(found, remedy=write_back(replica, state)), disk, state, known)


def _stray(replica: OwnReplica, broker: int, state: PartitionState | None) -> str | None:
    """Return why the start puts the replica aside, or None."""
    if replica.topic_id is None and (state is None or broker not in state.replicas):
        return "it has no topic id, so it is put aside; nothing was written to it, as a rule"
    if replica.topic_id is None:
        return "it has no partition.metadata, so it is put aside"
    if state is None:
        return f"the controller does not have its topic (topic id {replica.topic_id}): deleted"
    if state.topic_id not in (replica.topic_id, *NO_TOPIC_ID):
        return (
            f"its topic (topic id {replica.topic_id}) was deleted, and made again under the same"
            f" name (topic id {state.topic_id})"
        )
    if broker not in state.replicas:
        where = ", ".join(map(str, state.replicas))
        return f"its partition was moved away: it is on brokers {where}"
    return None


def _replaced(replica: OwnReplica, copy: ReplicaLog) -> Verdict:
    """Return the verdict on a replica that the start deletes, for the metadata names the log
    directory of its copy."""
    where = copy.scanned.directory if copy.scanned else "another log directory"
    why = f"its copy in {where} takes its place, for the metadata names that log directory"
    log = replica.log
    beyond = None if log is None or _damage(log) else records_beyond(log, copy)
    return Verdict(replica, Effect.DELETED, why, records=beyond, unique=beyond)


def _damage(log: ReplicaLog) -> str | None:
    """Return the damage that the log ends at, behind which may be whole records: how many it holds
    is not known then. None where its end looks normal, or its disk was not read."""
    return log.scanned.damage if log.scanned else None


def _all_records(log: ReplicaLog) -> int | None:
    if log.log_end_offset is None or log.log_start_offset is None or not log.sure or _damage(log):
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
    if (empty := begins_empty(state, log)) is not None:
        return begun_empty(Verdict(replica, Effect.BEGINS_EMPTY, empty), disk, state, known)
    if (doubt := log.problem or log.suspect) is not None:
        return Verdict(replica, Effect.UNKNOWN, f"its disk does not tell for sure: {doubt}")
    if known.led_unseen is not None:
        return Verdict(replica, Effect.UNKNOWN, known.led_unseen)
    if (unsure := not_sure(replica, log, disk, state, known)) is not None:
        return Verdict(replica, Effect.UNKNOWN, unsure)
    if state.offline:
        return _recovered(leaderless(replica, log, disk, state, known), log)
    if state.leader == disk.broker:
        return _recovered(leader_itself(replica, log, disk, state, known), log)
    return _recovered(follows(replica, log, state, known, disk.broker), log)


def _newest_epoch(log: ReplicaLog) -> int | None:
    return log.epochs[-1].epoch if log.epochs else log.last_written_leader_epoch


def _recovered(verdict: Verdict, log: ReplicaLog) -> Verdict:
    """Return the verdict with what the recovery of a damaged log cuts off first."""
    damage = _damage(log)
    if damage is None or verdict.effect.untold:
        return verdict
    why = f"the start cuts off what can't be read, for {damage}; then {verdict.why}"
    if verdict.effect.deletes:
        if verdict.records is not None:
            why += f": {count_text(verdict.records, 'record')}, besides what can't be read"
        return replace(verdict, why=why, records=None, unique=None)
    end = log.log_end_offset
    return replace(verdict, effect=Effect.TRUNCATED, why=why, offset=end, records=None, unique=None)
