"""What a plan sums up to: each task counts its partitions, the driver adds up the tasks. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nsmallest
from typing import Any

from kafka_unclean_recovery.model import PartitionInfo, TopicPartition
from kafka_unclean_recovery.report.loss_by_topic import RecordCount, TopicLoss
from kafka_unclean_recovery.spark.doubts import Cases, Doubts, cases_of, doubts_of
from kafka_unclean_recovery.spark.plan.plan_rows import DELETED


@dataclass(slots=True)
class Sum:
    """Records over partitions with a designated leader. unknown: partitions whose number is not
    known."""

    known: int = 0
    unknown: int = 0

    def add(self, records: int | None) -> None:
        self.known += records or 0
        self.unknown += records is None

    def join(self, other: Sum) -> None:
        self.known += other.known
        self.unknown += other.unknown

    def counted(self) -> RecordCount:
        return RecordCount(self.known, self.unknown)


@dataclass(slots=True)
class OfTopic:
    """A topic's partitions that are not deleted. without: those without a designated leader, by the
    reason's code."""

    designated: int = 0
    without: dict[str, int] = field(default_factory=dict)
    certain: Sum = field(default_factory=Sum)
    possible: Sum = field(default_factory=Sum)

    def join(self, other: OfTopic) -> None:
        self.designated += other.designated
        self.without = dict(Counter(self.without) + Counter(other.without))
        self.certain.join(other.certain)
        self.possible.join(other.possible)

    def loss(self, topic: str) -> TopicLoss:
        return TopicLoss(
            topic,
            self.designated + sum(self.without.values()),
            self.designated,
            self.without,
            self.certain.counted(),
            self.possible.counted(),
        )


@dataclass(slots=True)
class Totals:
    """The totals of some partitions. doubts: about replicas. brokers: all that were found.
    worst: of the partitions that lose most, the worst first: the records known to be lost, as a
    negative number, -1 where more are lost that are not known and 0 else, topic and partition."""

    topics: dict[str, OfTopic] = field(default_factory=dict)
    without: Cases = field(default_factory=Cases)
    deleted: Cases = field(default_factory=Cases)
    doubts: Doubts = field(default_factory=Doubts)
    brokers: set[int] = field(default_factory=set)
    worst: list[tuple[int, int, str, int]] = field(default_factory=list)

    def read(self, info: PartitionInfo) -> None:
        """Count what was found of a partition."""
        if info.state is not None:
            self.brokers.update(info.state.replicas)
        for log in info.replica_logs:
            self.brokers.add(log.broker)
            self.doubts.add(info.topic_partition, log)

    def planned(self, row: Mapping[str, Any], most: int) -> None:
        """Count a row as plan_rows.PLANNED. most: how many of the worst are kept."""
        topic, partition, why = row["topic"], row["partition"], row.get("why")
        if why == DELETED:
            self.deleted.add((topic, partition, 0, ""))
            return
        of = self.topics.setdefault(topic, OfTopic())
        if why is not None:
            self.without.add((topic, partition, 0, row["reason"] or ""))
            of.without[why] = of.without.get(why, 0) + 1
            return
        of.designated += 1
        losses = row.get("certain_loss"), row.get("possible_loss")
        for sum_, loss in zip((of.certain, of.possible), losses, strict=True):
            sum_.add(loss)
        known, unknown = sum(loss or 0 for loss in losses), None in losses
        if known or unknown:
            self._keep([(-known, -unknown, topic, partition)], most)

    def _keep(self, more: Sequence[tuple[int, int, str, int]], most: int) -> None:
        room = len(self.worst) < most
        if more and (room or (self.worst and min(more) < self.worst[-1])):
            self.worst = nsmallest(most, [*self.worst, *more])

    def join(self, other: Totals, most: int) -> None:
        for topic, of in other.topics.items():
            self.topics.setdefault(topic, OfTopic()).join(of)
        self.without.join(other.without)
        self.deleted.join(other.deleted)
        self.doubts.join(other.doubts)
        self.brokers |= other.brokers
        self._keep(other.worst, most)

    def losses(self) -> tuple[TopicLoss, ...]:
        return tuple(of.loss(topic) for topic, of in sorted(self.topics.items()))

    def worst_of_all(self) -> Iterator[TopicPartition]:
        return (TopicPartition(topic, partition) for *_, topic, partition in self.worst)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "brokers": sorted(self.brokers)}


def totals_of(document: Mapping[str, Any]) -> Totals:
    """Return what as_json made of totals."""
    return Totals(
        {topic: _of_topic(of) for topic, of in document["topics"].items()},
        brokers=set(document["brokers"]),
        worst=[tuple(each) for each in document["worst"]],
        without=cases_of(document["without"]),
        deleted=cases_of(document["deleted"]),
        doubts=doubts_of(document["doubts"]),
    )


def _of_topic(document: Mapping[str, Any]) -> OfTopic:
    sums = (Sum(**document[name]) for name in ("certain", "possible"))
    return OfTopic(document["designated"], document["without"], *sums)
