"""A replica read in pieces, whatever is wrong with it and wherever it is cut, against one walk."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir import pieces
from kafka_unclean_recovery.log_dir.pieces import (
    Piece,
    PieceResult,
    plan_pieces,
    scan_from_pieces,
    scan_piece,
)
from kafka_unclean_recovery.log_dir.replica_files import replica_files
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.segments import segment_reads
from kafka_unclean_recovery.log_dir.segments.batch_log import BatchLog, condensed
from kafka_unclean_recovery.log_dir.segments.batch_runs import Run
from kafka_unclean_recovery.log_dir.segments.walk import Walk
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog, TopicPartition
from tests.log_dir import replica_directories as disks
from tests.log_dir.memory_folder import MemoryFolder, Tree
from tests.log_dir.mutations import PAYLOAD, fields, seeded
from tests.log_dir.replica_directories import Log
from tests.log_dir.segments import index, legacy, v2

FAST, RECOVER, DEEP = ScanMode
LOGS = {
    "plain": disks.plain_log(),
    "compacted": disks.compacted_log(),
    "upgraded": disks.upgraded_log(),
    "format 1": disks.old_log(),
}
INTACT = {name: disks.replica_files(log) for name, log in LOGS.items()}
SEEDS = 4000
Files = Mapping[str, bytes]


class Counted:
    """How many bytes were read."""

    def __init__(self) -> None:
        self.bytes = 0

    def add(self, count: int) -> None:
        self.bytes += count


def replica(*, compacted: bool = False, recovery_point: int | None = None) -> Replica:
    partition = TopicPartition("orders", 0)
    return Replica(1, partition, "a", recovery_point=recovery_point, compacted=compacted)


def in_one(files: Files, of: Replica, mode: ScanMode) -> ReplicaLog:
    return scan_replica(MemoryFolder(files), of, mode, Unmetered())


def results_of(
    files: Files, planned: Iterable[Piece], *, compacted: bool = False
) -> list[PieceResult]:
    folder = MemoryFolder(files)
    return [scan_piece(folder, piece, compacted, Unmetered()) for piece in planned]


def planned(files: Files, of: Replica, mode: ScanMode, share: int) -> list[Piece]:
    return plan_pieces(MemoryFolder(files), of, mode, share, Unmetered())


def cut_anywhere(files: Files, random: Random) -> Iterator[Piece]:
    """Yield pieces that no index proposed, cut in the middle of batches mostly."""
    for segment in replica_files(MemoryFolder(files)).segments:
        places = [random.randrange(segment.size + 1) for _ in range(random.randrange(4))]
        for start, end in pairwise(sorted({0, *places, segment.size})):
            yield Piece(segment, start, end)


def in_pieces(
    files: Files, of: Replica, mode: ScanMode, results: Iterable[PieceResult]
) -> ReplicaLog:
    return scan_from_pieces(MemoryFolder(files), of, mode, results, Unmetered())


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make windows so small that a segment here has several, and not the same in every walk."""
    random = Random(0)

    def walk(*args: Any, **more: Any) -> Walk:
        more["chunk"] = random.choice([70, 300, 1 << 20])
        return Walk(*args, **more)

    monkeypatch.setattr(segment_reads, "Walk", walk)
    monkeypatch.setattr(pieces, "Walk", walk)


def wrong_index(log: Log, random: Random) -> Files:
    """Return an offset index of any positions, mostly right ones, whose offsets nearly fit."""
    segment = random.choice(log.segments)
    entries = []
    for position, batch in zip(segment.positions, segment.batches, strict=False):
        last = disks.last_offset(batch) - segment.base_offset
        if random.random() < 0.5:
            moved = random.choice([0, 0, 0, 1, random.randrange(-200, 200)])
            entries.append((last + random.choice([0, 0, 0, 1, -1, -5]), position + moved))
    return {disks.file_name(segment.base_offset, "index"): index(*entries, zeros=3)}


@pytest.mark.usefixtures("windows")
def test_seeded_damage_is_seen_as_by_one_walk() -> None:
    """Everything that `mutations` knows, cut as planned and anywhere, results lost and shuffled."""
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        random = Random(seed)
        kind = random.choice(list(LOGS))
        log, intact = LOGS[kind], INTACT[kind]
        mutation = seeded(log, intact, seed)
        files = {**intact, **mutation.files}
        if random.random() < 0.2:
            files |= wrong_index(log, random)
        if random.random() < 0.1:
            files["leader-epoch-checkpoint"] = b"garbage"
        mode = random.choice([DEEP, DEEP, RECOVER, FAST])
        point = random.choice([None, disks.recovery_point(log)])
        # Some logs are said to be compacted that are not, and the other way about.
        of = replace(
            replica(compacted=log.compacted != (random.random() < 0.1), recovery_point=point),
            stopped_clean=random.random() < 0.2,
        )
        if random.random() < 0.5:
            cut = planned(files, of, mode, random.randrange(1, 1500))
        else:
            cut = list(cut_anywhere(files, random))
        results = results_of(files, cut, compacted=of.compacted)
        if results and random.random() < 0.25:
            del results[random.randrange(len(results))]
        random.shuffle(results)
        expected = in_one(files, of, mode)
        found = in_pieces(files, of, mode, results)
        assert found == expected, f"seed {seed}, {kind}, {mode}, {point}: {mutation}: {cut}"
        seen[_outcome(found)] += 1
    assert min(seen.values()) > SEEDS / 50, seen
    assert len(seen) == 4


def _outcome(log: ReplicaLog) -> str:
    damaged = "damaged" if log.scanned and log.scanned.damage else "whole"
    return f"{damaged}, {'sound' if log.suspect is None else 'suspect'}"


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.usefixtures("windows")
def test_every_bit_of_a_header_with_a_cut_at_its_batch_and_beside_it(kind: str) -> None:
    log, intact = LOGS[kind], INTACT[kind]
    of = replica(compacted=log.compacted)
    segment = log.segments[1]
    number = len(segment.batches) // 2
    begin = segment.positions[number]
    random = Random(0)
    for name, (start, end) in fields(segment.batches[number]).items():
        for bit in range(start * 8, end * 8, 40 if name == PAYLOAD else 1):
            content = bytearray(segment.content)
            content[begin + bit // 8] ^= 0x80 >> bit % 8
            files = {**intact, segment.name: bytes(content)}
            cuts = random.sample(segment.positions[number - 1 : number + 3], 2)
            results = results_of(files, cut_at(files, cuts), compacted=log.compacted)
            found = in_pieces(files, of, DEEP, results)
            assert found == in_one(files, of, DEEP), f"{name}, bit {bit}, cut at {cuts}"


def cut_at(files: Files, positions: Iterable[int]) -> Iterator[Piece]:
    """Yield pieces of all segments, cut at these positions, where they reach so far."""
    for segment in replica_files(MemoryFolder(files)).segments:
        within = {0, *(at for at in positions if at < segment.size), segment.size}
        for start, end in pairwise(sorted(within)):
            yield Piece(segment, start, end)


SEGMENT, INDEX = disks.file_name(0, "log"), disks.file_name(0, "index")


def nested(base: int) -> tuple[bytes, int]:
    """Return a batch of 5, and the position in it of another that is as sound, in its records."""
    inner = v2(base + 2, 3)
    outer = v2(base, 5, body=b"key" + inner + b"end")
    return outer, outer.index(inner)


def flipped(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize(
    "batches",
    [
        [v2(0, 5), v2(5, 5), v2(7, 5), v2(12, 5)],
        [v2(0, 5), v2(5, 5), v2(5, 5), v2(10, 5)],
        [v2(0, 5), v2(5, 5), v2(2, 1), v2(10, 5)],
        [v2(0, 5), v2(5, 5), flipped(v2(2, 1))],
        [v2(0, 5), v2(5, 5), flipped(v2(20, 1))],
        [v2(0, 5), v2(5, 5), v2(20, 5), v2(25, 5), v2(40, 5), v2(45, 5)],
        [v2(0, 5), v2(5, 5, epoch=3), v2(10, 5, epoch=2), v2(15, 5, epoch=3)],
        [v2(0, 5), v2(5, 5, epoch=-2), v2(10, 5, epoch=-2), v2(15, 5, epoch=-1)],
        [v2(0, 5), v2(5, 5), bytes(200), v2(10, 5)],
        [v2(0, 5), v2(5, 5), bytes(200)],
        [v2(0, 5), v2(5, 5), v2(10, 5)[:-9]],
        [v2(0, 5), nested(5)[0], v2(10, 5)],
        [legacy(0), legacy(5, attributes=1), legacy(5, attributes=1), v2(6, 1)],
        [legacy(0), legacy(5, attributes=1), v2(6, 2), legacy(8), legacy(30, attributes=2)],
        [],
    ],
    ids=[
        "overlapping",
        "twice",
        "falling",
        "falling, its CRC bad",
        "a bad CRC",
        "gaps",
        "epochs fall",
        "epochs that are none",
        "a hole",
        "zeros at the end",
        "cut short",
        "a batch in a batch",
        "compressed messages twice",
        "compressed messages",
        "empty",
    ],
)
@pytest.mark.usefixtures("windows")
def test_any_cut_of_what_is_hard(batches: list[bytes], compacted: bool) -> None:
    files = {SEGMENT: b"".join(batches), INDEX: index((9, len(v2(0, 5))), zeros=2)}
    of = replica(compacted=compacted)
    expected = in_one(files, of, DEEP)
    for cut in range(len(files[SEGMENT]) + 1):
        results = results_of(files, cut_at(files, [cut]), compacted=compacted)
        assert in_pieces(files, of, DEEP, results) == expected, f"cut at {cut}"


def test_an_index_that_leads_into_a_batch_cuts_nothing_wrongly() -> None:
    batch, inside = nested(5)
    at = len(v2(0, 5)) + inside
    files = {SEGMENT: v2(0, 5) + batch + v2(10, 5), INDEX: index((9, at))}
    cut = planned(files, replica(), DEEP, at - 10)
    assert [piece.start for piece in cut] == [0, at]
    found = in_pieces(files, replica(), DEEP, results_of(files, cut))
    assert found == in_one(files, replica(), DEEP)
    assert found.log_end_offset == 15


def test_what_the_index_speaks_against_is_doubted_in_pieces_too() -> None:
    batches = [v2(base, 5) for base in range(0, 50, 5)]
    size = len(batches[0])
    files = {SEGMENT: b"".join(batches), INDEX: index((19, 3 * size), (28, 5 * size))}
    of = replica(compacted=True)
    for cut in range(1, 10):
        results = results_of(files, cut_at(files, [cut * size]), compacted=True)
        found = in_pieces(files, of, DEEP, results)
        assert found == in_one(files, of, DEEP)
        assert (found.log_end_offset, found.certain_end_offset) == (50, 25)


def test_results_of_a_log_that_was_not_thought_compacted_are_not_taken() -> None:
    files = {SEGMENT: v2(0, 5) + v2(5, 5) + v2(10, 5), INDEX: index((8, len(v2(0, 5))))}
    results = results_of(files, cut_at(files, [len(v2(0, 5))]), compacted=False)
    found = in_pieces(files, replica(compacted=True), DEEP, results)
    assert found == in_one(files, replica(compacted=True), DEEP)
    assert found.suspect is not None


def test_a_segment_that_grew_or_shrank_since_is_read_as_it_is() -> None:
    before = {SEGMENT: v2(0, 5) + v2(5, 5) + v2(10, 5)}
    results = results_of(before, cut_at(before, [len(v2(0, 5))]))
    for now in (v2(0, 5) + v2(5, 5), before[SEGMENT] + v2(15, 5), before[SEGMENT][:-3], b""):
        found = in_pieces({SEGMENT: now}, replica(), DEEP, results)
        assert found == in_one({SEGMENT: now}, replica(), DEEP)


@pytest.mark.parametrize("mode", ScanMode)
def test_a_swap_is_cut_in_the_place_of_what_it_was_made_of(mode: ScanMode) -> None:
    swap = {f"{SEGMENT}.swap": v2(0, 4) + v2(18, 2), f"{INDEX}.swap": index((19, len(v2(0, 4))))}
    files = {SEGMENT: v2(0, 20), disks.file_name(20, "log"): v2(20, 5), **swap}
    of = replica(compacted=True)
    cut = planned(files, of, mode, 80)
    names = [piece.segment.name for piece in cut]
    last = disks.file_name(20, "log")
    assert names == ([] if mode is FAST else [f"{SEGMENT}.swap", f"{SEGMENT}.swap", last])
    found = in_pieces(files, of, mode, results_of(files, cut, compacted=True))
    assert found == in_one(files, of, mode)
    assert found.log_end_offset == 25


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("mode", ScanMode)
def test_pieces_are_what_the_mode_reads_and_nothing_is_read_twice(
    kind: str, mode: ScanMode
) -> None:
    log, files = LOGS[kind], INTACT[kind]
    of = replica(compacted=log.compacted, recovery_point=disks.recovery_point(log))
    cut = planned(files, of, mode, 400)
    sizes = {s.name: len(s.content) for s in log.segments}
    whole = [] if mode is FAST else list(sizes) if mode is DEEP else [log.segments[-1].name]
    for name in whole:
        edges = [(p.start, p.end) for p in cut if p.segment.name == name]
        assert len(edges) > 1
        assert [0, *(end for _, end in edges)] == [*(start for start, _ in edges), sizes[name]]
    assert {p.segment.name for p in cut} == set(whole)
    results = pickle.loads(pickle.dumps(results_of(files, cut, compacted=log.compacted)))
    merging, headers = Counted(), Counted()
    found = scan_from_pieces(MemoryFolder(files), of, mode, results, merging)
    assert found == in_one(files, of, mode)
    # What a fast scan of the older segments reads.
    scan_replica(MemoryFolder(files), of, FAST, headers)
    assert merging.bytes <= (0 if mode is DEEP else headers.bytes)


# The batch there ends at 29.
TOO_LOW = index((28, 5 * len(v2(0, 5))))


@pytest.mark.parametrize(
    "of_index", [None, b"", b"odd", bytes(800), index((3, 7), (4, 9)), TOO_LOW]
)
def test_without_an_index_that_fits_a_segment_stays_whole(of_index: bytes | None) -> None:
    files = {SEGMENT: b"".join(v2(base, 5) for base in range(0, 50, 5))}
    if of_index is not None:
        files[INDEX] = of_index
    (piece,) = planned(files, replica(), DEEP, 100)
    assert (piece.start, piece.end) == (0, len(files[SEGMENT]))


def test_an_index_that_is_no_file_costs_nothing_but_the_cuts() -> None:
    tree: Tree = {SEGMENT: v2(0, 5) + v2(5, 5), INDEX: {}}
    folder = MemoryFolder(tree)
    (piece,) = plan_pieces(folder, replica(), DEEP, 50, Unmetered())
    result = scan_piece(folder, piece, False, Unmetered())
    found = scan_from_pieces(folder, replica(), DEEP, [result], Unmetered())
    assert (found.log_end_offset, found.problem) == (10, None)


def test_an_index_of_the_worst_kind_gives_few_pieces_soon() -> None:
    """Entries that fall, are negative, name one place over and over."""
    for seed in range(200):
        random = Random(seed)
        log = LOGS["plain"]
        segment = log.segments[0]
        places = [*segment.positions, -1, -(2**31), 2**31 - 1]
        entries = [(random.choice([5, 60, 2**31 - 1]), random.choice(places)) for _ in range(50)]
        files = {segment.name: segment.content, INDEX: index(*entries)}
        cut = planned(files, replica(), DEEP, random.randrange(1, 500))
        starts, ends = [p.start for p in cut], [p.end for p in cut]
        assert [*starts, len(segment.content)] == [0, *ends]
        assert starts == sorted(set(starts))
        found = in_pieces(files, replica(), DEEP, results_of(files, cut))
        assert found == in_one(files, replica(), DEEP), f"seed {seed}"


@st.composite
def rising_runs(draw: st.DrawFn) -> list[Run]:
    """Return runs as walks give them: offsets rise, with or without gaps and first offsets."""
    runs: list[Run] = []
    at = draw(st.integers(0, 3))
    for _ in range(draw(st.integers(0, 12))):
        at += draw(st.sampled_from([0, 0, 0, 1, 5]))
        epoch = draw(st.sampled_from([None, -1, 0, 0, 1]))
        known = epoch is not None or draw(st.booleans())
        length = draw(st.integers(1, 3)) if known else 1
        last = at + length - 1
        batches = draw(st.integers(1, length))
        start = draw(st.integers(at, last)) if known else None
        runs.append((at if known else None, last, epoch, start, 7 if known else None, batches))
        at = last + 1
    return runs


@settings(max_examples=300)
@given(rising_runs(), st.booleans(), st.integers(0, 2), st.booleans())
def test_condensed_runs_tell_a_log_the_same(
    runs: list[Run], compacted: bool, before: int, gap_before: bool
) -> None:
    logs = BatchLog(compacted), BatchLog(compacted)
    shorter = condensed(runs)
    for log, told in zip(logs, (runs, shorter), strict=True):
        log.begin_segment(0)
        moved = [_moved(run, 10 * before) for run in told]
        if before:
            log.take([(1 if gap_before else 0, 9 * before, 0, 1, 5, 1)])
        log.take(moved)
        log.finish(0)
    assert logs[0] == logs[1]
    assert len(shorter) <= len(runs)
    assert sum(run[5] for run in shorter) == sum(run[5] for run in runs)


def _moved(run: Run, by: int) -> Run:
    first, last, epoch, start, records, batches = run
    return (
        None if first is None else first + by,
        last + by,
        epoch,
        None if start is None else start + by,
        records,
        batches,
    )


@settings(max_examples=300)
@given(rising_runs())
def test_condensed_runs_are_few(runs: list[Run]) -> None:
    """However many gaps there are: one for each change of epoch, and two gaps."""
    changes = sum(one[2] != other[2] for one, other in pairwise(runs))
    assert len(condensed(runs)) <= changes + 3
