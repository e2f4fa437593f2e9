"""Batches off the wire, kept as a log directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.model import EpochLineage, EpochSpan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.live.fetched_log import FetchedLog
from kafka_unclean_recovery.salvage.live.losers import Loser
from tests.salvage.batches import marker, numbered

ORDERS = TopicPartition("orders", 0)
LINEAGE = (EpochSpan(0, 0, 15), EpochSpan(1, 15, 20), EpochSpan(3, 20, 30))
LOST = (EpochSpan(0, 12, 15), *LINEAGE[1:])
TAIL = numbered(12, 3) + numbered(15, 5, epoch=1) + numbered(20, 10, epoch=3)


def _log(root: Path, lost: EpochLineage = LOST, segment_bytes: int = 1 << 30) -> FetchedLog:
    loser = Loser(ORDERS, ReplicaLog(1, True, 3, 0, 0, 30, LINEAGE), lost)
    return FetchedLog(root, loser, "c1", segment_bytes)


def _files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "orders-0").iterdir()}


def test_it_looks_like_a_disk_that_holds_the_tail_alone(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    log.add(TAIL)
    log.close()
    assert (log.whole, log.next_offset, log.size, log.gaps) == (True, 30, len(TAIL), False)
    meta = (tmp_path / "log" / "meta.properties").read_text()
    assert meta == "version=1\nnode.id=1\ncluster.id=c1\n"
    assert _files(tmp_path / "log") == {
        f"{12:020}.log": TAIL,
        "leader-epoch-checkpoint": b"0\n3\n0 12\n1 15\n3 20\n",
    }


def test_any_pieces_make_the_same_log(tmp_path: Path) -> None:
    """An answer may end anywhere in a batch; the next begins with that batch."""
    starts = {12: 0, 15: len(numbered(12, 3)), 20: len(TAIL) - len(numbered(20, 10, epoch=3))}
    for extra in range(0, len(TAIL), 7):
        log = _log(tmp_path / str(extra))
        while not log.whole:
            at = starts[log.next_offset]
            # The first batch is always all there, as a broker has it.
            first = len(numbered(log.next_offset, {12: 3, 15: 5, 20: 10}[log.next_offset]))
            log.add(TAIL[at : at + first + extra])
        log.close()
        assert _files(tmp_path / str(extra))[f"{12:020}.log"] == TAIL


def test_a_batch_that_straddles_the_cut_is_taken_whole(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    log.add(numbered(10, 5) + TAIL[len(numbered(12, 3)) :])
    log.close()
    assert f"{10:020}.log" in _files(tmp_path / "log")
    assert _files(tmp_path / "log")["leader-epoch-checkpoint"].startswith(b"0\n3\n0 10\n")


def test_what_lies_beyond_the_tail_is_left_out(tmp_path: Path) -> None:
    log = _log(tmp_path / "log", (EpochSpan(0, 12, 15),))
    log.add(TAIL)
    log.close()
    assert _files(tmp_path / "log") == {
        f"{12:020}.log": numbered(12, 3),
        "leader-epoch-checkpoint": b"0\n1\n0 12\n",
    }


def test_a_part_of_a_tail_has_a_part_of_the_lineage(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    log.add(TAIL[: len(numbered(12, 3)) + 80])
    log.close()
    assert (log.whole, log.next_offset) == (False, 15)
    assert _files(tmp_path / "log")["leader-epoch-checkpoint"] == b"0\n1\n0 12\n"


def test_gaps_of_compaction_are_taken_and_noted(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    log.add(numbered(13, 1) + numbered(22, 8, epoch=3))
    log.close()
    assert (log.whole, log.gaps) == (True, True)
    # It begins at the cut, for the replica holds nothing else there.
    assert f"{12:020}.log" in _files(tmp_path / "log")


def test_segments_stay_of_a_size_that_kafkas_tools_read(tmp_path: Path) -> None:
    size = len(numbered(12, 3))
    log = _log(tmp_path / "log", segment_bytes=size + 1)
    log.add(TAIL)
    log.close()
    names = sorted(name for name in _files(tmp_path / "log") if name.endswith(".log"))
    assert names == [f"{12:020}.log", f"{15:020}.log", f"{20:020}.log"]


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (_flipped(TAIL, 70), "batch crc"),
        (numbered(5, 3), "offset order"),
        (numbered(12, 3) + numbered(14, 5), "offset order"),
        (numbered(12, 3)[:40], "truncated batch"),
        (_flipped(TAIL, 16), "batch magic"),
        (b"", "truncated batch"),
    ],
    ids=["flipped", "older", "overlapping", "cut short", "magic", "nothing"],
)
def test_other_bytes_are_refused(tmp_path: Path, records: bytes, why: str) -> None:
    log = _log(tmp_path / "log")
    with pytest.raises(BadFormat, match=why):
        log.add(records)
    log.close()


def test_what_came_before_a_bad_batch_is_kept(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    with pytest.raises(BadFormat):
        log.add(_flipped(TAIL, len(numbered(12, 3)) + 70))
    log.close()
    assert log.next_offset == 15
    assert _files(tmp_path / "log")[f"{12:020}.log"] == numbered(12, 3)


def test_transactions_are_noticed(tmp_path: Path) -> None:
    log = _log(tmp_path / "log")
    log.add(numbered(12, 3))
    assert not log.transactional
    log.add(marker(15, commit=True, epoch=1))
    assert log.transactional
    log.close()
