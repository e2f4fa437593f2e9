"""What a person sees in a window of 80 by 24 and of 200 by 50: an outage of any size is one screen,
no line of it is wider, and what is said last is what to do next."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import shlex
import socket
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.outage_process import SETTINGS, make
from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cli.run import RECOVERY, command_line, run
from tests.mission.terminal import TIMEOUT, Screen, Terminal, shows

ALL = "--all-offline-partitions"
LOOK = (ALL, "--show-replica-info")
ELECT = (ALL, "--automated-recovery")

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("COLUMNS", raising=False)


# The largest takes minutes, and runs with all releases alone (tests/runs.py).
@pytest.fixture(params=[1, 36, 400, 1200])
def outage(request: pytest.FixtureRequest) -> Iterator[tuple[Cluster, int]]:
    with Cluster(Options(brokers=3, settings=SETTINGS)) as cluster:
        make(cluster, request.param)
        for broker in (2, 3):
            cluster.start(broker)
        cluster.wait_until(lambda e: all(map(e.state.active, (2, 3))))
        yield cluster, request.param


def _at(cluster: Cluster, *words: str) -> tuple[str, ...]:
    return ("--bootstrap-server", cluster.bootstrap_servers, *words)


def _fits(lines: list[str], window: Sequence[str], size: tuple[int, int]) -> None:
    """Check that the window shows all the lines at once. The terminal may wrap what is said."""
    said = [line for line in lines if line.startswith("kafka-unclean-recovery: ")]
    assert shows(window, lines), "\n".join(window)
    assert all(len(line) <= size[0] for line in lines if line not in said)


@SIZES
def test_an_outage_is_one_screen_from_the_look_to_the_election(
    outage: tuple[Cluster, int], size: tuple[int, int]
) -> None:
    cluster, partitions = outage
    look = Terminal(size, *_at(cluster, *LOOK)).finish()
    assert look.code == 0, look.text
    _fits(look.lines, look.window, size)
    assert f"{partitions} offline" in look.text
    assert "certain loss 0 records, possible loss unknown" in " ".join(look.text.split())
    assert "if broker 1 returns with its log whole" in look.text
    assert look.lines[-1].startswith("kafka-unclean-recovery: next: kafka-unclean-recovery ")
    # No loss for certain, and what may be lost is not known, where that is in one line.
    assert "\x1b[32m" in look.colours
    assert ("\x1b[33m" in look.colours) is ("possible loss unknown" in look.text)
    assert "\x1b[1;31m" not in look.colours

    ladders = Terminal(
        size, *_at(cluster, *LOOK, "--format", "ladder", "--color", "never")
    ).finish()
    _fits(ladders.lines, ladders.window, size)
    assert ("more partitions: --topics chooses" in ladders.text) is (partitions > 1)
    assert f"{partitions} offline" in ladders.text

    run = Terminal(size, *_at(cluster, *ELECT))
    asked = run.answer(f"partitions, {partitions}: ", "no\n")
    _fits(asked.text.splitlines(), asked.window, size)
    run.answer("or Enter to leave: ", "\n")
    left = run.finish()
    assert left.code == 1
    _fits(left.text.split("or Enter to leave: \n")[1].splitlines(), left.window, size)
    said = [line for line in left.lines if line.startswith("kafka-unclean-recovery: ")]
    assert len(said) == 1
    assert " ".join(left.text.split()).endswith("the number of partitions was not typed")

    run = Terminal(size, *_at(cluster, *ELECT))
    run.answer(f"partitions, {partitions}: ", f"{partitions}\n")
    done = run.finish()
    assert done.code == 0, done.text
    after = done.text.split(f"partitions, {partitions}: {partitions}\n")[1]
    _fits(after.splitlines(), done.window, size)
    assert f"{partitions} elected" in done.text
    _leads_on(done, cluster)


def _leads_on(done: Screen, cluster: Cluster) -> None:
    """Carry out what is said after an election, as it is said."""
    said = [line.removeprefix(f"{RECOVERY}: ") for line in done.lines if line.startswith(RECOVERY)]
    before, care, story = (line.partition(": ") for line in said)
    assert (before[0], care[0], story[0]) == (
        "before broker 1 starts, on its host with a copy of the journal",
        "then",
        "in the end",
    )
    disk = str(cluster.log_directory(1))
    program, *words = shlex.split(before[2].replace(" DIR ", f" {shlex.quote(disk)} "))
    assert (program, run(program, *words).returncode) == (RECOVERY, 1)
    program, *words = shlex.split(care[2])
    assert "with replicas out of the ISR" in run(program, *words).stdout
    program, *words = shlex.split(story[2])
    told = run(program, *words)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("# ")
    assert run(RECOVERY, "report", "--last").stdout == told.stdout
    again = run(RECOVERY, "aftercare", *_at(cluster, "--last"))
    assert f"the last run that elected: {words[-1]}" in again.stderr
    assert "with replicas out of the ISR" in again.stdout


def _asked_beside(cluster: Cluster, home: Path, answer: str | None) -> tuple[int, str, str]:
    """Elect with stderr in a file, type the answer, and return (exit code, what was shown,
    what the file has). answer: None for a terminal that takes nothing."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    if answer is None:
        _fill(its)
    log = home / "stderr"
    with log.open("w") as file:
        words = command_line(RECOVERY, *_at(cluster, *ELECT))
        process = subprocess.Popen(words, stdin=its, stdout=file, stderr=file)
    shown = ""
    if answer is not None:
        while not shown.endswith("partitions, 3: "):
            assert select.select([ours], [], [], TIMEOUT)[0], shown
            shown += os.read(ours, 65536).decode()
        os.write(ours, answer.encode())
        assert shown.count("3 partitions to elect") == 1
    code = process.wait(TIMEOUT)
    os.close(ours)
    os.close(its)
    return code, shown.replace("\r\n", "\n"), log.read_text()


