"""spark scan as a command: what it refuses, what it says, and how it is interrupted and goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from pyspark.sql import SparkSession

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli import spark_session
from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands import spark_scan
from kafka_unclean_recovery.cli.commands.spark_scan import Options
from kafka_unclean_recovery.cli.spark_session import SparkWatch
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.watching import Progress
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions, begun, forget
from kafka_unclean_recovery.spark.scan.scan_disks import scan as scan_in_session
from tests.cli.printed import printed
from tests.cli.run import RECOVERY, command_line, run
from tests.log_dir.test_scan import log_directory
from tests.real.waiting import wait_until
from tests.spark.conftest import CONF_FLAGS
from tests.spark.scans import asked, in_one_process, info_in
from tests.spark.sparse_disks import sparse_disks

SECONDS = 120.0


def options(output: Path, *roots: Path, **fields: object) -> Options:
    given: dict[str, object] = {
        "roots": list(map(str, roots)),
        "output": str(output),
        "mode": ScanMode.DEEP,
    }
    return Options(**given | fields)  # type: ignore[arg-type]


def scan(options: Options) -> int:
    return carry_out(spark_scan.scan, options)


def test_what_makes_no_sense_is_refused_before_anything_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = log_directory(tmp_path / "disk", 1)
    (tmp_path / "roots.csv").write_text("disk\n/mnt/a\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("")
    out = tmp_path / "out"
    cases = [
        (options(out), "no ROOT: name log directories"),
        (options(out, roots_table=tmp_path / "roots.csv"), r"no column root"),
        (options(out, roots_table=tmp_path / "none.csv"), "No such file"),
        (options(tmp_path / "a" / "b", disk), "is no directory; make it first"),
        (options(disk / "out", disk), "lies in log directory"),
        (options(out, disk, topics="("), "--topics"),
        (options(out, Path("x"), roots=["ftp://a/b"]), "no store that is known here"),
        (options(out, Path("x"), roots=["s3://key:secret@bucket/a"]), "credentials"),
        (options(out, disk, roots=["s3://b/a"], store_endpoint="x"), "https://HOST:PORT"),
        (options(out, disk, conf=["a"]), "give a setting of Spark as KEY=VALUE"),
    ]
    for wrong, said in cases:
        assert scan(wrong) == 2
        assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "mine", "roots.csv"]


def test_without_spark_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None)
    assert scan(options(tmp_path / "out", tmp_path)) == 2
    assert "pip install 'kafka-unclean-recovery[spark]'" in capsys.readouterr().err


def test_help_names_the_commands() -> None:
    done = run(RECOVERY, "spark", "--help")
    assert done.returncode == 0
    assert "Scan log directories into tables." in done.stdout


@pytest.fixture
def in_this_session(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> list[SparkSession]:
    """Give the command the session of the tests, and list how often it wanted one."""
    given: list[SparkSession] = []

    @contextmanager
    def session_for(*_: object) -> Iterator[SparkSession]:
        given.append(spark)
        yield spark

    monkeypatch.setattr(spark_scan, "session_for", session_for)
    return given


@pytest.mark.usefixtures("in_this_session")
def test_it_says_what_it_found_and_what_is_in_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fine = log_directory(tmp_path / "b1", 1, {"a-0": 5, "a-1": 5})
    torn = log_directory(tmp_path / "b2", 2, {"a-0": 5})
    (torn / "a-0" / "leader-epoch-checkpoint").write_bytes(b"torn")
    table = tmp_path / "roots.csv"
    table.write_text(f"root\n{torn}\n{tmp_path / 'away'}\n{fine}\n")
    (tmp_path / "wanted.json").write_text('{"partitions": [{"topic": "a", "partitions": [0, 7]}]}')
    assert scan(options(tmp_path / "x", fine)) == 0
    assert "1 broker, 2 partitions, 2 replicas (2 trusted, 0 suspect, 0 unusable)" in (
        capsys.readouterr().err
    )
    wanted = options(
        tmp_path / "y", fine, roots_table=table, path_to_json_file=tmp_path / "wanted.json"
    )
    assert scan(wanted) == 1
    said = capsys.readouterr().err
    assert "2 replicas (1 trusted, 1 suspect, 0 unusable)" in said
    assert "1 replica may be corrupt: a-0 of broker 2: leader-epoch-checkpoint" in said
    assert f"1 problem: {tmp_path / 'away'}: no log directory here" in said
    assert "1 partition has no replica here: a-7" in said
    assert scan(wanted) == 1
    again = capsys.readouterr().err
    assert "this scan has ended before; nothing was done" in again
    assert said.splitlines()[-4:] == again.splitlines()[-4:]
    # What it says does not take its rows, of which there may be millions.
    shutil.rmtree(tmp_path / "x" / "replicas")
    assert scan(options(tmp_path / "x", fine)) == 0
    assert scan(options(tmp_path / "y", fine, rescan=True)) == 2
    assert scan(options(tmp_path / "y", fine)) == 2
    assert "it holds a scan with other roots" in capsys.readouterr().err
    assert scan(options(tmp_path / "z", tmp_path / "away")) == 2
    assert "no root holds a log directory" in capsys.readouterr().err
    assert not (tmp_path / "z").exists()


def test_a_scan_with_problems_stays_one_until_all_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], in_this_session: list[SparkSession]
) -> None:
    """A scheduler that runs a failed command again must not be told that it is well."""
    here = log_directory(tmp_path / "b1", 1, {"a-0": 5})
    asked = options(tmp_path / "scan", here, tmp_path / "b2")
    head = tmp_path / "scan" / "scan.json"
    assert [scan(asked) for _ in range(3)] == [1, 1, 1]
    assert len(in_this_session) == 1, "what has ended needs no Spark"
    log_directory(tmp_path / "b2", 2, {"a-0": 7})
    before = head.read_text()
    assert scan(asked) == 1
    assert head.read_text() == before
    assert capsys.readouterr().err.endswith("with --rescan reads everything again\n")

    assert scan(replace(asked, rescan=True)) == 0
    told = capsys.readouterr().err
    assert "2 brokers, 1 partition, 2 replicas (2 trusted" in told
    (plan,) = printed(told)
    assert plan[:4] == ["spark", "plan", "--summaries", str(tmp_path / "scan")]
    found = json.loads(head.read_text())
    assert (found["brokers"], found["problems"]) == ([1, 2], [])
    assert found["scanned_at"] >= json.loads(before)["scanned_at"]
    assert scan(asked) == 0
    assert scan(replace(options(tmp_path / "new", here), rescan=True)) == 0


@pytest.mark.usefixtures("in_this_session")
def test_disks_of_other_clusters_are_named_at_once_and_left_out_by_consent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = [log_directory(tmp_path / f"b{n}", n, {"a-0": n}) for n in (1, 2, 3)]
    foreign = [log_directory(tmp_path / f"x{n}", n, {"a-0": 9}, cluster=f"c{n}") for n in (4, 5)]
    asked = options(tmp_path / "scan", *ours, *foreign)
    left_out = tmp_path / "scan" / "leave-out.csv"
    assert scan(asked) == 2
    said = capsys.readouterr().err
    assert all(f"{place} of cluster c{n}" in said for n, place in zip((4, 5), foreign, strict=True))
    assert f"--leave-out {left_out}: it goes on with what was listed" in said
    addresses = [path.as_uri() for path in foreign]
    assert left_out.read_text().split() == ["root", *addresses]
    listed = sorted((tmp_path / "scan" / "work" / "roots").iterdir())
    times = [path.stat().st_mtime_ns for path in listed]
    assert len(listed) == 5

    misspelt = tmp_path / "misspelt.csv"
    misspelt.write_text(f"root\n{foreign[0]}x\n")
    assert scan(replace(asked, leave_out=misspelt)) == 2
    assert f"{addresses[0]}x is no log directory below the roots" in capsys.readouterr().err
    every = tmp_path / "every.csv"
    every.write_text("\n".join(["root", *map(str, (*ours, *foreign))]))
    assert scan(replace(asked, leave_out=every)) == 2
    assert "names all log directories below the roots" in capsys.readouterr().err
    assert [path.stat().st_mtime_ns for path in listed] == times

    agreed = replace(asked, leave_out=left_out)
    assert scan(agreed) == 0
    assert f"left out, as --leave-out says: {addresses[0]} (and 1 more)" in capsys.readouterr().err
    assert scan(options(tmp_path / "rest", *ours)) == 0
    found, rest = (info_in(tmp_path / name) for name in ("scan", "rest"))
    assert structs.replace(found, scanned_at=rest.scanned_at) == rest
    assert scan(agreed) == 0
    assert scan(asked) == 2
    said = capsys.readouterr().err
    assert "it holds a scan with other log directories left out (file:///" in said
    assert ", not none); give the same --leave-out" in said
    assert scan(replace(agreed, rescan=True)) == 0


@pytest.mark.usefixtures("in_this_session")
def test_a_refused_scan_makes_room_for_one_of_other_roots(tmp_path: Path) -> None:
    ours, foreign = (
        log_directory(tmp_path / name, n, {"a-0": n}, cluster=name)
        for n, name in enumerate(("ours", "theirs"), 1)
    )
    assert scan(options(tmp_path / "scan", ours, foreign)) == 2
    assert scan(options(tmp_path / "scan", ours)) == 0
    assert not (tmp_path / "scan" / "leave-out.csv").exists()


def test_what_is_removed_to_be_read_again_is_the_scan_alone(tmp_path: Path) -> None:
    asked = ScanOptions((str(tmp_path / "b1"),), ScanMode.FAST)
    directory = tmp_path / "scan"
    home = Home(directory)
    with begun(home, asked, "2026-01-01T00:00:00+00:00"):
        with pytest.raises(InputError, match="another spark scan is writing there"):
            forget(home, asked)
        (directory / "work").mkdir()
    (directory / "note.txt").write_text("of somebody else")
    forget(home, asked)
    assert [path.name for path in directory.iterdir()] == ["note.txt"]
    forget(home, asked)
    assert (directory / "note.txt").exists()
    # A file of this name that is somebody else's.
    (directory / "job.json").write_text("{}")
    with pytest.raises(InputError, match="not what a spark scan left"):
        forget(home, asked)
    assert home.job.read_text() == "{}"


@pytest.mark.usefixtures("in_this_session")
def test_after_an_upgrade_a_scan_is_read_again_and_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(tmp_path / "scan", log_directory(tmp_path / "b1", 1, {"a-0": 5}))
    assert scan(asked) == 0
    before = sorted(path.name for path in (tmp_path / "scan").iterdir())
    monkeypatch.setattr(spark_scan, "__version__", "9.9.9")
    assert scan(asked) == 2
    assert "not 9.9.9); go on with that version, read everything again with --rescan" in (
        capsys.readouterr().err
    )
    assert scan(replace(asked, mode=ScanMode.FAST, rescan=True)) == 2
    assert "other mode" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "scan").iterdir()) == before
    assert scan(replace(asked, rescan=True)) == 0
    assert Home(tmp_path / "scan").asked().version == "9.9.9"


def done_files(output: Path) -> int:
    return len(list((output / "work" / "done").glob("[0-9]*.parquet")))


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Yield the command in a process group of its own, as a shell starts it."""
    process = subprocess.Popen(
        command_line(RECOVERY, *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=SECONDS)


def test_killed_then_interrupted_it_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    roots = sparse_disks(tmp_path / "disks", brokers=3, replicas=4, size=512 << 20)
    out = tmp_path / "out"
    words = ["spark", "scan", *map(str, roots), "--output", str(out), "--mode", "deep"]
    # So that enough is left to do whenever it is ended.
    words += ["--master", "local[2]", *CONF_FLAGS, "--conf", "spark.default.parallelism=4"]
    with running(*words) as killed:
        wait_until(lambda: done_files(out) > 0, SECONDS, lambda: "nothing is done")
        killed.kill()
        killed.wait(SECONDS)
    before = done_files(out)
    assert not (out / "scan.json").exists()
    with running(*words) as interrupted:
        wait_until(lambda: done_files(out) > before, SECONDS, lambda: "nothing more is done")
        # As a terminal does: to Spark's processes, too.
        os.killpg(interrupted.pid, signal.SIGINT)
        said, _ = interrupted.communicate(timeout=20)
    assert interrupted.returncode == 130, said
    assert "the same command goes on from there" in said
    # PySpark's daemon may have one of its own to tell.
    assert "/kafka_unclean_recovery/" not in said
    assert not (out / "scan.json").exists()
    scan_in_session(spark, asked(roots, ScanMode.DEEP, version=__version__), Home(out))
    info = info_in(out)
    assert info == in_one_process(roots, info, ScanMode.DEEP)


class Terminal(Console):
    """Remembers the lines that would be shown."""

    def __init__(self) -> None:
        super().__init__("x")
        self.lines: list[str] = []

    def progress(self, sentence: str) -> None:
        self.lines.append(sentence)


def test_progress_is_shown() -> None:
    terminal = Terminal()
    clock = iter([0.0, 1.0, 1.0, 3.0])
    watch = SparkWatch(terminal, "again", lambda: next(clock))
    watch.tasks("listing", 3, 12)
    watch.tasks("listing", 6, 12)
    watch.progress(Progress(0, 4 << 30, 0, 10))
    watch.progress(Progress(1 << 30, 4 << 30, 2, 10))
    assert terminal.lines == [
        "listing: 3 of 12 tasks",
        "listing: 6 of 12 tasks, 2 s left",
        "0.0 of 4.0 GiB, 0 of 10 replicas",
        "1.0 of 4.0 GiB, 2 of 10 replicas, 512.0 MiB/s, 6 s left",
    ]
