"""Any two logs that elections may leave, as files: what is salvaged is what the leader lacks."""

from __future__ import annotations

import random
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.segments.batches import parse_header
from kafka_unclean_recovery.log_dir.watching import Unwatched
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.designated import designated_leaders
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.records import decode
from kafka_unclean_recovery.salvage.replica import Output, Salvaged
from kafka_unclean_recovery.salvage.salvage_disks import find_replicas, salvage_replicas
from tests.salvage.batches import CODECS, batch
from tests.salvage.disks import disk, plan_text
from tests.salvage.histories import two_histories

Pair = tuple[int, int]


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False))
def test_exactly_what_the_leader_lacks_is_salvaged_however_batches_and_segments_fall(
    chance: random.Random,
) -> None:
    replica, leader = two_histories(chance)
    root = Path(tempfile.mkdtemp())
    try:
        row = _salvaged(root, replica, leader, chance)
        start = leader.log_start_offset or 0
        lacking = {pair for pair in _pairs(replica) - _pairs(leader) if pair[1] >= start}
        assert row.problems == []
        assert _in_parquet(root, row) == {
            pair: b"%d of %d" % (pair[1], pair[0]) for pair in lacking
        }
        plain = [segment.file for segment in row.segments if segment.salvaged is None]
        assert _in_segments(root, row, plain) <= lacking
        assert _in_segments(root, row, [segment.file for segment in row.segments]) >= lacking
    finally:
        shutil.rmtree(root)


def _salvaged(
    root: Path, replica: ReplicaLog, leader: ReplicaLog, chance: random.Random
) -> Salvaged:
    epochs = [(span.epoch, span.start_offset) for span in replica.epochs or ()]
    start, end = replica.log_start_offset or 0, replica.log_end_offset or 0
    cuts = [offset for offset in range(start + 1, end) if chance.random() < 0.3]
    bounds = [start, *cuts, end] if end > start else []
    segments = dict.fromkeys([start, *cuts], b"")
    for first, stop in pairwise(bounds):
        for span in replica.epochs or ():
            segments[first] += _batches(span, first, stop, chance)
    disk(root / "disks", segments, epochs)
    text = plan_text(
        leader.epochs,
        log_start=leader.log_start_offset or 0,
        log_end=leader.log_end_offset or 0,
    )
    leaders = designated_leaders(text, "plan.json", [(TopicPartition("orders", 0), 2)])
    sources, _ = find_replicas([LocalLocation(root / "disks")], leaders, lambda _: True)
    salvage_replicas(sources, Output(root / "out", RecordsFile), Unwatched())
    (source,) = sources
    return source.row


def _batches(span: EpochSpan, first: int, stop: int, chance: random.Random) -> bytes:
    """Return what of the span lies in [first, stop), in batches of any length and codec."""
    at, end = max(first, span.start_offset), min(stop, span.end_offset)
    content = b""
    while at < end:
        count = chance.randrange(1, end - at + 1)
        records = [(1000, None, b"%d of %d" % (n, span.epoch), ()) for n in range(at, at + count)]
        content += batch(at, records, epoch=span.epoch, codec=chance.choice(sorted(CODECS)))
        at += count
    return content


def _pairs(log: ReplicaLog) -> set[Pair]:
    return {
        (span.epoch, offset)
        for span in log.epochs or ()
        for offset in range(span.start_offset, span.end_offset)
    }


def _in_parquet(root: Path, row: Salvaged) -> dict[Pair, bytes]:
    if row.place is None:
        return {}
    rows = pyarrow.parquet.read_table(root / "out" / row.place.records).to_pylist()
    assert len(rows) == row.records
    return {(record["leader_epoch"], record["offset"]): record["value"] for record in rows}


def _in_segments(root: Path, row: Salvaged, files: list[str]) -> set[Pair]:
    found: set[Pair] = set()
    for file in files:
        assert row.place is not None
        content = (root / "out" / row.place.segments / file).read_bytes()
        while content:
            header = parse_header(content)
            whole, content = content[: header.length], content[header.length :]
            found |= {(header.leader_epoch or 0, record.offset) for record in decode(header, whole)}
    return found
