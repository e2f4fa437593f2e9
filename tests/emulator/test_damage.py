"""Damaged disks: what a broker that starts makes of them, held against our own scan of the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Damage, Options
from kafka_unclean_recovery.emulator.disks.damage import Damaged, corrupt
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.emulator.steps import TOPIC, create, lose, opened, partition, replica, segment, write

SEEDS = range(12)
ENDS = [7 * n for n in range(9)]


def _filled(directory: Path, *, clean: bool = False) -> Emulation:
    """Return a cluster whose broker 1 holds eight batches of seven records, and is down."""
    emulation = opened(directory, brokers=2)
    create(emulation, (1, 2))
    for _ in range(8):
        write(emulation, 7)
    if clean:
        emulation.stop(emulation.brokers[1])
    else:
        lose(emulation, 1)
    return emulation


def _damaged(emulation: Emulation, kind: Damage, seed: int) -> Damaged:
    return corrupt([emulation.brokers[1].directory], kind, seed, None)


def _loaded(emulation: Emulation) -> int:
    """Return the log end that broker 1 finds when it starts, before it follows anyone."""
    one = emulation.brokers[1]
    one.boot()
    list(one.loading({key: topic.name for key, topic in emulation.state.topics.items()}))
    end = replica(emulation, 1).log.end_offset
    one.die()
    return end


def _ends(problem: str | None) -> bool:
    return problem is not None and problem.startswith("a broker ends over it while it starts")


@pytest.mark.parametrize("kind", Damage)
def test_after_a_kill_the_log_ends_where_a_scan_says_that_it_would(
    tmp_path: Path, kind: Damage
) -> None:
    _filled(tmp_path / "whole")
    cut = 0
    for seed in SEEDS:
        shutil.copytree(tmp_path / "whole", tmp_path / str(seed))
        emulation = opened(tmp_path / str(seed), brokers=2, start=())
        _damaged(emulation, kind, seed)
        disk = LocalLocation(emulation.brokers[1].directory)
        scanned = scan_log_directories([disk], ScanMode.RECOVER)
        (log,) = scanned.partitions[0].replica_logs
        found = _loaded(emulation)
        # A scan trusts no base offset that does not follow on; a broker does, or it splits the
        # segment, which is not emulated, and ends where that is not possible.
        assert found == log.log_end_offset or log.suspect or _ends(log.problem)
        cut += found < ENDS[-1]
        # What is cut off is gone from the disk.
        assert len(segment(emulation.brokers[1])) % (len(segment(emulation.brokers[2])) // 8) == 0
    assert cut > len(SEEDS) / 2


@pytest.mark.not_emulated("split segments")
def test_a_bit_of_the_last_base_offset_makes_the_log_longer_and_only_a_scan_doubts_it(
    tmp_path: Path,
) -> None:
    """It lies outside of the CRC. A broker would split the segment if it were farther away."""
    emulation = _filled(tmp_path)
    last = replica(emulation, 2).log.batches[-1]
    path = emulation.brokers[1].directory / f"{TOPIC}-0" / f"{0:020}.log"
    content = bytearray(path.read_bytes())
    content[last.position + 6] ^= 1
    path.write_bytes(content)
    disk = LocalLocation(emulation.brokers[1].directory)
    scanned = scan_log_directories([disk], ScanMode.RECOVER)
    assert scanned.partitions[0].replica_logs[0].suspect
    assert _loaded(emulation) == ENDS[-1] + 256


def test_the_same_seed_does_the_same_damage(tmp_path: Path) -> None:
    _filled(tmp_path / "whole")
    done = []
    for name in "ab":
        shutil.copytree(tmp_path / "whole", tmp_path / name)
        emulation = opened(tmp_path / name, brokers=2, start=())
        found = _damaged(emulation, Damage.FLIP, 3)
        done.append((found.topic, found.partition, found.position, segment(emulation.brokers[1])))
    assert done[0] == done[1]
    assert sum(one != other for one, other in zip(done[0][3], _whole(tmp_path), strict=True)) == 1


def _whole(directory: Path) -> bytes:
    return (directory / "whole" / "broker-1" / f"{TOPIC}-0" / f"{0:020}.log").read_bytes()


def test_a_start_after_a_clean_stop_looks_at_no_record(tmp_path: Path) -> None:
    """As Kafka's: the flip is found by whoever reads the batch."""
    emulation = _filled(tmp_path, clean=True)
    path = emulation.brokers[1].directory / f"{TOPIC}-0" / f"{0:020}.log"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    # Its copy, so that the leader's log is not what heals it.
    shutil.copytree(tmp_path, copy := tmp_path / "copy", ignore=lambda *_: ["copy"])
    assert _loaded(opened(copy, brokers=2, start=())) == ENDS[-1]
    (emulation.brokers[1].directory / ".kafka_cleanshutdown").unlink()
    assert _loaded(emulation) == ENDS[-2]


def test_a_follower_takes_no_damaged_records_from_its_leader(tmp_path: Path) -> None:
    emulation = _filled(tmp_path, clean=True)
    # The other comes back empty, and 1 leads.
    emulation.stop(emulation.brokers[2])
    emulation.wipe(emulation.brokers[2], 0)
    path = emulation.brokers[1].directory / f"{TOPIC}-0" / f"{0:020}.log"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    emulation.start(emulation.brokers[1])
    emulation.happen(ev.ElectLeaders(ev.ElectionType.UNCLEAN, None))
    assert (partition(emulation).leader, replica(emulation, 1).log.end_offset) == (1, ENDS[-1])
    emulation.start(emulation.brokers[2])
    assert (partition(emulation).isr, replica(emulation, 2).log.end_offset) == ((1,), 0)


def test_a_cluster_does_it_to_brokers_that_are_down_alone() -> None:
    with Cluster(Options(brokers=2, log_directories=2)) as cluster:
        with pytest.raises(ValueError) as running:
            cluster.corrupt_disk(1)
        cluster.kill(1)
        with pytest.raises(ValueError) as empty:
            cluster.corrupt_disk(1, TOPIC, 3, damage=Damage.CUT)
        with pytest.raises(ValueError) as alive:
            cluster.wipe(2)
        with pytest.raises(ValueError) as disk:
            cluster.lose_disk(2, 2)
        cluster.pause(2)
        with pytest.raises(ValueError) as paused:
            cluster.lose_disk(2, 1)
        cluster.wipe(1)
        assert len(cluster.log_directories(1)) == 2
    assert [str(each.value) for each in (running, empty, alive, disk, paused)] == [
        "broker 1 is running, not dead",
        "no records of orders-3 are on the disk",
        "broker 2 is running, not dead",
        "broker 2 has no log directory 2, counted from 0",
        "broker 2 is paused, and would not notice",
    ]
