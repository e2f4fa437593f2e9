"""The answer for a set of brokers and controllers, the largest set that it can grow to, and what
has not come back of brokers that were stopped and started again; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.documents.ok_to_stop import (
    BackAfterStopJson,
    MissingReplicaJson,
    NotKnownJson,
    OkToStopJson,
    PredictedJson,
    ScenarioJson,
)
from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.model import NO_LEADER
from kafka_unclean_recovery.ok_to_stop.prediction import Class, Predicted, predict
from kafka_unclean_recovery.wording import ids_text

Verdict = Literal["yes", "no", "unknown"]
_WORST: Sequence[Verdict] = ("yes", "unknown", "no")
_SOURCES = {
    "topic": "set on the topic",
    "all_brokers": "set for all brokers",
    "one_broker": "set for a broker",
    "file": "set in the brokers' files",
    "default": "the default",
}


@dataclass(frozen=True, slots=True)
class Question:
    """May these be stopped together? margin: how many more failures each partition must stand
    before writes are blocked."""

    brokers: frozenset[int]
    controllers: frozenset[int] = frozenset()
    margin: int = 0


def answer(
    observation: ObservationJson, question: Question, largest: Iterable[int] | None = None
) -> OkToStopJson:
    """Return what a controlled stop and a kill would do. What is not known is never a yes."""
    found = predict(observation, question.brokers, question.margin)
    quorum, lost = _quorum(observation, question.brokers | question.controllers)
    problems = (*observation.problems, *untold_disks(observation, question.brokers))
    unknown = bool(found.not_known or problems)

    def scenario(outcomes: Iterable[Predicted]) -> ScenarioJson:
        rows = tuple(map(_row, outcomes))
        blocked: Verdict = "no" if any(o.blocks for o in outcomes) else "yes"
        verdict = worst(blocked, quorum, "unknown" if unknown else "yes")
        counts = Counter(str(each) for row in rows for each in row.classes)
        return ScenarioJson(verdict, dict(counts), lost, rows)

    stop, kill = scenario(found.stop), scenario(found.kill)
    return OkToStopJson(
        cluster_id=observation.cluster_id,
        observed_at=observation.observed_at,
        brokers=tuple(sorted(question.brokers)),
        controllers=tuple(sorted(question.controllers)),
        margin=question.margin,
        verdict=worst(stop.verdict, kill.verdict),
        stop=stop,
        kill=kill,
        already=tuple(map(_row, found.already)),
        not_known=tuple(
            NotKnownJson(tp.topic, tp.partition, why) for tp, why in sorted(found.not_known.items())
        ),
        problems=problems,
        largest=None if largest is None else tuple(sorted(largest)),
    )


def untold_disks(observation: ObservationJson, brokers: frozenset[int]) -> Iterator[str]:
    """Yield a sentence for each of the brokers that may have topics which this user can't see. A
    topic is concerned that has a replica on one of them, so the disks of others don't matter."""
    for broker in observation.brokers:
        if broker.id in brokers and broker.disks is not None:
            yield f"whether topics of broker {broker.id} are hidden is not known: {broker.disks}"


def worst(*verdicts: Verdict) -> Verdict:
    return max(verdicts, key=_WORST.index)


def largest_set(
    observation: ObservationJson, question: Question, rack: str | None, limit: int
) -> frozenset[int]:
    """Return the brokers of the question with others of the rack, added one at a time as long as
    the answer is yes, up to `limit`; no broker where the answer is not yes to begin with."""
    grown = frozenset[int]()
    first = sorted(question.brokers)
    more = sorted(b.id for b in observation.brokers if b.rack == rack and not b.fenced)
    if first:
        if not _is_ok(observation, question, question.brokers):
            return grown
        grown = question.brokers
    for broker in more:
        if len(grown) < limit and _is_ok(observation, question, grown | {broker}):
            grown |= {broker}
    return grown


def _is_ok(observation: ObservationJson, question: Question, brokers: frozenset[int]) -> bool:
    asked = Question(brokers, question.controllers, question.margin)
    return answer(observation, asked).verdict == "yes"


def _quorum(observation: ObservationJson, leaving: frozenset[int]) -> tuple[Verdict, str | None]:
    """Return whether the metadata quorum keeps its majority, and why not."""
    if observation.voters is None:
        return "unknown", None
    voters = observation.voters
    left = [voter for voter in voters if voter.id not in leaving]
    sure = sum(voter.follows is True for voter in left)
    maybe = sum(voter.follows is None for voter in left)
    need = len(voters) // 2 + 1
    if sure >= need:
        return "yes", None
    why = f"{sure} of {len(voters)} voters would be left that follow, and a majority is {need}"
    return ("unknown", None) if sure + maybe >= need else ("no", why)


def _row(outcome: Predicted) -> PredictedJson:
    tp = outcome.topic_partition
    return PredictedJson(
        tp.topic,
        tp.partition,
        tp.topic in INTERNAL_TOPICS,
        tuple(map(str, outcome.classes)),
        _because(outcome),
        outcome.min_isr,
        outcome.before,
        outcome.after,
    )


