"""Stdout and stderr that fail, and every signal that asks to stop: neither changes what is elected,
leaves an order changed, or ends a run in a traceback."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.replica_info import parse_replica_info
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Delay
from tests.cli.test_scan_log_dirs import endless  # noqa: F401 - a fixture
from tests.cli.test_standard_streams import BROKEN, dead_reader, full
from tests.mission.conftest import PROBES, Means
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate
from tests.real.waiting import wait_until
from tests.real.watching import (
    PROMPT,
    TIMEOUT,
    Commands,
    journal_lines,
    open_orders,
    steps_noted,
)

SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGQUIT: 131}
PIPE_SIZE = 65536


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


@dataclass
class Runs:
    """The command with streams of the test's own; ended with it."""

    home: Path
    ends: ExitStack = field(default_factory=ExitStack)

    def start(
        self,
        *words: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int | None = subprocess.PIPE,
        stderr: int | None = subprocess.PIPE,
        close: Sequence[int] = (),
        ignored: Sequence[signal.Signals] = (),
    ) -> subprocess.Popen[str]:
        """Start a run. stdin: a terminal, if not the default; close: descriptors that it does not
        have; ignored: signals, as by nohup."""

        def begin() -> None:
            # Whoever runs the tests may ignore some.
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
            for descriptor in close:
                os.close(descriptor)
            if stdin != subprocess.DEVNULL:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        script = str(Path(sys.executable).with_name("kafka-unclean-recovery"))
        process = subprocess.Popen(
            [script, *words],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            env=os.environ | {"XDG_STATE_HOME": str(self.home), "HOME": str(self.home)},
            preexec_fn=begin,
        )
        self.ends.callback(_end, process)
        return process

    @property
    def journal(self) -> Path:
        (journal,) = self.home.rglob("*.jsonl")
        return journal


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    made = Runs(tmp_path)
    with made.ends:
        yield made