def _fill(terminal: int) -> None:
    """Write until the terminal takes no more, also not after the kernel has moved what it has."""
    os.set_blocking(terminal, False)
    while select.select([], [terminal], [], 0.5)[1]:
        with contextlib.suppress(BlockingIOError):
            os.write(terminal, b"x" * 4096)


def test_the_question_reaches_the_person_where_stderr_goes_to_a_file(tmp_path: Path) -> None:
    with Cluster(Options(brokers=3, settings=SETTINGS)) as cluster:
        make(cluster, 3)
        for broker in (2, 3):
            cluster.start(broker)
        cluster.wait_until(lambda e: all(map(e.state.active, (2, 3))))
        code, _, log = _asked_beside(cluster, tmp_path, None)
        assert (code, "the terminal did not take what would be elected" in log) == (1, True)
        code, shown, log = _asked_beside(cluster, tmp_path, "3\n")
    assert code == 0, log
    assert "topic-000-0" in shown
    assert shown.endswith("partitions, 3: ")
    assert shown in log
    assert "3 elected" in log


def test_who_waits_for_a_connection_sees_for_how_long(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("request.timeout.ms=4000\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        words = ("--bootstrap-server", f"{address},127.0.0.1:1", "--command-config", str(config))
        waiting = Terminal((80, 24), *words, *LOOK)
        done = waiting.finish()
    assert done.code == 3
    told = [line for line in waiting.progress if line.startswith(f"connecting to {address}")]
    left = [int(line.split(": ")[1].split()[0]) for line in told]
    assert all(line.startswith(f"connecting to {address} and 1 more: ") for line in told)
    assert len(left) > 1
    assert left == sorted(left, reverse=True)
    assert left[0] <= 3


def test_off_a_terminal_and_as_wide_each_replica_has_its_row(
    outage: tuple[Cluster, int],
) -> None:
    cluster, partitions = outage
    rows = run(RECOVERY, *_at(cluster, *LOOK)).stdout
    wide = Terminal((80, 24), *_at(cluster, *LOOK, "--format", "wide")).finish()
    assert rows in wide.text
    assert len(re.findall(r"^ *topic-\d+ ", rows, re.MULTILINE)) == partitions
    assert run(RECOVERY, *_at(cluster, *LOOK, "--format", "wide")).stdout == rows
