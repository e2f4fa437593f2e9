"""Which live replicas have the best log of a partition that nobody leads."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Cluster, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.planning.reach import reach
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.transport import ReplicaLogSource

_Logs = Mapping[TopicPartition, ReplicaLog]


@dataclass(frozen=True, slots=True)
class Survivors:
    """brokers: those of the best logs. untold: why they are not known; None where they are."""

    brokers: tuple[int, ...] = ()
    untold: str | None = None


async def survivors(
    source: ReplicaLogSource,
    cluster: Cluster,
    states: Iterable[PartitionState],
    no_read: Container[str],
    deadline: Deadline,
) -> dict[TopicPartition, Survivors]:
    """Ask the live replicas of these partitions, none of which is led, how far their logs go, and
    the fenced ones, which may live too. no_read: topics that this user may not read."""
    every = list(states)
    by_broker: dict[int, list[PartitionState]] = defaultdict(list)
    for state in every:
        for replica in _may_survive(state, cluster):
            by_broker[replica].append(state)

    async def ask(broker: int, of: Sequence[PartitionState]) -> _Logs:
        fenced = cluster.fenced_at.get(broker)
        known = cluster.brokers.get(broker, fenced)
        if known is None:
            return _unread(broker, of, "it is not listed as live")
        patience = deadline if fenced is None else deadline.within(budgets.FENCED_LOGS.seconds)
        try:
            return await source.replica_logs(known, of, patience)
        except ConnectionFailed as error:
            # Most fenced brokers are down.
            dead = fenced is not None and error.takes_none
            return {} if dead else _unread(broker, of, str(error))

    answers = await asyncio.gather(*(ask(broker, of) for broker, of in by_broker.items()))
    logs = dict(zip(by_broker, answers, strict=True))
    found = {}
    for state in every:
        tp = state.topic_partition
        told = best([logs[r][tp] for r in _may_survive(state, cluster) if tp in logs[r]])
        if told.untold is not None and state.topic in no_read:
            told = Survivors(untold=f"{told.untold}; grant Topic({state.topic}):READ")
        found[tp] = told
    return found


def _may_survive(state: PartitionState, cluster: Cluster) -> list[int]:
    """Return the replicas that may live; one that a reassignment adds has never had all records."""
    online = state.online_replicas
    may = [r for r in state.replicas if r in online or r in cluster.fenced_at]
    return [r for r in may if r not in state.adding_replicas]


def _unread(broker: int, of: Iterable[PartitionState], why: str) -> _Logs:
    return {s.topic_partition: ReplicaLog(broker, live=True, problem=why) for s in of}


def best(logs: Sequence[ReplicaLog]) -> Survivors:
    """Return whose logs no other goes beyond. One log that is not known may be the best."""
    for log in logs:
        if not log.sure or not (log.empty or log.last_written_leader_epoch is not None):
            why = log.problem or log.suspect or log.unproven
            return Survivors(untold=f"broker {log.broker}: {why or 'its last epoch is not known'}")
    furthest = max(map(reach, logs), default=None)
    return Survivors(tuple(log.broker for log in logs if reach(log) == furthest))
