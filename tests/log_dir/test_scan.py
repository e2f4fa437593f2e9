"""Trees of log directories: whose they are, what is in them twice or not where it belongs, and how
a scan of them is stopped."""

from __future__ import annotations

import base64
import errno
import fcntl
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir import scan_jobs
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.log_dir.scan_jobs import KILLED
from kafka_unclean_recovery.log_dir.watching import Progress
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo, ReplicaLog, TopicPartition
from kafka_unclean_recovery.planning.log_trust import ZOOKEEPER_NAMELESS
from tests.log_dir.segments import checkpoint, v2

TOPIC_ID = UUID(int=7)
DEEP = ScanMode.DEEP


def text_of(id_: UUID) -> str:
    return base64.urlsafe_b64encode(id_.bytes).decode().rstrip("=")


def log_directory(
    path: Path,
    node: int,
    replicas: Mapping[str, int] = {},
    *,
    cluster: str = "c1",
    directory: int | None = None,
) -> Path:
    """Write a log directory. `replicas`: how many records each holds, by directory name."""
    path.mkdir(parents=True)
    id_ = text_of(UUID(int=1000 + (node if directory is None else directory)))
    (path / "meta.properties").write_text(
        f"version=1\nnode.id={node}\ncluster.id={cluster}\ndirectory.id={id_}\n"
    )
    for name, records in replicas.items():
        replica = path / name
        replica.mkdir()
        (replica / f"{0:020}.log").write_bytes(v2(0, records) if records else b"")
        (replica / "leader-epoch-checkpoint").write_bytes(checkpoint("0 0"))
        (replica / "partition.metadata").write_text(f"version: 0\ntopic_id: {text_of(TOPIC_ID)}")
    return path


def on_zookeeper(directory: Path, node: int) -> Path:
    (directory / "meta.properties").write_text(f"version=0\nbroker.id={node}\ncluster.id=c1\n")
    return directory


def rows(info: ReplicaInfo) -> dict[str, dict[int, ReplicaLog]]:
    return {
        str(p.topic_partition): {log.broker: log for log in p.replica_logs} for p in info.partitions
    }


def ends(info: ReplicaInfo) -> dict[str, dict[int, int | None]]:
    return {
        name: {broker: log.log_end_offset for broker, log in logs.items()}
        for name, logs in rows(info).items()
    }


def test_every_log_directory_below_the_roots_is_found_once(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1" / "data-0", 1, {"a.b_c-d-0": 5, "a-1": 2})
    log_directory(tmp_path / "b1" / "data-1", 1, {"a-2": 3}, directory=50)
    log_directory(tmp_path / "b2", 2, {"a-1": 4, "__consumer_offsets-49": 1})
    (tmp_path / "again").symlink_to(tmp_path / "b2")
    info = scan_log_directories(
        [LocalLocation(path) for path in (tmp_path, one, tmp_path / "again")], DEEP
    )
    assert ends(info) == {
        "__consumer_offsets-49": {2: 1},
        "a-1": {1: 2, 2: 4},
        "a-2": {1: 3},
        "a.b_c-d-0": {1: 5},
    }
    assert (info.cluster_id, info.brokers, info.problems) == ("c1", (1, 2), ())
    assert not info.interrupted


def test_what_could_not_be_looked_at_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_directory(tmp_path / "b1", 1, {"a-0": 5})
    (tmp_path / "locked").mkdir()
    scandir = os.scandir
    locked = (tmp_path / "locked").stat().st_ino

    def refuse(directory: int) -> object:
        if os.fstat(directory).st_ino == locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return scandir(directory)

    monkeypatch.setattr(os, "scandir", refuse)
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    assert info.problems == (f"{tmp_path / 'locked'}: Permission denied; left out",)


@pytest.mark.parametrize("what", ["nothing there", "no log directory", "a file"])
def test_a_root_without_a_log_directory_is_refused(tmp_path: Path, what: str) -> None:
    root = tmp_path / "root"
    if what == "no log directory":
        (root / "lost+found").mkdir(parents=True)
    elif what == "a file":
        root.write_text("")
    with pytest.raises(InputError, match=str(root)):
        scan_log_directories([LocalLocation(root)], DEEP)


def test_only_what_is_wanted_is_read(tmp_path: Path) -> None:
    log_directory(tmp_path / "b1", 1, {"a-0": 5, "b-0": 5})
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP, wanted=lambda tp: tp.topic == "b")
    assert ends(info) == {"b-0": {1: 5}}