def _because(outcome: Predicted) -> str:
    """Return why the partition is of its gravest class; of a partition that is bad already, why."""
    if not outcome.classes:
        if outcome.before.leader == NO_LEADER:
            return f"it has no leader; ISR {ids_text(outcome.before.isr)}"
        return f"ISR {ids_text(outcome.before.isr)}; {_min_isr(outcome)}"
    return _WHY[outcome.classes[0]](outcome)


def _min_isr(outcome: Predicted) -> str:
    topic, replicas = outcome.topic, len(outcome.replicas)
    source = _SOURCES.get(topic.min_isr_source, "of a source that is not known")
    if topic.min_isr is not None and topic.min_isr > outcome.min_isr == replicas:
        return (
            f"min.insync.replicas {topic.min_isr}, {source}, counts as {replicas}: it has"
            f" {replicas} replicas"
        )
    return f"min.insync.replicas {outcome.min_isr}, {source}"


def _members(outcome: Predicted) -> str:
    elr = f", ELR {ids_text(outcome.before.elr)}" if outcome.before.elr else ""
    return f"ISR {ids_text(outcome.before.isr)}{elr} of replicas {ids_text(outcome.replicas)}"


def _unclean(outcome: Predicted) -> str:
    return (
        f"unclean.leader.election.enable is true: {outcome.after.leader} would lead, which is not"
        f" in {_members(outcome)}"
    )


def _last_copy(outcome: Predicted) -> str:
    return f"all of {_members(outcome)} that are clean would be stopped"


def _survivor(outcome: Predicted) -> str:
    whom = ids_text(outcome.survivors)
    return f"nobody leads it, and the best of its live copies would be stopped: that of {whom}"


def _offline(outcome: Predicted) -> str:
    unclean = "" if outcome.topic.unclean else "; unclean.leader.election.enable is false"
    return f"nobody else of {_members(outcome)} lives{unclean}"


def _one_replica(outcome: Predicted) -> str:
    return f"replication factor 1, on broker {outcome.replicas[0]}"


def _isr_shrinks(outcome: Predicted) -> str:
    return (
        f"ISR {ids_text(outcome.before.isr)} becomes {ids_text(outcome.after.isr)};"
        f" {_min_isr(outcome)}"
    )


def _elr(outcome: Predicted) -> str:
    return f"{_isr_shrinks(outcome)}; its return from a kill leaves the ELR"


_WHY = {
    Class.UNCLEAN_ELECTION: _unclean,
    Class.LAST_CLEAN_COPY: _last_copy,
    Class.OFFLINE_SURVIVOR: _survivor,
    Class.GOES_OFFLINE: _offline,
    Class.WRITES_BLOCKED: _isr_shrinks,
    Class.BELOW_MARGIN: _isr_shrinks,
    Class.SINGLE_REPLICA: _one_replica,
    Class.LEAVES_ELR: _elr,
    Class.AT_THE_FLOOR: _isr_shrinks,
}


def back(observation: ObservationJson, brokers: frozenset[int]) -> BackAfterStopJson:
    """Return whether these brokers, and each replica of theirs, are back."""
    up = {b.id for b in observation.brokers if b.up}
    missing = tuple(
        MissingReplicaJson(topic.name, partition.partition, broker, _why(partition, broker, up))
        for topic in observation.topics
        for partition in topic.partitions
        for broker in _missing(partition, brokers)
    )
    problems = (
        *observation.problems,
        *untold_disks(observation, brokers),
        # What is configured plays no part here.
        *(f"{t.name}: {t.problem}" for t in observation.topics if t.problem and not _whole(t)),
    )
    down = tuple(sorted(brokers - up))
    return BackAfterStopJson(
        cluster_id=observation.cluster_id,
        observed_at=observation.observed_at,
        brokers=tuple(sorted(brokers)),
        verdict="no" if down or missing else "unknown" if problems else "yes",
        down=down,
        missing=missing,
        not_leading=sum(
            partition.replicas[:1] != (partition.leader,)
            and not brokers.isdisjoint(partition.replicas[:1])
            for topic in observation.topics
            for partition in topic.partitions
        ),
        problems=problems,
    )


def _whole(topic: ObservedTopicJson) -> bool:
    """Return whether each partition of the topic was told: Kafka numbers them without a gap."""
    told = {partition.partition for partition in topic.partitions if partition.replicas}
    return bool(told) and told == set(range(len(topic.partitions)))


def _missing(partition: ObservedPartitionJson, brokers: frozenset[int]) -> Iterator[int]:
    """Yield the brokers that are not in the ISR; a replica that is added has never been there, and
    one that is removed need not be there again."""
    for broker in partition.replicas:
        leaves = broker in partition.adding_replicas or broker in partition.removing_replicas
        if broker in brokers and broker not in partition.isr and not leaves:
            yield broker


def _why(partition: ObservedPartitionJson, broker: int, up: set[int]) -> str:
    if broker not in up:
        return "broker_down"
    return "directory_failed" if broker in partition.offline_replicas else "catching_up"
