"""emulator and emulator ctl as processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka.protocol.metadata import MetadataRequest

from kafka_unclean_recovery.cli.commands.emulator import Release
from kafka_unclean_recovery.emulator.control.commands import BadCommand, NotDone
from kafka_unclean_recovery.emulator.control.control_socket import ask, serving
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from tests.cli.in_process import Done, invoke
from tests.cli.run import RECOVERY, command_line, run
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.waiting import wait_until

TIMEOUT = 60.0


class Running:
    """An emulator that has printed its two lines."""

    def __init__(self, *args: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command_line(RECOVERY, "emulator", *args),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        self.second = self.process.stdout.readline()

    @property
    def addresses(self) -> list[tuple[str, int]]:
        parted = (a.rpartition(":") for a in self.first.strip().partition("=")[2].split(","))
        return [(host, int(port)) for host, _, port in parted]

    @property
    def socket(self) -> Path:
        return Path(self.second.strip().partition("=")[2])

    def ctl(self, *words: str) -> str:
        return ask(self.socket, " ".join(words), TIMEOUT)

    def end(self, number: int) -> tuple[int, str]:
        """Send the signal, and return the exit code and stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, said


@contextmanager
def running(*args: str, env: dict[str, str] | None = None) -> Iterator[Running]:
    emulator = Running(*args, env=env)
    try:
        yield emulator
    finally:
        # In order, for its directories to go; at once if it does not.
        if emulator.process.poll() is None:
            emulator.process.terminate()
        try:
            emulator.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            emulator.process.kill()
            raise


