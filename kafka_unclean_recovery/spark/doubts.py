"""What is wrong with replicas is counted, and the first of each kind is known. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kafka_unclean_recovery.model import ReplicaLog, TopicPartition
from kafka_unclean_recovery.wording import below_high_watermark


@dataclass(slots=True)
class Cases:
    """Cases of one kind. first: the least by topic, partition and broker, with a text."""

    count: int = 0
    first: tuple[str, int, int, str] | None = None

    def add(self, first: tuple[str, int, int, str], count: int = 1) -> None:
        self.count += count
        self.first = first if self.first is None else min(self.first, first)

    def join(self, other: Cases) -> None:
        if other.first is not None:
            self.add(other.first, other.count)

    def first_as_text(self, of_broker: str = "") -> str:
        """Return the first as a sentence. of_broker: a pattern for the broker."""
        assert self.first is not None
        topic, partition, broker, text = self.first
        name = f"{topic}-{partition}{of_broker.format(broker)}"
        return f"{name}: {text}" if text else name


@dataclass(slots=True)
class Doubts:
    """Replicas with something wrong. Those that are neither unusable nor suspect are trusted.
    short: the trusted replicas that end below their own high watermark."""

    unusable: Cases = field(default_factory=Cases)
    suspect: Cases = field(default_factory=Cases)
    short: Cases = field(default_factory=Cases)

    def add(self, topic_partition: TopicPartition, log: ReplicaLog) -> None:
        """Count the replica if there is something wrong with it."""
        what = (*topic_partition, log.broker)
        if log.problem:
            self.unusable.add((*what, log.problem))
        elif log.suspect:
            self.suspect.add((*what, log.suspect))
        elif log.ends_below_its_high_watermark:
            self.short.add((*what, below_high_watermark(log)))

    def join(self, other: Doubts) -> None:
        for each in fields(self):
            getattr(self, each.name).join(getattr(other, each.name))


def cases_of(document: Mapping[str, Any]) -> Cases:
    """Return what dataclasses.asdict made of Cases."""
    first = document["first"]
    return Cases(document["count"], None if first is None else tuple(first))


def doubts_of(document: Mapping[str, Any]) -> Doubts:
    """Return what dataclasses.asdict made of Doubts."""
    return Doubts(**{kind: cases_of(cases) for kind, cases in document.items()})
