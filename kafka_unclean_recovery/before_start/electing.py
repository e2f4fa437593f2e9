"""Whom the controller elects because a broker starts, and what that does to its replica and to the
others; no I/O."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from msgspec import structs

from kafka_unclean_recovery.before_start.absent import away
from kafka_unclean_recovery.before_start.following import follows, keeps
from kafka_unclean_recovery.before_start.replica import OwnDisk, OwnReplica
from kafka_unclean_recovery.before_start.verdict import Effect, Known, Verdict
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    PARTITION_METADATA,
    kafka_uuid,
)
from kafka_unclean_recovery.model import NO_TOPIC_ID, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.led_on_return import LedOnReturn, led, led_on_return
from kafka_unclean_recovery.planning.self_election import ByItself
from kafka_unclean_recovery.planning.start_cuts import cuts_text
from kafka_unclean_recovery.planning.started_replica import GONE, empty_log
from kafka_unclean_recovery.shown import shell_word


def may_lead(disk: OwnDisk, known: Known) -> bool:
    """Return True for a replica that is elected without a question, or may be, should it come back
    empty: as long as nobody else leads, and from the ELR of a clean stop once the leader ends."""
    state = known.state
    if state is None or disk.broker not in state.replicas:
        return False
    if disk.stopped_clean and disk.broker in state.elr:
        return True
    if not state.offline and state.leader != disk.broker:
        return False
    members = (*state.isr, *state.elr, *state.last_known_elr)
    return disk.broker in members or known.unclean is not False


def leader_itself(
    replica: OwnReplica, log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> Verdict:
    led_again = _led_again(log, disk, state, known)
    if led_again is None:
        return Verdict(replica, Effect.UNKNOWN, _NOT_NOTICED if known.live else _OTHERS_MAY_LEAD)
    return _leads(replica, led_again)


def _led_again(
    log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> LedOnReturn | None:
    """Return what the start brings about where a metadata log has the broker itself as the leader,
    and nobody who may lead before it; None where that can't be told."""
    alone = state.isr == (disk.broker,) and (disk.stopped_clean or not state.elr)
    if known.live or not alone:
        return None
    why = "the metadata log has it as the leader, and nobody else in the ISR"
    found = led(ByItself(disk.broker, why), state, log, list(known.logs.values()))
    return _beside_unread(found, log, disk, state, known)


_NOT_NOTICED = (
    "the controller still has this broker as the leader: it has not noticed its end yet; ask again"
    " in a moment"
)
_OTHERS_MAY_LEAD = (
    "the metadata log has it as the leader, and others that may lead before it is back"
)


def begun_empty(found: Verdict, disk: OwnDisk, state: PartitionState, known: Known) -> Verdict:
    """Return the verdict on a replica that begins empty, and what that does to the others."""
    empty = empty_log(disk.broker)
    leader = None if state.offline else state.leader
    if known.led_unseen is not None:
        return replace(found, why=f"{found.why}; {known.led_unseen}")
    if (why := not_sure(found.replica, empty, disk, state, known)) is not None:
        return replace(found, effect=Effect.UNKNOWN, why=f"{found.why}; {why}")
    if leader == disk.broker:
        led_again = _led_again(empty, disk, state, known)
        if led_again is None:
            why = _NOT_NOTICED if known.live else _OTHERS_MAY_LEAD
            return replace(found, effect=Effect.UNKNOWN, why=f"{found.why}; {why}")
    elif leader is not None:
        why = f"{found.why}; the broker fetches all of it anew from its leader, broker {leader}"
        return replace(found, why=why, leader=leader)
    else:
        led_again = _led_on_return(empty, disk, state, known)
    if led_again is None and state.offline and known.unclean is None:
        return replace(found, effect=Effect.UNKNOWN, why=f"{found.why}; {_either(known)}")
    if led_again is None:
        return replace(found, why=f"{found.why}; there is no leader, and it may not lead")
    return replace(
        found,
        why=f"{found.why}; {led_again.text}",
        leader=led_again.by_itself.leader,
        led=led_again,
    )


