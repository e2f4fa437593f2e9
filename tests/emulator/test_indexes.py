"""Offset and time indexes: pure, and in the files of the emulator's brokers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator.broker.log import Batch
from kafka_unclean_recovery.emulator.disks.indexes import NOTHING_INDEXED, final_time, index
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.segments.index import entries, last_entries
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.emulator.steps import KEY, TOPIC, create, lose, opened, partition, replica
from tests.log_dir.segments import v2

SIZE = 1500


def _batches(*timestamps: int) -> list[Batch]:
    """Return batches of two records and SIZE bytes each."""
    return [
        Batch(2 * place, 2 * place + 1, 0, SIZE * place, SIZE, time)
        for place, time in enumerate(timestamps)
    ]


def _offsets(data: bytes) -> list[tuple[int, ...]]:
    return list(struct.iter_unpack(">ii", data))


def _times(data: bytes) -> list[tuple[int, ...]]:
    return list(struct.iter_unpack(">qi", data))


def test_a_batch_more_than_4_kib_behind_the_last_entry_gets_one() -> None:
    _, found = index(NOTHING_INDEXED, _batches(*range(10, 18)), 0)
    assert _offsets(found.offsets) == [(7, 4500), (13, 9000)]
    assert _times(found.times) == [(13, 7), (16, 13)]


def test_appending_piece_by_piece_comes_to_the_same() -> None:
    batches = _batches(*range(50, 80))
    _, whole = index(NOTHING_INDEXED, batches, 0)
    known, offsets, times = NOTHING_INDEXED, b"", b""
    for batch in batches:
        known, found = index(known, [batch], 0)
        offsets, times = offsets + found.offsets, times + found.times
    assert (offsets, times) == (whole.offsets, whole.times)


def test_the_time_index_has_the_greatest_time_so_far_and_only_where_it_rises() -> None:
    known, found = index(NOTHING_INDEXED, _batches(5, 90, 7, 8, 9, 10, 11, 91), 0)
    assert _times(found.times) == [(90, 3)]
    known, final = final_time(known)
    assert _times(final) == [(91, 15)]
    assert final_time(known) == (known, b"")


def test_offsets_are_relative_and_one_too_far_away_is_left_out() -> None:
    far = [Batch(2**40, 2**40 + 1, 0, 5000, SIZE, 10)]
    assert index(NOTHING_INDEXED, far, 0)[1].offsets == b""
    assert _offsets(index(NOTHING_INDEXED, far, 2**40)[1].offsets) == [(1, 5000)]


# In files.


def _filled(directory: Path, batches: int = 20) -> Emulation:
    emulation = opened(directory, brokers=2)
    create(emulation, (1, 2))
    _write(emulation, batches)
    return emulation


def _write(emulation: Emulation, batches: int) -> None:
    leader = emulation.brokers[partition(emulation).leader]
    for _ in range(batches):
        leader.append_as_leader(leader.replicas[KEY], v2(count=3, epoch=-1, body=bytes(SIZE)))
    emulation.replicate(KEY)


def _file(emulation: Emulation, broker: int, suffix: str) -> bytes:
    return (emulation.brokers[broker].directory / f"{TOPIC}-0" / f"{0:020}{suffix}").read_bytes()


def _right(emulation: Emulation, broker: int) -> bool:
    """Return whether every entry names the last offset of a batch, and where it begins."""
    where = {b.last_offset: b.position for b in replica(emulation, broker).log.batches}
    found = list(entries(_file(emulation, broker, ".index"), 0))
    return bool(found) and found == [(offset, where[offset]) for offset, _ in found]


@pytest.mark.not_emulated("preallocated indexes")
def test_leader_and_follower_write_entries_that_name_batches(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    assert all(_right(emulation, broker) for broker in (1, 2))
    assert len(_offsets(_file(emulation, 1, ".index"))) == 20 // 3
    # All batches have one time.
    assert _times(_file(emulation, 1, ".timeindex")) == [(2000, 2)]


def test_truncation_cuts_the_indexes_too(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    broker = emulation.brokers[2]
    broker.truncate(replica(emulation, 2), 12)
    assert [offset for offset, _ in _offsets(_file(emulation, 2, ".index"))] == [11]
    broker.truncate(replica(emulation, 2), 0)
    assert _file(emulation, 2, ".index") == _file(emulation, 2, ".timeindex") == b""


def test_a_start_after_a_kill_writes_the_indexes_anew(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    lose(emulation, 2)
    directory = emulation.brokers[2].directory / f"{TOPIC}-0"
    before = _file(emulation, 2, ".index")
    (directory / f"{0:020}.index").write_bytes(b"nonsense")
    (directory / f"{0:020}.timeindex").unlink()
    emulation.start(emulation.brokers[2])
    assert _file(emulation, 2, ".index") == before
    assert _times(_file(emulation, 2, ".timeindex")) == [(2000, 2)]
    end = replica(emulation, 2).log.size
    _write(emulation, 5)
    assert _right(emulation, 2)
    # Counted from where the log ended at the start: the fourth batch is the first beyond 4 KiB.
    added = _file(emulation, 2, ".index")[len(before) :]
    assert [position for _, position in _offsets(added)] == [end + 3 * end // 20]


def test_a_clean_stop_adds_the_greatest_time(tmp_path: Path) -> None:
    emulation = _filled(tmp_path, batches=1)
    assert _file(emulation, 1, ".timeindex") == b""
    emulation.stop(emulation.brokers[1])
    assert _times(_file(emulation, 1, ".timeindex")) == [(2000, 2)]
    emulation.start(emulation.brokers[1])
    _write(emulation, 7)
    assert _times(_file(emulation, 1, ".timeindex")) == [(2000, 2)]


def test_a_fast_scan_goes_by_the_last_entry(tmp_path: Path) -> None:
    emulation = _filled(tmp_path, batches=200)
    end = replica(emulation, 2).log.end_offset
    emulation.kill(emulation.brokers[2])
    data = _file(emulation, 2, ".index")
    found = last_entries(lambda at, size: data[at : at + size], len(data), 0)[-1]
    # What lies before the entry is not read, so that damage there is not seen.
    segment = emulation.brokers[2].directory / f"{TOPIC}-0" / f"{0:020}.log"
    content = bytearray(segment.read_bytes())
    content[: found[1]] = bytes(found[1])
    segment.write_bytes(content)
    scanned = scan_log_directories([LocalLocation(emulation.brokers[2].directory)], ScanMode.FAST)
    (log,) = scanned.partitions[0].replica_logs
    assert (log.log_end_offset, log.problem) == (end, None)
