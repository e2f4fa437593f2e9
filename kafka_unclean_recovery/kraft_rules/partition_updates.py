"""These functions turn a proposal into changes of one partition, or of all that have a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.partition_change import (
    Election,
    Proposal,
    Rules,
    change_partition,
    without,
)
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    Ids,
    PartitionChangeRecord,
    Record,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State, Topic


def proposed(
    state: State, topic: Topic, key: TopicIdPartition, proposal: Proposal
) -> PartitionChangeRecord | None:
    """Return the change that the proposal makes, given the brokers as they are now."""
    partition = topic.partitions[key.partition]
    acceptable = _acceptable(state, partition, state.active)
    return change_partition(key, partition, proposal, _rules(state, topic, acceptable))


def electable(state: State, topic: Topic, key: TopicIdPartition, replica: int) -> bool:
    """Return whether the replica may be designated: it is one of the partition's, and its broker
    and directory work (KIP-1275)."""
    partition = topic.partitions[key.partition]
    return replica in partition.replicas and _acceptable(state, partition, state.active)(replica)


def unclean_if_allowed(state: State, topic: Topic) -> Election:
    """Return UNCLEAN where unclean.leader.election.enable lets any change of the partition elect
    uncleanly. Unclean elections are left to the unclean recovery manager where it is enabled."""
    allowed = state.unclean_elections(topic) and not state.recovers_uncleanly
    return Election.UNCLEAN if allowed else Election.ONLINE


def broker_leaves(
    state: State, broker: int, partitions: Iterable[TopicIdPartition]
) -> list[Record]:
    """Take the broker out of the ISRs and its leaderships, whatever its registration still says."""
    return _updates(state, partitions, _others(state, broker), leaving=(broker,))


def broker_arrives(
    state: State, broker: int, partitions: Iterable[TopicIdPartition]
) -> list[Record]:
    """Elect leaders for the partitions. The broker is a candidate, although still fenced."""

    def with_it(replica: int) -> bool:
        return replica == broker or state.active(replica)

    return _updates(state, partitions, with_it)


def broker_lost_data(
    state: State, broker: int, partitions: Iterable[TopicIdPartition]
) -> list[Record]:
    """Take the broker out of ISRs and ELRs (KIP-966, "During the broker registration")."""
    others = _others(state, broker)
    return _updates(state, partitions, others, leaving=(broker,), unclean_shutdown=broker)


def _others(state: State, broker: int) -> Callable[[int], bool]:
    return lambda replica: replica != broker and state.active(replica)


def _updates(
    state: State,
    partitions: Iterable[TopicIdPartition],
    active: Callable[[int], bool],
    leaving: Ids = (),
    unclean_shutdown: int | None = None,
) -> list[Record]:
    """Do as ReplicationControlManager.generateLeaderAndIsrUpdates. Raises ControllerFault."""
    records: list[Record] = []
    for key in partitions:
        partition = state.partition(key)
        topic = state.topics[key.topic_id]
        proposal = Proposal(
            isr=without(partition.isr, leaving),
            unclean_shutdown=unclean_shutdown,
            election=unclean_if_allowed(state, topic),
        )
        rules = _rules(state, topic, _acceptable(state, partition, active))
        change = change_partition(key, partition, proposal, rules)
        if change is not None:
            records.append(change)
    return records


def leaderless(state: State) -> Iterable[TopicIdPartition]:
    return state.leaders.of(NO_LEADER)


def _rules(state: State, topic: Topic, acceptable: Callable[[int], bool]) -> Rules:
    return Rules(
        state.release,
        partial(state.min_isr, topic),
        acceptable,
        state.default_dir,
        state.recovers_uncleanly,
    )


def _acceptable(
    state: State, partition: PartitionRegistration, active: Callable[[int], bool]
) -> Callable[[int], bool]:
    """Return a test that a replica may lead: broker active, directory online (KIP-858)."""

    def acceptable(replica: int) -> bool:
        if not active(replica):
            return False
        if replica not in partition.replicas:
            raise ControllerFault(f"{replica} may be elected, and is not one of the replicas")
        directory = partition.directories[partition.replicas.index(replica)]
        return state.has_online_dir(replica, directory)

    return acceptable
