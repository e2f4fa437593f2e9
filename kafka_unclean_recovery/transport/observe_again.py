"""Observe partitions once more, immediately before an election, to see that their plans still hold.

The partition must be offline, with the same topic id, leader epoch and replica set, and without a
reassignment. Each live replica must still answer with the planned log end offset, and from the same
process where that can be told: a broker may have died, or have come back without its tail, or with
a better disk, and be listed as live all the same. None that was taken for dead may live, and none
that was live may be starting again: its log is as unknown, and what it told before only counts once
its process has ended. The controllers must not refuse the designated broker: one that is being
stopped answers all, and the next in order would be elected in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.model import (
    Broker,
    Cluster,
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.election_rules import Choice, new_replicas, refuse_or_settle
from kafka_unclean_recovery.planning.last_look import log_change
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.liveness import doubts
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import ReplicaLogSource
from kafka_unclean_recovery.transport.gate import Gate

_NOT_ELECTABLE = (
    "the controllers elect broker {broker} for nothing now, though it answers: it is being stopped,"
    " or was fenced. Wait until it has started again and run the command again; the next best"
    " would lead in its place"
)


class DueElection(Struct, frozen=True):
    """One election that may go ahead: the plan, and the partition and the brokers listed as live as
    observed just before."""

    plan: PartitionPlan
    before: PartitionState
    live: frozenset[int]

    @property
    def leader(self) -> int:
        assert self.plan.designated_leader is not None
        return self.plan.designated_leader

    def back(self, live: Collection[int]) -> list[int]:
        """Return the replicas whose broker has come back, where these brokers are live now."""
        return [r for r in self.before.replicas if r in live and r not in self.live]

    @property
    def needs_order(self) -> bool:
        return self.plan.order != self.before.replicas


async def observe_again(
    reader: Reader,
    source: ReplicaLogSource,
    plans: Mapping[TopicPartition, PartitionPlan],
    choose: Choice,
    gate: Gate,
) -> tuple[dict[TopicPartition, Outcome], dict[TopicPartition, DueElection]]:
    """Return (outcomes of partitions that are settled or refused, elections that may go ahead).
    `plans` is sorted. The gate is open for a while afterwards.

    Raises Behind, NoBrokerReachable, ConnectionFailed, RequestFailed: then no election may go
    ahead.
    """

    looked = gate.begin_look()

    async def look() -> tuple[Described, Cluster]:
        seen, (cluster, _) = await asyncio.gather(
            reader.described_with_reassignments(list(plans)), reader.cluster()
        )
        return seen, cluster

    # A broker that is behind hides brokers that came back, and tells outdated replica sets: writing
    # such a set would begin a reassignment.
    seen, cluster = await reader.current(look)
    replicas = {broker for plan in plans.values() for broker in plan.state.replicas}
    unlisted = doubts(replicas, await heard_of(reader, replicas, cluster, {}, reader.lived))
    live = frozenset(cluster.brokers)
    outcomes: dict[TopicPartition, Outcome] = {}
    elections = {}
    for tp, plan in plans.items():
        if tp in seen.untold:
            why = f"it could not be looked at again ({seen.untold[tp]})"
            outcomes[tp] = Outcome(OutcomeKind.REFUSED, why)
            continue
        now = seen.states.get(tp)
        settled = refuse_or_settle(plan, now, choose) or _may_live(plan, unlisted)
        settled = settled or _new_ones_gone(plan, cluster)
        if settled is not None:
            outcomes[tp] = settled
        elif now is not None:
            elections[tp] = DueElection(plan, now, live)
    designated = {election.leader for election in elections.values()}
    changed, found = await asyncio.gather(
        _changed_logs(source, cluster, elections),
        # The look must stay young: where nobody answers, elections go ahead, and that is said.
        reader.electable(designated, budgets.ELECTABLE.seconds),
    )
    changed |= {
        tp: _NOT_ELECTABLE.format(broker=election.leader)
        for tp, election in elections.items()
        if election.leader in found.refused
    }
    for tp, reason in changed.items():
        del elections[tp]
        outcomes[tp] = Outcome(OutcomeKind.REFUSED, reason)
    looked()
    return outcomes, elections


def _may_live(plan: PartitionPlan, doubts: Mapping[int, str]) -> Outcome | None:
    """Refuse where a replica that was taken for dead may live, or one that told its log may be
    starting again, with another disk: it may hold more."""
    for log in plan.replica_logs:
        doubt = doubts.get(log.broker)
        if doubt is None or log.unproven is not None:
            continue
        if not log.live or (log.problem is None and log.broker in plan.state.online_replicas):
            why = f"broker {log.broker} {doubt}: it may hold more; plan again"
            return Outcome(OutcomeKind.REFUSED, why)
    return None


def _new_ones_gone(plan: PartitionPlan, cluster: Cluster) -> Outcome | None:
    """Refuse where a broker that is to start the partition anew is not live any more."""
    gone = [broker for broker in new_replicas(plan) if broker not in cluster.brokers]
    if not gone:
        return None
    return Outcome(OutcomeKind.REFUSED, f"broker {gone[0]} is not live any more; plan again")


async def _changed_logs(
    source: ReplicaLogSource, cluster: Cluster, elections: Mapping[TopicPartition, DueElection]
) -> dict[TopicPartition, str]:
    """Return why designated leaders don't answer any more, or a live replica has another log than
    planned. Each live broker is asked once, all at the same time."""
    known = {**cluster.fenced_at, **cluster.brokers}
    by_broker: dict[int, list[DueElection]] = {}
    for election in elections.values():
        new = new_replicas(election.plan)
        asked = {election.leader, *election.before.online_replicas, *_told(election.plan)}
        for broker in asked.difference(new):
            if broker == election.leader or broker in known:
                by_broker.setdefault(broker, []).append(election)
    found = await asyncio.gather(
        *(_changes_of(source, known, broker, of_it) for broker, of_it in by_broker.items())
    )
    return {tp: reason for changes in found for tp, reason in changes.items()}


async def _changes_of(
    source: ReplicaLogSource,
    known: Mapping[int, Broker],
    broker_id: int,
    elections: Sequence[DueElection],
) -> dict[TopicPartition, str]:
    """Return why the logs of one broker keep elections from going ahead."""
    before = {election.before.topic_partition: election for election in elections}
    broker = known.get(broker_id)
    if broker is None:
        return dict.fromkeys(before, f"broker {broker_id} is not live any more")
    brief = all(
        _unread_before(each.plan, broker_id) or _not_listed_any_more(each, broker_id)
        for each in elections
    )
    try:
        states = [election.before for election in elections]
        patience = (budgets.LAST_LOOK_AT_THE_SILENT if brief else budgets.LAST_LOOK).deadline()
        logs = await source.log_ends(broker, states, patience)
    except ConnectionFailed as error:
        why = f"broker {broker_id} does not answer any more ({error})"
        return {
            tp: why
            for tp, each in before.items()
            if not _unread_before(each.plan, broker_id)
            # The log of a process that ended, and that does not start again, gets no longer.
            and not (_not_listed_any_more(each, broker_id) and error.takes_none)
        }
    return {
        tp: reason
        for tp, election in before.items()
        if (reason := log_change(_planned(election.plan, broker_id), logs[tp])) is not None
    }


def _told(plan: PartitionPlan) -> list[int]:
    """Return the brokers that told their logs when this was planned. One that is not listed as live
    any more may run all the same, with another disk, where the controllers do not hear it."""
    return [log.broker for log in plan.replica_logs if log.live and log.problem is None]


def _not_listed_any_more(election: DueElection, broker: int) -> bool:
    return broker in election.plan.state.online_replicas and broker not in election.live


def _planned(plan: PartitionPlan, broker: int) -> ReplicaLog | None:
    return next((log for log in plan.replica_logs if log.broker == broker), None)


def _unread_before(plan: PartitionPlan, broker: int) -> bool:
    planned = _planned(plan, broker)
    return planned is not None and planned.problem is not None
