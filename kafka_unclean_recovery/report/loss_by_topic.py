"""The loss of electing the designated leaders is reported by topic, as a table and as JSON.

The JSON is schemas/loss-by-topic-1.schema.json; an unknown loss is null there, never 0. This module
does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.documents.loss_by_topic import (
    LossByTopicJson,
    RecordCountJson,
    TopicLossJson,
    TotalJson,
)
from kafka_unclean_recovery.documents.reading.codec import to_json
from kafka_unclean_recovery.report.table import columns, page, table
from kafka_unclean_recovery.shown import shown_lines
from kafka_unclean_recovery.wording import count_text, one_line

_COLUMNS = columns(
    *("topic", ">partitions", ">designated|leaders", ">without|one", ">certain|loss"),
    *(">possible|loss", "why without"),
)


@dataclass(frozen=True, slots=True)
class RecordCount:
    """A sum of records over partitions.

    known: the sum over the partitions whose count is known. unknown_partitions: the number of the
    other partitions.
    """

    known: int = 0
    unknown_partitions: int = 0

    @property
    def total(self) -> int | None:
        return None if self.unknown_partitions else self.known


@dataclass(frozen=True, slots=True)
class TopicLoss:
    """The loss of one topic.

    partitions: the number of partitions, without deleted ones, which the newest metadata log does
    not have. designated: how many have a designated leader. without: how many have none, by the
    reason's code. certain, possible: the loss of the partitions that have a designated leader.
    """

    topic: str
    partitions: int
    designated: int
    without: Mapping[str, int] = field(default_factory=dict)
    certain: RecordCount = RecordCount()
    possible: RecordCount = RecordCount()


def total(losses: Sequence[TopicLoss]) -> TopicLoss:
    """Return the sum over all topics; its topic name is empty."""
    without: dict[str, int] = {}
    for loss in losses:
        for why, count in loss.without.items():
            without[why] = without.get(why, 0) + count
    return TopicLoss(
        "",
        sum(loss.partitions for loss in losses),
        sum(loss.designated for loss in losses),
        without,
        _sum(loss.certain for loss in losses),
        _sum(loss.possible for loss in losses),
    )


def _sum(counts: Iterable[RecordCount]) -> RecordCount:
    found = list(counts)
    return RecordCount(sum(c.known for c in found), sum(c.unknown_partitions for c in found))


def render_loss_table(
    losses: Sequence[TopicLoss], problems: Sequence[str] = (), width: int | None = None
) -> str:
    """Return the output of --format table. width: of a terminal, where the table may be cut: there
    the topics come first that lose most; else the rows are in the order of `losses`."""
    ordered = losses if width is None else sorted(losses, key=_gravity)
    rows = [_cells(loss) for loss in ordered]
    told = shown_lines(f"problem: {one_line(problem)}" for problem in problems)
    return page(table(_COLUMNS, rows, width), told, _summary(total(losses), len(losses)))


def _gravity(loss: TopicLoss) -> tuple[int, ...]:
    """Return a key that puts what is lost for certain before what is not known to be."""
    return (
        -loss.certain.known,
        -loss.certain.unknown_partitions,
        -sum(loss.without.values()),
        -loss.possible.known,
        -loss.possible.unknown_partitions,
    )


def _cells(loss: TopicLoss) -> Sequence[str]:
    return (
        loss.topic,
        str(loss.partitions),
        str(loss.designated),
        str(sum(loss.without.values())),
        record_text(loss.certain),
        record_text(loss.possible),
        why_text(loss),
    )


def record_text(count: RecordCount) -> str:
    """Return text such as "500 records", or "500 records, and unknown for 3 partitions"."""
    known = count_text(count.known, "record")
    if not count.unknown_partitions:
        return known
    unknown = f"unknown for {count_text(count.unknown_partitions, 'partition')}"
    return f"{known}, and {unknown}" if count.known else unknown


def why_text(loss: TopicLoss) -> str:
    """Return text such as "2 only_suspects, 1 state_unknown"."""
    return ", ".join(f"{count} {why}" for why, count in sorted(loss.without.items()))


def _summary(loss: TopicLoss, topics: int) -> str:
    without = loss.partitions - loss.designated
    return (
        f"{count_text(topics, 'topic')}, {count_text(loss.partitions, 'partition')}:"
        f" {loss.designated} with a designated leader, {without} without;"
        f" certain loss {record_text(loss.certain)}, possible loss {record_text(loss.possible)}"
    )


def render_loss_json(
    losses: Sequence[TopicLoss], cluster_id: str | None, problems: Sequence[str] = ()
) -> str:
    """Return the output of --format json: one object with a line for each topic."""
    document = to_json(
        LossByTopicJson(
            cluster_id=cluster_id,
            problems=tuple(problems),
            total=TotalJson(*counts_of(total(losses))),
            topics=tuple(TopicLossJson(loss.topic, *counts_of(loss)) for loss in losses),
        )
    )
    topics = ",".join(f"\n  {json.dumps(topic)}" for topic in document.pop("topics"))
    head = json.dumps(document, indent=1).removesuffix("\n}")
    return f'{head},\n "topics": [{topics}\n ]\n}}\n'


def counts_of(
    loss: TopicLoss,
) -> tuple[int, int, dict[str, int], RecordCountJson, RecordCountJson]:
    """Return all but the topic: the fields from `partitions` on, as entries of JSON have them."""
    certain, possible = (
        RecordCountJson(count.total, count.known, count.unknown_partitions)
        for count in (loss.certain, loss.possible)
    )
    without = dict(sorted(loss.without.items()))
    return loss.partitions, loss.designated, without, certain, possible
