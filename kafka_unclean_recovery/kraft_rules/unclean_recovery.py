"""The unclean recovery manager elects leaders for partitions whose ISR and ELR can't give one, by
comparing the logs of their replicas (KIP-966, "Unclean recovery").

The caller that keeps the brokers asks `to_be_asked` where to send GetReplicaLogInfo, and turns the
answers and the passing of unclean.recovery.timeout.ms into events. Whenever anything has changed,
another event, ReviewRecoveries, makes the manager look at all recoveries.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import (
    ElectionType,
    ElectLeaders,
    ElectLeadersResponse,
    RecoveryTimeout,
    ReplicaLogInfo,
    Response,
    ReviewRecoveries,
)
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.partition_change import Election, Proposal
from kafka_unclean_recovery.kraft_rules.partition_updates import (
    electable,
    leaderless,
    proposed,
)
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    Ids,
    Record,
    RecoveryEnded,
    RecoveryStarted,
    RecoveryTimedOut,
    ReplicaLogInfoReceived,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.recovery import (
    LogInfo,
    Recovery,
    Strategy,
    longest_log,
)
from kafka_unclean_recovery.kraft_rules.state import State, Topic

LONGEST_LOG = {
    ElectionType.LONGEST_LOG_AGGRESSIVE: Strategy.AGGRESSIVE,
    ElectionType.LONGEST_LOG_BALANCED: Strategy.BALANCED,
}

# The functions from here answer questions about a partition.


def to_be_asked(state: State, key: TopicIdPartition) -> Ids:
    """Return the replicas of a partition in recovery that can be asked for their logs and have not
    answered in their present incarnation."""
    recovery = state.recoveries[key]
    answers = _valid_answers(state, key, recovery)
    replicas = state.partition(key).replicas
    return tuple(r for r in replicas if r not in answers and _electable(state, key, r))


def awaits_last_known_elr(state: State, key: TopicIdPartition) -> bool:
    """Return whether a Balanced recovery would begin if all last known ELR members were unfenced.
    The KIP's metrics count it as a recovery that goes on."""
    topic, partition = state.topics[key.topic_id], state.partition(key)
    balanced = state.recovery_strategy(topic) is Strategy.BALANCED
    missing = not all(state.active(replica) for replica in _last_known_elr(state, partition))
    lost = partition.leader == NO_LEADER and not _eligible(state, partition)
    return state.recovers_uncleanly and balanced and lost and missing


def left_to_users(state: State, key: TopicIdPartition) -> bool:
    """Return whether the partition has no leader and only a user can find the next one."""
    topic, partition = state.topics[key.topic_id], state.partition(key)
    if partition.leader != NO_LEADER or _eligible(state, partition) or key in state.recoveries:
        return False
    return state.recovers_uncleanly and state.recovery_strategy(topic) is Strategy.NONE


def _wanted(state: State, key: TopicIdPartition) -> Strategy | None:
    """Return the strategy by which a partition without a leader is to be recovered, if it is to be
    ("the leader election decision will be made in the following order", 3 and 4)."""
    strategy = state.recovery_strategy(state.topics[key.topic_id])
    if strategy is Strategy.AGGRESSIVE:
        return strategy
    partition = state.partition(key)
    if strategy is Strategy.NONE or _eligible(state, partition):
        return None
    unfenced = all(state.active(replica) for replica in _last_known_elr(state, partition))
    return strategy if unfenced else None


def _eligible(state: State, partition: PartitionRegistration) -> Ids:
    """Return the replicas that would be elected cleanly if their brokers were there."""
    return partition.isr + (partition.elr if state.release.elr else ())


def _last_known_elr(state: State, partition: PartitionRegistration) -> Ids:
    return partition.last_known_elr if state.release.elr else ()


def _electable(state: State, key: TopicIdPartition, replica: int) -> bool:
    return electable(state, state.topics[key.topic_id], key, replica)


def _valid_answers(state: State, key: TopicIdPartition, recovery: Recovery) -> dict[int, LogInfo]:
    """Return the answers of brokers that are still there and were not registered anew since."""
    return {
        replica: info
        for replica, info in recovery.answers.items()
        if _electable(state, key, replica) and state.brokers[replica].epoch == info.broker_epoch
    }


def _elected(state: State, key: TopicIdPartition, recovery: Recovery) -> int | None:
    """Return the replica that is to lead, or None if that can't be decided yet.

    Before the time-out the recovery waits for every replica that can be asked. After it an
    Aggressive recovery takes the answers that there are, the first one if need be, and a Balanced
    recovery goes on waiting for every replica that may hold all that was committed.
    """
    answers = _valid_answers(state, key, recovery)
    partition = state.partition(key)
    if not answers:
        return None
    if not recovery.timed_out and any(
        _electable(state, key, r) for r in partition.replicas if r not in answers
    ):
        return None
    if recovery.strategy is Strategy.BALANCED:
        awaited = (*_eligible(state, partition), *_last_known_elr(state, partition))
        if not all(replica in answers for replica in awaited):
            return None
    return longest_log(answers, partition.replicas)


# The functions from here handle events.


