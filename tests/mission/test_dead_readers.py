"""Stdout and stderr that fail, and every signal that asks to stop: neither changes what is elected,
leaves an order changed, or ends a run in a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.mission.conftest import PROBES, Means
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate, Tap
from tests.real.waiting import wait_until
from tests.real.watching import TIMEOUT, Commands, journal_lines, open_orders, steps_noted

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
        stdout: int | None = subprocess.PIPE,
        stderr: int | None = subprocess.PIPE,
        close: Sequence[int] = (),
        ignored: Sequence[signal.Signals] = (),
    ) -> subprocess.Popen[str]:
        """close: descriptors that it does not have; ignored: signals, as by nohup."""

        def begin() -> None:
            # Whoever runs the tests may ignore some.
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
            for descriptor in close:
                os.close(descriptor)

        script = str(Path(sys.executable).with_name("kafka-unclean-recovery"))
        process = subprocess.Popen(
            [script, *words],
            stdin=subprocess.DEVNULL,
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
    """In waves, so that something is said in the middle."""
    which = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    pace = ("--canary", "1", "--wave-size", "1")
    how = ("--automated-recovery", *pace, "--format", "json", *PROBES.mechanism.flags)
    return ["--bootstrap-server", server, *which, *how]


def _dead_reader() -> int:
    ours, its = os.pipe()
    os.close(ours)
    return its


def _full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


BROKEN: dict[str, Callable[[], int] | None] = {
    "closed": None,
    "full": _full,
    "dead reader": _dead_reader,
}


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
        assert "it did not get all that it was to get" in said
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
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2, answer=True)
    with Tap(troubled.cluster.address(3), gate) as tap:
        words = _elect(commands, tap.address, partitions)
        process = runs.start(*words, stderr=_dead_reader())
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
    with Tap(troubled.cluster.address(3), gate) as tap:
        words = _elect(commands, tap.address, partitions)
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
    with Tap(troubled.cluster.address(3), gate) as tap:
        process = runs.start(*_elect(commands, tap.address, partitions))
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
    process = runs.start(*words, "--show-replica-info", stdout=_full())
    _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert "stdout: No space left on device: it did not get all" in said
    assert "Traceback" not in said
