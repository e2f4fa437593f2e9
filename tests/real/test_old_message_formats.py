"""Logs of message formats 0 and 1, written by kafka-python as no broker does any more, held against
kafka-dump-log.sh on the same files."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from kafka.record import default_records, legacy_records

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog
from tests.real.releases import TESTED
from tests.real.tools import run_tool

OLD_BUILDER: Any = legacy_records.LegacyRecordBatchBuilder
NEW_BUILDER: Any = default_records.DefaultRecordBatchBuilder
# zstd came with format 2.
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3}
AT_A_TIME = 5
EPOCH = 4

Content = Mapping[int, bytes]
"""Segments by their base offset."""


def old_records(magic: int, codec: str, base: int) -> bytes:
    """Return a few records as a broker stores them: a compressed message has the offset of the last
    that it wraps, and in format 1 those count from 0."""
    if codec == "none":
        return b"".join(_old_set(magic, codec, [base + place]) for place in range(AT_A_TIME))
    offsets = range(AT_A_TIME) if magic == 1 else range(base, base + AT_A_TIME)
    last: bytes = struct.pack(">q", base + AT_A_TIME - 1)
    return last + _old_set(magic, codec, offsets)[8:]


def _old_set(magic: int, codec: str, offsets: Sequence[int]) -> bytes:
    builder = OLD_BUILDER(magic, CODECS[codec], 1 << 20)
    for offset in offsets:
        builder.append(offset, 1000 + offset, b"key", b"value %d" % offset * 9)
    content = bytes(builder.build())
    # Uncompressed it counts from 0 in format 1 too.
    return struct.pack(">q", offsets[-1]) + content[8:] if codec == "none" else content


def new_records(base: int) -> bytes:
    """Return a batch of format 2; neither base offset nor leader epoch is covered by its CRC."""
    builder = NEW_BUILDER(
        2, 0, is_transactional=False, producer_id=-1, producer_epoch=-1, base_sequence=-1,
        batch_size=1 << 20,
    )  # fmt: skip
    for place in range(AT_A_TIME):
        builder.append(place, 1000 + place, b"key", b"value %d" % place, [])
    content = bytes(builder.build())
    return struct.pack(">q", base) + content[8:12] + struct.pack(">i", EPOCH) + content[16:]


def uniform(magic: int, codec: str) -> Content:
    """Return 40 records, a segment for every 20."""
    return {
        start: b"".join(
            old_records(magic, codec, base) for base in range(start, start + 20, AT_A_TIME)
        )
        for start in (0, 20)
    }


def flipped(content: Content, base: int) -> Content:
    """Return the content with another payload of a message in the middle of that segment; messages
    being of a size, one ends at half of it."""
    damaged = bytearray(content[base])
    damaged[len(damaged) // 2 - 5] ^= 0xFF
    return {**content, base: bytes(damaged)}


_UPGRADED = old_records(0, "none", 0) + old_records(1, "gzip", 5) + old_records(1, "none", 10)

# By topic.
LOGS: dict[str, Content] = {
    **{f"format-{m}-{codec}": uniform(m, codec) for m, codec in product((0, 1), CODECS)},
    "from-0-to-1": {0: _UPGRADED, 15: old_records(1, "lz4", 15)},
    "from-0-to-2": {0: _UPGRADED, 15: new_records(15) + new_records(20), 25: new_records(25)},
    "killed": {0: _UPGRADED + bytes(4096)},
    "damaged": flipped(uniform(1, "snappy"), 0),
    "damaged-at-its-end": flipped(uniform(0, "none"), 20),
    "cut": {0: _UPGRADED[:-1]},
}
# Their last record is of format 2.
UPGRADED = {"from-0-to-2"}
# Log ends, of those that are not as long as the rest.
SHORTER = {
    "from-0-to-1": 20,
    "from-0-to-2": 30,
    "killed": 15,
    "damaged": 5,
    "damaged-at-its-end": 29,
    "cut": 14,
}


@dataclass(frozen=True, slots=True)
class Truth:
    """Of a whole log, up to the first batch that the judge calls invalid. end: exclusive."""

    start: int
    end: int
    records: int


def write(root: Path) -> None:
    root.mkdir()
    (root / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=old\n")
    for topic, segments in LOGS.items():
        directory = root / f"{topic}-0"
        directory.mkdir()
        epochs = f"0\n1\n{EPOCH} 15\n" if topic in UPGRADED else "0\n0\n"
        (directory / "leader-epoch-checkpoint").write_text(epochs)
        for base, content in segments.items():
            (directory / f"{base:020}.log").write_bytes(content)
            # A segment without one is recovered by itself, before the log is.
            (directory / f"{base:020}.index").touch()


_BATCH = re.compile(r"^(?:baseO|o)ffset: .* (?i:isvalid): (true|false)$")
_RECORD = re.compile(r"^\| offset: (\d+) ")


def dumped(version: str, directory: Path) -> Truth:
    """Return what kafka-dump-log.sh finds, down to the records inside of compressed messages."""
    segments = ",".join(map(str, sorted(directory.glob("*.log"))))
    # It fails at zeros, and at a compressed message that is invalid: there the log ends.
    arguments = ("--deep-iteration", "--files", segments)
    done = run_tool(version, "kafka-dump-log", *arguments, timeout=60, check=False)
    offsets = []
    for line in done.stdout.splitlines():
        if (batch := _BATCH.match(line)) and batch[1] == "false":
            break
        if record := _RECORD.match(line):
            offsets.append(int(record[1]))
    return Truth(offsets[0], offsets[-1] + 1, len(offsets))


@pytest.mark.parametrize("version", TESTED)
def test_logs_of_the_old_formats_end_where_dump_log_says(tmp_path: Path, version: str) -> None:
    write(tmp_path / "disk")
    truths = {topic: dumped(version, tmp_path / "disk" / f"{topic}-0") for topic in LOGS}
    assert {topic: truth.end for topic, truth in truths.items() if truth.end != 40} == SHORTER
    for mode in ScanMode:
        for topic, log in scanned(tmp_path / "disk", mode).items():
            check(topic, mode, log, truths[topic])


def scanned(root: Path, mode: ScanMode) -> dict[str, ReplicaLog]:
    info = scan_log_directories([LocalLocation(root)], mode)
    return {part.topic_partition.topic: part.replica_logs[0] for part in info.partitions}


def check(topic: str, mode: ScanMode, log: ReplicaLog, truth: Truth) -> None:
    said = f"{topic}, {mode}: {log}"
    assert (log.problem, log.suspect) == (None, None), said
    if topic.startswith("damaged") and mode is ScanMode.FAST:
        return  # no CRC is looked at
    assert (log.log_start_offset, log.log_end_offset) == (truth.start, truth.end), said
    assert log.last_written_leader_epoch == (EPOCH if topic in UPGRADED else None), said
    expected = (EpochSpan(EPOCH, 15, truth.end),) if topic in UPGRADED else None
    assert log.epochs == expected, said
    if mode is ScanMode.DEEP:
        assert log.scanned
        compressed = topic not in ("format-0-none", "format-1-none", "damaged-at-its-end")
        assert log.scanned.record_count == (None if compressed else truth.records), said