def not_sure(
    replica: OwnReplica, log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> str | None:
    """Return why whom the controller elects hangs on a directory not given, or None."""
    if not state.offline and state.leader != disk.broker:
        return None
    if (why := away(disk, replica.topic_partition)) is not None:
        return why
    if not disk.stopped_clean or not disk.layout.missing:
        return None
    unclean = replace(disk, stopped_clean=False)
    if _leader(log, disk, state, known) == _leader(log, unclean, state, known):
        return None
    return (
        "whether its stop counts as clean, and so who leads, hangs on the mark in log directory"
        f" {kafka_uuid(UUID(disk.layout.missing[0]))}, which was not given"
    )


def _leader(log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known) -> int | None:
    found = (_led_on_return if state.offline else _led_again)(log, disk, state, known)
    return None if found is None else found.by_itself.leader


def if_empty(replica: OwnReplica, disk: OwnDisk, known: Known) -> str:
    """Return what the others lose should a replica that was not given turn out to be empty."""
    state = known.state
    if replica.not_given is None or state is None or not state.offline:
        return ""
    found = _led_on_return(empty_log(disk.broker), disk, state, known)
    return "" if found is None else f"; then {found.text}"


def _led_on_return(
    log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> LedOnReturn | None:
    others = list(known.logs.values())
    found = led_on_return(state, log, others, disk.stopped_clean, bool(known.unclean))
    return None if found is None else _beside_unread(found, log, disk, state, known)


def _beside_unread(
    found: LedOnReturn, log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> LedOnReturn:
    """Return the election with the replicas of dead brokers that nobody has read among those whose
    loss is not known: they are cut to the leader's log once they are back. Only the log of a member
    that stopped in order has all that they may have committed."""
    member = disk.broker in (*state.isr, *state.elr)
    if found.own and member and disk.stopped_clean and log.scanned is not None:
        return found
    read = {
        b for b, other in known.logs.items() if other.live or other.sure or other.problem == GONE
    }
    unread = set(state.replicas) - read - {disk.broker, found.by_itself.leader} - known.lost
    if not unread:
        return found
    untold = tuple(sorted({*found.cuts.untold, *unread}))
    doubt = found.cuts.doubt or _NOBODY_READ
    return structs.replace(found, cuts=structs.replace(found.cuts, untold=untold, doubt=doubt))


_NOBODY_READ = (
    "nobody has read it to its end (scan its disk, and give that with --replica-info-file)"
)


def write_back(replica: OwnReplica, state: PartitionState) -> str | None:
    """Return the command that gives a replica the topic id that the controller has for it; None
    where none can be given."""
    if replica.kind is not DirectoryKind.LIVE or state.topic_id in NO_TOPIC_ID:
        return None
    if replica.topic_id is not None and not (state.offline and _may_be_of(replica, state)):
        return None
    content = f"version: 0\\ntopic_id: {kafka_uuid(UUID(state.topic_id))}"
    file = f"{replica.directory}/{PARTITION_METADATA}"
    return f"printf '{content}' > {shell_word(file)}"


def _may_be_of(replica: OwnReplica, state: PartitionState) -> bool:
    """Return True where the log of a replica with another topic id may be this topic's: it knows no
    leader epoch that the controller never gave."""
    newest = None if replica.log is None else replica.log.last_written_leader_epoch
    return newest is not None and 0 <= newest <= state.leader_epoch


def leaderless(
    replica: OwnReplica, log: ReplicaLog, disk: OwnDisk, state: PartitionState, known: Known
) -> Verdict:
    found = _led_on_return(log, disk, state, known)
    if found is not None and found.own:
        return _leads(replica, found)
    if found is not None:
        # The return takes this broker out of the ELR, and so lets another one lead.
        led_by = structs.replace(state, leader=found.by_itself.leader)
        after = follows(replica, log, led_by, known, disk.broker)
        return replace(after, led=found, why=f"{found.text}; then {after.why}")
    if known.unlisted:
        broker, doubt = min(known.unlisted.items())
        why = f"there is no leader, and broker {broker}, which may become it, {doubt}"
        more = f"; {_either(known)}" if known.unclean is None else ""
        return Verdict(replica, Effect.UNKNOWN, f"{why}{more}")
    if known.unclean is None:
        return Verdict(replica, Effect.UNKNOWN, _either(known))
    why = "there is no leader, and it may not lead: it stays as it is until one is elected"
    return keeps(Verdict(replica, Effect.WAITS, why))


def _either(known: Known) -> str:
    return (
        "it leads again if unclean.leader.election.enable is true, else it waits for a leader;"
        f" which of them, {known.unclean_untold}"
    )


def _leads(replica: OwnReplica, found: LedOnReturn) -> Verdict:
    why = f"there is no leader, and {found.by_itself.why}"
    if found.destroys or found.cuts.untold:
        why = f"{why}: {cuts_text(found.cuts)}"
    leader = found.by_itself.leader
    return keeps(Verdict(replica, Effect.LEADS, why, leader=leader, led=found))
