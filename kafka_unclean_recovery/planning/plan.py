"""Plan which replica should lead, and what electing it loses; no clock, network or randomness.

The ranking is one sort key (`_rank`) with its criteria in order. Facts that an operator should
weigh are Findings; their rules are in findings.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_unclean_recovery.model import (
    Candidate,
    Commit,
    Divergence,
    EpochLineage,
    GroupBeyond,
    Loss,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.planning.broker_return import waiting_for
from kafka_unclean_recovery.planning.committed_offsets import groups_beyond, weighs
from kafka_unclean_recovery.planning.findings import findings_of
from kafka_unclean_recovery.planning.lineage import count_once, tail_of
from kafka_unclean_recovery.planning.reach import (
    committed_beyond,
    deleted_below,
    ends_further,
    forgotten,
    kept_under,
)

_NEVER_WROTE = -1

REASSIGNING = (
    "a reassignment is in progress: an election would complete it, drop the removed replicas for"
    " good and could elect an empty adding replica; to cancel it is no safe way, for that can be"
    " followed at once by a blind election: bring a broker of the old replica set back, or reassign"
    " the partition back to that set, the best replica first, and elect it then"
    " (--automated-recovery --end-reassignment TOPIC-PARTITION)"
)
_BY_HAND = "choose one by hand (kafka-elect-leaders --election-type designated)"
ONLY_SUSPECTS = f"every replica that could lead is suspect: its log may be corrupt; {_BY_HAND}"
HOLDS_RECORDS = (
    "no replica that can be ranked holds a record, and broker {broker} does: its last written"
    f" leader epoch is unknown; {_BY_HAND}"
)
ENDS_FURTHER = (
    "the log of broker {broker} ends further than those whose last written leader epoch is known,"
    " and its own is not known: which of them an earlier election gave up can't be told;"
    f" {_BY_HAND}"
)
WITHOUT_EPOCHS = (
    "the best log, that of broker {broker}, has no leader epochs that could be read, and the topic"
    f" may have records in remote storage: under a leader without them they are deleted; {_BY_HAND}"
)
"""The constants above are refusals. All but REASSIGNING leave the choice to a person."""


def plan_partition(
    state: PartitionState,
    replica_logs: Iterable[ReplicaLog],
    commits: Sequence[Commit] = (),
    *,
    ends_reassignment: bool = False,
    gone: frozenset[int] = frozenset(),
) -> PartitionPlan:
    """Designate the leader of an offline partition from the logs of its replicas.

    commits: the groups' commits for this partition; they bound losses from below, and rank nothing.
    ends_reassignment: a reassignment in progress is given up, so it is no reason to refuse. gone:
    brokers whose disks are lost for good, so that nobody waits for them.
    Raises ValueError on input that contradicts itself: an online partition, a log of a broker that
    hosts no replica, two logs of one broker.
    """
    logs = _checked(state, replica_logs)
    gone = gone and _gone(logs, gone)
    ranked = _ranked(state, logs)
    deleted = deleted_below(logs)
    ranking = tuple(_candidate(state, log, logs, commits, deleted) for log in ranked)
    refused = REASSIGNING if state.reassigning and not ends_reassignment else None
    refusal = refused or _refusal(state, logs, ranking)
    designated = ranking[0].log.broker if ranking and refusal is None else None
    waiting = waiting_for(state, logs, ranking, gone)
    return PartitionPlan(
        state=state,
        replica_logs=logs,
        ranking=ranking,
        designated_leader=designated,
        order=_order(state, ranking),
        findings=findings_of(state, logs, ranking, waiting, gone),
        refusal=refusal,
        waiting=waiting,
        gone=gone,
    )


def _checked(state: PartitionState, replica_logs: Iterable[ReplicaLog]) -> tuple[ReplicaLog, ...]:
    """Return a log for each replica, in assignment order; an unseen one's has a problem."""
    if not state.offline:
        raise ValueError(f"{state.topic_partition} has a leader: nothing to plan")
    by_broker: dict[int, ReplicaLog] = {}
    for log in replica_logs:
        if log.broker not in state.replicas:
            raise ValueError(f"broker {log.broker} hosts no replica of {state.topic_partition}")
        if log.broker in by_broker:
            raise ValueError(f"two logs of broker {log.broker} for {state.topic_partition}")
        by_broker[log.broker] = log
    return tuple(by_broker.get(r) or _unseen(state, r) for r in state.replicas)


def _gone(logs: Iterable[ReplicaLog], gone: frozenset[int]) -> frozenset[int]:
    """Return the brokers that are gone, without those of which something shows that they live."""
    return gone.difference(log.broker for log in logs if log.live or log.unproven is not None)


def _unseen(state: PartitionState, broker: int) -> ReplicaLog:
    live = broker in state.online_replicas
    problem = "was not asked" if live else "broker is down, or its log directory failed"
    return ReplicaLog(broker, live=live, problem=problem)


