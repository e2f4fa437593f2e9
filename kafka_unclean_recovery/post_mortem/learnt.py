"""What other commands learnt after the elections: how much the disks of dead brokers held beyond
the elected logs, how much of that was saved, and what was done with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.wording import brokers_text, count_text


@dataclass(frozen=True, slots=True)
class Found:
    """What the log of one replica held beyond the elected leader's.

    beyond: records, counted by offsets; None is unknown. at_least: there may be more. saved: how
    many of them salvage wrote to `directory`; both None where only before-start has looked.
    later: how many of them were found only after that, so that nobody tried to save them.
    """

    topic_partition: TopicPartition
    broker: int
    beyond: int | None
    at_least: bool = False
    saved: int | None = None
    directory: str | None = None
    later: int = 0

    @property
    def left(self) -> int:
        """Return how many records nobody has tried to save."""
        return (self.beyond or 0) if self.saved is None else self.later

    @property
    def gone(self) -> int | None:
        """Return how many records could not be saved; None where that is not known."""
        if self.saved is None or self.beyond is None:
            return None
        return self.beyond - self.saved - self.later


@dataclass(frozen=True, slots=True)
class Produced:
    """The records of one directory of salvage that salvage replay has produced. whole: it came to
    its end, and left no partition out."""

    directory: str
    records: int
    targets: tuple[str, ...]
    whole: bool = True


@dataclass(slots=True)
class Learnt:
    """All of that. commits: how many of consumer groups were brought back."""

    by_partition: dict[TopicPartition, dict[int, Found]] = field(default_factory=dict)
    produced: list[Produced] = field(default_factory=list)
    commits: int = 0

    @property
    def found(self) -> list[Found]:
        """Return all that was found, by partition and broker."""
        return [row for partition in sorted(self.by_partition) for row in self.of(partition)]

    @property
    def anything(self) -> bool:
        return bool(self.by_partition or self.produced or self.commits)

    def hear(self, found: Found) -> None:
        """Take in what a command found. What was known before stays known: the disk may have been
        cut since, by its broker's start, and the rest of its records is gone then."""
        rows = self.by_partition.setdefault(found.topic_partition, {})
        before = rows.get(found.broker)
        rows[found.broker] = found if before is None else _both(before, found)

    def of(self, topic_partition: TopicPartition) -> list[Found]:
        """Return what was found of one partition, by broker."""
        rows = self.by_partition.get(topic_partition, {})
        return [rows[broker] for broker in sorted(rows)]

    def knows(self, topic_partition: TopicPartition, broker: int) -> bool:
        """Tell whether it is known what this replica held beyond the elected leader's log."""
        found = self.by_partition.get(topic_partition, {}).get(broker)
        return found is not None and found.beyond is not None and not found.at_least


def _both(before: Found, now: Found) -> Found:
    if now.saved and now.saved >= (before.saved or 0):
        return now
    if now.saved is None and before.saved is not None:
        return _looked_again(before, now)
    larger = max((before, now), key=lambda each: -1 if each.beyond is None else each.beyond)
    saving = before if before.saved is not None else now
    if before.saved:
        return before
    return replace(larger, saved=saving.saved, directory=saving.directory)


def _looked_again(before: Found, now: Found) -> Found:
    """Return what is known when before-start looks after a salvage: of a disk that was cut since it
    tells less, and by a leader that changed since it may tell more."""
    if now.beyond is None or before.beyond is None or now.beyond <= before.beyond:
        return before
    at_least = before.at_least or now.at_least
    later = before.later + now.beyond - before.beyond
    return replace(before, beyond=now.beyond, at_least=at_least, later=later)


def learnt_sentences(learnt: Learnt) -> Iterator[str]:
    """Yield sentences on all partitions together, none where nothing was learnt."""
    if rows := learnt.found:
        who = brokers_text(sorted({row.broker for row in rows}))
        holders = Counter(row.topic_partition for row in rows if row.beyond)
        several = max(holders.values(), default=0) > 1
        note = "; what several replicas hold counts for each" if several else ""
        yield f"Found since, on the disks of {who}: {_counts(rows)}{note}."
    for produced in learnt.produced:
        where = ", ".join(produced.targets)
        what = count_text(produced.records, "record")
        part = "" if produced.whole else " (not all that is there)"
        yield f"Produced again from {produced.directory}: {what}, to {where}{part}."
    if learnt.commits:
        yield f"Brought back: {count_text(learnt.commits, 'commit')} of consumer groups."


def found_text(found: Found) -> str:
    """Return the sentence on one replica."""
    into = f" in {found.directory}" if found.saved else ""
    return f"Found since on the disk of broker {found.broker}: {_counts([found], into)}"


def _counts(rows: Collection[Found], into: str = "") -> str:
    known = [row for row in rows if row.beyond is not None]
    beyond = sum(row.beyond or 0 for row in known)
    least = "at least " if any(row.at_least for row in known) else ""
    told = [f"{least}{count_text(beyond, 'record')} beyond the elected logs"] if known else []
    saved = [row for row in known if row.saved is not None]
    if any(row.beyond for row in saved):
        told.append(f"{sum(row.saved or 0 for row in saved)} saved{into}")
        told.append(f"{sum(row.gone or 0 for row in saved)} gone")
    if left := sum(row.left for row in known):
        told.append(f"{left} not saved")
    if unknown := sum(row.beyond is None for row in rows):
        told.append(f"unknown of {count_text(unknown, 'replica')}")
    return ", ".join(told)
