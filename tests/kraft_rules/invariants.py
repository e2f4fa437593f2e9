"""What holds in every state of a controller, and from one to the next.

ValidControllerIsrAndElr is named as in the TLA+ specification of KIP-966.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import State, Topic


def check_invariants(state: State) -> None:
    """Raise AssertionError with the invariants that don't hold, and where."""
    broken = [
        f"{topic.name}-{number}: {sentence}: {partition}"
        for topic in state.topics.values()
        for number, partition in topic.partitions.items()
        for sentence in _broken(state, topic, number, partition)
    ]
    assert not broken, "\n".join(broken)


def partitions(state: State) -> dict[TopicIdPartition, PartitionRegistration]:
    return {
        TopicIdPartition(topic.topic_id, number): partition
        for topic in state.topics.values()
        for number, partition in topic.partitions.items()
    }


def check_step(
    state: State, before: Mapping[TopicIdPartition, PartitionRegistration], line: str
) -> None:
    """Raise AssertionError with what may not come of a state; `line` is what has happened."""
    for key, now in partitions(state).items():
        if key in before:
            was = before[key]
            broken = [*_broken_by_step(state, was, now, line), *_broken_elr(state, key, was, now)]
            assert not broken, f"{line}: {broken}: {was} then {now}"


def _broken_by_step(
    state: State, was: PartitionRegistration, now: PartitionRegistration, line: str
) -> Iterator[str]:
    if was.leader != now.leader and now.leader_epoch <= was.leader_epoch:
        yield "at most one leader an epoch"
    if now.leader_epoch < was.leader_epoch or now.partition_epoch < was.partition_epoch:
        yield "epochs don't fall"
    if (was == now) != (was.partition_epoch == now.partition_epoch):
        yield "every change is a partition epoch, and nothing else is"
    lost = set(was.replicas) - set(now.replicas)
    if was.leader == now.leader and was.leader_epoch != now.leader_epoch and not lost:
        yield "no leader epoch for a change of ISR or ELR alone"
    if state.release.elr and not was.reassigning and not _gives_up(was, now, line):
        candidates = [len(p.isr) + len(p.elr) for p in (was, now)]
        # The effective min ISR is at most the replication factor, which is the least of the two.
        if candidates[1] < candidates[0] and candidates[1] < _min_isr(state, now):
            yield "ISR and ELR don't drop below min ISR unless a replica has lost data"


def _broken_elr(
    state: State, key: TopicIdPartition, was: PartitionRegistration, now: PartitionRegistration
) -> Iterator[str]:
    if state.release.elr and now.elr:
        min_isr = int(state.config(state.topics[key.topic_id], MIN_INSYNC_REPLICAS))
        if len(now.isr) >= min_isr and not _elr_was_stale(state, was, min_isr):
            yield "ValidControllerIsrAndElr: an ELR only while the ISR is below min ISR"
    if not state.release.elr and not set(now.elr) <= set(was.elr):
        yield "without ELR none gets longer"
    if not state.release.elr and was.isr and not now.isr:
        yield "without ELR the ISR is never emptied"


def _elr_was_stale(state: State, was: PartitionRegistration, min_isr: int) -> bool:
    """Return True, in the releases, where min ISR was lowered while ELR was off."""
    if state.release.election_may_end_elr:
        return was.elr != () and len(was.isr) >= min_isr
    return was.elr != () and (not was.isr or len(was.isr) >= min_isr)


def _gives_up(was: PartitionRegistration, now: PartitionRegistration, line: str) -> bool:
    """Return whether it is an unclean shutdown or election, a change of config, or of replicas."""
    elected = now.leader_recovery_state > was.leader_recovery_state
    return elected or line.split()[0] in (
        "restart",
        "register",
        "set",
        "cluster",
        "reassign",
        "elect",
        "timer",
    )


def _min_isr(state: State, now: PartitionRegistration) -> int:
    topic = next(t for t in state.topics.values() if now in t.partitions.values())
    return min(state.min_isr(topic, now.replicas), len(now.replicas))


def _broken(state: State, topic: Topic, number: int, now: PartitionRegistration) -> Iterator[str]:
    if set(now.isr) & set(now.elr):
        yield "ISR and ELR are disjoint"
    if not set(now.isr) <= set(now.replicas):
        yield "the ISR are replicas"
    if state.release.reassignment_needs_min_isr and not set(now.elr) <= set(now.replicas):
        yield "the ELR are replicas"
    if now.leader != NO_LEADER and now.leader not in now.isr:
        yield "a leader is in the ISR"
    # It may be one that shuts down: Kafka unfences a broker that was told to stop and did not.
    if now.leader != NO_LEADER and state.brokers[now.leader].fenced:
        yield "a leader's broker is unfenced"
    if len(now.replicas) != len(now.directories) or len(set(now.replicas)) != len(now.replicas):
        yield "each replica is there once, and has a directory"
    yield from _wrongly_indexed(state, TopicIdPartition(topic.topic_id, number), now)


def _wrongly_indexed(
    state: State, key: TopicIdPartition, now: PartitionRegistration
) -> Iterator[str]:
    for log_dir in {d for registration in state.brokers.values() for d in registration.log_dirs}:
        if (key in state.directories.of(log_dir)) != (log_dir in now.directories):
            yield f"the index of directories is right for {log_dir}"
    for broker in {*state.brokers, *now.replicas, NO_LEADER}:
        if (key in state.isrs.of(broker)) != (broker in now.isr):
            yield f"the index of ISRs is right for {broker}"
        if (key in state.leaders.of(broker)) != (broker == now.leader):
            yield f"the index of leaders is right for {broker}"
        listed = list(state.elrs.of(broker)).count(key)
        if listed < (broker in now.elr):
            yield f"the index of ELRs lacks nothing for {broker}"
        if not state.release.min_isr_change_clears_elr and listed > (broker in now.elr):
            yield f"the index of ELRs has nothing more for {broker}"