def review_recoveries(state: State, _event: ReviewRecoveries) -> tuple[list[Record], Response]:
    """Begin recoveries, end those that have a leader or are not wanted any more, and elect where
    the last awaited replica is gone."""
    records: list[Record] = []
    for key, recovery in state.recoveries.items():
        if _goes_on(state, key, recovery):
            records += _election(state, key, recovery)
        else:
            records.append(RecoveryEnded(key))
    if state.recovers_uncleanly:
        records += _begun(state)
    return records, Response()


def _begun(state: State) -> list[Record]:
    records: list[Record] = []
    for key in leaderless(state):
        recovery = state.recoveries.get(key)
        if recovery is None or not _goes_on(state, key, recovery):
            strategy = _wanted(state, key)
            if strategy is not None:
                records.append(RecoveryStarted(key, strategy))
    return records


def _goes_on(state: State, key: TopicIdPartition, recovery: Recovery) -> bool:
    topic = state.topics.get(key.topic_id)
    if not state.recovers_uncleanly or topic is None:
        return False
    if topic.partitions[key.partition].leader != NO_LEADER:
        return False
    # A recovery goes on when a last known ELR member is fenced meanwhile, and waits for that
    # member.
    return recovery.requested or (
        state.recovery_strategy(topic) is recovery.strategy
        and (recovery.strategy is Strategy.AGGRESSIVE or not _eligible(state, state.partition(key)))
    )


def receive_log_info(state: State, event: ReplicaLogInfo) -> tuple[list[Record], Response]:
    """Take a broker's answer. An answer is stale if the broker has been registered anew since, or
    goes by an older leader epoch of the partition."""
    key = TopicIdPartition(event.topic_id, event.partition)
    recovery = state.recoveries.get(key)
    if recovery is None or not _goes_on(state, key, recovery):
        return [], Response(Errors.ELECTION_NOT_NEEDED)
    registration = state.brokers.get(event.broker)
    if registration is None or registration.epoch != event.broker_epoch:
        return [], Response(Errors.STALE_BROKER_EPOCH)
    partition = state.partition(key)
    if event.broker not in partition.replicas:
        return [], Response(Errors.NOT_LEADER_OR_FOLLOWER)
    if event.current_leader_epoch != partition.leader_epoch:
        older = event.current_leader_epoch < partition.leader_epoch
        return [], Response(Errors.FENCED_LEADER_EPOCH if older else Errors.NOT_CONTROLLER)
    info = LogInfo(event.broker_epoch, event.last_written_leader_epoch, event.log_end_offset)
    answered = replace(recovery, answers={**recovery.answers, event.broker: info})
    received = ReplicaLogInfoReceived(key, event.broker, info)
    return [received, *_election(state, key, answered)], Response()


def time_out(state: State, event: RecoveryTimeout) -> tuple[list[Record], Response]:
    key = TopicIdPartition(event.topic_id, event.partition)
    recovery = state.recoveries.get(key)
    if recovery is None or not _goes_on(state, key, recovery):
        return [], Response(Errors.ELECTION_NOT_NEEDED)
    late = replace(recovery, timed_out=True)
    return [RecoveryTimedOut(key), *_election(state, key, late)], Response()


def _election(state: State, key: TopicIdPartition, recovery: Recovery) -> list[Record]:
    leader = _elected(state, key, recovery)
    if leader is None:
        return []
    proposal = Proposal(election=Election.UNCLEAN, designated=leader)
    change = proposed(state, state.topics[key.topic_id], key, proposal)
    assert change is not None, "a partition without a leader gets one"
    return [change, RecoveryEnded(key, elected=True)]


def elect_longest_logs(
    state: State, event: ElectLeaders
) -> tuple[list[Record], ElectLeadersResponse]:
    """Answer ElectLeaders of the longest log: begin recoveries, only where there is no leader. A
    recovery finishes later, so no error says only that it has begun."""
    if not state.recovers_uncleanly:
        refused = tuple((*named, Errors.INVALID_REQUEST) for named in event.partitions or ())
        return [], ElectLeadersResponse(Errors.INVALID_REQUEST, refused)
    named = event.partitions
    if named is None:
        without = [(state.topics[key.topic_id].name, key.partition) for key in leaderless(state)]
        named = tuple(without)
    records: list[Record] = []
    results: list[tuple[str, int, Errors]] = []
    for name, number in named:
        topic = state.topic(name)
        error = _refusal(topic, number)
        if topic is not None and error is Errors.NONE:
            records += _requested(state, TopicIdPartition(topic.topic_id, number), event.kind)
        results.append((name, number, error))
    return records, ElectLeadersResponse(results=tuple(results))


def _requested(state: State, key: TopicIdPartition, kind: ElectionType) -> list[Record]:
    """Begin a recovery, unless the same one was requested before and goes on."""
    strategy, recovery = LONGEST_LOG[kind], state.recoveries.get(key)
    if recovery is not None and recovery.requested and recovery.strategy is strategy:
        return []
    return [RecoveryStarted(key, strategy, requested=True)]


def _refusal(topic: Topic | None, number: int) -> Errors:
    if topic is None or number not in topic.partitions:
        return Errors.UNKNOWN_TOPIC_OR_PARTITION
    offline = topic.partitions[number].leader == NO_LEADER
    return Errors.NONE if offline else Errors.ELECTION_NOT_NEEDED
