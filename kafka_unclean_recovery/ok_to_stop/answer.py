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
    LeadershipJson,
    MissingReplicaJson,
    NotKnownJson,
    OkToStopJson,
    PredictedJson,
    ScenarioJson,
)
from kafka_unclean_recovery.kafka_names import INTERNAL_TOPICS
from kafka_unclean_recovery.ok_to_stop.because import because
from kafka_unclean_recovery.ok_to_stop.prediction import Leadership, Predicted, predict

Verdict = Literal["yes", "no", "unknown"]
_WORST: Sequence[Verdict] = ("yes", "unknown", "no")


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
        because(outcome),
        outcome.min_isr,
        _leadership(outcome.before),
        _leadership(outcome.after),
    )


def _leadership(found: Leadership) -> LeadershipJson:
    return LeadershipJson(found.leader, found.isr, found.elr)


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