def test_every_release_can_be_named() -> None:
    assert [release.value for release in Release] == list(RELEASES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_the_brokers_are_serves_clients_and_ends_with_0_on_a_signal(
    number: int,
) -> None:
    with running("--brokers", "3", "--release", "kip-966", "--dialect", "kip-966") as emulator:
        assert emulator.first.startswith("bootstrap.servers=127.0.0.1:")
        assert emulator.second == f"control.socket={emulator.socket}\n"
        assert len(emulator.addresses) == 3
        with Wire(*emulator.addresses[1]) as wire:
            answer = wire.ask(build(MetadataRequest, {"topics": None}), 9)
        assert {(b.host, b.port) for b in answer.brokers} == set(emulator.addresses)
        assert emulator.end(number) == (0, "")
        assert not emulator.socket.exists()


def test_a_scenario_is_over_before_the_first_line(tmp_path: Path) -> None:
    scenario = tmp_path / "one.scenario"
    scenario.write_text("create-topic a replica-assignment=2:1\nproduce a-0 7\nkill 1\n")
    with running("--scenario", str(scenario)) as emulator:
        said = emulator.ctl("status")
    assert "broker 1 dead" in said
    assert "a-0 leader=2" in said
    assert "log-end-offsets=2:7,1:?" in said


def test_brokers_get_as_many_disks_as_are_asked_for_and_never_fewer(tmp_path: Path) -> None:
    directory = str(tmp_path / "cluster")
    with running("--data-dir", directory, "--log-directories", "2") as emulator:
        emulator.ctl("lose-disk 4 index=1")
        assert emulator.end(signal.SIGTERM) == (0, "")
    assert (tmp_path / "cluster" / "broker-3-disk-1" / "meta.properties").exists()
    done = run(RECOVERY, "emulator", "--data-dir", directory)
    assert done.returncode == 2
    assert "holds a cluster with more log directories a broker" in done.stderr


def _ctl(*args: str) -> Done:
    return invoke(RECOVERY, "emulator", "ctl", *args)


def test_ctl_finds_it_by_its_socket_and_by_its_data_dir_and_the_cluster_is_kept(
    tmp_path: Path,
) -> None:
    # Longer than any socket's path may be.
    data_dir = tmp_path / ("d" * 120)
    by_dir = ("--data-dir", str(data_dir))
    with running(*by_dir) as emulator:
        assert stat.S_IMODE(emulator.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(emulator.socket.parent.stat().st_mode) == 0o700
        by_socket = ("--socket", str(emulator.socket))
        done = run(RECOVERY, "emulator", "ctl", *by_socket, "create-topic", "a")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        found = _ctl(*by_dir, "produce", "a-0", "5", "acks=1")
        assert (found.code, found.stdout) == (0, "a-0: 5 records from offset 0 on\n")
        wrong = _ctl(*by_dir, "kill", "9")
        said = "kafka-unclean-recovery emulator ctl: kill: there is no broker 9\n"
        assert (wrong.code, wrong.stdout, wrong.stderr) == (2, "", said)
        second = invoke(RECOVERY, "emulator", *by_dir)
        assert second.code == 2
        assert f"another emulator runs on {data_dir}" in second.stderr
        assert emulator.end(signal.SIGTERM) == (0, "")
    gone = _ctl(*by_dir, "status")
    assert (gone.code, "no emulator runs on" in gone.stderr) == (2, True)
    with running(*by_dir) as again:
        assert "log-end-offsets=1:5" in again.ctl("status")
    other = invoke(RECOVERY, "emulator", *by_dir, "--release", "3.9.1")
    assert other.code == 2
    assert "holds a cluster of 4.3.1" in other.stderr


def test_a_killed_emulator_leaves_its_directory_to_the_next(tmp_path: Path) -> None:
    args = ("--brokers", "1", "--data-dir", str(tmp_path))
    with running(*args) as emulator:
        emulator.ctl("create-topic", "a")
        emulator.process.kill()
        emulator.process.wait(TIMEOUT)
        asked = _ctl("--data-dir", str(tmp_path), "status")
        assert asked.code == 2
        assert "no emulator answers at" in asked.stderr
        emulator.socket.unlink()
        emulator.socket.parent.rmdir()
    with running(*args) as again:
        assert "a-0 leader=1" in again.ctl("status")


def test_ctl_is_answered_while_the_emulator_starts(tmp_path: Path) -> None:
    """Loading is held up: the scenario waits for what only a signal ends."""
    scenario = tmp_path / "slow.scenario"
    data_dir = tmp_path / "data"
    scenario.write_text("create-topic a\nwait-until a-0 leader=2 timeout-ms=600000\n")
    process = subprocess.Popen(
        command_line(
            RECOVERY, "emulator", "--scenario", str(scenario), "--data-dir", str(data_dir)
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    at = ("--data-dir", str(data_dir))
    try:
        wait_until(lambda: "a-0 leader=1" in _ctl(*at, "status").stdout, TIMEOUT, lambda: "status")
        early = _ctl(*at, "kill", "1")
        assert (early.code, early.stdout) == (1, "")
        assert "kill: the emulator is starting: 4 of 4 brokers are up; status is" in early.stderr
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT)
    assert process.returncode == 143


@pytest.mark.parametrize(
    ("line", "damaged"),
    [
        (1, b"{"),
        (1, b"{}"),
        (2, b'{"records": [{"type": "NoRecord"}]}'),
        (3, b"\xff\xfe"),
        (3, b'{"records": [{"type": "TopicRecord", "colour": 5}]}'),
    ],
)
def test_damaged_metadata_are_named_by_file_and_line(
    tmp_path: Path, line: int, damaged: bytes
) -> None:
    with running("--brokers", "1", "--data-dir", str(tmp_path)) as emulator:
        emulator.ctl("create-topic", "a")
    metadata = tmp_path / "controller" / "metadata.jsonl"
    lines = metadata.read_bytes().splitlines()
    lines[line - 1] = damaged
    metadata.write_bytes(b"\n".join(lines) + b"\n")
    done = invoke(RECOVERY, "emulator", "--brokers", "1", "--data-dir", str(tmp_path))
    assert (done.code, done.stdout) == (2, "")
    assert f"--data-dir {metadata}, line {line} is damaged: " in done.stderr


def test_a_signal_in_the_middle_of_a_scenario_ends_it_at_once_with_143(tmp_path: Path) -> None:
    scenario = tmp_path / "slow.scenario"
    data_dir = tmp_path / "data"
    scenario.write_text("create-topic a\nwait-until a-0 leader=2 timeout-ms=600000\n")
    args = ("--scenario", str(scenario), "--data-dir", str(data_dir))
    process = subprocess.Popen(
        command_line(RECOVERY, "emulator", *args),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metadata = data_dir / "controller" / "metadata.jsonl"

    wait_until(
        lambda: metadata.exists() and "TopicRecord" in metadata.read_text(),
        TIMEOUT,
        lambda: "topic",
    )
    process.send_signal(signal.SIGTERM)
    out, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out, said) == (143, "", "")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("--scenario no.scenario", "--scenario no.scenario: No such file"),
        ("--scenario slip.scenario", "--scenario slip.scenario, line 2: 'kil' is no command"),
        ("--scenario wrong.scenario", "--scenario wrong.scenario, line 1: kill: there is no"),
        ("--data-dir .", "--data-dir . is not empty, and holds no emulated cluster"),
        ("--data-dir slip.scenario", "--data-dir slip.scenario: File exists"),
        ("--brokers 0", "--brokers"),
        ("--release 9", "--release"),
        ("--release 4.4.0 --dialect reverted", "--dialect reverted: key 93 is Streams"),
        ("--brokers 3 ctl status", "--brokers is no flag of ctl; it goes with"),
        ("--data-dir d ctl status", "--data-dir goes after the command: "),
        ("ctl status", "exactly one of --data-dir and --socket"),
        ("ctl --data-dir d --socket s status", "exactly one of --data-dir and --socket"),
        ("ctl --socket s", "COMMAND"),
        ("ctl --socket s helps", "'helps' is no command; there are create-topic, "),
        ("ctl help helps", "'helps' is no command; there are create-topic, "),
        ("ctl --socket s kill", "BROKER is missing"),
        ("ctl --socket s status", "no emulator answers at s: "),
        ("ctl --data-dir d status", "--data-dir d is the directory of no emulator"),
    ],
)
def test_it_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slip.scenario").write_text("status\nkil 1\n")
    (tmp_path / "wrong.scenario").write_text("kill 9\n")
    done = invoke(RECOVERY, "emulator", *args.split())
    assert (done.code, done.stdout) == (2, "")
    assert says in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"slip.scenario", "wrong.scenario"}


