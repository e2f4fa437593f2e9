"""Executors make the texts of a plan's files, and count. For shipping.on_executors."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow

from kafka_unclean_recovery.documents.manual_recovery import leader_line
from kafka_unclean_recovery.documents.plan import plan_line
from kafka_unclean_recovery.spark.plan.merged_rows import Batches, merged_infos
from kafka_unclean_recovery.spark.plan.plan_rows import planned_reports, planned_row
from kafka_unclean_recovery.spark.plan.totals import Totals

_arrow: Any = pyarrow

LEADERS, PLAN, TOTALS = "leaders", "plan", "totals"
"""The kinds of texts."""
TEXTS = "kind string, text binary, canonical binary"
"""The schema of texts, each as `unpacked` takes it. `text` is lines that were joined for a file, or
Totals as JSON; `canonical` is the same lines for the digest of a plan."""

_CHUNK = 1 << 20
"""The number of characters that the driver gets at a time."""


def plan_texts(settings: Mapping[str, Any], batches: Batches) -> Batches:
    """Yield TEXTS for merging.sorted_rows: lines by topic and partition, and in the end the totals.

    settings: as plan_rows has them; `rich`: the lines of a rich plan are wanted; `worst`: how many
    of the partitions that lose most are named.
    """
    totals = Totals()
    leaders, plans = _Lines(LEADERS), _Lines(PLAN)
    for infos in merged_infos(settings, batches):
        for info in infos:
            totals.read(info)
        for report in planned_reports(settings, infos):
            totals.planned(planned_row(report), settings["worst"])
            if report.plan is None:
                continue
            if report.plan.designated_leader is not None:
                where = report.topic_partition
                line = leader_line(where.topic, where.partition, report.plan.designated_leader)
                yield from leaders.add(line, "")
            if settings["rich"]:
                yield from plans.add(*plan_line(report.plan))
    yield from leaders.rest()
    yield from plans.rest()
    yield _batch(TOTALS, json.dumps(totals.as_json()), "")


@dataclass(slots=True)
class _Lines:
    """Lines of one kind that wait until they are a chunk."""

    kind: str
    texts: list[str] = field(default_factory=list)
    canonicals: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, text: str, canonical: str) -> Iterator[Any]:
        """Add a line, and yield the chunk that is full."""
        self.texts.append(text)
        self.canonicals.append(canonical)
        self.size += len(text) + len(canonical)
        if self.size >= _CHUNK:
            yield from self.rest()

    def rest(self) -> Iterator[Any]:
        if self.texts:
            yield _batch(self.kind, ",\n".join(self.texts), ",".join(self.canonicals))
        self.texts, self.canonicals, self.size = [], [], 0


def _batch(kind: str, text: str, canonical: str) -> Any:
    values = {"kind": [kind], "text": [_packed(text)], "canonical": [_packed(canonical)]}
    return _arrow.RecordBatch.from_pydict(values)


def _packed(text: str) -> bytes:
    """Return the text as it passes through the driver's JVM, which copies it several times."""
    return zlib.compress(text.encode(), level=1)


def unpacked(text: bytes) -> str:
    return zlib.decompress(text).decode()
