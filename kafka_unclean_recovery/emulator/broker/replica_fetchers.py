"""The replica fetchers let followers fetch from the leader of a partition until no follower has
anything left to fetch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.broker.replication import advance, fetch_once, joining
from kafka_unclean_recovery.emulator.faults import STOPPED, Faults, Fetch, link
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import State, Topic, number

Later = Callable[[float, Callable[[], None]], None]
"""A Later runs a function after a number of seconds."""


@dataclass(slots=True)
class ReplicaFetchers:
    """Kafka's ReplicaFetcherManager, one for all brokers.

    `stale`: the metadata that brokers go by while nothing new reaches them. `now`: in seconds.
    `settle`: called for the partition of a fetch that arrives over a slow link.
    """

    state: State
    brokers: Mapping[int, Broker]
    faults: Faults
    stale: Mapping[int, State]
    commit: Callable[[ev.Event], ev.AnyResponse]
    now: Callable[[], float]
    later: Later
    settle: Callable[[TopicIdPartition], None]

    def replicate(self, key: TopicIdPartition) -> None:
        topic = self.state.topics.get(key.topic_id)
        if topic is None:
            return
        # A broker that has not heard of a new leader may still believe that it leads.
        for id_ in dict.fromkeys((topic.partitions[key.partition].leader, *self.stale)):
            leader = self.brokers.get(id_)
            replica = None if leader is None else leader.replicas.get(key)
            if leader is not None and replica is not None and leader.running and replica.leads:
                self._replicate_from(leader, replica, configured_min_isr(self.state, topic))

    def _replicate_from(self, leader: Broker, replica: Replica, min_isr: int) -> None:
        progress = True
        while progress:
            progress = advance(replica, min_isr)
            for id_ in replica.followers:
                follower = self.brokers[id_]
                if not self._fetches(leader, replica, follower):
                    continue
                lag = self.faults.lag(id_, replica.key) or 0
                progress |= fetch_once(leader, replica, follower, self.now(), lag)
                if joining(replica, id_) and self.state.active(id_):
                    before = replica.partition_epoch
                    self.propose(leader, replica, [*replica.isr, id_])
                    if replica.partition_epoch != before:
                        return  # The partition is unsettled again, and may have another leader.

    def _fetches(self, leader: Broker, replica: Replica, follower: Broker) -> bool:
        """Return whether the follower's fetch gets through now, and finds its leader."""
        copy = follower.replicas.get(replica.key)
        if copy is None or not follower.running:
            return False
        if (copy.leader, copy.leader_epoch) != (leader.id, replica.leader_epoch):
            return False
        if self.faults.lag(follower.id, replica.key) is STOPPED:
            return False
        return self._passes(Fetch(follower.id, leader.id, replica.key))

    def _passes(self, fetch: Fetch) -> bool:
        """Return whether a fetch passes. Over a slow link it does after it has been on its way for
        the link's delay."""
        faults, between = self.faults, link(fetch.follower, fetch.leader)
        if between in faults.dropped:
            return False
        if between not in faults.delays or fetch in faults.arrived:
            faults.arrived.discard(fetch)
            return True
        if fetch not in faults.in_flight:
            faults.in_flight.add(fetch)
            self.later(faults.delays[between], partial(self._arrive, fetch))
        return False

    def _arrive(self, fetch: Fetch) -> None:
        self.faults.in_flight.discard(fetch)
        self.faults.arrived.add(fetch)
        self.settle(fetch.key)
        self.faults.arrived.discard(fetch)  # The follower that waited for it may be gone.

    def propose(self, leader: Broker, replica: Replica, isr: Sequence[int]) -> None:
        """Propose an ISR (AlterPartition) with the broker epochs of the processes that fetched
        (KIP-903): a broker that has started again since may lack records that its earlier process
        had, and is refused. After an error the ISR stays as it was, and a later fetch proposes
        again."""
        if not self.faults.reaches_controller(leader.id):
            return
        epochs = {id_: follower.broker_epoch for id_, follower in replica.followers.items()}
        epochs[leader.id] = leader.epoch
        members = tuple((id_, epochs[id_]) for id_ in isr)
        self.commit(
            ev.AlterPartition(
                leader.id,
                leader.epoch,
                replica.topic,
                replica.key.partition,
                replica.leader_epoch,
                replica.partition_epoch,
                members,
            )
        )


def configured_min_isr(state: State, topic: Topic) -> int:
    """Return the configured min.insync.replicas, not bounded by the number of replicas."""
    return number(state.config(topic, MIN_INSYNC_REPLICAS))