def test_help_needs_no_emulator() -> None:
    done = _ctl("help")
    assert (done.code, done.stderr) == (0, "")
    assert "kill BROKER...\n" in done.stdout
    assert "intercept API error=|leave-out=" in done.stdout
    assert (_ctl("help", "kill").stdout, _ctl("help", "kill").code) == ("kill BROKER...\n", 0)


def test_what_was_tried_and_did_not_come_about_is_1_and_what_can_not_be_meant_is_2() -> None:
    with running("--brokers", "2") as emulator:
        at = ("--socket", str(emulator.socket))
        emulator.ctl("create-topic", "a", "replica-assignment=1:2", "min.insync.replicas=2")
        wrong = _ctl(*at, "kill", "2", "99")
        assert (wrong.code, wrong.stderr.endswith("there is no broker 99\n")) == (2, True)
        assert "broker 2 running" in emulator.ctl("status")
        emulator.ctl("kill", "2")
        emulator.ctl("fence", "2")
        for words, says in (
            ("wait-until a-0 leader=2 timeout-ms=50", "not within 0.05 s"),
            ("produce a-0 5", "NOT_ENOUGH_REPLICAS"),
            ("create-topic a", "TOPIC_ALREADY_EXISTS"),
        ):
            failed = _ctl(*at, *words.split())
            assert (failed.code, failed.stdout, says in failed.stderr) == (1, "", True)


def test_an_emulator_that_has_a_command_and_does_not_answer_may_do_it_yet() -> None:
    stuck = threading.Event()

    def answer(line: str) -> str:
        stuck.wait(TIMEOUT)
        return ""

    with serving(answer) as path:
        with pytest.raises(NotDone, match=r"has not answered within 0.1 s: it may be done yet"):
            ask(path, "kill 4", 0.1)
        stuck.set()


def test_what_is_no_command_is_answered_and_ends_nothing() -> None:
    def answer(line: str) -> str:
        if line.strip() == "no":
            raise BadCommand("not that")
        return f"heard {line}"

    with serving(answer) as path:
        with pytest.raises(BadCommand, match="not that"):
            ask(path, "no", TIMEOUT)
        for sent, error in ((b"\xff\n", "utf-8"), (b"x" * (1 << 16), "at most 65535 bytes")):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(TIMEOUT)
                sock.connect(str(path))
                sock.sendall(sent)
                assert error in json.loads(sock.makefile().readline())["error"]
        with socket.socket(socket.AF_UNIX) as gone:
            gone.connect(str(path))
        assert ask(path, "yes", TIMEOUT) == "heard yes\n"
    with pytest.raises(OSError):
        ask(path, "yes", TIMEOUT)
    assert not path.parent.exists()
