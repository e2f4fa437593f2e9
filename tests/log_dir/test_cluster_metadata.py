"""Snapshots and segments together, whole and damaged."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    SnapshotId,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.tree import Unreadable
from tests.log_dir import cluster_metadata_encoder as enc
from tests.log_dir.cluster_metadata_encoder import EPOCH, NO_OP, TOPIC_ID, batch, log, snapshot

ORDERS = enc.topic("orders")
SHRINK = enc.change(0, {0: enc.ints([1])})
BEGINNING = (
    batch(0, enc.leader_change()),
    batch(1, ORDERS, enc.partition(0, [1, 2, 3]), time_ms=2_000),
    batch(3, NO_OP, time_ms=3_000),
)
LOG = log(0, *BEGINNING, batch(4, SHRINK, time_ms=4_000))
TAKEN_AT_4 = snapshot(4, ORDERS, enc.partition(0, [1, 2, 3]), time_ms=3_000)


def _partition_epoch(metadata: ClusterMetadata) -> int:
    return metadata.image.partitions[TOPIC_ID][0].partition_epoch


def _cut(file: MetadataFile, size: int) -> MetadataFile:
    return MetadataFile.of(file.name, file.read_at(0, size))


def _content(file: MetadataFile) -> bytes:
    return file.read_at(0, file.size)


def _extended(file: MetadataFile, tail: bytes) -> MetadataFile:
    return MetadataFile.of(file.name, _content(file) + tail)


def test_a_log_from_the_beginning() -> None:
    found = read_metadata([LOG])
    assert (found.end_offset, found.last_epoch, found.last_timestamp_ms) == (5, EPOCH, 4_000)
    assert (found.snapshot, found.committed_to, found.stopped, found.problems) == (
        None,
        0,
        None,
        (),
    )
    assert (_partition_epoch(found), found.image.voters) == (1, (101,))


def test_a_batch_without_a_time() -> None:
    found = read_metadata([_extended(LOG, batch(5, NO_OP, time_ms=-1))])
    assert (found.end_offset, found.last_timestamp_ms) == (6, 4_000)


def test_a_snapshot_and_what_the_log_adds() -> None:
    found = read_metadata([LOG, TAKEN_AT_4])
    assert (found.snapshot, found.committed_to) == (SnapshotId(4, EPOCH), 4)
    assert (found.end_offset, found.stopped, _partition_epoch(found)) == (5, None, 1)


def test_a_snapshot_alone() -> None:
    found = read_metadata([TAKEN_AT_4])
    assert (found.end_offset, found.last_epoch, found.last_timestamp_ms) == (4, EPOCH, 3_000)
    assert (found.stopped, _partition_epoch(found)) == (None, 0)


def test_a_snapshot_newer_than_the_log() -> None:
    """What a node has that fell behind and was sent a snapshot."""
    newer = snapshot(100, ORDERS, enc.partition(0, [1]), epoch=9)
    found = read_metadata([LOG, newer, log(100)])
    assert (found.end_offset, found.last_epoch, found.stopped) == (100, 9, None)


def test_deleted_segments_do_not_matter() -> None:
    files = [TAKEN_AT_4, log(3, BEGINNING[2]), log(4, batch(4, SHRINK))]
    found = read_metadata(files)
    assert (found.end_offset, found.stopped, _partition_epoch(found)) == (5, None, 1)
    assert read_metadata(files[::2]) == found


def test_segments_that_the_snapshot_holds_are_not_opened() -> None:
    def fails(_position: int, _length: int) -> bytes:
        raise AssertionError("opened")

    old = MetadataFile(f"{0:020}.log", 1_000, fails)
    found = read_metadata([TAKEN_AT_4, old, log(3, BEGINNING[2]), log(4, batch(4, SHRINK))])
    assert (found.end_offset, found.stopped) == (5, None)


def test_a_batch_that_begins_before_the_snapshot_ends() -> None:
    straddling = log(0, *BEGINNING[:2], batch(3, SHRINK, SHRINK, NO_OP))
    found = read_metadata([TAKEN_AT_4, straddling])
    assert (found.end_offset, found.stopped, _partition_epoch(found)) == (6, None, 1)


def test_the_newest_snapshot_is_chosen() -> None:
    older, newer = snapshot(2, epoch=EPOCH), TAKEN_AT_4
    assert read_metadata([older, newer, LOG]).snapshot == SnapshotId(4, EPOCH)


@pytest.mark.parametrize(
    ("damaged", "why"),
    [
        (snapshot(5, ORDERS, footer=False), "ends without a footer: it was never finished"),
        (MetadataFile.of(TAKEN_AT_4.name, b""), "ends without a footer"),
        (
            _cut(TAKEN_AT_4, TAKEN_AT_4.size - 1),
            "truncated batch: 1 bytes are missing, at byte 252",
        ),
        (_extended(TAKEN_AT_4, batch(4, NO_OP)), "goes on behind its footer"),
        (MetadataFile.of(TAKEN_AT_4.name, batch(0, ORDERS)), "does not begin with a snapshot's"),
        (MetadataFile.of(TAKEN_AT_4.name, _content(snapshot(4, epoch=3))), "a batch of offset 0"),
    ],
)
def test_a_damaged_snapshot_is_passed_over(damaged: MetadataFile, why: str) -> None:
    older = snapshot(2, ORDERS)
    found = read_metadata([damaged, older, LOG])
    assert (found.snapshot, found.end_offset) == (SnapshotId(2, EPOCH), 5)
    assert len(found.problems) == 1
    assert found.problems[0].startswith(f"snapshot passed over: {damaged.name}: ")
    assert why in found.problems[0]
    assert read_metadata([damaged, LOG]).end_offset == 5


ONE = enc.in_batch(0, NO_OP)


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (bytes(61), "zeros: 61 bytes or more, at byte 426"),
        (batch(5, NO_OP)[:60], "truncated batch: the header is not all there"),
        (bytes(10), "zeros: 10 bytes or more, at byte 426"),
        (batch(5, NO_OP)[:-1], "truncated batch: 1 bytes are missing, at byte 426"),
        (batch(5, NO_OP)[:-1] + b"\1", "batch crc: it does not hold, at byte 426"),
        (batch(6, NO_OP), "offset 6 where 5 belongs"),
        (batch(4, NO_OP), "offset 4 where 5 belongs"),
        (batch(5, NO_OP, epoch=EPOCH - 1), "epoch 6 after epoch 7"),
        (batch(5, NO_OP, epoch=EPOCH + 1), "epoch 8 begins without a change of leader"),
        (
            b"\0" * 8 + b"\x7f\xff\xff\xff" + b"\0" * 4 + b"\2" + bytes(60),
            "batch length: 2147483659 is more than KRaft writes",
        ),
        (
            b"\0" * 8 + b"\xff\xff\xff\xff" + b"\0" * 4 + b"\2" + bytes(60),
            "batch length: -1 is too small",
        ),
        (b"\0" * 8 + b"\0\0\0\0" + b"\0" * 4 + b"\2" + bytes(60), "batch length: 0 is too small"),
        (b"\0" * 8 + b"\0\0\0\x40" + b"\0" * 4 + b"\1" + bytes(60), "batch magic: 1 where KRaft"),
        (batch(5, enc.record(12, 0)), "FeatureLevelRecord v0: null where nothing may be"),
        (batch(5, b""), "a varint without end"),
        (enc.raw_batch(5, ONE, 1, epoch=-1), "batch epoch: -1"),
        (enc.raw_batch(5, ONE, 1, 1), "batch codec: gzip, where KRaft does not compress"),
        (enc.raw_batch(5, ONE, 1, last_delta=1), "batch record count: 1 from offset 5 to 6"),
        (enc.raw_batch(5, b"", 0, last_delta=0), "batch record count: 0 from offset 5 to 5"),
        (enc.raw_batch(5, ONE + enc.in_batch(2, NO_OP), 2), "offset delta 2 for record 1"),
        (enc.raw_batch(5, ONE + b"\0", 1), "bytes behind the last record"),
        (enc.raw_batch(5, ONE, 2), "a varint without end"),
        (enc.raw_batch(5, enc.in_batch(0, NO_OP, longer=1), 1), "does not end where it should"),
        (enc.raw_batch(5, enc.in_batch(0, None), 1), "null where nothing may be null"),
        (enc.raw_batch(5, ONE, 1, 0x20), "null where nothing may be null"),
        (enc.raw_batch(5, enc.in_batch(0, (b"\0", b"")), 1, 0x20), "control record's key"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_tail_ends_the_log(tail: bytes, why: str) -> None:
    found = read_metadata([_extended(LOG, tail), log(5, batch(5, SHRINK))])
    assert (found.end_offset, _partition_epoch(found)) == (5, 1)
    assert found.stopped is not None
    assert why in found.stopped
    assert LOG.name in found.stopped


def test_a_new_epoch_begins_with_a_change_of_leader() -> None:
    tail = batch(5, enc.leader_change(102), epoch=9) + batch(6, SHRINK, epoch=9)
    found = read_metadata([_extended(LOG, tail)])
    assert (found.end_offset, found.last_epoch, found.stopped) == (7, 9, None)
    assert found.image.quorum_leader == 102


def test_the_first_epoch_begins_with_a_change_of_leader_too() -> None:
    with pytest.raises(BadFormat, match="epoch 7 begins without a change of leader"):
        read_metadata([log(0, batch(0, ORDERS))])


def test_an_epoch_is_checked_across_the_end_of_the_snapshot() -> None:
    found = read_metadata([TAKEN_AT_4, log(4, batch(4, SHRINK, epoch=EPOCH + 1))])
    assert found.end_offset == 4
    assert "epoch 8 begins without" in str(found.stopped)


def test_a_log_that_the_snapshot_was_not_made_of() -> None:
    other = snapshot(4, ORDERS, epoch=9)
    found = read_metadata([other, LOG])
    assert (found.end_offset, found.last_epoch) == (4, 9)
    assert "epoch 7 where the snapshot ends with epoch 9" in str(found.stopped)


def test_a_missing_segment_ends_the_log() -> None:
    found = read_metadata([LOG, log(6, batch(6, SHRINK))])
    assert found.end_offset == 5
    assert "00000000000000000006.log: the segment before it ends at 5" in str(found.stopped)


def test_a_log_that_begins_behind_the_snapshot() -> None:
    found = read_metadata([TAKEN_AT_4, log(6, batch(6, SHRINK))])
    assert found.end_offset == 4
    assert found.stopped == "the log begins at offset 6, and nothing leads from 4 to there"


@pytest.mark.parametrize(
    "files",
    [
        [],
        [log(3, BEGINNING[2])],
        [_extended(log(0), b"\0" * 100)],
        [snapshot(4, footer=False)],
        [snapshot(4, footer=False), log(4, batch(4, SHRINK))],
    ],
)
def test_nothing_to_begin_from(files: Sequence[MetadataFile]) -> None:
    with pytest.raises(BadFormat, match="__cluster_metadata-0"):
        read_metadata(files)


def test_a_node_that_has_not_begun() -> None:
    found = read_metadata([log(0)])
    assert (found.end_offset, found.last_epoch, found.stopped) == (0, None, None)
    assert found.authority < read_metadata([LOG]).authority


def test_a_disk_that_fails() -> None:
    def fails_late(position: int, length: int) -> bytes:
        if position + length > 300_000:
            raise Unreadable("byte 300000: Input/output error")
        return content[position : position + length]

    batches = [batch(5 + n, NO_OP) for n in range(5_000)]
    content = _content(_extended(LOG, b"".join(batches)))
    failing = MetadataFile(LOG.name, len(content), fails_late)
    found = read_metadata([failing])
    assert 5 < found.end_offset < 5_000
    assert "can't be read: byte 300000: Input/output error" in str(found.stopped)
    assert read_metadata([replace(failing, name="x.log"), LOG]).end_offset == 5


def test_a_file_that_shrinks_under_us() -> None:
    shrunk = MetadataFile(LOG.name, LOG.size + 500, LOG.read_at)
    found = read_metadata([shrunk])
    assert found.end_offset == 5
    assert "truncated batch: the header is not all there" in str(found.stopped)


def test_other_files_are_left_alone() -> None:
    others = [
        "00000000000000000000.index",
        "00000000000000000004-0000000007.checkpoint.part",
        "00000000000000000004-0000000007.checkpoint.deleted",
        "00000000000000000000.log.deleted",
        "00000000000000000000.log\n",
        "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠.log",
        "quorum-state",
        "leader-epoch-checkpoint",
    ]
    assert not any(map(is_metadata_file, others))
    files = [MetadataFile.of(name, b"garbage") for name in others]
    assert read_metadata([*files, LOG]).stopped is None


def test_reading_is_in_bounded_pieces() -> None:
    asked: list[int] = []

    def read_at(position: int, length: int) -> bytes:
        asked.append(length)
        return content[position : position + length]

    values = [enc.config(2, "orders", "x", "y" * 1_000)] * 100
    batches = [batch(5 + 100 * n, *values) for n in range(20)]
    content = _content(_extended(LOG, b"".join(batches)))
    found = read_metadata([MetadataFile(LOG.name, len(content), read_at)])
    assert (found.end_offset, found.stopped) == (2_005, None)
    assert max(asked) <= 256 << 10
    assert len(asked) < 20


def test_authority_is_the_rule_of_a_quorum() -> None:
    longer = read_metadata([LOG])
    newer = read_metadata([log(0, batch(0, enc.leader_change(), epoch=9))])
    assert newer.authority > longer.authority
    assert longer.authority > read_metadata([log(0, *BEGINNING)]).authority


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_bad_format_or_the_end(content: bytes) -> None:
    for name in (LOG.name, TAKEN_AT_4.name):
        with suppress(BadFormat):
            read_metadata([MetadataFile.of(name, content)])
    found = read_metadata([_extended(LOG, content)])
    assert found.end_offset == 5
    assert found.stopped is None or content


@settings(max_examples=100)
@given(
    st.lists(st.binary(max_size=40) | st.none(), min_size=1, max_size=4),
    st.binary(max_size=20),
    st.sampled_from([0, 0x20]),
)
def test_arbitrary_records_in_a_sound_batch_are_bad_format_or_counted(
    values: list[bytes | None], key: bytes, attributes: int
) -> None:
    written = [(key, value) if value and attributes else value for value in values]
    records = b"".join(enc.in_batch(delta, each) for delta, each in enumerate(written))
    found = read_metadata([_extended(LOG, enc.raw_batch(5, records, len(written), attributes))])
    assert found.end_offset == (5 if found.stopped else 5 + len(written))
    with suppress(BadFormat):
        read_metadata([MetadataFile.of(TAKEN_AT_4.name, enc.raw_batch(0, key, 1, attributes))])


def _flipped(file: MetadataFile, bit: int) -> MetadataFile:
    damaged = bytearray(_content(file))
    damaged[bit // 8] ^= 1 << bit % 8
    return MetadataFile.of(file.name, bytes(damaged))


def test_no_single_flipped_bit_goes_unnoticed() -> None:
    for bit in range(LOG.size * 8):
        try:
            found = read_metadata([_flipped(LOG, bit)])
        except BadFormat:
            continue
        assert found.stopped is not None, bit
    for bit in range(TAKEN_AT_4.size * 8):
        assert read_metadata([_flipped(TAKEN_AT_4, bit), LOG]).problems, bit


def test_but_for_the_epoch_of_a_change_of_leader_that_ends_the_log() -> None:
    elected = _extended(LOG, batch(5, enc.leader_change(), epoch=EPOCH + 1))
    lowest_bit_of_epoch = (LOG.size + 15) * 8
    found = read_metadata([_flipped(elected, lowest_bit_of_epoch + 2)])
    assert (found.last_epoch, found.stopped) == ((EPOCH + 1) ^ 4, None)


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_at_any_byte_ends_at_a_whole_batch(seed: int) -> None:
    size = random.Random(seed).randrange(1, LOG.size)
    try:
        found = read_metadata([_cut(LOG, size)])
    except BadFormat:
        assert size < len(BEGINNING[0])
        return
    ends = {1: len(BEGINNING[0]), 3: sum(map(len, BEGINNING[:2])), 4: sum(map(len, BEGINNING))}
    assert ends[found.end_offset] <= size
    assert (found.stopped is None) == (size in ends.values())
