"""What becomes of each partition when brokers stop; no I/O.

A partition is concerned that has a replica on these brokers. Nothing is said of one as long as
something that decides it is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafka_unclean_recovery.documents.observation import (
    BY_BROKER,
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.documents.ok_to_stop import LeadershipJson
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.model import NO_LEADER, TopicPartition
from kafka_unclean_recovery.ok_to_stop.controller_state import Chosen, Rehearsal, tried

Ids = tuple[int, ...]


class Class(StrEnum):
    """What the stop does to a partition, from the gravest."""

    UNCLEAN_ELECTION = "unclean_election"
    """A replica from outside the ISR and the ELR leads: records are lost."""
    LAST_CLEAN_COPY = "last_clean_copy"
    """These brokers have every member of the ISR and the ELR."""
    OFFLINE_SURVIVOR = "offline_survivor"
    """Nobody leads it, and these brokers have the best live copy: whoever were elected without them
    would lose records."""
    GOES_OFFLINE = "goes_offline"
    WRITES_BLOCKED = "writes_blocked"
    """A producer with acks=all gets NOT_ENOUGH_REPLICAS."""
    BELOW_MARGIN = "below_margin"
    SINGLE_REPLICA = "single_replica"
    """It goes offline, as whoever created it with one replica knows."""
    LEAVES_ELR = "leaves_elr"
    """A replica that a stop leaves in the ELR is out of it once it returns from a kill."""
    AT_THE_FLOOR = "at_the_floor"
    """One more failure blocks writes."""


BLOCKING = frozenset(
    {
        *(Class.UNCLEAN_ELECTION, Class.LAST_CLEAN_COPY, Class.OFFLINE_SURVIVOR),
        *(Class.GOES_OFFLINE, Class.WRITES_BLOCKED, Class.BELOW_MARGIN),
    }
)
_ORDER = {each: number for number, each in enumerate(Class)}


@dataclass(frozen=True, slots=True)
class Predicted:
    """A partition before and after. online: replicas whose broker and log directory work. min_isr:
    the effective one, for the leader that comes after. survivors: where nobody leads it, the
    replicas with the best live copy."""

    topic_partition: TopicPartition
    topic: ObservedTopicJson
    replicas: Ids
    online: Ids
    before: LeadershipJson
    after: LeadershipJson
    min_isr: int
    survivors: Ids = ()
    classes: tuple[Class, ...] = ()

    @property
    def clean(self) -> set[int]:
        """Return the replicas that have every committed record: ISR and ELR, before."""
        return {*self.before.isr, *self.before.elr}

    @property
    def blocks(self) -> bool:
        return not BLOCKING.isdisjoint(self.classes)


@dataclass(frozen=True, slots=True)
class Prediction:
    """What becomes of the partitions concerned. already: those that were offline or blocked before,
    as they were. not_known: why nothing can be said of a partition."""

    stop: tuple[Predicted, ...] = ()
    kill: tuple[Predicted, ...] = ()
    already: tuple[Predicted, ...] = ()
    not_known: Mapping[TopicPartition, str] = field(default_factory=dict)


def predict(observation: ObservationJson, stopping: frozenset[int], margin: int = 0) -> Prediction:
    """Predict a controlled stop and a kill of these brokers together."""
    brokers = {b.id: b for b in observation.brokers}
    concerned: dict[TopicPartition, tuple[ObservedTopicJson, ObservedPartitionJson]] = {}
    not_known: dict[TopicPartition, str] = {}
    for topic, partition in _concerned(observation, stopping):
        key = TopicPartition(topic.name, partition.partition)
        why = _not_known(topic, partition, brokers, stopping)
        if why is None:
            concerned[key] = (topic, partition)
        else:
            not_known[key] = why
    judge = _Judge(observation, concerned, stopping, margin)
    stop, kill = judge.stopped(), judge.killed()
    for outcome in stop:
        _, partition = concerned[outcome.topic_partition]
        why = _not_certain(outcome, partition, observation)
        if why is not None:
            not_known[outcome.topic_partition] = why
    return Prediction(
        _noteworthy(stop, not_known),
        _noteworthy(kill, not_known),
        tuple(judge.already()),
        not_known,
    )


def _noteworthy(
    outcomes: Iterable[Predicted], not_known: Mapping[TopicPartition, str]
) -> tuple[Predicted, ...]:
    told = (o for o in outcomes if o.classes and o.topic_partition not in not_known)
    return tuple(sorted(told, key=lambda o: (_ORDER[o.classes[0]], o.topic_partition)))


def _concerned(
    observation: ObservationJson, stopping: frozenset[int]
) -> Iterator[tuple[ObservedTopicJson, ObservedPartitionJson]]:
    for topic in observation.topics:
        for partition in topic.partitions:
            if not stopping.isdisjoint(partition.replicas):
                yield topic, partition


def _not_known(
    topic: ObservedTopicJson,
    partition: ObservedPartitionJson,
    brokers: Mapping[int, ObservedBrokerJson],
    stopping: frozenset[int],
) -> str | None:
    if topic.problem is not None:
        return topic.problem
    if all(each.partition != 0 for each in topic.partitions):
        return "partition 0 of its topic is not told, whose replicas the controller counts by"
    if (unlisted := _unlisted(partition, brokers)) is not None:
        return unlisted
    if partition.leader not in (NO_LEADER, *partition.isr):
        return f"broker {partition.leader} leads it and is not in its ISR: look again in a moment"
    if (mute := _mute(partition, brokers, stopping)) is not None:
        return mute
    why = partition.survivors_untold
    if (
        why is None
        or stopping.isdisjoint(_online(partition))
        or stopping.issuperset(_online(partition))
    ):
        return None
    return f"nobody leads it, and which live copy of it is the best is not known: {why}"


def _unlisted(
    partition: ObservedPartitionJson, brokers: Mapping[int, ObservedBrokerJson]
) -> str | None:
    """Return what is said of a replica whose broker may live and is not listed; None where each is
    listed or dead."""
    for id_ in partition.replicas:
        broker = brokers.get(id_)
        if broker is not None and not broker.listed:
            if broker.heard is None:
                return f"broker {id_}, which has a replica of it, {broker.silent}"
            return f"broker {id_}, which has a replica of it, {broker.heard}; {broker.silent}"
    if partition.led_unseen:
        return "it is led by a broker that has no listener here: come in by another listener"
    return None


def _mute(
    partition: ObservedPartitionJson,
    brokers: Mapping[int, ObservedBrokerJson],
    stopping: frozenset[int],
) -> str | None:
    """Return what is said of a broker that others rely on and that does not answer."""
    members = {*partition.isr, *partition.elr, partition.leader} - stopping
    for id_ in sorted(members & brokers.keys()):
        broker = brokers[id_]
        if broker.silent is not None:
            text = f"broker {id_} is in its ISR or ELR and does not answer"
            if broker.heard is None:
                return f"{text}: it may be down"
            return f"{text}, though it {broker.heard}: {broker.silent}"
    return None


def _online(partition: ObservedPartitionJson) -> Ids:
    """Return the replicas whose broker and log directory work."""
    return tuple(i for i in partition.replicas if i not in partition.offline_replicas)


def _survivors(partition: ObservedPartitionJson) -> Ids:
    """Return the replicas with the best live copy of a partition that nobody leads: any may be it
    where that could not be read."""
    untold = partition.survivors_untold is not None
    return _online(partition) if untold else partition.survivors


def _not_certain(
    outcome: Predicted, partition: ObservedPartitionJson, observation: ObservationJson
) -> str | None:
    """Return why it is not certain what becomes of the partition; None while a member of the ISR
    leads: that it does is a rule of every release."""
    before, after = outcome.before, outcome.after
    if (why := _min_isr_untold(outcome, observation)) is not None:
        return why
    if after.leader in before.isr:
        return None
    # A controller of 4.3.1 leaves there whom a reassignment takes off.
    if strangers := {*partition.elr, *partition.last_known_elr}.difference(partition.replicas):
        return (
            f"broker {min(strangers)} is in its ELR or last known ELR, and no replica of it: what a"
            " controller does then was not tried"
        )
    if not tried(observation):
        release = observation.release
        return f"what a controller of Kafka {release} does without a live ISR was not tried"
    if after.leader in before.elr:
        return (
            f"broker {after.leader} is in its ELR and lives, but not in its ISR: it may be shutting"
            " down, which no request tells; look again once it is in the ISR"
        )
    return None


def _min_isr_untold(outcome: Predicted, observation: ObservationJson) -> str | None:
    """Return why it is not known whether the new leader refuses writes: it goes by its own
    min.insync.replicas, and another broker's may differ. None where it has enough by any."""
    before, after, topic = outcome.before, outcome.after, outcome.topic
    enough = len(after.isr) >= min(len(before.isr), len(outcome.replicas))
    if topic.min_isr_source not in BY_BROKER or after.leader == NO_LEADER or enough:
        return None
    own = next((b.min_isr for b in observation.brokers if b.id == after.leader), None)
    if own is not None:
        return None
    return (
        f"broker {after.leader}, which would lead it, did not tell the min.insync.replicas of its"
        " own file, by which it takes writes; look again"
    )