def test_checkpoints_of_the_log_directory_count(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    (one / "replication-offset-checkpoint").write_bytes(checkpoint("a 0 3"))
    (one / "recovery-point-offset-checkpoint").write_bytes(checkpoint("a 0 2"))
    (one / "log-start-offset-checkpoint").write_bytes(checkpoint("a 0 1"))
    log = rows(scan_log_directories([LocalLocation(tmp_path)], DEEP))["a-0"][1]
    assert (log.high_watermark, log.log_start_offset) == (3, 1)
    assert log.scanned
    assert log.scanned.recovery_point == 2


def test_garbage_checkpoints_are_named_and_cost_only_what_they_say(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    (one / "replication-offset-checkpoint").write_bytes(b"\0\1garbage")
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    assert rows(info)["a-0"][1].high_watermark is None
    (problem,) = info.problems
    assert problem.startswith(f"{one}: replication-offset-checkpoint")


def test_a_directory_whose_owner_is_unknown_is_left_out_and_named(tmp_path: Path) -> None:
    log_directory(tmp_path / "b1", 1, {"a-0": 5})
    bad = log_directory(tmp_path / "b2", 2, {"a-0": 7})
    (bad / "meta.properties").write_text("version=9\n")
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    assert info.problems[0].startswith(f"{bad}: left out: meta.properties: version '9'")


def test_disks_of_two_clusters_are_refused(tmp_path: Path) -> None:
    """The majority may be the wrong one."""
    one = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    log_directory(tmp_path / "b2", 2, {"a-0": 6})
    other = log_directory(tmp_path / "x", 3, {"a-0": 7}, cluster="c2")
    with pytest.raises(InputError) as refused:
        scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert f"{one} is of cluster c1, {other} of cluster c2" in str(refused.value)


def test_all_disks_that_are_not_of_the_most_frequent_cluster_are_named_at_once(
    tmp_path: Path,
) -> None:
    for broker in range(1, 9):
        cluster = f"c{broker}" if broker in (1, 4, 8) else "ours"
        log_directory(tmp_path / f"b{broker}", broker, {"a-0": 5}, cluster=cluster)
    with pytest.raises(InputError) as refused:
        scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert str(refused.value) == (
        f"{tmp_path}/b2 is of cluster ours, {tmp_path}/b1 of cluster c1, {tmp_path}/b4 of cluster"
        f" c4, {tmp_path}/b8 of cluster c8; give the disks of one cluster"
    )


def test_a_linked_log_directory_below_a_parent_is_named(tmp_path: Path) -> None:
    log_directory(tmp_path / "disks" / "b1", 1, {"a-0": 5})
    better = log_directory(tmp_path / "elsewhere" / "b2", 2, {"a-0": 9})
    (tmp_path / "disks" / "b2").symlink_to(better)
    (tmp_path / "disks" / "unmounted").symlink_to(tmp_path / "gone")
    (tmp_path / "note").write_text("a link to a file is nobody's disk")
    (tmp_path / "disks" / "note").symlink_to(tmp_path / "note")
    (tmp_path / "disks" / "again").symlink_to(tmp_path / "disks" / "b1")
    parent = LocalLocation(tmp_path / "disks")
    info = scan_log_directories([parent], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    never = "a symlink, which is never followed: name where it leads; left out"
    assert info.problems == (
        f"{tmp_path / 'disks' / 'unmounted'}: a symlink that leads nowhere; left out",
        f"{tmp_path / 'disks' / 'b2'}: {never}",
    )
    both = scan_log_directories([parent, LocalLocation(better)], DEEP)
    assert ends(both) == {"a-0": {1: 5, 2: 9}}
    assert len(both.problems) == 1


@pytest.mark.parametrize("meta", ["none", "a link"])
@pytest.mark.parametrize("checkpoints", [True, False])
def test_a_log_directory_without_its_owner_below_a_parent_is_named(
    tmp_path: Path, meta: str, checkpoints: bool
) -> None:
    log_directory(tmp_path / "b1", 1, {"a-0": 5})
    nobodys = log_directory(tmp_path / "b2", 2, {"a-0": 9})
    (nobodys / "meta.properties").unlink()
    if meta == "a link":
        (nobodys / "meta.properties").symlink_to(tmp_path / "b1" / "meta.properties")
    if checkpoints:
        (nobodys / "replication-offset-checkpoint").write_bytes(checkpoint("a 0 9"))
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    (problem,) = info.problems
    assert problem.startswith(str(nobodys))
    assert "meta.properties" in problem
    assert problem.endswith("left out")


def test_what_is_deleted_or_copied_is_no_replica_and_what_is_stray_is_named(
    tmp_path: Path,
) -> None:
    unique = "0123456789abcdef0123456789abcdef"
    names = {f"a-0.{unique}-delete": 5, f"a-1.{unique}-future": 5, f"a-2.{unique}-stray": 5}
    one = log_directory(tmp_path / "b1", 1, {**names, "a-3": 1})
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-1": {1: None}, "a-2": {}, "a-3": {1: 1}}
    (stray,) = info.partitions[1].findings
    assert stray.code == "stray_directory"
    assert str(one / f"a-2.{unique}-stray") in stray.message


def test_a_replica_that_is_here_only_as_an_unfinished_copy_has_its_row(tmp_path: Path) -> None:
    """Its own log directory failed, or was not given; an operator is not to overlook it."""
    copy = "a-0.0123456789abcdef0123456789abcdef-future"
    one = log_directory(tmp_path / "b1" / "data-1", 1, {copy: 5, "a-1": 1})
    log_directory(tmp_path / "b2", 2, {"a-0": 3})
    log = rows(scan_log_directories([LocalLocation(tmp_path)], DEEP))["a-0"][1]
    assert log.problem
    assert "only as a copy that was not finished" in log.problem
    assert str(one / copy) in log.problem
    assert (log.log_end_offset, log.live) == (None, False)
    log_directory(tmp_path / "b1" / "data-0", 1, {"a-0": 7}, directory=50)
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert (ends(info)["a-0"], info.partitions[0].findings) == ({1: 7, 2: 3}, ())


def test_a_partition_in_two_directories_is_a_finding_and_in_doubt(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "d0", 1, {"a-0": 5})
    two = log_directory(tmp_path / "d1", 1, {"a-0": 9}, directory=77)
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    log = rows(info)["a-0"][1]
    assert (log.log_end_offset, log.certain_end_offset) == (5, 0)
    assert log.suspect
    (found,) = info.partitions[0].findings
    assert found.code == "replica_in_two_directories"
    assert str(one / "a-0") in found.message
    assert str(two / "a-0") in found.message


@pytest.mark.parametrize("name", ["lost+found", "a-0.bak", "backup"])
def test_a_directory_with_which_no_broker_starts_is_named(tmp_path: Path, name: str) -> None:
    data = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    (data / name).mkdir()
    info = scan_log_directories([LocalLocation(data)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    (told,) = info.problems
    assert told.startswith(f"{data}: {name} is no replica's directory: a broker does not start")


OUT_OF_USE = f"a-1.{'0' * 32}"


@pytest.mark.parametrize(
    "file",
    [
        "__cluster_metadata-0/quorum-state",
        "__cluster_metadata-0/backup.log",
        "__cluster_metadata-0/leader-epoch-checkpoint",
        "bootstrap.checkpoint",
        f"{OUT_OF_USE}-stray/x.snapshot",
        f"{OUT_OF_USE}-delete/partition.metadata",
    ],
)
def test_a_file_with_which_no_broker_starts_is_named(tmp_path: Path, file: str) -> None:
    """A plan takes it that the brokers of the disks will start."""
    data = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    for name in ("__cluster_metadata-0", f"{OUT_OF_USE}-stray", f"{OUT_OF_USE}-delete"):
        (data / name).mkdir()
    (data / "__cluster_metadata-0" / f"{0:020d}.log").write_bytes(b"")
    before = scan_log_directories([LocalLocation(data)], DEEP).problems
    (data / file).write_bytes(bytes(9))
    info = scan_log_directories([LocalLocation(data)], DEEP)
    assert ends(info)["a-0"] == {1: 5}
    (told,) = set(info.problems) - set(before)
    assert told.startswith(f"a broker does not start with it: {data / file}: ")


@pytest.mark.parametrize("name", ["backup.log", "x.snapshot", "x.log.swap", "x.index"])
def test_a_replica_with_a_file_over_which_a_broker_ends_is_not_trusted(
    tmp_path: Path, name: str
) -> None:
    data = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    (data / "a-0" / name).write_bytes(b"")
    log = rows(scan_log_directories([LocalLocation(data)], DEEP))["a-0"][1]
    assert log.log_end_offset == 5
    assert log.suspect == f"{name}: a broker ends over this name: move the file elsewhere"


@pytest.mark.parametrize(
    ("of_the_other", "clean"), [(7, True), (8, False), (None, False), ("torn", False)]
)
def test_a_stop_is_clean_when_all_log_directories_of_the_broker_say_so(
    tmp_path: Path, of_the_other: int | str | None, clean: bool
) -> None:
    """The other one is empty: its disk was exchanged or emptied."""
    first = log_directory(tmp_path / "b1" / "data-0", 1, {"a-0": 5})
    second = log_directory(tmp_path / "b1" / "data-1", 1, directory=50)
    (first / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":7}')
    if of_the_other is not None:
        marker = f'{{"version":0,"brokerEpoch":{of_the_other}}}'
        (second / ".kafka_cleanshutdown").write_text(marker)
    log = rows(scan_log_directories([LocalLocation(tmp_path)], DEEP))["a-0"][1]
    assert log.scanned is not None
    assert log.scanned.stopped_clean is clean


def test_the_same_log_directory_twice_is_named(tmp_path: Path) -> None:
    log_directory(tmp_path / "disk", 1)
    log_directory(tmp_path / "copy", 1)
    (problem,) = scan_log_directories([LocalLocation(tmp_path)], DEEP).problems
    assert "is here more than once" in problem


HOLD = """
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(lock: Path) -> Iterator[int]:
    """Yield the id of another process that locks the file, as Java's FileLock does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"held\n"
        yield process.pid
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


def test_a_directory_that_a_running_process_holds_is_named(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    with held(one / ".lock") as process:
        info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert ends(info) == {"a-0": {1: 5}}
    (problem,) = info.problems
    assert problem.startswith(f"{one}: a running process ({process}) holds it")
    with (one / ".lock").open() as left:
        fcntl.lockf(left, fcntl.LOCK_SH | fcntl.LOCK_NB)
        assert scan_log_directories([LocalLocation(tmp_path)], DEEP).problems == ()


@pytest.mark.parametrize("mode", ScanMode)
def test_several_workers_find_the_same(tmp_path: Path, mode: ScanMode) -> None:
    for broker in (1, 2, 3):
        names = {f"a-{n}": n * broker % 7 for n in range(230)}
        log_directory(tmp_path / f"b{broker}", broker, names)
    alone = scan_log_directories([LocalLocation(tmp_path)], mode, workers=1)
    together = scan_log_directories([LocalLocation(tmp_path)], mode, workers=3)
    assert together.partitions == alone.partitions
    assert len(alone.partitions) == 230


@dataclass
class Impatient:
    """Stops the scan once it has read something."""

    seen: list[Progress] = field(default_factory=list)

    def progress(self, so_far: Progress) -> None:
        self.seen.append(so_far)

    @property
    def stopped(self) -> bool:
        return bool(self.seen) and self.seen[-1].bytes_done > 0


@pytest.mark.parametrize("workers", [1, 2])
def test_a_scan_that_is_stopped_has_what_it_read(tmp_path: Path, workers: int) -> None:
    one = log_directory(tmp_path / "b1", 1, {f"a-{100 + n}": 1 for n in range(250)})
    # The first and largest: read, or begun, when the rest is given up.
    with (one / "a-100" / f"{0:020}.log").open("r+b") as segment:
        os.truncate(segment.fileno(), 1 << 34)
    watch = Impatient()
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP, workers=workers, watch=watch)
    assert info.interrupted
    assert len(info.partitions) < 250
    assert watch.seen[-1].replicas_total == 250


def test_a_killed_worker_costs_its_rows_and_no_others(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1", 1, {f"a-{n}": 1 for n in range(250)})
    with (one / "a-0" / f"{0:020}.log").open("r+b") as segment:
        os.truncate(segment.fileno(), 1 << 34)

    class Killer:
        stopped = False

        def progress(self, so_far: Progress) -> None:
            for child in multiprocessing.active_children():
                child.kill()  # which may have ended by now

    info = scan_log_directories([LocalLocation(tmp_path)], DEEP, workers=2, watch=Killer())
    assert len(info.partitions) == 250
    problems = {log.problem for p in info.partitions for log in p.replica_logs}
    assert problems <= {None, KILLED}
    assert KILLED in problems


def test_a_worker_killed_while_it_tells_how_much_it_read_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(meter: scan_jobs._SharedMeter) -> None:
        meter._read.get_lock().acquire()
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(scan_jobs._SharedMeter, "tell", tell)
    log_directory(tmp_path / "b1", 1, {f"a-{n}": 1 for n in range(250)})
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP, workers=2)
    assert len(info.partitions) == 250
    assert {log.problem for p in info.partitions for log in p.replica_logs} == {KILLED}


def test_nothing_is_changed(tmp_path: Path) -> None:
    one = log_directory(tmp_path / "b1", 1, {"a-0": 5})

    def state() -> list[tuple[str, int, int, int]]:
        return sorted(
            (str(p), (s := p.stat()).st_size, s.st_mtime_ns, s.st_mode) for p in one.rglob("*")
        )

    before = state()
    scan_log_directories([LocalLocation(tmp_path)], DEEP, workers=2)
    assert state() == before


def test_partitions_are_sorted(tmp_path: Path) -> None:
    log_directory(tmp_path / "b1", 1, {"b-0": 1, "a-10": 1, "a-9": 1})
    info = scan_log_directories([LocalLocation(tmp_path)], DEEP)
    assert [p.topic_partition for p in info.partitions] == [
        TopicPartition("a", 9),
        TopicPartition("a", 10),
        TopicPartition("b", 0),
    ]


def test_a_replica_without_a_topic_id_of_a_broker_on_zookeeper_is_in_doubt(tmp_path: Path) -> None:
    """On KRaft it is put aside, which the plan tells by the metadata log."""
    home = log_directory(tmp_path / "b1", 1, {"a-0": 5, "b-0": 5})
    (home / "b-0" / "partition.metadata").unlink()
    found = rows(scan_log_directories([LocalLocation(home)], ScanMode.RECOVER))
    assert found["b-0"][1].suspect is None
    on_zookeeper(home, 1)
    found = rows(scan_log_directories([LocalLocation(home)], ScanMode.RECOVER))
    assert (found["b-0"][1].suspect, found["b-0"][1].certain_end_offset) == (ZOOKEEPER_NAMELESS, 0)
    assert found["a-0"][1].suspect is None
    # Where none has one, the cluster is of before topic ids.
    (home / "a-0" / "partition.metadata").unlink()
    found = rows(scan_log_directories([LocalLocation(home)], ScanMode.RECOVER))
    assert found["b-0"][1].suspect is None
