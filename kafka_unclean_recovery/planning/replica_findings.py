"""Find what is odd about single replicas and their brokers: who is back, down, silent, unproven,
unregistered, fenced or not ranked. No I/O.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from kafka_unclean_recovery.model import (
    Candidate,
    Effect,
    Finding,
    PartitionState,
    ReplicaLog,
    Severity,
    Waiting,
)
from kafka_unclean_recovery.planning.broker_return import fallen_short, outreached
from kafka_unclean_recovery.planning.disk_findings import Rule
from kafka_unclean_recovery.planning.member_findings import on_return
from kafka_unclean_recovery.planning.reach import may_have_led
from kafka_unclean_recovery.planning.started_replica import NO_DIRECTORY
from kafka_unclean_recovery.wording import brokers_text, number_text


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


def dead_replicas(
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
            f"{brokers_text(others)} {_are(others)} down: nobody knows how far the log there goes",
        )


# One finding for all partitions of which it says the same: an outage has thousands of them.
@lru_cache(maxsize=1024)
def _may_hold_more(broker: int, why: str, nowhere: bool) -> Finding:
    """Return the finding on a dead broker whose log may hold more. nowhere: its disk was scanned,
    and this partition was not found there."""
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
            f"{brokers_text(gone)} is not listed as registered: where the controllers refuse a list"
            f" that names it, the election takes its replica out of the set for good, and"
            f" {brokers_text(left)} {'remain' if len(left) > 1 else 'remains'}. Add a replica"
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


def _are(ids: Sequence[int]) -> str:
    return "are" if len(ids) > 1 else "is"


REPLICA_RULES: tuple[Rule, ...] = (
    _eligible_replica_back,
    _silent_replicas,
    _unproven_replicas,
    _unregistered_replicas,
    _fenced_replicas,
    _unranked_replicas,
)
