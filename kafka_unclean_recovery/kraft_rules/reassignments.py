"""A reassignment first gives a partition the union of old and new replicas, and later the target
alone (KIP-455)."""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import AlterReassignment, Response
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.partition_change import Proposal, without
from kafka_unclean_recovery.kraft_rules.partition_updates import (
    proposed,
    unclean_if_allowed,
)
from kafka_unclean_recovery.kraft_rules.records import Ids, Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State, Topic
from kafka_unclean_recovery.kraft_rules.topics import assignment_valid


def alter_reassignment(state: State, event: AlterReassignment) -> tuple[list[Record], Response]:
    topic = state.topic(event.topic)
    partition = None if topic is None else topic.partitions.get(event.partition)
    if topic is None or partition is None:
        return [], Response(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if event.replicas is None:
        error, proposal = _cancellation(state, topic, partition)
    elif not assignment_valid(state, event.replicas):
        return [], Response(Errors.INVALID_REPLICA_ASSIGNMENT)
    else:
        error, proposal = Errors.NONE, _reassignment(partition, event.replicas)
    if error is not Errors.NONE:
        return [], Response(error)
    key = TopicIdPartition(topic.topic_id, event.partition)
    try:
        change = proposed(state, topic, key, proposal)
    except ControllerFault:
        # Kafka catches every exception of this request alone, one partition at a time.
        return [], Response(Errors.UNKNOWN_SERVER_ERROR)
    return [] if change is None else [change], Response()


def _reassignment(partition: PartitionRegistration, replicas: Ids) -> Proposal:
    """Return the proposal of a reassignment. Replicas that leave stay for now, after the target.
    With none to add or to remove, the lists of an earlier reassignment stay as they are."""
    removing = tuple(sorted(without(partition.replicas, replicas)))
    adding = tuple(sorted(without(replicas, partition.replicas)))
    return Proposal(replicas=replicas + removing, removing=removing or None, adding=adding or None)


def _cancellation(
    state: State, topic: Topic, partition: PartitionRegistration
) -> tuple[Errors, Proposal]:
    """Return the proposal that restores the replicas from before the reassignment
    (PartitionReassignmentRevert).

    If only added replicas are in sync, the restored leader is unclean, which the config must allow.
    """
    if not partition.reassigning:
        return Errors.NO_REASSIGNMENT_IN_PROGRESS, Proposal()
    replicas = without(partition.replicas, partition.adding_replicas)
    isr = without(partition.isr, partition.adding_replicas)
    unclean = not isr
    if not replicas or (unclean and not state.unclean_elections(topic)):
        return Errors.INVALID_REPLICA_ASSIGNMENT, Proposal()
    if state.release.reassignment_needs_min_isr and len(isr) < state.min_isr(topic, replicas):
        return Errors.INVALID_REPLICA_ASSIGNMENT, Proposal()
    return Errors.NONE, Proposal(
        isr=isr or replicas[:1],
        replicas=replicas,
        removing=(),
        adding=(),
        election=unclean_if_allowed(state, topic),
    )
