"""Find what an operator should weigh before electing: one function per finding, with a stable code.

There is no I/O. An unsafe election is a value here, never an exception; findings are sorted from
the gravest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from kafka_unclean_recovery.model import (
    Candidate,
    Effect,
    Finding,
    GroupBeyond,
    PartitionState,
    ReplicaLog,
    Severity,
    Waiting,
)
from kafka_unclean_recovery.planning.broker_return import fallen_short, outreached
from kafka_unclean_recovery.planning.committed_offsets import weighs
from kafka_unclean_recovery.planning.disk_findings import DISK_RULES, Rule
from kafka_unclean_recovery.planning.member_findings import on_return
from kafka_unclean_recovery.planning.reach import (
    chosen_by_hand,
    ends_further,
    forgotten,
    may_have_led,
    reach,
    truncated,
)
from kafka_unclean_recovery.planning.started_replica import NO_DIRECTORY
from kafka_unclean_recovery.wording import count_text, number_text

_GRAVITY = {severity: place for place, severity in enumerate(Severity)}


def findings_of(
    state: PartitionState,
    logs: Sequence[ReplicaLog],
    ranking: Sequence[Candidate],
    waiting: Iterable[Waiting],
) -> tuple[Finding, ...]:
    """Return all findings about one offline partition; `ranking` is best first, `waiting` has the
    verdict on each dead replica."""
    found = [finding for rule in RULES for finding in rule(state, logs, ranking)]
    return by_gravity([*found, *_dead_replicas(state, logs, waiting)])


def by_gravity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, the gravest first."""
    return tuple(sorted(set(findings), key=lambda f: (_GRAVITY[f.severity], f.code, f.message)))


