"""How far a replica's log goes by its files alone: every end that a broker's own recovery knows,
and every sign that what lies outside the CRCs is wrong."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.start.fate import ends_over
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog, TopicPartition
from tests.log_dir.segments import checkpoint, index, legacy, v2

TOPIC_ID = "fbcWMMCSS9qAZQGjUq1y5A"
METADATA = f"version: 0\ntopic_id: {TOPIC_ID}".encode()
FAST, RECOVER, DEEP = ScanMode
Files = Mapping[str, bytes]


def segment(base: int, kind: str = "log") -> str:
    return f"{base:020}.{kind}"


def epochs(*lines: str) -> bytes:
    return checkpoint(*lines)


GOOD: Files = {
    segment(0): v2(0, 10) + v2(10, 10, epoch=2),
    segment(0, "index"): b"",
    segment(20): v2(20, 5, epoch=2) + v2(25, 5, epoch=3),
    segment(20, "index"): b"",
    "leader-epoch-checkpoint": epochs("0 0", "2 10", "3 25"),
    "partition.metadata": METADATA,
}


def scan(
    directory: Path,
    files: Files,
    mode: ScanMode = DEEP,
    *,
    recovery_point: int | None = None,
    log_start: int | None = None,
    high_watermark: int | None = None,
    stopped_clean: bool = False,
    compacted: bool = False,
) -> ReplicaLog:
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    replica = Replica(
        1,
        TopicPartition("orders", 0),
        str(directory),
        recovery_point=recovery_point,
        high_watermark=high_watermark,
        log_start=log_start,
        stopped_clean=stopped_clean,
        compacted=compacted,
    )
    with LocalLocation(directory).open() as folder:
        return scan_replica(folder, replica, mode, Unmetered())


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("recovery_point", [None, 0, 10, 20, 30, 10**9])
def test_a_sound_log_is_the_same_in_every_mode(
    tmp_path: Path, mode: ScanMode, recovery_point: int | None
) -> None:
    log = scan(tmp_path / "a-0", GOOD, mode, recovery_point=recovery_point)
    assert (log.problem, log.suspect, log.certain_end_offset) == (None, None, None)
    assert (log.log_start_offset, log.log_end_offset) == (0, 30)
    assert log.last_written_leader_epoch == 3
    assert log.epochs == (EpochSpan(0, 0, 10), EpochSpan(2, 10, 25), EpochSpan(3, 25, 30))
    assert log.scanned is not None
    assert log.scanned.mode is mode
    assert log.scanned.size == sum(len(d) for name, d in GOOD.items() if name.endswith("log"))
    assert log.scanned.record_count == (30 if mode is DEEP else None)
    assert log.scanned.topic_id == "7db71630-c092-4bda-8065-01a352ad72e4"


@pytest.mark.parametrize("mode", ScanMode)
def test_zeros_are_the_normal_look_of_a_killed_broker(tmp_path: Path, mode: ScanMode) -> None:
    log = scan(tmp_path / "a-0", {**GOOD, segment(20): GOOD[segment(20)] + bytes(5000)}, mode)
    assert (log.log_end_offset, log.suspect, log.scanned and log.scanned.damage) == (30, None, None)


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
def test_the_log_ends_at_the_first_bad_batch_that_recovery_checks(
    tmp_path: Path, mode: ScanMode
) -> None:
    """Segments behind it are deleted; what is before it is as good as ever."""
    bad = bytearray(GOOD[segment(0)])
    bad[-1] ^= 1
    log = scan(tmp_path / "a-0", {**GOOD, segment(0): bytes(bad)}, mode)
    assert (log.log_end_offset, log.suspect) == (10, None)
    assert log.last_written_leader_epoch == 0
    assert log.epochs == (EpochSpan(0, 0, 10),)
    assert log.scanned
    assert log.scanned.damage
    assert "batch crc" in log.scanned.damage


def test_damage_below_the_recovery_point_makes_a_suspect_in_a_deep_scan(tmp_path: Path) -> None:
    """A broker does not look there: it goes on with the log as long as it is."""
    bad = bytearray(GOOD[segment(0)])
    bad[-1] ^= 1
    files = {**GOOD, segment(0): bytes(bad)}
    log = scan(tmp_path / "a-0", files, DEEP, recovery_point=20)
    assert (log.log_end_offset, log.certain_end_offset) == (30, 10)
    assert log.suspect
    assert "batch crc" in log.suspect
    unseen = scan(tmp_path / "a-0", files, RECOVER, recovery_point=20)
    assert (unseen.log_end_offset, unseen.suspect) == (30, None)


def test_damage_after_a_clean_stop_makes_a_suspect(tmp_path: Path) -> None:
    files = {**GOOD, segment(20): GOOD[segment(20)][:-1]}
    log = scan(tmp_path / "a-0", files, RECOVER, stopped_clean=True)
    assert log.suspect
    assert (log.log_end_offset, log.certain_end_offset) == (25, 25)
    assert scan(tmp_path / "a-0", files, RECOVER).suspect is None


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("bit", range(0, 40, 3))
def test_a_flipped_base_offset_of_the_last_batch_makes_a_suspect(
    tmp_path: Path, mode: ScanMode, bit: int
) -> None:
    """It is not covered by the CRC, and would make the log look longer."""
    inflated = v2(25 ^ (1 << bit) if 25 ^ (1 << bit) > 24 else 25 + (1 << bit), 5, epoch=3)
    log = scan(tmp_path / "a-0", {**GOOD, segment(20): v2(20, 5, epoch=2) + inflated}, mode)
    if mode is FAST and bit > 31:  # too far from the segment's name: a broker splits it
        assert log.problem
        assert "scan it with --mode recover" in log.problem
    else:
        assert log.suspect
        assert log.certain_end_offset == 25


def test_offsets_that_fall_put_all_from_there_on_in_doubt(tmp_path: Path) -> None:
    """A broker keeps both batches, and ends the log where the last of them does."""
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(25 + 64, 5, epoch=3) + v2(30, 5, epoch=3)}
    log = scan(tmp_path / "a-0", files, compacted=True)
    assert log.suspect
    assert (log.certain_end_offset, log.log_end_offset) == (30, 35)
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(25, 5, epoch=3) + v2(22, 5, epoch=3)}
    log = scan(tmp_path / "a-0", files, compacted=True)
    assert (log.certain_end_offset, log.log_end_offset) == (22, 27)


def test_a_last_batch_longer_than_the_next_segments_name_allows_is_in_doubt(
    tmp_path: Path,
) -> None:
    files = {**GOOD, segment(0): v2(0, 10) + v2(18, 10, epoch=2)}
    log = scan(tmp_path / "a-0", files, compacted=True)
    assert log.suspect
    assert "segment 20" in log.suspect
    assert log.certain_end_offset == 18


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("epoch", [0, 1, 2, 7, 2**31 - 1])
def test_a_flipped_leader_epoch_of_the_last_batch_makes_a_suspect(
    tmp_path: Path, mode: ScanMode, epoch: int
) -> None:
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(25, 5, epoch=epoch)}
    log = scan(tmp_path / "a-0", files, mode)
    assert log.suspect
    assert log.certain_end_offset == 25
    assert log.epochs is None


def test_an_epoch_in_the_checkpoint_that_wrote_nothing_is_not_the_last_written(
    tmp_path: Path,
) -> None:
    files = {**GOOD, "leader-epoch-checkpoint": epochs("0 0", "2 10", "3 25", "7 30", "9 40")}
    log = scan(tmp_path / "a-0", files)
    assert (log.last_written_leader_epoch, log.suspect) == (3, None)
    assert log.epochs
    assert log.epochs[-1] == EpochSpan(3, 25, 30)


@pytest.mark.parametrize("gap", ["between batches", "between segments"])
def test_gaps_are_normal_in_compacted_topics_only(tmp_path: Path, gap: str) -> None:
    files = dict(GOOD)
    if gap == "between batches":
        files[segment(0)] = v2(0, 5) + v2(10, 10, epoch=2)
    else:
        files[segment(0)] = v2(0, 10) + v2(10, 5, epoch=2)
    assert scan(tmp_path / "a-0", files, compacted=True).suspect is None
    log = scan(tmp_path / "a-0", files)
    assert log.suspect
    assert log.certain_end_offset == (5 if gap == "between batches" else 15)
    assert log.log_end_offset == 30


def test_a_last_batch_behind_a_gap_may_have_a_wrong_base_offset(tmp_path: Path) -> None:
    """No CRC covers it; what has come further proves that the gap was there."""
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(70, 5, epoch=2)}
    log = scan(tmp_path / "a-0", files)
    assert log.suspect == "only the last batch lies behind a gap of offsets 25 to 70"
    assert (log.certain_end_offset, log.log_end_offset) == (25, 75)
    reached = scan(tmp_path / "a-0", files, high_watermark=40)
    assert reached.suspect == "offsets 25 to 70 (exclusive) are missing"


def test_a_last_batch_that_one_flipped_bit_moved_off_its_place_is_in_doubt_even_if_compacted(
    tmp_path: Path,
) -> None:
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(27, 5, epoch=3)}
    log = scan(tmp_path / "a-0", files, compacted=True)
    assert log.suspect
    assert log.certain_end_offset == 25
    # It would end at 30 without the gap: what has come further proves that the gap was there.
    for reached, suspect in ((30, True), (31, False)):
        log = scan(tmp_path / "a-0", files, recovery_point=reached, compacted=True)
        assert bool(log.suspect) is suspect
        log = scan(tmp_path / "a-0", files, high_watermark=reached, compacted=True)
        assert bool(log.suspect) is suspect


@pytest.mark.parametrize("mode", ScanMode)
def test_a_follower_that_copied_the_gaps_of_a_compacted_leader_is_sound(
    tmp_path: Path, mode: ScanMode
) -> None:
    files = {**GOOD, segment(20): v2(20, 5, epoch=2) + v2(131, 5, epoch=3)}
    files["leader-epoch-checkpoint"] = epochs("0 0", "2 10", "3 131")
    log = scan(tmp_path / "a-0", files, mode, compacted=True)
    assert (log.suspect, log.log_end_offset) == (None, 136)


@pytest.mark.parametrize("mode", ScanMode)
def test_a_log_that_was_cleaned_whole_before_an_empty_active_segment_is_sound(
    tmp_path: Path, mode: ScanMode
) -> None:
    """Of the records up to 30 only the last of each key are left, behind gaps of any size."""
    files = {**GOOD, segment(0): v2(0, 2), segment(20): v2(27, 3, epoch=3), segment(30): b""}
    files["leader-epoch-checkpoint"] = epochs("0 0", "3 25")
    log = scan(tmp_path / "a-0", files, mode, compacted=True)
    assert (log.suspect, log.log_end_offset, log.last_written_leader_epoch) == (None, 30, 3)
    one_bit = {**files, segment(0): v2(0, 2), segment(20): v2(22, 8, epoch=3)}
    one_bit["leader-epoch-checkpoint"] = epochs("0 0", "3 21")
    assert scan(tmp_path / "a-0", one_bit, mode, compacted=True).suspect is None


def test_the_index_is_a_witness_where_offsets_may_have_gaps(tmp_path: Path) -> None:
    first, second, third = v2(20, 5, epoch=2), v2(125, 5, epoch=2), v2(135, 5, epoch=3)
    files = {
        **GOOD,
        segment(20): first + second + third,
        segment(20, "index"): index((9, len(first)), zeros=3),
        "leader-epoch-checkpoint": epochs("0 0", "2 10", "3 135"),
    }
    log = scan(tmp_path / "a-0", files, compacted=True)
    assert log.suspect
    assert "index" in log.suspect
    assert log.certain_end_offset == 25
    fitting = {**files, segment(20, "index"): index((109, len(first)), zeros=3)}
    assert scan(tmp_path / "a-0", fitting, compacted=True).suspect is None


def test_an_index_that_lies_does_not_change_where_a_fast_scan_ends(tmp_path: Path) -> None:
    files = {**GOOD, segment(20, "index"): index((7, 13), (8, 1 << 20))}
    assert scan(tmp_path / "a-0", files, FAST).log_end_offset == 30
    garbage = {**GOOD, segment(20, "index"): b"\xff" * 13}
    assert scan(tmp_path / "a-0", garbage, FAST).log_end_offset == 30


def _large(torn: int) -> Files:
    """Return a replica in which every batch has its entry in the index but the first, as those of
    more than 4 KiB have; of the last ones only zeros or a beginning have come to the disk."""
    batches = [v2(at, 5, epoch=3, body=bytes(5000)) for at in range(0, 50, 5)]
    positions = [sum(map(len, batches[:n])) for n in range(len(batches) + 1)]
    kept = b"".join(batches[: len(batches) - torn])
    return {
        segment(0): kept + (batches[0][:100] if torn == 1 else bytes(len(batches[0]) * torn)),
        segment(0, "index"): index(*((n * 5 + 4, positions[n]) for n in range(1, 10)), zeros=99),
        "leader-epoch-checkpoint": epochs("3 0"),
    }


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("torn", [1, 2, 3, 7, 9])
@pytest.mark.parametrize("before", [False, True], ids=["alone", "behind another segment"])
def test_a_torn_batch_in_the_index_costs_only_itself(
    tmp_path: Path, mode: ScanMode, torn: int, before: bool
) -> None:
    files = _large(torn)
    if before:
        whole, half = v2(20, 5, epoch=3, body=bytes(5000)), v2(25, 5, epoch=3, body=bytes(5000))
        files = {
            segment(0): v2(0, 20, epoch=3),
            segment(20): whole + half[:900],
            segment(20, "index"): index((9, len(whole)), zeros=99),
            "leader-epoch-checkpoint": epochs("3 0"),
        }
    log = scan(tmp_path / "a-0", files, mode)
    end = 25 if before else 50 - 5 * torn
    assert (log.log_end_offset, log.suspect, log.last_written_leader_epoch) == (end, None, 3)
    assert log.epochs == (EpochSpan(3, 0, end),)
    assert log.scanned
    assert bool(log.scanned.damage) is (before or torn == 1)


@pytest.mark.parametrize("mode", ScanMode)
def test_an_active_segment_without_a_batch_takes_its_epoch_from_the_one_before(
    tmp_path: Path, mode: ScanMode
) -> None:
    log = scan(tmp_path / "a-0", {**GOOD, segment(30): b""}, mode, recovery_point=30)
    assert (log.log_end_offset, log.last_written_leader_epoch, log.suspect) == (30, 3, None)


@pytest.mark.parametrize("mode", ScanMode)
def test_a_log_that_never_held_a_record(tmp_path: Path, mode: ScanMode) -> None:
    log = scan(tmp_path / "a-0", {segment(0): b"", "leader-epoch-checkpoint": b""}, mode)
    assert (log.log_start_offset, log.log_end_offset, log.epochs) == (0, 0, ())
    assert (log.last_written_leader_epoch, log.suspect) == (-1, None)
    assert log.empty


def test_deleted_records_move_the_log_start_into_a_segment(tmp_path: Path) -> None:
    log = scan(tmp_path / "a-0", GOOD, log_start=12)
    assert log.epochs == (EpochSpan(2, 12, 25), EpochSpan(3, 25, 30))
    assert (log.log_start_offset, log.suspect) == (12, None)
    trimmed = {**GOOD, "leader-epoch-checkpoint": epochs("2 12", "3 25")}
    assert scan(tmp_path / "a-0", trimmed, log_start=12).suspect is None


THREE_SEGMENTS: Files = {
    segment(0): v2(0, 5, epoch=2) + v2(5, 5, epoch=3),
    segment(10): v2(10, 10, epoch=3),
    segment(20): v2(20, 10, epoch=3),
}


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("log_start", [None, 0, 3])
@pytest.mark.parametrize(
    ("first", "files"),
    [
        ("3 13", {}),
        ("3 20", {}),
        ("3 30", {}),
        ("4 30", {segment(30): v2(30, 10, epoch=4)}),
        ("3 25", {segment(0): None, segment(10): None}),
    ],
    ids=["inside", "leading segments", "all", "all, then appended", "segments are gone"],
)
def test_records_deleted_just_before_a_kill_put_nothing_in_doubt(
    tmp_path: Path,
    mode: ScanMode,
    log_start: int | None,
    first: str,
    files: Mapping[str, bytes | None],
) -> None:
    """The leader epochs are cut off at once, log-start-offset-checkpoint follows a minute later,
    and the segments after that; a broker that starts takes the log as it lies there."""
    held = {**THREE_SEGMENTS, "leader-epoch-checkpoint": epochs(first), **files}
    kept = {name: data for name, data in held.items() if data is not None}
    log = scan(tmp_path / "a-0", kept, mode, log_start=log_start)
    epoch, begin = map(int, first.split())
    end = 40 if epoch == 4 else 30
    assert (log.suspect, log.certain_end_offset, log.problem) == (None, None, None)
    assert log.scanned
    assert log.scanned.damage is None
    assert log.log_start_offset == max(log_start or 0, 20 if segment(0) not in kept else 0)
    assert (log.log_end_offset, log.last_written_leader_epoch) == (end, epoch)
    assert log.epochs == ((EpochSpan(epoch, begin, end),) if begin < end else ())


@pytest.mark.parametrize("mode", ScanMode)
def test_a_broker_that_started_after_all_was_deleted_has_forgotten_its_epochs(
    tmp_path: Path, mode: ScanMode
) -> None:
    log = scan(tmp_path / "a-0", {**THREE_SEGMENTS, "leader-epoch-checkpoint": epochs()}, mode)
    assert (log.suspect, log.log_end_offset, log.last_written_leader_epoch) == (None, 30, 3)
    read = (EpochSpan(2, 0, 5), EpochSpan(3, 5, 30))
    assert log.epochs == (None if mode is FAST else read)


@pytest.mark.parametrize("mode", ScanMode)
def test_a_batch_below_a_moved_log_start_is_of_no_newer_epoch(
    tmp_path: Path, mode: ScanMode
) -> None:
    flipped = {segment(20): v2(20, 5, epoch=3) + v2(25, 5, epoch=7)}
    files = {**THREE_SEGMENTS, **flipped, "leader-epoch-checkpoint": epochs("3 30")}
    log = scan(tmp_path / "a-0", files, mode)
    assert log.suspect
    assert log.certain_end_offset == 25


@pytest.mark.parametrize("mode", ScanMode)
def test_a_log_that_ends_below_what_was_deleted_lost_its_tail(
    tmp_path: Path, mode: ScanMode
) -> None:
    """A broker takes it as it is; records below 35 were there once, or could not be deleted."""
    files = {**THREE_SEGMENTS, "leader-epoch-checkpoint": epochs("3 35")}
    log = scan(tmp_path / "a-0", files, mode)
    assert log.suspect
    assert "below 35" in log.suspect
    assert log.log_end_offset == 30


def test_a_log_start_beyond_the_end_would_cost_the_log(tmp_path: Path) -> None:
    log = scan(tmp_path / "a-0", GOOD, log_start=31)
    assert log.suspect
    assert (log.log_start_offset, log.log_end_offset, log.certain_end_offset) == (31, 31, 30)
    assert log.epochs == ()


def test_no_segment_at_all_is_in_doubt(tmp_path: Path) -> None:
    log = scan(tmp_path / "a-0", {"partition.metadata": METADATA})
    assert log.suspect
    assert log.empty


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("leader-epoch-checkpoint", b"garbage"),
        ("leader-epoch-checkpoint", b"0\n1\n3 "),
        ("partition.metadata", b"\xff\x00"),
    ],
)
def test_small_files_that_are_garbage_put_the_replica_in_doubt(
    tmp_path: Path, name: str, content: bytes
) -> None:
    log = scan(tmp_path / "a-0", {**GOOD, name: content})
    assert log.suspect
    assert log.log_end_offset == 30


def test_a_checkpoint_of_no_bytes_is_none_and_an_entry_twice_counts_once(tmp_path: Path) -> None:
    """As a broker takes both."""
    lineage = (EpochSpan(0, 0, 10), EpochSpan(2, 10, 25), EpochSpan(3, 25, 30))
    twice = epochs("0 0", "2 10", "2 10", "3 25")
    for content in (b"", epochs(), twice):
        log = scan(tmp_path / "a-0", {**GOOD, "leader-epoch-checkpoint": content})
        assert (log.suspect, log.epochs) == (None, lineage)


def test_without_the_checkpoint_the_lineage_is_that_of_the_batches(tmp_path: Path) -> None:
    files = {name: data for name, data in GOOD.items() if name != "leader-epoch-checkpoint"}
    log = scan(tmp_path / "a-0", files)
    assert log.epochs == (EpochSpan(0, 0, 10), EpochSpan(2, 10, 25), EpochSpan(3, 25, 30))
    assert scan(tmp_path / "a-0", files, RECOVER, recovery_point=20).epochs is None
    assert scan(tmp_path / "a-0", files, FAST).epochs is None


def test_epochs_that_fall_put_the_one_before_in_doubt(tmp_path: Path) -> None:
    files = {segment(0): v2(0, 10) + v2(10, 10, epoch=64) + v2(20, 5, epoch=1)}
    log = scan(tmp_path / "a-0", files)
    assert log.suspect
    assert log.certain_end_offset == 10


def test_old_message_formats_have_no_epoch(tmp_path: Path) -> None:
    files = {segment(0): legacy(0, magic=0) + legacy(1) + legacy(5, attributes=1)}
    log = scan(tmp_path / "a-0", files)
    assert (log.log_end_offset, log.last_written_leader_epoch, log.epochs) == (6, None, None)
    assert log.suspect is None
    assert log.scanned
    assert log.scanned.record_count is None


def test_a_swap_takes_the_place_of_the_segments_it_was_made_of(tmp_path: Path) -> None:
    """LogLoader finishes a compaction that was cut short once its new segments were whole."""
    swap = {f"{segment(0)}.swap": v2(0, 4) + v2(18, 2, epoch=2), f"{segment(7)}.deleted": b"x"}
    cleaned = {f"{segment(20)}.cleaned": b"half written"}
    log = scan(tmp_path / "a-0", {**GOOD, **swap, **cleaned}, compacted=True)
    assert (log.log_end_offset, log.suspect) == (30, None)
    assert log.scanned
    assert log.scanned.record_count == 4 + 2 + 10


def test_a_segment_that_is_no_plain_file_costs_the_row(tmp_path: Path) -> None:
    scan(tmp_path / "a-0", GOOD)
    (tmp_path / "a-0" / segment(20)).unlink()
    (tmp_path / "a-0" / segment(20)).symlink_to(tmp_path / "elsewhere")
    replica = Replica(1, TopicPartition("a", 0), "a-0")
    with LocalLocation(tmp_path / "a-0").open() as folder:
        log = scan_replica(folder, replica, DEEP, Unmetered())
    assert log.problem == f"{segment(20)}: not a plain file"
    assert log.log_end_offset is None


@pytest.mark.parametrize("name", ["7.log", "+30.log", "000000000000000000000.log.swap"])
def test_a_file_that_only_a_broker_takes_for_a_segment_is_named(tmp_path: Path, name: str) -> None:
    """A broker makes a segment of it, at an offset where there may be none."""
    log = scan(tmp_path, {**GOOD, name: b""})
    assert log.problem is None
    assert f"{name}: a broker reads an offset out of this name" in (log.suspect or "")
    assert log.certain_end_offset == 0
    # Indexes without a segment are deleted, and other files are left alone.
    assert scan(tmp_path / "other", {**GOOD, "7.index": b"", "7.txt": b""}).suspect is None


@pytest.mark.parametrize("name", [segment(0, "index"), "leader-epoch-checkpoint"])
def test_a_link_in_the_place_of_a_file_of_the_log_is_not_followed_and_named(
    tmp_path: Path, name: str
) -> None:
    scan(tmp_path, GOOD)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/nowhere")
    replica = Replica(1, TopicPartition("orders", 0), str(tmp_path))
    with LocalLocation(tmp_path).open() as folder:
        log = scan_replica(folder, replica, DEEP, Unmetered())
    assert f"{name} is no plain file (a symlink is never followed)" in (log.suspect or "")


def test_where_a_directory_takes_the_place_of_an_index_no_end_of_the_broker_is_foretold(
    tmp_path: Path,
) -> None:
    """A broker fails over the directory first, and goes on without the log directory."""
    far = b"".join(v2(at + (1 << 33), 10) for at in (0, 10))
    log = scan(tmp_path, {segment(1 << 34): far})
    assert ends_over(log.problem) is not None
    (tmp_path / segment(1 << 34, "index")).mkdir()
    replica = Replica(1, TopicPartition("orders", 0), str(tmp_path))
    with LocalLocation(tmp_path).open() as folder:
        log = scan_replica(folder, replica, DEEP, Unmetered())
    assert f"{segment(1 << 34, 'index')} is no plain file" in (log.problem or "")
    assert (ends_over(log.problem), log.log_end_offset) == (None, None)


def test_a_file_without_a_number_of_20_digits_is_named_before_a_segment_that_is_not_there(
    tmp_path: Path,
) -> None:
    log = scan(tmp_path, {"7.log.swap": b""})
    assert "7.log.swap: a broker reads an offset out of this name" in (log.suspect or "")


def test_a_failing_disk_costs_the_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "pread", fail)
    log = scan(tmp_path / "a-0", GOOD)
    assert log.problem == f"{segment(0)}: byte 0: Input/output error"
    assert (log.log_end_offset, log.epochs) == (None, None)