class _Judge:
    """The partitions concerned, before and after each way to stop."""

    def __init__(
        self,
        observation: ObservationJson,
        concerned: Mapping[TopicPartition, tuple[ObservedTopicJson, ObservedPartitionJson]],
        stopping: frozenset[int],
        margin: int,
    ) -> None:
        self._observation = observation
        self._concerned = concerned
        self._topics = _chosen(concerned.values())
        self._stopping = stopping
        self._margin = margin
        self._own_min_isr = {b.id: b.min_isr for b in observation.brokers}
        self._before = Rehearsal(observation, self._topics)

    def stopped(self) -> list[Predicted]:
        rehearsal = Rehearsal(self._observation, self._topics)
        rehearsal.stop(sorted(self._stopping))
        after = rehearsal.partitions()
        return [self._judged(each) for each in self._outcomes(after, rehearsal)]

    def killed(self) -> list[Predicted]:
        rehearsal = Rehearsal(self._observation, self._topics)
        rehearsal.kill(sorted(self._stopping))
        down = self._outcomes(rehearsal.partitions(), rehearsal)
        rehearsal.restart_after_kill(sorted(self._stopping))
        returned = rehearsal.partitions()
        return [self._judged(each, returned[each.topic_partition].elr) for each in down]

    def already(self) -> Iterator[Predicted]:
        for outcome in self._outcomes(self._before.partitions(), self._before):
            if _bad(outcome):
                yield outcome

    def _outcomes(
        self, after: Mapping[TopicPartition, PartitionRegistration], rehearsal: Rehearsal
    ) -> list[Predicted]:
        before = self._before.partitions()
        return [
            Predicted(
                key,
                topic,
                observed.replicas,
                _online(observed),
                _leadership(before[key], self._before),
                _leadership(after[key], rehearsal),
                self._min_isr(topic, observed, after[key].leader),
                _survivors(observed),
            )
            for key, (topic, observed) in self._concerned.items()
        ]

    def _min_isr(
        self, topic: ObservedTopicJson, observed: ObservedPartitionJson, leader: int
    ) -> int:
        """Return the effective min.insync.replicas (KIP-966): a leader takes its own file's where
        neither the topic nor the cluster has a value."""
        own = None
        if topic.min_isr_source in BY_BROKER:
            own = self._own_min_isr.get(leader)
        configured = topic.min_isr if own is None else own
        assert configured is not None, "topics without a known value are not predicted"
        return min(configured, len(observed.replicas))

    def _judged(self, outcome: Predicted, elr_on_return: Ids | None = None) -> Predicted:
        classes = sorted(
            _classes(outcome, self._stopping, self._margin, elr_on_return), key=_ORDER.__getitem__
        )
        return replace(outcome, classes=tuple(classes))