def _tie(
    state: PartitionState, _: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    trusted = [c for c in ranking if c.log.suspect is None]
    best = [c.log for c in trusted if reach(c.log) == reach(ranking[0].log)]
    if len(best) < 2 or best[0] is not ranking[0].log or chosen_by_hand(ranking):
        return
    winner, others = best[0].broker, [log.broker for log in best[1:]]
    epoch = best[0].last_written_leader_epoch
    yield Finding(
        "tie",
        Severity.NOTICE,
        f"{_brokers(sorted([winner, *others]))} reach equally far (last written leader epoch"
        f" {'unknown' if epoch is None else epoch}, log end offset {best[0].log_end_offset});"
        f" {winner} is designated {_tie_breaker(state, winner, others)}",
    )


def _tie_breaker(state: PartitionState, winner: int, others: Sequence[int]) -> str:
    eligible = (*state.isr, *state.elr)
    if winner in eligible and not any(other in eligible for other in others):
        return "because it is in the ISR or ELR"
    if winner in state.last_known_elr and not any(o in state.last_known_elr for o in others):
        return "because it is in the last known ELR"
    return "because its broker id is the lowest"


def _longer_log_lost_to_newer_epoch(
    _: PartitionState, __: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    for best, other in ((ranking[0].log, c.log) for c in ranking[1:]):
        assert best.log_end_offset is not None
        assert other.log_end_offset is not None
        if best.suspect is not None or other.suspect is not None:
            continue
        if other.last_written_leader_epoch is None or best.last_written_leader_epoch is None:
            continue
        older = other.last_written_leader_epoch < best.last_written_leader_epoch
        if older and other.log_end_offset > best.log_end_offset:
            yield Finding(
                "longer_log_lost_to_newer_epoch",
                Severity.LOSS,
                f"broker {other.broker} has the longer log (log end offset {other.log_end_offset}"
                f" against {best.log_end_offset}), but wrote last in leader epoch"
                f" {other.last_written_leader_epoch}; broker {best.broker} wrote in epoch"
                f" {best.last_written_leader_epoch}: the longer tail was given up by an earlier"
                " election. Copy it from its disk first if it may be wanted",
            )


def _live_records_lost(
    _: PartitionState, __: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    for divergence in ranking[0].divergences if ranking else ():
        yield Finding(
            "live_records_truncated",
            Severity.LOSS,
            f"broker {divergence.broker} would truncate {divergence.records} records from offset"
            f" {divergence.offset} on",
        )


def _committed_records_lost(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    kept = truncated(logs, ranking)
    for log in logs:
        end = kept.get(log.broker)
        if end is None or log.high_watermark is None:
            continue
        begin = max(end, log.log_start_offset or 0)
        if log.high_watermark > begin:
            yield Finding(
                "committed_records_lost",
                Severity.LOSS,
                f"offsets {begin} to {log.high_watermark} (exclusive) lie below the high watermark"
                f" that broker {log.broker} knew: consumers may have read them",
            )


def _high_watermark_beyond_leader(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    """Find committed offsets beyond the best live log: a witness for what dead replicas held."""
    if not ranking or not ranking[0].log.sure:
        return
    end, cut = ranking[0].log.log_end_offset, truncated(logs, ranking)
    if end is None:
        return
    known = [
        (log.high_watermark - max(end, log.log_start_offset or 0), log.high_watermark, log.broker)
        for log in logs
        if log.high_watermark is not None and log.sure and log.broker not in cut
    ]
    missing, high_watermark, broker = max(known, default=(0, 0, 0))
    if missing > 0:
        yield Finding(
            "high_watermark_beyond_log_end",
            Severity.LOSS,
            f"broker {broker} knew high watermark {high_watermark}, and the designated log ends at"
            f" {end}: at least {missing} committed records are not in it",
        )


def _emptied_log_ends_further(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    best = ranking[0].log if ranking else None
    for log in logs:
        if best is not None and forgotten(log) and ends_further(log, best):
            yield Finding(
                "emptied_log_ends_further",
                Severity.UNKNOWN,
                f"broker {log.broker} holds no record, but its log goes to {log.log_end_offset},"
                f" beyond the end of broker {best.broker} ({best.log_end_offset}): what lay there"
                " was deleted after it was committed, and the leader epochs are forgotten. Unless"
                f" an unclean election made broker {best.broker} leader since, it is stale: it"
                " would bring deleted records back, and give their offsets out again",
            )


def _commits_beyond(
    state: PartitionState, _: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    """Name the group that tells of the most records beyond the designated log."""
    groups = ranking[0].groups if ranking else ()
    evident = [found for found in groups if weighs(found.commit, state.leader_epoch)]
    if evident:
        most = evident[0]
        yield Finding(
            "commits_beyond_the_best_log",
            Severity.UNKNOWN,
            f"{_told(most)}: at least {count_text(most.gone, 'record')} that it read"
            f" {_are(range(most.gone))} not there{_and_others(evident)}. This is evidence, not"
            " proof: Kafka takes any offset that a group commits",
        )
    elif groups:
        yield Finding(
            "commits_beyond_the_best_log",
            Severity.NOTICE,
            f"{_told(groups[0])}{_and_others(groups)}; no loss is counted by it: it came without a"
            " leader epoch that this partition has had, as offsets that were set by hand do",
        )


def _told(found: GroupBeyond) -> str:
    commit = found.commit
    epoch = number_text(commit.leader_epoch)
    who = f"group {commit.group} committed offset {commit.offset}"
    if commit.share_done_to is not None:
        who = f"share group {commit.group} was done with records up to offset {commit.offset}"
    return (
        f"{who} (leader epoch {epoch}), and the"
        f" designated log {'left that epoch' if found.refilled else 'ends'} at {found.resume}"
    )


def _and_others(found: Sequence[GroupBeyond]) -> str:
    return f" ({count_text(len(found) - 1, 'more group')} too)" if len(found) > 1 else ""


def _eligible_replica_back(
    state: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    """Find members of the ISR or ELR that are back. A disk's own metadata log ends when its broker
    did: other members of the ISR or ELR that were not scanned may have gone on alone."""
    by_broker = {log.broker: log for log in logs}
    scanned = {log.broker: log for log in logs if log.scanned is not None}
    for broker in state.online_replicas:
        if broker not in (*state.isr, *state.elr):
            continue
        where = "ISR" if broker in state.isr else "ELR"
        if broker not in scanned:
            log = by_broker[broker]
            short = _unread(log) or fallen_short(log, logs) or outreached(log, logs)
            loss = ", without loss" if short is None else f", but {short}"
            what = f"live: the controller should elect it by itself{loss}; look again in a moment"
        elif not _intact(scanned[broker]):
            continue
        elif (short := fallen_short(scanned[broker], logs)) is not None:
            yield _fell_short(broker, where, short, ranking)
            continue
        elif outreached(scanned[broker], logs) is None and _all_scanned(state, scanned):
            what = (
                "its disk can be used: unless a controller's metadata log is newer than those that"
                f" were found, {_starting_it_first(scanned[broker])}"
            )
        else:
            continue
        yield Finding(
            "eligible_replica_is_back",
            Severity.NOTICE,
            f"broker {broker} is in the {where} and {what}",
        )


def _all_scanned(state: PartitionState, scanned: Container[int]) -> bool:
    return all(broker in scanned for broker in (*state.isr, *state.elr))


def _fell_short(broker: int, where: str, short: str, ranking: Sequence[Candidate]) -> Finding:
    if ranking and ranking[0].log.broker == broker:
        advice = (
            "Of those that were read none goes further: look for another copy of what is missing"
        )
    else:
        advice = (
            "Started first it may lead by itself, and the others would be truncated to it: start it"
            " only once another one leads"
        )
    return Finding(
        "eligible_replica_fell_short",
        Severity.LOSS,
        f"broker {broker} is in the {where}, so it held every committed record, yet {short}."
        f" {advice}",
    )


def _starting_it_first(log: ReplicaLog) -> str:
    without_loss = "starting it first brings the partition back without loss"
    stopped_clean = log.scanned.stopped_clean if log.scanned else None
    if stopped_clean:
        return without_loss
    if stopped_clean is None:
        return (
            f"if it was shut down in order, {without_loss}; after an unclean stop eligible leader"
            " replicas may keep it from leading, and then it has to be designated"
        )
    return (
        "starting it first loses nothing; it was not shut down in order, so with eligible leader"
        " replicas it leads by itself only as the last known leader, and has to be designated else"
    )


def _unread(log: ReplicaLog) -> str | None:
    return None if log.problem is None else "whether its log is whole is not known"


def _intact(log: ReplicaLog) -> bool:
    return log.sure and (log.scanned is None or log.scanned.damage is None)


def _dead_replicas(
    state: PartitionState, logs: Sequence[ReplicaLog], verdicts: Iterable[Waiting]
) -> Iterator[Finding]:
    """Find the dead replicas whose disk nobody has read, and those whose return cuts others."""
    unseen = {
        log.broker for log in logs if not log.live and log.epochs is None and log.scanned is None
    }
    by_broker = {log.broker: log for log in logs}
    for waiting in verdicts:
        if waiting.effect is Effect.WORSE:
            yield on_return(state, by_broker[waiting.broker], waiting)
        elif waiting.broker in unseen and waiting.evidence:
            nowhere = by_broker[waiting.broker].problem == NO_DIRECTORY
            yield _may_hold_more(waiting.broker, waiting.why, nowhere)
    others = sorted(unseen.difference(may_have_led(state)))
    if others:
        yield Finding(
            "dead_replica_unseen",
            Severity.UNKNOWN,
            f"{_brokers(others)} {_are(others)} down: nobody knows how far the log there goes",
        )


# One finding for all partitions of which it says the same: an outage has thousands of them.
@lru_cache(maxsize=1024)
def _may_hold_more(broker: int, why: str, nowhere: bool) -> Finding:
    """nowhere: its disk was scanned, and this partition was not found there."""
    what = "If it can come back, wait for it: what only it holds is lost once another one leads"
    if nowhere:
        what = "Don't start it before that is known"
    return Finding(
        "dead_replica_may_hold_more",
        Severity.UNKNOWN,
        f"broker {broker} is down: {why}. {what}",
    )


def _silent_replicas(
    _: PartitionState, logs: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        if log.live and log.problem is not None and log.scanned is None:
            yield Finding(
                "replica_did_not_answer",
                Severity.UNKNOWN,
                f"broker {log.broker} is live but gave no answer that counts ({log.problem}): its"
                " log may be the better one",
            )


def _unproven_replicas(
    _: PartitionState, logs: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        if log.unproven is not None and not log.live:
            yield Finding(
                "replica_lives_unseen",
                Severity.UNKNOWN,
                f"broker {log.broker} {log.unproven}. Its log may be the better one, and is cut to"
                " that of whoever is elected",
            )
        elif log.unproven is not None and log.problem is None:
            yield Finding(
                "replica_unproven",
                Severity.UNKNOWN,
                f"{log.unproven}; no loss is counted by what was told for it",
            )


def _unregistered_replicas(
    state: PartitionState, _: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    gone = state.unregistered_replicas
    left = sorted(set(state.replicas) - set(gone))
    if gone and left:
        yield Finding(
            "replica_unregistered",
            Severity.NOTICE,
            f"{_brokers(gone)} is not listed as registered: where the controllers refuse a list"
            f" that names it, the election takes its replica out of the set for good, and"
            f" {_brokers(left)} {'remain' if len(left) > 1 else 'remains'}. Add a replica"
            " afterwards (kafka-reassign-partitions)",
        )


def _fenced_replicas(
    state: PartitionState, logs: Sequence[ReplicaLog], _: Sequence[Candidate]
) -> Iterator[Finding]:
    for log in logs:
        if _answers_fenced(state, log):
            yield Finding(
                "replica_fenced",
                Severity.UNKNOWN,
                f"broker {log.broker} answered (log end offset {number_text(log.log_end_offset)})"
                " and is fenced: the controllers do not hear it, so it can't be elected, and what"
                " only it holds is cut off once they do. Let it reach the controllers, and look"
                " again",
            )


def _answers_fenced(state: PartitionState, log: ReplicaLog) -> bool:
    """Return True for a broker that is not online and told its log all the same; in a failed log
    directory there is none to tell of."""
    told = log.live and log.problem is None and log.scanned is None
    return told and log.broker in state.offline_replicas


def _unranked_replicas(
    state: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    ranked = {candidate.log.broker for candidate in ranking}
    for log in logs:
        if _answers_fenced(state, log):
            continue
        if log.live and log.problem is None and log.broker not in ranked:
            yield Finding(
                "replica_not_ranked",
                Severity.UNKNOWN,
                f"broker {log.broker} {'answered' if log.scanned is None else 'was scanned'} (log"
                f" end offset {number_text(log.log_end_offset)}) but can't be ranked: it is an"
                " adding replica, offline, or its last written leader epoch is unknown",
            )


def _records_below_log_start(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    start = ranking[0].log.log_start_offset if ranking else None
    for log in logs:
        if start is None or log.log_start_offset is None or log.log_start_offset >= start:
            continue
        if log.empty:
            continue
        end = start if log.log_end_offset is None else min(start, log.log_end_offset)
        yield Finding(
            "records_below_log_start",
            Severity.NOTICE,
            f"broker {log.broker} still holds offsets {log.log_start_offset} to {end}"
            " (exclusive), below the log start of the designated leader; they will be deleted",
        )


def _only_candidate_is_empty(
    _: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> Iterator[Finding]:
    if not ranking or not ranking[0].log.empty:
        return
    if not all(_ends_no_later(log, ranking[0].log) for log in logs):
        yield Finding(
            "designated_leader_is_empty",
            Severity.LOSS,
            f"broker {ranking[0].log.broker} holds no record (its log starts and ends at"
            f" {ranking[0].log.log_end_offset}) and no live replica ranks higher: what the others"
            " hold is lost, that of the dead when they come back",
        )


def _ends_no_later(log: ReplicaLog, emptied: ReplicaLog) -> bool:
    """Return True when the log is empty, or ends at or below the emptied one: the records below
    that end were deleted on purpose."""
    end, known = emptied.log_end_offset, log.log_end_offset
    return log.sure and (log.empty or (None not in (known, end) and (known or 0) <= (end or 0)))


def _reassignment(
    state: PartitionState, _: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    if state.reassigning:
        yield Finding(
            "reassignment_in_progress",
            Severity.UNKNOWN,
            f"a reassignment is in progress (adding {list(state.adding_replicas)}, removing"
            f" {list(state.removing_replicas)}): this partition is left alone",
        )


def _tiered(
    state: PartitionState, _: Sequence[ReplicaLog], __: Sequence[Candidate]
) -> Iterator[Finding]:
    if state.tiered is not None:
        yield Finding(
            "tiered_topic",
            Severity.UNKNOWN,
            f"{state.tiered}: what lies in remote storage is not read, so what an election loses of"
            " it is unknown. Under an empty leader, or one that lacks the oldest leader epochs, it"
            " is deleted for good within seconds; what lies beyond the leader's end is cut off",
        )


RULES: tuple[Rule, ...] = (
    _tie,
    _longer_log_lost_to_newer_epoch,
    _live_records_lost,
    _committed_records_lost,
    _high_watermark_beyond_leader,
    _emptied_log_ends_further,
    _commits_beyond,
    _eligible_replica_back,
    _silent_replicas,
    _unproven_replicas,
    _unregistered_replicas,
    _fenced_replicas,
    _unranked_replicas,
    _records_below_log_start,
    _only_candidate_is_empty,
    _reassignment,
    _tiered,
    *DISK_RULES,
)


def _brokers(ids: Sequence[int]) -> str:
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def _are(ids: Sequence[int]) -> str:
    return "are" if len(ids) > 1 else "is"
