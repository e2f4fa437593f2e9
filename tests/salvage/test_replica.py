"""Tails out of the files of one replica: what is taken, what is left, and what is said of it."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow.parquet
import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.watching import Unwatched
from kafka_unclean_recovery.model import EpochSpan, TopicPartition
from kafka_unclean_recovery.salvage.designated import DesignatedLeaders, designated_leaders
from kafka_unclean_recovery.salvage.layout import ReplicaPlace
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.replica import Output, Salvaged
from kafka_unclean_recovery.salvage.salvage_disks import find_replicas, salvage_replicas
from kafka_unclean_recovery.salvage.transactions import Ending
from tests.log_dir.segments import v2
from tests.salvage.batches import batch, marker, numbered
from tests.salvage.disks import disk, plan_text

ORDERS = TopicPartition("orders", 0)


def _rows(tmp_path: Path, text: str) -> list[Salvaged]:
    rows, problems = _salvage(tmp_path, designated_leaders(text, "plan.json"))
    assert problems == []
    return rows


def _salvage(tmp_path: Path, leaders: DesignatedLeaders) -> tuple[list[Salvaged], list[str]]:
    sources, problems = find_replicas([LocalLocation(tmp_path / "disks")], leaders, lambda _: True)
    salvage_replicas(sources, Output(tmp_path / "out", RecordsFile), Unwatched())
    return [source.row for source in sources], problems


def _salvaged(tmp_path: Path, text: str | None = None) -> Salvaged:
    (row,) = _rows(tmp_path, text or plan_text())
    return row


def _records(tmp_path: Path, row: Salvaged) -> list[dict[str, Any]]:
    assert row.place is not None
    path = tmp_path / "out" / row.place.records
    found: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return found


def _offsets(tmp_path: Path, row: Salvaged) -> list[int]:
    return [record["offset"] for record in _records(tmp_path, row)]


def _files(tmp_path: Path, row: Salvaged) -> dict[str, bytes]:
    assert row.place is not None
    home = tmp_path / "out" / row.place.segments
    return {path.name: path.read_bytes() for path in sorted(home.glob("*.log"))}


def test_a_copy_that_is_all_there_is_of_a_replica_is_saved_and_others_are_named(
    tmp_path: Path,
) -> None:
    """Its broker takes it into use at its start, so the plan ranks it like any other."""
    disk(tmp_path / "disks", {0: numbered(0, 15)})
    home = next(tmp_path.rglob("orders-0"))
    future, stray = (f"orders-0.{'0' * 32}-{kind}" for kind in ("future", "stray"))
    shutil.copytree(home, home.with_name(future))
    shutil.copytree(home, home.with_name(stray))
    leaders = designated_leaders(plan_text(), "plan.json")
    _, problems = find_replicas([LocalLocation(tmp_path / "disks")], leaders, lambda _: True)
    assert [problem.partition(":")[0] for problem in problems] == [
        str(home.with_name(name)) for name in (future, stray)
    ]
    shutil.rmtree(home)
    (row,), problems = _salvage(tmp_path, leaders)
    assert _offsets(tmp_path, row) == list(range(10, 15))
    assert [problem.partition(":")[0] for problem in problems] == [str(home.with_name(stray))]


def test_the_tail_is_the_brokers_bytes_and_its_records(tmp_path: Path) -> None:
    tail = numbered(10, 5) + numbered(15, 3, codec="zstd")
    disk(tmp_path / "disks", {0: numbered(0, 10) + tail + bytes(4096)})
    row = _salvaged(tmp_path)
    assert row.problems == []
    assert _files(tmp_path, row) == {f"{10:020}.log": tail}
    (segment,) = row.segments
    assert (segment.first_offset, segment.end_offset, segment.batches) == (10, 18, 2)
    assert (segment.size, segment.sha256) == (len(tail), hashlib.sha256(tail).hexdigest())
    values = [(r["offset"], r["value"]) for r in _records(tmp_path, row)]
    assert values == [(n, b"%d" % n) for n in range(10, 18)]
    assert (row.records, row.markers, row.missing) == (8, 0, ())


def test_a_tail_over_several_segments_is_a_file_for_each(tmp_path: Path) -> None:
    older = {0: numbered(0, 5), 5: numbered(5, 5) + numbered(10, 2)}
    disk(tmp_path / "disks", {**older, 12: numbered(12, 4), 16: numbered(16, 4)})
    row = _salvaged(tmp_path)
    assert _files(tmp_path, row) == {
        f"{10:020}.log": numbered(10, 2),
        f"{12:020}.log": numbered(12, 4),
        f"{16:020}.log": numbered(16, 4),
    }
    assert _offsets(tmp_path, row) == list(range(10, 20))


@pytest.mark.parametrize("base", [1, 9])
def test_a_batch_that_straddles_the_cut_has_a_file_of_its_own_and_only_its_lost_records_count(
    tmp_path: Path, base: int
) -> None:
    straddling, rest = numbered(base, 15 - base), numbered(15, 3)
    disk(tmp_path / "disks", {0: numbered(0, base) + straddling + rest})
    row = _salvaged(tmp_path)
    assert _files(tmp_path, row) == {
        f"{base:020}.straddling.log": straddling,
        f"{15:020}.log": rest,
    }
    first, second = row.segments
    assert first.salvaged == (EpochSpan(0, 10, 15),)
    assert second.salvaged is None
    assert _offsets(tmp_path, row) == list(range(10, 18))


def test_nothing_beyond_the_leaders_log_leaves_no_file(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10)})
    row = _salvaged(tmp_path)
    assert (row.place, row.segments, row.problems) == (None, (), [])
    assert not (tmp_path / "out").exists()


def test_the_designated_leaders_own_disk_is_left_out(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 20)}, broker=2)
    assert _rows(tmp_path, plan_text()) == []


def test_each_dead_replica_is_a_row(tmp_path: Path) -> None:
    for broker, end in ((3, 14), (1, 12)):
        disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, end - 10)}, broker=broker)
    rows = _rows(tmp_path, plan_text())
    assert [(r.replica.broker, r.records, r.place) for r in rows] == [
        (1, 2, ReplicaPlace(ORDERS, 1)),
        (3, 4, ReplicaPlace(ORDERS, 3)),
    ]


@pytest.mark.parametrize("rolled", [True, False])
def test_transactions_are_told_from_before_the_cut_to_beyond_it(
    tmp_path: Path, rolled: bool
) -> None:
    def data(base: int, producer: int) -> bytes:
        return numbered(base, 2, producer=(producer, 0, 0), transactional=True)

    head = data(0, 1) + marker(2, commit=True, producer=(1, 0)) + data(3, 2) + data(5, 3)
    tail = data(10, 2) + marker(12, commit=False, producer=(2, 0)) + data(13, 1) + data(15, 4)
    tail += marker(17, commit=True, producer=(4, 0))
    tail += marker(18, commit=True, producer=(3, 0)) + numbered(19, 1)
    head += numbered(7, 3)
    disk(tmp_path / "disks", {0: head, 10: tail} if rolled else {0: head + tail})
    row = _salvaged(tmp_path)
    assert row.problems == []
    told = [(r["offset"], r["transaction"], r["control"]) for r in _records(tmp_path, row)]
    assert told == [
        (10, "aborted", None),
        (11, "aborted", None),
        (12, "aborted", "abort"),
        (13, "open", None),
        (14, "open", None),
        (15, "committed", None),
        (16, "committed", None),
        (17, "committed", "commit"),
        (18, "committed", "commit"),
        (19, None, None),
    ]
    assert [(t.producer_id, t.first_offset, t.marker_offset) for t in row.crossing] == [
        (2, 3, 12),
        (3, 5, 18),
    ]
    assert [(t.producer_id, t.first_offset) for t in row.open] == [(1, 13)]
    assert row.transactions == {Ending.COMMITTED: 2, Ending.ABORTED: 1, Ending.OPEN: 1}
    assert (row.records, row.markers) == (7, 3)


def test_damage_in_an_older_segment_costs_only_what_lies_behind_it_there(tmp_path: Path) -> None:
    damaged = bytearray(numbered(12, 4) + numbered(16, 4))
    damaged[-1] ^= 1
    segments = {0: numbered(0, 10) + numbered(10, 2), 12: bytes(damaged), 20: numbered(20, 5)}
    directory = disk(tmp_path / "disks", segments)
    # What lies below the recovery point a broker does not look at again.
    (directory.parent / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 20\n")
    row = _salvaged(tmp_path)
    assert _offsets(tmp_path, row) == [*range(10, 16), *range(20, 25)]
    assert row.missing == ((16, 20),)
    assert any("batch crc" in problem for problem in row.problems)
    assert any("offsets 16 to 20 (exclusive)" in problem for problem in row.problems)


def test_a_log_that_ends_at_damage_says_so(tmp_path: Path) -> None:
    torn = numbered(15, 5)[:-3]
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 5) + torn})
    row = _salvaged(tmp_path)
    assert _offsets(tmp_path, row) == list(range(10, 15))
    assert any("truncated batch" in problem for problem in row.problems)


def test_damage_is_told_where_nothing_is_left_to_salvage_too(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 8) + numbered(8, 5)[:-3]})
    row = _salvaged(tmp_path)
    (problem,) = row.problems
    assert "the log ends at truncated batch" in problem
    assert row.place is None


def test_a_batch_that_can_not_be_decoded_is_kept_as_it_is(tmp_path: Path) -> None:
    rubbish = v2(12, 4, body=b"\xff" * 40)
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 2) + rubbish + numbered(16, 2)})
    row = _salvaged(tmp_path)
    (content,) = _files(tmp_path, row).values()
    assert rubbish in content
    assert _offsets(tmp_path, row) == [10, 11, 16, 17]
    (problem,) = row.problems
    assert "offsets 12 to 15 can't be decoded, it is in the segment file only" in problem


def test_a_batch_beyond_the_bound_is_kept_as_it_is_and_never_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = batch(12, [(1000, None, os.urandom(3 << 20), ())])
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 2) + large + numbered(13, 2)})
    monkeypatch.setattr("kafka_unclean_recovery.salvage.replica.LARGEST_BATCH", 2 << 20)
    real_pread, lengths = os.pread, []

    def spying(descriptor: int, length: int, position: int) -> bytes:
        lengths.append(length)
        return real_pread(descriptor, length, position)

    monkeypatch.setattr(os, "pread", spying)
    row = _salvaged(tmp_path)
    (problem,) = row.problems
    assert f"{len(large)} bytes is more than {2 << 20}" in problem
    (content,) = _files(tmp_path, row).values()
    assert large in content
    assert _offsets(tmp_path, row) == [10, 11, 13, 14]
    assert max(lengths) <= 2 << 20


def test_a_compacted_log_has_gaps_and_no_doubt(tmp_path: Path) -> None:
    segments = {0: numbered(0, 10) + numbered(14, 2), 16: numbered(16, 2) + numbered(18, 2)}
    directory = disk(tmp_path / "disks", segments)
    (directory.parent / "cleaner-offset-checkpoint").write_text("0\n1\norders 0 16\n")
    row = _salvaged(tmp_path)
    assert row.missing == ((10, 14),)
    assert row.problems == []


def test_another_topic_of_that_name_is_not_salvaged(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 5)}, topic_id=UUID(int=2))
    row = _salvaged(tmp_path)
    (problem,) = row.problems
    assert f"topic id {UUID(int=2)}, in the plan {UUID(int=1)}" in problem
    assert row.place is None


def test_without_a_lineage_only_what_lies_beyond_the_leaders_end_is_taken(tmp_path: Path) -> None:
    directory = disk(tmp_path / "disks", {0: numbered(0, 10, epoch=-1) + numbered(10, 4, epoch=-1)})
    (directory / "leader-epoch-checkpoint").unlink()
    row = _salvaged(tmp_path)
    assert _offsets(tmp_path, row) == list(range(10, 14))
    assert {record["leader_epoch"] for record in _records(tmp_path, row)} == {None}
    assert any("lineage is not known" in problem for problem in row.problems)


def test_the_batches_tell_the_lineage_when_its_checkpoint_is_gone(tmp_path: Path) -> None:
    older, newer = numbered(0, 8), numbered(8, 4, epoch=1)
    directory = disk(tmp_path / "disks", {0: older, 8: newer, 12: numbered(12, 2, epoch=1)})
    (directory / "leader-epoch-checkpoint").unlink()
    (directory.parent / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 12\n")
    row = _salvaged(tmp_path)
    assert row.lost is not None
    assert row.lost.spans == (EpochSpan(1, 8, 14),)
    assert _offsets(tmp_path, row) == list(range(8, 14))
    assert row.problems == []


def test_a_directory_that_its_broker_put_aside_is_named(tmp_path: Path) -> None:
    stray = f"orders-0.{UUID(int=5).hex}-stray"
    directory = disk(tmp_path / "disks", {0: numbered(0, 20)}, partition=stray)
    rows, (problem,) = _salvage(tmp_path, designated_leaders(plan_text(), "plan.json"))
    assert rows == []
    assert problem.startswith(f"{directory}: left out")


def test_a_segment_that_was_to_replace_others_does(tmp_path: Path) -> None:
    directory = disk(tmp_path / "disks", {0: numbered(0, 10), 10: numbered(10, 5)})
    (directory / f"{10:020}.log.swap").write_bytes(numbered(10, 3) + numbered(13, 2))
    row = _salvaged(tmp_path)
    assert _files(tmp_path, row) == {f"{10:020}.log": numbered(10, 3) + numbered(13, 2)}


def test_a_broker_that_holds_a_partition_twice_is_two_rows(tmp_path: Path) -> None:
    for place, end in (("a", 12), ("b", 14)):
        disk(tmp_path / "disks" / place, {0: numbered(0, 10) + numbered(10, end - 10)})
    rows = _rows(tmp_path, plan_text())
    assert [(row.place, row.records) for row in rows] == [
        (ReplicaPlace(ORDERS, 1), 2),
        (ReplicaPlace(ORDERS, 1, 2), 4),
    ]


def test_a_batch_of_another_epoch_than_its_lineage_is_a_doubt(tmp_path: Path) -> None:
    segments = {0: numbered(0, 10) + numbered(10, 2, epoch=5)}
    directory = disk(tmp_path / "disks", {**segments, 12: numbered(12, 1), 13: numbered(13, 1)})
    # The batch lies where a broker, and so a scan, does not look: it recovers what has no index.
    for base in (0, 12):
        (directory / f"{base:020}.index").write_bytes(b"")
    (directory.parent / "recovery-point-offset-checkpoint").write_text("0\n1\norders 0 13\n")
    row = _salvaged(tmp_path)
    assert row.problems == ["the batch at offset 10 says leader epoch 5, the lineage 0"]
    assert row.records == 4


def test_a_replica_that_is_suspect_is_salvaged_and_said_to_be(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(12, 4)})
    row = _salvaged(tmp_path)
    assert _offsets(tmp_path, row) == list(range(12, 16))
    gap = "only the last batch lies behind a gap of offsets 10 to 12"
    assert row.problems[0] == f"it may be corrupt: {gap}"


def test_many_row_groups_hold_every_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.salvage.parquet._BYTES", 10)
    tail = b"".join(numbered(base, 6) for base in range(10, 100, 6))
    disk(tmp_path / "disks", {0: numbered(0, 10) + tail})
    row = _salvaged(tmp_path)
    assert row.place is not None
    path = tmp_path / "out" / row.place.records
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 18
    assert _offsets(tmp_path, row) == list(range(10, 100))


def test_a_suspect_leader_is_a_doubt(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 4)})
    chosen = [(ORDERS, 2)]
    leaders = designated_leaders(plan_text(suspect="a flipped bit"), "plan.json", chosen)
    (row,), _ = _salvage(tmp_path, leaders)
    assert any("a flipped bit" in problem for problem in row.problems)
    assert row.records == 4


def test_a_plan_without_a_leader_says_what_to_do(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10)})
    row = _salvaged(tmp_path, plan_text(leader_lives=False))
    (problem,) = row.problems
    assert "--manual-recovery-file" in problem


@pytest.mark.parametrize("what", ["segment", "directory"])
def test_a_symlink_is_not_followed(tmp_path: Path, what: str) -> None:
    real = disk(tmp_path / "elsewhere", {0: numbered(0, 10) + numbered(10, 5)})
    if what == "directory":
        log_directory = tmp_path / "disks" / "broker-1"
        log_directory.mkdir(parents=True)
        (log_directory / "meta.properties").write_bytes(
            (real.parent / "meta.properties").read_bytes()
        )
        (log_directory / "orders-0").symlink_to(real)
    else:
        directory = disk(tmp_path / "disks", {})
        (directory / f"{0:020}.log").symlink_to(real / f"{0:020}.log")
    rows, problems = _salvage(tmp_path, designated_leaders(plan_text(), "plan.json"))
    said = [*problems, *(problem for row in rows for problem in row.problems)]
    assert any("symlink" in sentence or "not a plain file" in sentence for sentence in said)
    assert not (tmp_path / "out").exists()


def test_everything_is_opened_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 5)})
    real_open, flags = os.open, []

    def spying(path: Any, how: int, *args: Any, **more: Any) -> int:
        if not str(path).startswith(str(tmp_path / "out")):
            flags.append(how)
        return real_open(path, how, *args, **more)

    monkeypatch.setattr(os, "open", spying)
    assert _salvaged(tmp_path).records == 5
    assert flags
    assert not [how for how in flags if how & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)]