def _elect(commands: Commands, server: str, partitions: Sequence[int]) -> list[str]:
    """Return the command that elects in waves, so that something is said in the middle."""
    which = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    pace = ("--canary", "1", "--wave-size", "1")
    how = ("--automated-recovery", *pace, "--format", "json", *PROBES.mechanism.flags)
    return ["--bootstrap-server", server, *which, *how]


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_all_is_elected_put_back_and_noted_whoever_reads_of_it(
    troubled: Trouble, commands: Commands, runs: Runs, stream: str, how: str
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    words = _elect(commands, troubled.cluster.address(3), partitions)
    make = BROKEN[how]
    given = {} if make is None else {stream: make()}
    close = [1 if stream == "stdout" else 2] if make is None else []
    process = runs.start(*words, **given, close=close)  # type: ignore[arg-type]
    for descriptor in given.values():
        os.close(descriptor)
    told, said = process.communicate(timeout=TIMEOUT)
    troubled.wait_for_leader(partitions, 3)
    troubled.wait_for_orders(before)
    lines = journal_lines(runs.journal)
    assert [line["event"] for line in lines][-2:] == ["verified", "end"]
    assert open_orders(runs.journal) == set()
    wanted = 1 if stream == "stdout" else 0
    assert (process.returncode, lines[-1]["exit_code"]) == (wanted, wanted), said
    if stream == "stdout":
        assert "the result could not be written to it completely" in said
        assert "wave 2 of 2: 1 partition verified" in said
        assert "Traceback" not in said
        assert "Exception ignored" not in said
    else:
        assert json.loads(told)["summary"]["outcomes"]["elected"] == 2


def test_a_reader_that_is_there_and_reads_nothing_holds_up_no_election(
    troubled: Trouble, commands: Commands, runs: Runs
) -> None:
    """As less does, and a terminal after Ctrl-S. In the end it gets all."""
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    words = _elect(commands, troubled.cluster.address(3), partitions)
    ours, its = os.pipe()
    os.set_blocking(its, False)
    os.write(its, bytes(PIPE_SIZE))
    os.set_blocking(its, True)
    process = runs.start(*words, stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)

    def noted() -> bool:
        found = list(runs.home.rglob("*.jsonl"))
        return bool(found) and '"event":"end"' in found[0].read_text()

    wait_until(noted, TIMEOUT, lambda: f"the end of the run in {list(runs.home.rglob('*.jsonl'))}")
    troubled.wait_for_orders(before)
    assert process.poll() is None
    with os.fdopen(ours, "rb") as reader:
        said = reader.read().lstrip(b"\0").decode()
    assert process.wait(TIMEOUT) == 0
    assert "wave 1 of 2: 1 partition verified\n" in said
    assert "wave 2 of 2: 1 partition verified\n" in said


@pytest.mark.parametrize("number", SIGNALS)
def test_ctrl_c_elects_nothing_though_it_killed_the_reader_first(
    troubled: Trouble, commands: Commands, runs: Runs, number: signal.Signals
) -> None:
    """As of `2>&1 | tee log`, while brokers are waited for."""
    partitions = troubled.take(2)
    ours, its = os.pipe()
    words = _elect(commands, troubled.cluster.address(3), partitions)
    wait = ("--wait-for-brokers", "1", "--recovery-duration-ms", "20000")
    process = runs.start(*words, *wait, stdout=its, stderr=its)
    os.close(its)
    with os.fdopen(ours) as reader:
        line = reader.readline()
        while line and "waiting for broker 1" not in line:
            line = reader.readline()
    process.send_signal(number)
    assert process.wait(TIMEOUT) == SIGNALS[number]
    assert steps_noted(journal_lines(runs.journal)) == ["begin", "end"]
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_between_order_and_election_leaves_no_order_changed(
    troubled: Trouble, commands: Commands, runs: Runs, number: signal.Signals
) -> None:
    """Twice where a session drops: the shell and the kernel send a SIGHUP each."""
    partitions = troubled.take(1)
    before = troubled.orders(partitions)
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(3, gate) as address:
        words = _elect(commands, address, partitions)
        process = runs.start(*words, stderr=dead_reader())
        gate.wait()
        process.send_signal(number)
        if number is signal.SIGHUP:
            process.send_signal(number)
        gate.open()
        told, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == SIGNALS[number]
    assert json.loads(told)["summary"]["interrupted"] is True
    troubled.wait_for_orders(before)
    lines = journal_lines(runs.journal)
    assert (lines[-1]["event"], lines[-1]["exit_code"]) == ("end", SIGNALS[number])
    assert open_orders(runs.journal) == set()


def test_nohup_is_heeded(troubled: Trouble, commands: Commands, runs: Runs) -> None:
    partitions = troubled.take(1)
    gate = Gate(ELECT_LEADERS)
    with troubled.tapped(3, gate) as address:
        words = _elect(commands, address, partitions)
        process = runs.start(*words, ignored=[signal.SIGHUP])
        gate.wait()
        process.send_signal(signal.SIGHUP)
        gate.open()
        told, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, said
    assert json.loads(told)["summary"]["interrupted"] is False
    troubled.wait_for_leader(partitions, 3)


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_second_signal_of_another_kind_stops_at_once(
    troubled: Trouble, commands: Commands, runs: Runs, second: signal.Signals
) -> None:
    partitions = troubled.take(1)
    gate = Gate(ELECT_LEADERS)
    with troubled.tapped(3, gate) as address:
        process = runs.start(*_elect(commands, address, partitions))
        gate.wait()
        process.send_signal(signal.SIGHUP)
        assert process.stderr is not None
        assert "stopping: the step in hand is finished first" in process.stderr.readline()
        process.send_signal(second)
        _, said = process.communicate(timeout=TIMEOUT)
        gate.open()
    assert process.returncode == 128 + second
    assert "stopped at once; the journal tells what is left to finish" in said
    assert open_orders(runs.journal) == set(partitions)


def test_a_look_on_a_full_disk_says_so_by_its_exit_code(troubled: Trouble, runs: Runs) -> None:
    words = ("--bootstrap-server", troubled.cluster.address(3), "--all-offline-partitions")
    process = runs.start(*words, "--show-replica-info", stdout=full())
    _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert "stdout: No space left on device: the result could not be written" in said
    assert "Traceback" not in said


def test_a_question_that_nobody_could_read_has_no_answer(
    troubled: Trouble, commands: Commands, runs: Runs
) -> None:
    partitions = troubled.take(1)
    ours, its = pty.openpty()
    words = _elect(commands, troubled.cluster.address(3), partitions)
    process = runs.start(*words, stdin=its, stderr=full())
    os.close(its)
    # It is for whatever asks first.
    os.write(ours, b"1\n")
    told, _ = process.communicate(timeout=TIMEOUT)
    os.close(ours)
    assert process.returncode == 1
    (row,) = json.loads(told)["partitions"]
    assert row["reason"] == "its election was not begun: the number of partitions was not typed"
    assert troubled.leaders(partitions) == {-1}


def test_a_terminal_that_goes_away_at_the_question_elects_nothing(
    troubled: Trouble, commands: Commands, runs: Runs
) -> None:
    """As the session drops; where SIGHUP is ignored there is nobody to answer all the same."""
    partitions = troubled.take(1)
    for ignored, code in (((), 129), ((signal.SIGHUP,), 1)):
        ours, its = pty.openpty()
        words = _elect(commands, troubled.cluster.address(3), partitions)
        process = runs.start(*words, stdin=its, stderr=its, ignored=ignored)
        os.close(its)
        shown = b""
        while b"type the number of partitions, 1: " not in shown:
            shown += os.read(ours, 65536)
        os.close(ours)
        told, _ = process.communicate(timeout=TIMEOUT)
        assert process.returncode == code
        assert [row["outcome"] for row in json.loads(told)["partitions"]] == ["failed"]
    assert troubled.leaders(partitions) == {-1}


def test_a_signal_while_it_is_all_looked_at_again_elects_nothing(
    stale: Cluster, commands: Commands
) -> None:
    how = ("--all-offline-partitions", "--automated-recovery", "--format", "json")
    run = commands.start("--bootstrap-server", stale.bootstrap_servers, *how, terminal=True)
    run.wait_for(PROMPT)
    asked = stale.intercept("DescribeTopicPartitions", Delay(1.0), times=100)
    run.agree()
    stale.wait_until(lambda _: bool(asked.requests), TIMEOUT)
    run.signal(signal.SIGINT)
    done = run.finish()
    assert done.code == 130
    (row,) = done.report["partitions"]
    assert (row["outcome"], row["leader"]) == ("failed", -1)
    assert row["reason"] == "interrupted before its election began"
    (journal,) = commands.journals()
    assert "elect" not in steps_noted(journal_lines(journal))


NEW = (signal.SIGHUP, signal.SIGQUIT)


@pytest.mark.parametrize("number", NEW)
def test_a_watch_ends_by_every_signal(
    troubled: Trouble, runs: Runs, number: signal.Signals
) -> None:
    servers = ("--bootstrap-server", troubled.cluster.address(3))
    process = runs.start("aftercare", *servers, "--watch")
    assert process.stderr is not None
    process.stderr.readline()
    process.send_signal(number)
    told, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == SIGNALS[number], said
    assert "stopping: " in said
    assert told


@pytest.mark.parametrize("number", NEW)
def test_a_diagnosis_ends_by_every_signal(runs: Runs, number: signal.Signals) -> None:
    with Cluster(Options(brokers=1)) as cluster:
        asked = cluster.intercept("ApiVersions", Delay(60.0))
        process = runs.start("doctor", "--bootstrap-server", cluster.bootstrap_servers)
        cluster.wait_until(lambda _: bool(asked.requests), TIMEOUT)
        process.send_signal(number)
        _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == SIGNALS[number], said


def test_a_second_signal_names_no_journal_where_there_is_none(runs: Runs) -> None:
    with Cluster(Options(brokers=1)) as cluster:
        asked = cluster.intercept("ApiVersions", Delay(60.0))
        process = runs.start("doctor", "--bootstrap-server", cluster.bootstrap_servers)
        cluster.wait_until(lambda _: bool(asked.requests), TIMEOUT)
        # Both are there before it looks.
        process.send_signal(signal.SIGSTOP)
        # A SIGCONT takes back a SIGSTOP that has not arrived.
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode in (130, 143)
    assert said.endswith("kafka-unclean-recovery doctor: stopped at once\n")


@pytest.mark.parametrize("number", NEW)
def test_an_emulator_ends_in_order_by_every_signal(
    runs: Runs, tmp_path: Path, number: signal.Signals
) -> None:
    process = runs.start("emulator", "--brokers", "1", "--data-dir", str(tmp_path / "data"))
    assert process.stdout is not None
    assert process.stdout.readline().startswith("bootstrap.servers=")
    process.send_signal(number)
    process.send_signal(number)
    _, said = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, said) == (0, "")
    assert (tmp_path / "data" / "control-socket").read_text() == ""


@pytest.mark.parametrize("number", NEW)
def test_a_scan_ends_with_what_it_has_by_every_signal(
    endless: Path,  # noqa: F811 - the fixture
    runs: Runs,
    number: signal.Signals,
) -> None:
    """With its processes, to which a terminal sends it too."""
    args = ("scan-log-dirs", str(endless), "--mode", "deep", "--workers", "2", "--format", "json")
    ours, its = pty.openpty()
    process = runs.start(*args, stderr=its)
    os.close(its)
    shown = b""
    while b"iB/s" not in shown:
        shown += os.read(ours, 65536)
    for each in _with_children(process.pid):
        os.kill(each, number)
    told, _ = process.communicate(timeout=TIMEOUT)
    os.close(ours)
    assert process.returncode == SIGNALS[number]
    info = parse_replica_info(told, "stdout")
    assert info.interrupted
    logs = [part.replica_logs[0] for part in info.partitions]
    assert {log.problem for log in logs} == {None}


def _with_children(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *map(int, children)]
