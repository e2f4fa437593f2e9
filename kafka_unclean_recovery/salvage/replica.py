"""The salvage of one replica reads its tail from its directory and writes it to files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Protocol

from kafka_unclean_recovery.files.private_files import make_private_directory
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.replica_files import replica_files, with_swaps
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.segments.segment_reads import SegmentReads
from kafka_unclean_recovery.log_dir.tree import Folder, Unreadable
from kafka_unclean_recovery.log_dir.watching import Meter
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochLineage, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.behind import as_far_as_its_files
from kafka_unclean_recovery.salvage.designated import Designated
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.ranges import Lost, lost_under
from kafka_unclean_recovery.salvage.raw_segments import RawSegment, RawSegments
from kafka_unclean_recovery.salvage.records import LARGEST_BATCH, Record, decode
from kafka_unclean_recovery.salvage.tail import Tail, TailBatch
from kafka_unclean_recovery.salvage.transactions import Ending, Transaction, Transactions

_MOST_PROBLEMS = 100

Row = tuple[Record, str | None]


class RecordSink(Protocol):
    """A file that takes records, each with the ending of the transaction that wrote it."""

    def add(self, rows: list[Row]) -> None: ...

    def close(self) -> None: ...


class OpenRecords(Protocol):
    def __call__(self, path: Path, topic_partition: TopicPartition, broker: int) -> RecordSink: ...


@dataclass(slots=True)
class Salvaged:
    """The salvage of one replica; a row of the manifest.

    lost: None when it could not be told. place: the place of its files; None where nothing was
    written. records: the number of rows of Parquet without markers; None without Parquet. missing:
    offsets [start, end) of `lost` that no batch holds; a compacted log has such gaps by its nature.
    open_before: the first offset of each transaction that is open where `lost` begins, by producer
    id; None where the log before `lost` is there to tell. scanned_at: when the only known scan of
    the replica was made, an earlier one, ISO 8601; None when the replica was read. saved: offsets
    of `lost` that are in segments. problems: what could not be read, and why.
    """

    replica: Replica
    designated: Designated
    log: ReplicaLog | None = None
    lost: Lost | None = None
    place: ReplicaPlace | None = None
    segments: Sequence[RawSegment] = ()
    records: int | None = None
    markers: int | None = None
    missing: tuple[tuple[int, int], ...] = ()
    transactions: dict[Ending, int] = field(default_factory=dict)
    crossing: tuple[Transaction, ...] = ()
    open: tuple[Transaction, ...] = ()
    scanned_at: str | None = None
    open_before: Mapping[int, int] | None = None
    saved: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def may_hold_more(self) -> bool:
        """Return True when `lost` may not be all that the designated leader's log lacks."""
        unsure = self.lost is not None and self.lost.doubt is not None
        suspect = self.log is not None and self.log.suspect is not None
        return unsure or suspect or self.designated.doubt is not None

    def problem(self, sentence: str) -> None:
        """Keep the sentence. After the first hundred, only note that there were more."""
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(sentence)
        elif len(self.problems) == _MOST_PROBLEMS:
            self.problems.append("and more")


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a salvage. root: the directory of all its files. records: opens a Parquet file;
    None when Parquet is not wanted."""

    root: Path
    records: OpenRecords | None


def salvage_replica(
    folder: Folder, found: Salvaged, output: Output, place: ReplicaPlace, meter: Meter
) -> None:
    """Fill in `found`, and write files at `place` in the output if there is anything to salvage.

    `folder` is the replica's own. Raises Stopped, and OSError when the output can't be written.
    """
    try:
        tail = _tail(folder, found, meter)
        if tail is not None:
            found.place = place
            _write(tail, found, output, place)
    except Unreadable as error:
        found.problem(str(error))


def _tail(folder: Folder, found: Salvaged, meter: Meter) -> Tail | None:
    """Return the tail, or None when there is nothing to salvage or the tail can't be told."""
    leader = found.designated.log
    if leader is None:
        found.problem(found.designated.why_not or "its designated leader is not known")
        return None
    reads = SegmentReads(folder, meter)
    files = replica_files(folder)
    segments = with_swaps(files, reads.end_of)
    log = found.log = as_far_as_its_files(_scan(folder, found.replica, meter), reads, segments)
    if (unusable := _unusable(found.designated, log)) is not None:
        found.problem(unusable)
        return None
    found.lost = lost_under(log, leader)
    for doubt in _doubts(log, found.designated, found.lost):
        found.problem(doubt)
    if not found.lost.spans:
        return None
    return Tail(reads, segments, found.lost.spans)


def _scan(folder: Folder, replica: Replica, meter: Meter) -> ReplicaLog:
    """Scan the replica. Where leader-epoch-checkpoint is gone, only the batches tell the lineage,
    so all of them are read."""
    log = scan_replica(folder, replica, ScanMode.RECOVER, meter)
    if log.problem is None and log.epochs is None:
        return scan_replica(folder, replica, ScanMode.DEEP, meter)
    return log


def nothing_lost(designated: Designated, log: ReplicaLog) -> Lost | None:
    """Return what the leader lacks by this scan of the replica, if certainly none of it could be
    salvaged; else None."""
    if designated.log is None or not log.sure or log.epochs is None:
        return None
    if _unusable(designated, log) is not None:
        return None
    lost = lost_under(log, designated.log)
    return None if lost.spans or any(_doubts(log, designated, lost)) else lost


def _unusable(designated: Designated, log: ReplicaLog) -> str | None:
    if log.problem is not None:
        return log.problem
    if log.log_end_offset is None:
        return "how far its log goes is not known"
    topic_id = log.scanned.topic_id if log.scanned else None
    if topic_id is not None and topic_id != designated.topic_id:
        return (
            f"it is of another topic of that name: topic id {topic_id}, in the plan"
            f" {designated.topic_id}"
        )
    return None