def _chosen(concerned: Collection[tuple[ObservedTopicJson, ObservedPartitionJson]]) -> Chosen:
    """Return the partitions concerned, and partition 0 of each topic, which its min.insync.replicas
    is counted by."""
    by_topic: dict[str, list[ObservedPartitionJson]] = {}
    topics = {topic.name: topic for topic, _ in concerned}
    for topic, partition in concerned:
        by_topic.setdefault(topic.name, []).append(partition)
    for name, chosen in by_topic.items():
        if all(each.partition != 0 for each in chosen):
            chosen.append(next(p for p in topics[name].partitions if p.partition == 0))
    return [(topics[name], chosen) for name, chosen in by_topic.items()]


def _leadership(partition: PartitionRegistration, rehearsal: Rehearsal) -> LeadershipJson:
    """Return who counts: without ELR a dead last member stays in the ISR (KIP-903)."""
    isr = tuple(i for i in partition.isr if rehearsal.active(i))
    leader = partition.leader if rehearsal.active(partition.leader) else NO_LEADER
    return LeadershipJson(leader, isr or partition.isr, partition.elr)


def _bad(outcome: Predicted) -> bool:
    return outcome.before.leader == NO_LEADER or len(outcome.before.isr) < outcome.min_isr


def _classes(
    outcome: Predicted, stopping: frozenset[int], margin: int, elr_on_return: Ids | None
) -> Iterator[Class]:
    led = outcome.before.leader != NO_LEADER
    if not led and outcome.survivors and stopping.issuperset(outcome.survivors):
        yield Class.OFFLINE_SURVIVOR
    if len(outcome.replicas) == 1:
        if led and outcome.after.leader == NO_LEADER:
            yield Class.SINGLE_REPLICA
        return
    if led:
        yield from _of_leadership(outcome, stopping)
    elif outcome.after.leader != NO_LEADER and _is_unclean(outcome, stopping):
        yield Class.UNCLEAN_ELECTION
    yield from _of_writes(outcome, margin)
    if elr_on_return is not None and set(outcome.after.elr) - set(elr_on_return):
        yield Class.LEAVES_ELR


