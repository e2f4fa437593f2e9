"""AlterPartition lets a leader propose an ISR (KIP-497; KIP-841, KIP-903, KIP-966).

By KIP-903 a replica with a stale broker epoch can't join an ISR. The KIP's exception needs no code
here: the last member stays in the ISR of a partition without ELR because nothing removes it.
"""

from __future__ import annotations

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import (
    UNKNOWN_BROKER_EPOCH,
    AlterPartition,
    AlterPartitionResponse,
    AlterPartitions,
    AlterPartitionsResponse,
)
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration, merge
from kafka_unclean_recovery.kraft_rules.partition_change import Proposal
from kafka_unclean_recovery.kraft_rules.partition_updates import (
    proposed,
    unclean_if_allowed,
)
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER_CHANGE,
    RECOVERED,
    RECOVERING,
    Record,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State


def alter_partition(
    state: State, event: AlterPartition
) -> tuple[list[Record], AlterPartitionResponse]:
    sender = state.brokers.get(event.broker)
    if sender is None or sender.epoch != event.broker_epoch:
        return [], AlterPartitionResponse(Errors.STALE_BROKER_EPOCH)
    topic = state.topic(event.topic)
    if topic is None:
        return [], AlterPartitionResponse(partition_error=Errors.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(event.partition)
    if partition is None:
        return [], AlterPartitionResponse(partition_error=Errors.UNKNOWN_TOPIC_OR_PARTITION)
    error = _refusal(state, partition, event)
    if error is not Errors.NONE:
        return [], AlterPartitionResponse(partition_error=error)
    key = TopicIdPartition(topic.topic_id, event.partition)
    proposal = Proposal(
        isr=tuple(broker for broker, _ in event.new_isr),
        leader_recovery_state=event.leader_recovery_state,
        election=unclean_if_allowed(state, topic),
    )
    change = proposed(state, topic, key, proposal)
    if change is None:
        return [], _applied(partition)
    if change.leader not in (event.broker, NO_LEADER_CHANGE):
        # The change completes a reassignment that ends the sender's leadership. Kafka answers an
        # error and applies the change all the same.
        return [change], AlterPartitionResponse(partition_error=Errors.NEW_LEADER_ELECTED)
    return [change], _applied(merge(partition, change))


def alter_partitions(
    state: State, event: AlterPartitions
) -> tuple[list[Record], AlterPartitionsResponse]:
    """Propose ISRs for several partitions. Only a stale sender makes the whole request fail."""
    records: list[Record] = []
    results = []
    for change in event.changes:
        made, response = alter_partition(state, change)
        if response.error is not Errors.NONE:
            return [], AlterPartitionsResponse(response.error)
        records += made
        results.append(response)
    return records, AlterPartitionsResponse(results=tuple(results))


def _refusal(state: State, partition: PartitionRegistration, event: AlterPartition) -> Errors:
    if error := _stale(partition, event):
        return error
    isr = [broker for broker, _ in event.new_isr]
    recovery = event.leader_recovery_state
    if recovery not in (RECOVERED, RECOVERING):
        raise ControllerFault(f"{recovery} is no leader recovery state")
    invalid = (
        len(set(isr)) != len(isr)
        or any(replica not in partition.replicas for replica in isr)
        or partition.leader not in isr
        or (recovery == RECOVERING and len(isr) > 1)
        or (recovery == RECOVERING and partition.leader_recovery_state == RECOVERED)
    )
    if invalid:
        return Errors.INVALID_REQUEST
    eligible = all(_eligible(state, broker, epoch) for broker, epoch in event.new_isr)
    return Errors.NONE if eligible else Errors.INELIGIBLE_REPLICA


def _stale(partition: PartitionRegistration, event: AlterPartition) -> Errors:
    """Compare the request's epochs with the partition's. A sender that knows a newer epoch than the
    controller shows that the controller is an old one."""
    if event.leader_epoch > partition.leader_epoch:
        return Errors.NOT_CONTROLLER
    if event.partition_epoch > partition.partition_epoch:
        return Errors.NOT_CONTROLLER
    if event.leader_epoch < partition.leader_epoch:
        return Errors.FENCED_LEADER_EPOCH
    if event.broker != partition.leader:
        return Errors.INVALID_REQUEST
    if event.partition_epoch < partition.partition_epoch:
        return Errors.INVALID_UPDATE_VERSION
    return Errors.NONE


def _eligible(state: State, broker: int, epoch: int) -> bool:
    """Return whether the broker is active and the leader saw its present incarnation fetch."""
    registration = state.brokers.get(broker)
    if registration is None or not registration.active:
        return False
    return epoch in (UNKNOWN_BROKER_EPOCH, registration.epoch)


def _applied(partition: PartitionRegistration) -> AlterPartitionResponse:
    return AlterPartitionResponse(
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )
