"""Damaged replicas: whatever is done to one, the scan ends, and an intact peer of the same length
is designated rather than it.

    python -m tests.log_dir.test_corruption

prints how many flipped bits are seen, by field.
"""

from __future__ import annotations

import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tabulate import tabulate

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.start.fate import ends_over
from kafka_unclean_recovery.log_dir.tree import Folder
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import NO_LEADER, PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.planning.log_trust import cross_check
from kafka_unclean_recovery.planning.plan import plan_partition
from tests.log_dir import replica_directories as disks
from tests.log_dir.mutations import (
    BASE_OFFSET,
    Mutation,
    flips,
    hides_a_gap,
    log_is_unchanged,
    moves_the_end_unseen,
    passes_for_compaction,
    seeded,
)
from tests.log_dir.replica_directories import Log

FAST, RECOVER, DEEP = ScanMode
LOGS = {
    "plain": disks.plain_log(),
    "compacted": disks.compacted_log(),
    "upgraded": disks.upgraded_log(),
    "format 1": disks.old_log(),
}
SEEDS = {"a tenth": range(500), "the rest": range(500, 5000)}
FLIPS = {"a tenth": lambda place: place % 10 == 0, "the rest": lambda place: place % 10 != 0}
# The lowest id, and the only ISR member, so that every tie goes to the damaged replica.
DAMAGED = 1
PEERS = {"one as long": (2,), "two as long": (2, 3), "a longer one": (4,)}


Scan = tuple[Mutation, ReplicaLog]


class Seen(StrEnum):
    """What a scan makes of damage; the first that is true counts."""

    PROBLEM = "problem"
    SUSPECT = "suspect"
    SHORTER = "log ends earlier"
    NO = "not seen"


class Bounded:
    """Fails a scan that reads far more than there is."""

    def __init__(self, most: int) -> None:
        self._left = most

    def add(self, count: int) -> None:
        self._left -= count
        assert self._left >= 0, "the scan reads on and on"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One partition: the directory of the replica to damage, and what a scan says of each intact
    replica, by mode and broker; brokers 1, 2 and 3 hold the same, 4 a batch more."""

    log: Log
    directory: Path
    intact: disks.Files
    rows: Mapping[ScanMode, Mapping[int, ReplicaLog]]

    @contextmanager
    def damaged(self, files: Mapping[str, bytes]) -> Iterator[Folder]:
        """Yield the directory with these contents."""
        disks.write_files(self.directory, files)
        try:
            with LocalLocation(self.directory).open() as folder:
                yield folder
        finally:
            disks.write_files(self.directory, {name: self.intact[name] for name in files})

    def scan(self, mutation: Mutation, mode: ScanMode, recovery_point: int | None) -> ReplicaLog:
        replica = Replica(
            DAMAGED,
            TopicPartition(self.log.topic, 0),
            str(self.directory),
            recovery_point=recovery_point,
            compacted=self.log.compacted,
        )
        # Over and over: whole, by its headers, by its index; never with its size squared.
        size = sum(len(mutation.files.get(name, data)) for name, data in self.intact.items())
        with self.damaged(mutation.files) as folder:
            return scan_replica(folder, replica, mode, Bounded(20 * size + 4096))

    def designated(self, row: ReplicaLog, peers: Iterable[int]) -> int | None:
        """Return the leader out of the damaged replica and these peers, all of them live."""
        mode = row.scanned.mode if row.scanned else DEEP
        rows = [row, *(self.rows[mode][peer] for peer in peers)]
        state = PartitionState(
            self.log.topic,
            str(disks.TOPIC_ID),
            0,
            NO_LEADER,
            max((epoch for epoch, _ in self.log.epochs), default=0),
            replicas=tuple(log.broker for log in rows),
            isr=(DAMAGED,),
        )
        checked = cross_check(state, rows, compacted=self.log.compacted, covered=())
        plan = plan_partition(state, [replace(log, live=True) for log in checked])
        return plan.designated_leader


def build(root: Path, log: Log) -> Cluster:
    held = {1: log, 2: log, 3: log, 4: disks.longer(log)}
    for broker, its_log in held.items():
        disks.write_log_directory(root / f"broker-{broker}", broker, [its_log])
    rows = {}
    for mode in ScanMode:
        (partition,) = scan_log_directories([LocalLocation(root)], mode).partitions
        rows[mode] = {row.broker: row for row in partition.replica_logs}
    return Cluster(log, root / "broker-1" / log.directory, disks.replica_files(log), rows)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cluster]:
    return {
        name: build(tmp_path_factory.mktemp(name.replace(" ", "-")), log)
        for name, log in LOGS.items()
    }


def seen(row: ReplicaLog, intact: ReplicaLog) -> Seen:
    if row.problem is not None:
        return Seen.PROBLEM
    if row.suspect is not None:
        return Seen.SUSPECT
    assert row.log_end_offset is not None
    assert intact.log_end_offset is not None
    return Seen.SHORTER if row.log_end_offset < intact.log_end_offset else Seen.NO


def can_be_seen(log: Log, mutation: Mutation) -> bool:
    """Return False where nothing in the log's own files contradicts the damage, nor any peer."""
    unseen = (log_is_unchanged, passes_for_compaction, hides_a_gap, moves_the_end_unseen)
    return not any(known(log, mutation) for known in unseen)


def wrongly_planned(cluster: Cluster, mutation: Mutation, row: ReplicaLog) -> list[str]:
    """Return the sets of peers beside which the damaged replica was designated; or nobody, though
    one of those peers should be. Nobody is right where leader epochs are unknown."""
    if cluster.log.epochs and not can_be_seen(cluster.log, mutation):
        return []
    return [
        name
        for name, peers in PEERS.items()
        if cluster.designated(row, peers) not in (peers if cluster.log.epochs else (None,))
    ]


@pytest.mark.parametrize("kind", LOGS)
def test_intact_replicas_are_sound_in_every_mode(clusters: dict[str, Cluster], kind: str) -> None:
    """Nothing here is seen for what the directories themselves are."""
    cluster = clusters[kind]
    for mode, rows in cluster.rows.items():
        for broker, row in rows.items():
            assert (row.problem, row.suspect) == (None, None)
            assert row.scanned
            assert (row.scanned.mode, row.scanned.damage) == (mode, None)
            expected = cluster.log.end_offset + (
                0 if broker < 4 else 5 if cluster.log.epochs else 1
            )
            assert row.log_end_offset == expected
    point = disks.recovery_point(cluster.log)
    bare = cluster.scan(Mutation("none", "nowhere", {}), DEEP, point)
    assert bare.epochs == cluster.rows[DEEP][1].epochs


@pytest.fixture(scope="module", params=product(LOGS, FLIPS), ids=" ".join)
def flipped(
    clusters: dict[str, Cluster], request: pytest.FixtureRequest
) -> tuple[Cluster, list[Scan]]:
    """Return a deep scan of every flipped bit, or of each of a part of them."""
    kind, part = request.param
    cluster = clusters[kind]
    chosen = [m for place, m in enumerate(flips(cluster.log)) if FLIPS[part](place)]
    assert len(chosen) > 100
    return cluster, [(m, cluster.scan(m, DEEP, None)) for m in chosen]


def test_no_flipped_bit_has_a_damaged_replica_designated(
    flipped: tuple[Cluster, list[Scan]],
) -> None:
    cluster, scans = flipped
    for mutation, row in scans:
        assert not wrongly_planned(cluster, mutation, row), f"{mutation}: {row}"


def test_only_base_offsets_that_nothing_speaks_against_flip_unseen(
    flipped: tuple[Cluster, list[Scan]],
) -> None:
    cluster, scans = flipped
    for mutation, row in scans:
        if seen(row, cluster.rows[DEEP][DAMAGED]) is Seen.NO:
            assert mutation.kind == BASE_OFFSET, f"{mutation}: {row}"
            assert not can_be_seen(cluster.log, mutation), f"{mutation}: {row}"


def tried(seed: int) -> tuple[str, ScanMode]:
    """Return the kind of log and the mode of its scan, deep mostly."""
    random = Random(-1 - seed)
    return random.choice(list(LOGS)), random.choices([DEEP, RECOVER, FAST], [6, 3, 1])[0]


@pytest.mark.parametrize("seeds", SEEDS.values(), ids=SEEDS)
def test_no_seeded_damage_has_a_replica_designated_or_a_scan_fail(
    clusters: dict[str, Cluster], seeds: range
) -> None:
    for seed in seeds:
        kind, mode = tried(seed)
        cluster = clusters[kind]
        mutation = seeded(cluster.log, cluster.intact, seed)
        point = [None, disks.recovery_point(cluster.log)][seed % 2]
        said = f"seed {seed}, {kind}, {mode}, recovery point {point}: {mutation}"
        try:
            row = cluster.scan(mutation, mode, point)
            wrong = wrongly_planned(cluster, mutation, row)
        except Exception as error:
            raise AssertionError(said) from error
        if mode is DEEP or (mode is RECOVER and reads(cluster.log, mutation, point)):
            assert not wrong, f"{said}: {row}"


def reads(log: Log, mutation: Mutation, recovery_point: int | None) -> bool:
    """Return whether a broker, and a scan like its recovery, looks at each damaged segment."""
    first = 0 if recovery_point is None else recovery_point
    damaged = [s.base_offset for s in log.segments if s.name in mutation.files]
    return all(base >= first for base in damaged)


def test_memory_is_flat_whatever_a_header_says(clusters: dict[str, Cluster]) -> None:
    """Lengths of 2 GiB above all. What is left after many scans is not more than after some."""
    cluster = clusters["plain"]
    mutations = [seeded(cluster.log, cluster.intact, seed) for seed in range(400)]
    assert any(mutation.kind == "length set" for mutation in mutations)
    tracemalloc.start()
    try:
        for mutation in mutations[:200]:
            cluster.scan(mutation, DEEP, None)
        before, _ = tracemalloc.get_traced_memory()
        for mutation in mutations[200:]:
            cluster.scan(mutation, DEEP, None)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 50_000
    assert peak - before < 1_000_000


@pytest.mark.parametrize("mode", ScanMode)
def test_garbage_beside_the_replicas_costs_only_what_it_says(
    tmp_path: Path, mode: ScanMode
) -> None:
    """The checkpoints of a log directory: each in turn, flipped and cut and overwritten."""
    root = disks.write_log_directory(tmp_path / "data", 1, LOGS.values())
    intact = disks.log_directory_files(1, LOGS.values())
    for seed in range(100):
        random = Random(seed)
        name = random.choice([name for name in intact if name != "meta.properties"])
        content = bytearray(intact[name])
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        content = random.choice([content, content[:-3], bytearray(random.randbytes(50))])
        disks.write_files(root, {name: bytes(content)})
        info = scan_log_directories([LocalLocation(root)], mode)
        disks.write_files(root, {name: intact[name]})
        rows = {p.topic_partition.topic: p.replica_logs[0] for p in info.partitions}
        assert sorted(rows) == sorted(log.topic for log in LOGS.values()), f"seed {seed}: {name}"
        for log in LOGS.values():
            row = rows[log.topic]
            known = row.suspect or row.log_end_offset == log.end_offset
            assert known, f"seed {seed}: {name}: {row}"


_OF_SEGMENTS = ("log", "index", "timeindex", "log.swap", "index.swap", "log.deleted", "log.cleaned")
NAMES = st.sampled_from(
    [
        "leader-epoch-checkpoint",
        "partition.metadata",
        *(disks.file_name(base, kind) for base in (0, 60) for kind in _OF_SEGMENTS),
    ]
)
CONTENTS = st.binary(max_size=200) | st.lists(
    st.sampled_from([batch for log in LOGS.values() for batch in log.segments[0].batches])
).map(b"".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@example({f"{60:020}.log": bytes(11) + b"\x0e" + bytes(14)}, FAST, None)
@given(st.dictionaries(NAMES, CONTENTS), st.sampled_from(ScanMode), st.none() | st.integers(0, 99))
def test_any_files_at_all_give_a_row(
    tmp_path: Path, files: dict[str, bytes], mode: ScanMode, recovery_point: int | None
) -> None:
    with tempfile.TemporaryDirectory(dir=tmp_path) as directory:
        disks.write_files(Path(directory), files)
        replica = Replica(1, TopicPartition("any", 0), "any-0", recovery_point=recovery_point)
        with LocalLocation(Path(directory)).open() as folder:
            row = scan_replica(folder, replica, mode, Bounded(100_000))
    if row.problem is not None:
        # Where offsets fall a fast scan tells no end, and some files end a broker.
        untold = "where a broker lets the log end, a fast scan does not tell"
        assert (mode is FAST and untold in row.problem) or ends_over(row.problem)
        return
    assert row.log_start_offset is not None
    assert row.log_end_offset is not None
    assert 0 <= row.log_start_offset <= row.log_end_offset < 2**63
    if row.suspect is not None and row.certain_end_offset is not None:
        assert row.certain_end_offset <= row.log_end_offset


def figures(cluster: Cluster) -> list[tuple[str, int, Counter[Seen]]]:
    """Return (field, how many flips, what was seen of them) for every field."""
    counts: dict[str, Counter[Seen]] = {}
    for mutation in flips(cluster.log):
        row = cluster.scan(mutation, DEEP, None)
        of_field = counts.setdefault(mutation.kind, Counter())
        of_field[seen(row, cluster.rows[DEEP][DAMAGED])] += 1
    return [(field, found.total(), found) for field, found in counts.items()]


def main() -> None:
    for kind, log in LOGS.items():
        with tempfile.TemporaryDirectory() as root:
            rows = figures(build(Path(root), log))
        print(kind)
        table = [(field, total, *(found[s] for s in Seen)) for field, total, found in rows]
        print(tabulate(table, headers=["field", "bits flipped", *Seen]), end="\n\n")


if __name__ == "__main__":
    main()