def _doubts(log: ReplicaLog, designated: Designated, lost: Lost) -> Iterator[str]:
    if lost.doubt is not None:
        yield lost.doubt
    if log.suspect is not None:
        yield f"it may be corrupt: {log.suspect}"
    # Where there is a tail, reading it finds the same damage, and more.
    if not lost.spans and log.scanned and log.scanned.damage is not None:
        yield log.scanned.damage
    if designated.doubt is not None:
        yield designated.doubt


def _write(tail: Tail, found: Salvaged, output: Output, place: ReplicaPlace) -> None:
    transactions = _transactions(tail, found)
    home = output.root / place.segments
    make_private_directory(home.parent)
    home.mkdir(mode=0o700)
    raw = RawSegments(home)
    found.segments = raw.written
    reached = tail.cut
    missing: list[tuple[int, int]] = []
    with ExitStack() as files:
        files.callback(raw.close)
        sink = _begin_records(found, output, place, files)
        for batch in tail.batches():
            raw.add(batch)
            found.saved += sum(span.end_offset - span.start_offset for span in batch.spans)
            if sink is not None:
                sink.add(_rows(batch, transactions, found))
            missing += _between(tail.spans, reached, batch.first_offset)
            reached = batch.header.last_offset + 1
            _check_epoch(batch, found)
    missing += _between(tail.spans, reached, tail.spans[-1].end_offset)
    found.missing = tuple(missing)
    for why in chain.from_iterable(tail.unread.values()):
        found.problem(why)
    if missing and not found.replica.compacted:
        found.problem(f"no batch holds the offsets {_offsets_text(missing)}")


def _begin_records(
    found: Salvaged, output: Output, place: ReplicaPlace, files: ExitStack
) -> RecordSink | None:
    if output.records is None:
        return None
    replica = found.replica
    path = output.root / place.records
    make_private_directory(path.parent)
    sink = output.records(path, replica.topic_partition, replica.broker)
    files.callback(sink.close)
    found.records = found.markers = 0
    return sink


def _transactions(tail: Tail, found: Salvaged) -> Transactions:
    """Follow the tail's transactions in a pass before the one that writes, because a record's
    transaction is ended by what comes after the record."""
    known: Transactions | None = None
    for batch in tail.batches():
        header = batch.header
        if not header.is_transactional or header.base_offset is None:
            continue
        if known is None:
            before = found.open_before
            known = Transactions(tail.cut, tail.open_transactions() if before is None else before)
        if not header.is_control:
            known.data(header.base_offset, header.producer_id, header.producer_epoch)
            continue
        for kind in _marker(batch, found):
            producer = (header.producer_id, header.producer_epoch)
            known.marker(header.base_offset, *producer, kind == "commit")
    known = known or Transactions(tail.cut, {})
    found.transactions = dict(known.counts)
    found.open = known.open
    found.crossing = tuple(known.crossing)
    if found.open:
        found.transactions[Ending.OPEN] = len(found.open)
    return known


def _marker(batch: TailBatch, found: Salvaged) -> Iterator[str]:
    try:
        for record in decode(batch.header, batch.whole(LARGEST_BATCH)):
            if record.control in ("commit", "abort"):
                yield record.control
    except BadFormat as error:
        found.problem(f"the marker at offset {batch.first_offset} can't be decoded: {error}")


def _rows(batch: TailBatch, transactions: Transactions, found: Salvaged) -> list[Row]:
    """Return the batch's records that are to be salvaged; none of a batch that can't be decoded."""
    try:
        records = decode(batch.header, batch.whole(LARGEST_BATCH))
    except BadFormat as error:
        found.problem(
            f"the batch of offsets {batch.first_offset} to {batch.header.last_offset} can't be"
            f" decoded, it is in the segment file only: {error}"
        )
        return []
    wanted = [
        record
        for record in records
        if any(span.start_offset <= record.offset < span.end_offset for span in batch.spans)
    ]
    markers = sum(record.control is not None for record in wanted)
    found.markers = (found.markers or 0) + markers
    found.records = (found.records or 0) + len(wanted) - markers
    return [(record, _ending(record, transactions)) for record in wanted]


_MARKED = {"commit": Ending.COMMITTED, "abort": Ending.ABORTED}


def _ending(record: Record, transactions: Transactions) -> str | None:
    if record.control is not None:
        marked = _MARKED.get(record.control)
        return None if marked is None else marked.value
    if not record.transactional or record.producer_id is None:
        return None
    return transactions.ending(record.producer_id, record.offset).value


def _check_epoch(batch: TailBatch, found: Salvaged) -> None:
    """Note where the batch and the lineage tell different leader epochs. No checksum covers either
    of them, so nobody knows which of the two is right."""
    told = batch.header.leader_epoch
    epochs = {span.epoch for span in batch.spans}
    if told is not None and -1 not in {told, *epochs} and epochs != {told}:
        found.problem(
            f"the batch at offset {batch.first_offset} says leader epoch {told}, the lineage"
            f" {', '.join(map(str, sorted(epochs)))}"
        )


def _between(spans: EpochLineage, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of the spans that lie in [start, end)."""
    for span in spans:
        first, stop = max(span.start_offset, start), min(span.end_offset, end)
        if first < stop:
            yield first, stop


def _offsets_text(ranges: list[tuple[int, int]]) -> str:
    first, *rest = (f"{start} to {end} (exclusive)" for start, end in ranges)
    return f"{first} and {len(rest)} more ranges" if rest else first
