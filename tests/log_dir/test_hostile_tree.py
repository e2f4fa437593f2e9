"""Trees that no broker writes: a scan ends soon, says what it left out, and changes nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.replica_info import parse_replica_info, replica_info_json
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from tests.cli.disks import SEGMENT, log_directory
from tests.cli.run import RECOVERY, command_line
from tests.log_dir.segments import checkpoint, v2
from tests.real.cache import quick_scratch

NOBODY = 65534
GIB = 1 << 30
MODES = list(ScanMode)
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A run of scan-log-dirs; `ends`: log end offsets by partition."""

    code: int
    stdout: str
    stderr: str
    peak_mib: float

    @property
    def logs(self) -> dict[str, dict[str, Any]]:
        """Return the rows of broker 1 by partition."""
        parse_replica_info(self.stdout, "stdout")
        return {
            f"{row['topic']}-{row['partition']}": log
            for row in json.loads(self.stdout)["partitions"]
            for log in row["replica_logs"]
        }

    @property
    def ends(self) -> dict[str, int | None]:
        return {name: log["log_end_offset"] for name, log in self.logs.items()}

    @property
    def problems(self) -> str:
        return "\n".join(json.loads(self.stdout)["problems"])


def scan(root: Path, mode: ScanMode = ScanMode.DEEP, seconds: float = SECONDS) -> Finished:
    """Run the command as a process, one worker: `peak_mib` is of all that it did. seconds: whoever
    takes longer hangs."""
    line = command_line(
        RECOVERY, "scan-log-dirs", str(root), "--mode", mode, "--format", "json", "--workers", "1"
    )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # A process between ours and the command, for a peak that is the command's alone.
        process = subprocess.Popen(
            [sys.executable, "-c", _COUNTED, *line], stdout=out, stderr=err, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        out.seek(0)
        err.seek(0)
        *said, peak = err.read().decode().splitlines()
        return Finished(code, out.read().decode(), "\n".join(said), int(peak) / 1024)


_COUNTED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def looks(root: Path) -> dict[Path, tuple[int, ...]]:
    """Return all that a scan could change in the tree: size, times, kind, link count."""
    return {path: _look(path) for path in (root, *root.rglob("*"))}


def _look(path: Path) -> tuple[int, ...]:
    at = path.lstat()
    return at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_mode, at.st_nlink


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Return a log directory of broker 1 with a sound replica, good-0, to add to."""
    return log_directory(tmp_path / "disk", 1, {"good-0": 5})


def scan_untouched(root: Path, mode: ScanMode = ScanMode.DEEP) -> Finished:
    before = looks(root)
    done = scan(root, mode)
    assert looks(root) == before
    assert done.code in (0, 1, 3), done
    assert "Traceback" not in done.stderr
    return done


def test_symlinks_lead_nowhere(disk: Path, tmp_path: Path) -> None:
    outside = log_directory(tmp_path / "outside", 2, {"secret-0": 9})
    (disk / "loop-0").symlink_to(disk)
    (disk / "secret-0").symlink_to(outside / "secret-0")
    (disk / "linked-0").mkdir()
    (disk / "linked-0" / SEGMENT).symlink_to(outside / "secret-0" / SEGMENT)
    (disk / "circle-0").mkdir()
    (disk / "circle-0" / SEGMENT).symlink_to(SEGMENT)
    (disk / "inner-0").mkdir()
    (disk / "inner-0" / SEGMENT).write_bytes(v2(0, 3))
    (disk / "inner-0" / "leader-epoch-checkpoint").symlink_to(outside / "meta.properties")
    (outside / "checkpoint").write_bytes(checkpoint("good 0 3"))
    (disk / "recovery-point-offset-checkpoint").symlink_to(outside / "checkpoint")
    done = scan_untouched(disk)
    assert done.ends["good-0"] == 5
    assert done.logs["good-0"]["scanned"]["recovery_point"] is None
    assert "recovery-point-offset-checkpoint" in done.problems
    assert {"secret-0", "loop-0"}.isdisjoint(done.logs)
    assert "loop-0 is no directory" in done.problems
    assert "secret-0 is no directory" in done.problems
    for name in ("linked-0", "circle-0"):
        assert done.logs[name]["problem"] == f"{SEGMENT}: not a plain file"
    assert "node.id" not in done.stdout


def test_loops_above_the_log_directories_end(disk: Path, tmp_path: Path) -> None:
    root = tmp_path / "mounts"
    (root / "a").mkdir(parents=True)
    (root / "a" / "up").symlink_to(root)
    (root / "self").symlink_to("self")
    disk.rename(root / "a" / "disk")
    assert scan_untouched(root).ends == {"good-0": 5}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_no_file_costs_its_own_row(disk: Path, mode: ScanMode) -> None:
    """A FIFO above all, which would hang whoever opens it."""
    made: dict[str, Callable[[Path], object]] = {
        "fifo-0": os.mkfifo,
        "directory-0": os.mkdir,
        "socket-0": _socket,
    }
    for name, make in made.items():
        (disk / name).mkdir()
        make(disk / name / SEGMENT)
    (disk / "epochs-0").mkdir()
    (disk / "epochs-0" / SEGMENT).write_bytes(v2(0, 3))
    os.mkfifo(disk / "epochs-0" / "leader-epoch-checkpoint")
    os.mkfifo(disk / "epochs-0" / SEGMENT.replace("log", "index"))
    os.mkfifo(disk / "replication-offset-checkpoint")
    os.mkfifo(disk / ".lock")
    done = scan_untouched(disk, mode)
    assert done.ends["good-0"] == 5
    for name in made:
        assert done.logs[name]["problem"] == f"{SEGMENT}: not a plain file"
    assert "replication-offset-checkpoint" in done.problems


def _socket(path: Path) -> None:
    os.mknod(path, 0o140600)


def test_names_that_are_not_utf_8_are_passed_over_and_fit_to_print(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"di\xffsk")
    disk = log_directory(root / os.fsdecode(b"b\xfe1"), 1, {"good-0": 5})
    for name in (b"bad\xff-0", b"\xf0\x28\x8c\x28", b"new\nline-0", b"\x1b[31m-0"):
        (disk / os.fsdecode(name)).mkdir()
        (disk / os.fsdecode(name) / SEGMENT).write_bytes(v2(0, 9))
    (disk / "good-0" / os.fsdecode(b"\xff.log")).write_bytes(b"?")
    (disk / "replication-offset-checkpoint").write_bytes(b"0\n1\nbad\xff 0 5\n")
    done = scan_untouched(root)
    assert done.ends == {"good-0": 5}
    assert "di\\xffsk" in done.logs["good-0"]["scanned"]["directory"]
    assert "b\\xfe1: replication-offset-checkpoint" in done.problems


@pytest.mark.parametrize("mode", MODES)
def test_a_2_gib_hole_is_read_in_pieces(tmp_path: Path, mode: ScanMode) -> None:
    """With an index larger still, which counts as the topic was compacted."""
    with quick_scratch(tmp_path) as scratch:
        disk = log_directory(scratch / "disk", 1, {"good-0": 5, "sparse-0": 7})
        (disk / "cleaner-offset-checkpoint").write_bytes(checkpoint("sparse 0 1"))
        index = disk / "sparse-0" / SEGMENT.replace("log", "index")
        index.touch()
        os.truncate(index, 8 * GIB)
        os.truncate(disk / "sparse-0" / SEGMENT, 2 * GIB)
        done = scan_untouched(disk, mode)
    assert done.ends == {"good-0": 5, "sparse-0": 7}
    assert done.logs["sparse-0"]["suspect"] is None
    assert done.peak_mib < 200


def test_checkpoints_of_a_gibibyte_are_not_read(disk: Path) -> None:
    for name in ("replication-offset-checkpoint", "good-0/leader-epoch-checkpoint"):
        (disk / name).touch()
        os.truncate(disk / name, GIB)
    done = scan_untouched(disk)
    assert done.ends == {"good-0": None}
    assert "too large" in done.logs["good-0"]["problem"]
    assert "replication-offset-checkpoint: 1073741824 bytes is too large" in done.problems
    assert done.peak_mib < 200


@pytest.mark.parametrize("mode", [ScanMode.RECOVER, ScanMode.DEEP])
def test_a_hole_of_a_tebibyte_is_passed_over(disk: Path, mode: ScanMode) -> None:
    """To read it takes minutes, and a scan that takes one is given up here."""
    segment = disk / "good-0" / SEGMENT
    end = segment.stat().st_size
    os.truncate(segment, end + (1024 * GIB))
    done = scan(disk, mode)
    assert done.ends == {"good-0": 5}
    assert done.logs["good-0"]["suspect"] is None


def test_meta_properties_of_megabytes_is_not_read(disk: Path) -> None:
    path = disk / "meta.properties"
    with path.open("wb") as file:
        file.truncate(2 << 20)
    assert "2097152 bytes is too large" in scan(disk).problems


def test_meta_properties_that_is_a_directory_makes_no_log_directory(disk: Path) -> None:
    (disk / "meta.properties").unlink()
    (disk / "meta.properties").mkdir()
    done = scan(disk)
    assert done.code == 2
    assert f"{disk}: no log directory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("base", [2**63 - 1, 2**63 - 5, 10**19 - 1])
def test_segments_named_at_the_end_of_all_offsets(disk: Path, mode: ScanMode, base: int) -> None:
    """The last of them is no segment at all: no offset is so large."""
    (disk / "last-0").mkdir()
    batch = v2(min(base, 2**63 - 1), 1)
    (disk / "last-0" / f"{base:020}.log").write_bytes(batch + v2(2**63 - 1, 1))
    (disk / "last-0" / f"{0:020}.log").write_bytes(v2(0, 3))
    done = scan_untouched(disk, mode)
    log = done.logs["last-0"]
    assert log["suspect"] is not None or log["problem"] is not None or log["log_end_offset"] == 3


@pytest.mark.parametrize("replicas", [10_000, 100_000])
def test_a_great_many_empty_replicas(tmp_path: Path, replicas: int) -> None:
    with quick_scratch(tmp_path) as scratch:
        disk = log_directory(scratch / "disk", 1, {"good-0": 5})
        for number in range(replicas):
            directory = f"{disk}/many-{number}"
            os.mkdir(directory)  # noqa: PTH102 - a Path for each takes as long as the scan
            os.close(os.open(f"{directory}/{SEGMENT}", os.O_CREAT | os.O_WRONLY))
        # Alone the larger tree takes half a minute, and twice that beside other tests.
        done = scan(disk, ScanMode.RECOVER, 5 * SECONDS)
    assert done.code == 0, done.stderr
    ends = done.ends
    assert ends.pop("good-0") == 5
    assert len(ends) == replicas
    assert set(ends.values()) == {0}
    assert done.peak_mib < 600


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Path]:
    """Yield a directory that everybody can reach, as tmp_path can't be."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def test_what_may_not_be_read_costs_its_own_row(public: Path) -> None:
    disk = log_directory(public / "disk", 1, {"good-0": 5, "shut-0": 5, "sealed-0": 5})
    other = log_directory(public / "other", 2, {"good-0": 5})
    (disk / "recovery-point-offset-checkpoint").write_bytes(b"0\n0\n")
    shut = [
        disk / "shut-0",
        disk / "sealed-0" / SEGMENT,
        disk / "recovery-point-offset-checkpoint",
        other,
    ]
    for path in shut:
        path.chmod(0)
    info = json.loads(_as_nobody(public))
    for path in shut:
        path.chmod(0o700)
    rows = {p["topic"]: {r["broker"]: r for r in p["replica_logs"]} for p in info["partitions"]}
    assert rows["good"].keys() == {1}
    assert rows["good"][1]["log_end_offset"] == 5
    assert rows["shut"][1]["problem"] == "shut-0: Permission denied"
    assert rows["sealed"][1]["problem"] == f"{SEGMENT}: Permission denied"
    problems = "\n".join(info["problems"])
    assert f"{disk}: recovery-point-offset-checkpoint: Permission denied" in problems
    assert f"{other}: " in problems


def _as_nobody(root: Path) -> str:
    """Scan by a process that is not root, to whom every directory is open."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_scan_as_nobody, args=(root, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(SECONDS), "it has not answered"
        text: str = ours.recv()
    finally:
        process.kill()
        process.join()
    return text


def _scan_as_nobody(root: Path, answer: Any) -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    answer.send(replica_info_json(scan_log_directories([LocalLocation(root)], ScanMode.DEEP)))
