"""scan-log-dirs as a process: its artefacts, its exit codes, and how it is interrupted."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.replica_info import parse_replica_info
from tests.cli.disks import SEGMENT, log_directory
from tests.cli.run import RECOVERY, command_line, run
from tests.log_dir.segments import checkpoint, v2
from tests.real.waiting import wait_until


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    """Return the disks of two brokers."""
    log_directory(tmp_path / "disks" / "b1", 1, {"orders-0": 5, "orders-1": 2, "carts-0": 1})
    log_directory(tmp_path / "disks" / "b2", 2, {"orders-0": 7})
    return tmp_path / "disks"


def _scan(*args: object) -> subprocess.CompletedProcess[str]:
    return run(RECOVERY, "scan-log-dirs", *map(str, args))


def _ends(document: Any) -> dict[str, dict[int, int | None]]:
    """Return log end offsets by broker, by partition."""
    return {
        f"{row['topic']}-{row['partition']}": {
            log["broker"]: log["log_end_offset"] for log in row["replica_logs"]
        }
        for row in document["partitions"]
    }


@pytest.mark.parametrize("mode", ["fast", "recover", "deep"])
def test_the_json_has_every_replica(disks: Path, mode: str) -> None:
    done = _scan(disks, "--format", "json", "--mode", mode)
    assert (done.returncode, done.stderr) == (0, "")
    assert _ends(json.loads(done.stdout)) == {
        "carts-0": {1: 1},
        "orders-0": {1: 5, 2: 7},
        "orders-1": {1: 2},
    }
    info = parse_replica_info(done.stdout, "stdout")
    assert (info.cluster_id, info.brokers) == ("c1", (1, 2))
    modes = {log.scanned.mode for p in info.partitions for log in p.replica_logs if log.scanned}
    assert modes == {mode}


def test_the_table_is_the_artefact_beside_the_file(disks: Path, tmp_path: Path) -> None:
    file = tmp_path / "info.json"
    done = _scan(disks / "b1", disks / "b2", "--output", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == _scan(disks).stdout
    assert "orders" in done.stdout
    assert _ends(json.loads(file.read_text()))["orders-0"] == {1: 5, 2: 7}


def test_topics_and_partitions_must_both_hold(disks: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "partitions.json"
    chosen.write_text(
        '{"partitions": [{"topic": "orders", "partitions": [1]}, '
        '{"topic": "carts", "partition": 0}]}'
    )
    by_file = _scan(disks, "--format", "json", "--path-to-json-file", chosen)
    assert _ends(json.loads(by_file.stdout)) == {"carts-0": {1: 1}, "orders-1": {1: 2}}
    by_both = _scan(
        disks, "--format", "json", "--path-to-json-file", chosen, "--topics", "order|carts?"
    )
    assert (by_both.returncode, by_both.stderr) == (0, "")
    assert _ends(json.loads(by_both.stdout)) == {"carts-0": {1: 1}}
    by_name = _scan(disks, "--format", "json", "--topics", "orders")
    assert _ends(json.loads(by_name.stdout)) == {"orders-0": {1: 5, 2: 7}, "orders-1": {1: 2}}


def test_a_name_that_matches_nothing_is_no_success(disks: Path, tmp_path: Path) -> None:
    done = _scan(disks, "--topics", "order")
    assert (done.returncode, "orders" in done.stdout) == (1, False)
    assert "no replica here is of the partitions asked for" in done.stderr
    assert "--topics order matches whole names of topics, so order.* takes all that" in done.stderr
    chosen = tmp_path / "partitions.json"
    chosen.write_text('{"partitions": [{"topic": "orders", "partitions": [0, 3, 4]}]}')
    done = _scan(disks, "--path-to-json-file", chosen)
    assert done.returncode == 1
    assert "2 partitions have no replica here, the first: orders-3" in done.stderr


def test_what_is_not_sound_is_counted_and_exit_1(disks: Path) -> None:
    (disks / "b1" / "orders-0" / SEGMENT).unlink()
    os.mkfifo(disks / "b1" / "orders-0" / SEGMENT)
    (disks / "b2" / "orders-0" / "leader-epoch-checkpoint").write_text("garbage")
    (disks / "b2" / "replication-offset-checkpoint").write_text("garbage")
    done = _scan(disks, "--format", "json")
    assert done.returncode == 1
    assert set(_ends(json.loads(done.stdout))) == {"carts-0", "orders-0", "orders-1"}
    assert "1 replica can't be used: orders-0 of broker 1:" in done.stderr
    assert "1 replica may be corrupt: orders-0 of broker 2:" in done.stderr
    assert "1 problem:" in done.stderr


@pytest.mark.parametrize("mode", ["fast", "recover", "deep"])
def test_a_log_below_its_own_high_watermark_is_no_success(disks: Path, mode: str) -> None:
    """Its last segment was cut between two batches, so every batch that is left is sound."""
    (disks / "b1" / "replication-offset-checkpoint").write_bytes(checkpoint("orders 0 8"))
    done = _scan(disks, "--format", "json", "--mode", mode)
    assert done.returncode == 1
    said = "1 replica has lost committed records: orders-0 of broker 1: its log ends at 5, below"
    assert f"{said} its high watermark 8" in done.stderr
    assert _ends(json.loads(done.stdout))["orders-0"] == {1: 5, 2: 7}


@pytest.mark.parametrize("command", ["scan-log-dirs", "plan"])
def test_disks_of_two_clusters_are_refused_before_anything_is_written(
    disks: Path, tmp_path: Path, command: str
) -> None:
    log_directory(disks / "x", 3, {"orders-0": 9}, cluster="c2")
    file = tmp_path / "written.json"
    flags = {
        "scan-log-dirs": [disks, "--output", file],
        "plan": ["--log-dirs", disks, "--manual-recovery-output-file", file],
    }
    done = run(RECOVERY, command, *map(str, flags[command]))
    assert (done.returncode, done.stdout, file.exists()) == (2, "", False)
    said = f"{disks / 'b1'} is of cluster c1, {disks / 'x'} of cluster c2"
    assert f": {said}; give the disks of one cluster\n" in done.stderr


def test_whether_a_broker_was_shut_down_in_order_is_told(disks: Path) -> None:
    (disks / "b2" / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":9}')
    info = parse_replica_info(_scan(disks, "--format", "json").stdout, "stdout")
    told = {
        (log.broker, log.scanned.stopped_clean)
        for part in info.partitions
        for log in part.replica_logs
        if log.scanned
    }
    assert told == {(1, False), (2, True)}


def test_a_scan_of_some_topics_tells_of_no_broker_that_it_was_read_whole(disks: Path) -> None:
    """Each directory of b1 is here, for no broker has run on it; of the other topics nobody can
    tell from this scan what is missing."""
    log_directory(disks / "b3", 3, {})

    def whole(*flags: str) -> list[int]:
        return [each["broker"] for each in json.loads(_scan(disks, *flags).stdout)["whole"]]

    assert whole("--format", "json") == [3]
    assert whole("--format", "json", "--topics", "orders") == []


def test_a_file_that_can_not_be_written_leaves_the_artefact(disks: Path, tmp_path: Path) -> None:
    file = tmp_path / "info.json"
    # Several processes would share memory by way of a file.
    args = ("scan-log-dirs", str(disks), "--workers", "1", "--format", "json")
    scan = command_line(RECOVERY, *args)
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 0; exec "$@"', "bash", *scan, "--output", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert f"--output {file}: File too large" in done.stderr
    assert not file.exists()
    assert _ends(json.loads(done.stdout))["orders-0"] == {1: 5, 2: 7}


@dataclass
class OnTerminal:
    """A scan whose stderr is a terminal; `shown` is what that got."""

    process: subprocess.Popen[str]
    terminal: int
    shown: str = ""

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self._read(), 30, lambda: f"{text!r} in {self.shown!r}")

    def _read(self) -> str:
        with suppress(OSError):  # nothing yet (EAGAIN), or it has ended (EIO)
            self.shown += os.read(self.terminal, 65536).decode()
        return self.shown

    def finish(self) -> str:
        """Return stdout once the process has ended, and the terminal has given all that it took."""
        stdout, _ = self.process.communicate(timeout=30)
        with suppress(OSError):  # EIO: that was all
            while select.select([self.terminal], [], [], 30)[0]:
                self.shown += os.read(self.terminal, 65536).decode()
        return stdout


@contextmanager
def on_terminal(args: Sequence[str]) -> Iterator[OnTerminal]:
    ours, its = pty.openpty()
    os.set_blocking(ours, False)
    with subprocess.Popen(
        command_line(RECOVERY, *args), stdout=subprocess.PIPE, stderr=its, text=True
    ) as process:
        os.close(its)
        try:
            yield OnTerminal(process, ours)
        finally:
            process.kill()
            os.close(ours)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return a disk of 100 GiB, all of it the same 64 MiB: far more than a test waits for."""
    disk = log_directory(tmp_path / "endless", 1, {"orders-0": 1})
    first = disk / "orders-0" / SEGMENT
    with first.open("wb") as segment:
        for offset in range(64):
            segment.write(v2(offset, 1, body=bytes(1 << 20)))
    for number in range(1, 1600):
        (disk / f"orders-{number}").mkdir()
        os.link(first, disk / f"orders-{number}" / SEGMENT)
    return disk


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_scan_reports_what_it_has(
    endless: Path, tmp_path: Path, number: signal.Signals, code: int, workers: str
) -> None:
    file = tmp_path / "info.json"
    args = ["scan-log-dirs", str(endless), "--workers", workers, "--mode", "deep"]
    with on_terminal([*args, "--format", "json", "--output", str(file)]) as scan:
        scan.wait_for("iB/s")
        scan.process.send_signal(number)
        stdout = scan.finish()
        assert scan.process.returncode == code, scan.shown
    info = parse_replica_info(stdout, "stdout")
    assert info.interrupted
    assert len(info.partitions) < 1600
    assert all(part.replica_logs[0].log_end_offset == 64 for part in info.partitions)
    assert file.read_text() == stdout
    assert "of 100.0 GiB" in scan.shown
    assert f"this is partial, {len(info.partitions)} replicas were scanned" in scan.shown


def test_a_second_signal_ends_at_once(endless: Path, tmp_path: Path) -> None:
    file = tmp_path / "info.json"
    with on_terminal(
        ["scan-log-dirs", str(endless), "--mode", "deep", "--output", str(file)]
    ) as scan:
        scan.wait_for("iB/s")
        # Delivered together: the lower number first, before the scan looks again.
        os.kill(scan.process.pid, signal.SIGSTOP)
        # A SIGCONT takes back a SIGSTOP that has not arrived.
        os.waitid(os.P_PID, scan.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        scan.process.send_signal(signal.SIGINT)
        scan.process.send_signal(signal.SIGTERM)
        os.kill(scan.process.pid, signal.SIGCONT)
        assert scan.finish() == ""
        assert scan.process.returncode == 143, scan.shown
    assert "stopped at once; nothing was written" in scan.shown
    assert not file.exists()


def test_without_a_terminal_no_progress_is_shown(disks: Path) -> None:
    assert _scan(disks, "--mode", "deep").stderr == ""