def can_lead(state: PartitionState, log: ReplicaLog) -> bool:
    """Return True for a replica that can be elected and whose place in the ranking is known.

    An adding replica of a pending reassignment may be empty and still answer healthily, so it can't
    lead. A log whose last written leader epoch is unknown can't lead, because it can't be ranked.
    """
    return (
        log.live
        and log.problem is None
        and log.broker in state.online_replicas
        and log.broker not in state.adding_replicas
        and log.log_end_offset is not None
        and (log.last_written_leader_epoch is not None or log.empty)
    )


def _ranked(state: PartitionState, logs: Sequence[ReplicaLog]) -> list[ReplicaLog]:
    candidates = [log for log in logs if can_lead(state, log)]
    return sorted(candidates, key=lambda log: _rank(state, log))


def _rank(state: PartitionState, log: ReplicaLog) -> tuple[bool, int, int, bool, bool, int]:
    """Return the sort key, best first: trusted before suspect, last written leader epoch, log end
    offset, ELR (or ISR) member, last known ELR member, lowest broker id. The order is total."""
    assert log.log_end_offset is not None
    epoch = log.last_written_leader_epoch
    return (
        log.suspect is not None,
        -(_NEVER_WROTE if epoch is None else epoch),
        -log.log_end_offset,
        log.broker not in (*state.isr, *state.elr),
        log.broker not in state.last_known_elr,
        log.broker,
    )


def _candidate(
    state: PartitionState,
    leader: ReplicaLog,
    logs: Sequence[ReplicaLog],
    commits: Sequence[Commit],
    deleted: int,
) -> Candidate:
    """Return `leader` as a candidate: the losses of every other replica under it, and the groups
    that tell of more.

    Every replica on a broker that lives, or may live, will follow and truncate, also one whose log
    directory has failed, once that is back: as long as one of them can't be compared, for whatever
    reason, nothing is certain. Nor is anything of a topic with records in remote storage.
    """
    live_tails: list[EpochLineage] = []
    dead_tails: list[EpochLineage] = []
    divergences: list[Divergence] = []
    certain_known = possible_known = leader.sure and state.tiered is None
    online = state.online_replicas
    for log in logs:
        if log.broker == leader.broker:
            continue
        follows = log.live or log.broker in online
        offset = kept_under(log, leader)
        if offset is None or (forgotten(leader) and not log.empty):
            certain_known &= not follows and log.unproven is None
            possible_known &= log.live and log.problem is None and log.unproven is None
        if offset is None or log.epochs is None:
            continue
        tail = tail_of(log.epochs, offset)
        (live_tails if follows else dead_tails).append(tail)
        if tail and follows:
            divergences.append(Divergence(log.broker, offset, count_once([tail])))
    certain = count_once(live_tails)
    possible = count_once([*live_tails, *dead_tails]) - certain
    groups = groups_beyond(leader, commits)
    loss = Loss(
        certain if certain_known else None,
        possible if possible_known else None,
        at_least=_at_least(state, leader, logs, groups, deleted),
    )
    return Candidate(leader, loss, tuple(divergences), groups)


def _at_least(
    state: PartitionState,
    leader: ReplicaLog,
    logs: Sequence[ReplicaLog],
    groups: Sequence[GroupBeyond],
    deleted: int,
) -> int | None:
    """Return the loss that witnesses tell of, without records below `deleted`."""
    weighed = [found for found in groups if weighs(found.commit, state.leader_epoch)]
    told = [found.commit.offset - max(found.resume, deleted) for found in weighed]
    told += [committed_beyond(log, leader, deleted) for log in logs]
    return max(0, *told) or None


def _order(state: PartitionState, ranking: Sequence[Candidate]) -> tuple[int, ...]:
    """Return the whole replica set, best first, so that if the best is fenced at the last moment
    the controller takes the second best; then the other live replicas, then the dead."""
    ranked = [candidate.log.broker for candidate in ranking]
    live = [r for r in state.online_replicas if r not in ranked]
    dead = [r for r in state.replicas if r not in ranked and r not in live]
    return (*ranked, *live, *dead)


def _refusal(
    state: PartitionState, logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]
) -> str | None:
    if not ranking:
        return None
    best = ranking[0].log
    if best.suspect is not None:
        return ONLY_SUSPECTS
    if best.empty and (fuller := _unranked_with_records(logs, ranking)):
        return HOLDS_RECORDS.format(broker=fuller[0])
    online = state.online_replicas
    alive = [log for log in logs if log.broker in online]
    if further := [log.broker for log in alive if ends_further(log, best)]:
        return ENDS_FURTHER.format(broker=further[0])
    if state.tiered is not None and not best.epochs:
        return WITHOUT_EPOCHS.format(broker=best.broker)
    return None


def _unranked_with_records(logs: Sequence[ReplicaLog], ranking: Sequence[Candidate]) -> list[int]:
    """Return unranked live brokers with records, also those that told only a log end."""
    ranked = {candidate.log.broker for candidate in ranking}
    unranked = [log for log in logs if log.live and log.broker not in ranked and not log.empty]
    return [
        log.broker
        for log in unranked
        if log.problem is None or (log.scanned is None and log.log_end_offset)
    ]