def _of_leadership(outcome: Predicted, stopping: frozenset[int]) -> Iterator[Class]:
    after = outcome.after
    offline = after.leader == NO_LEADER
    if unclean := _is_unclean(outcome, stopping):
        yield Class.UNCLEAN_ELECTION
    # An ELR that was left when ELR was switched off is forgotten by the next change.
    clean = outcome.clean if unclean else {*after.isr, *after.elr}
    if (offline or unclean) and clean <= stopping:
        yield Class.LAST_CLEAN_COPY
    if offline:
        yield Class.GOES_OFFLINE


def _is_unclean(outcome: Predicted, stopping: frozenset[int]) -> bool:
    """Return whether a replica from outside the ISR and the ELR leads, or may lead for a while: one
    of these brokers, if it is not the first to stop."""
    leader = outcome.after.leader
    if leader != NO_LEADER:
        return leader not in outcome.clean
    others = stopping & set(outcome.online) - outcome.clean
    return bool(outcome.topic.unclean and outcome.before.leader != NO_LEADER and others)


def _of_writes(outcome: Predicted, margin: int) -> Iterator[Class]:
    before, after = outcome.before, outcome.after
    spare = len(after.isr) - outcome.min_isr
    if after.leader == NO_LEADER or len(after.isr) >= len(before.isr):
        return
    if spare < 0 and not _bad(outcome):
        yield Class.WRITES_BLOCKED
    if 0 <= spare < margin:
        yield Class.BELOW_MARGIN
    if spare == 0:
        yield Class.AT_THE_FLOOR
