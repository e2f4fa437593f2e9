"""Every command with a stdout or a stderr that fails: no traceback, and the exit code is true."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.disks import log_directory
from tests.cli.run import ELECTION, NOWHERE, RECOVERY, command_line
from tests.post_mortem.journals import planned, write_journal
from tests.real.waiting import wait_until

COMMANDS: dict[str, tuple[list[str], int]] = {
    "help": (["--help"], 0),
    "version": (["--version"], 0),
    "a wrong flag": (["doctor", "--dance"], 2),
    "a wrong flag, as JSON": (["doctor", "--dance", "--log-format", "json"], 2),
    "nobody there": ([*NOWHERE, "--all-offline-partitions", "--show-replica-info"], 3),
    "scan": (["scan-log-dirs", "disk"], 0),
    "scan as JSON, and metrics": (
        ["scan-log-dirs", "disk", "--format", "json", "--metrics-file", "run.prom"],
        0,
    ),
    "report": (["report", "journal", "--html"], 0),
    "doctor": (["doctor", *NOWHERE, "--timeout-ms", "1000"], 3),
}
# What writes nothing to stdout is none the worse for it.
WRITES = {"help", "version", "scan", "scan as JSON, and metrics", "report"}


def dead_reader() -> int:
    ours, its = os.pipe()
    os.close(ours)
    return its


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


BROKEN: dict[str, Callable[[], int] | None] = {
    "closed": None,
    "full": full,
    "dead reader": dead_reader,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("place")
    log_directory(path / "disk", 1, {"orders-0": 5})
    write_journal(path / "journal", [planned(0)])
    return path


def _run(place: Path, args: Sequence[str], stream: str, how: str) -> tuple[int, str]:
    """Return (its exit code, what the other stream got)."""
    make = BROKEN[how]
    bad = None if make is None else make()
    number = 1 if stream == "stdout" else 2
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if bad is not None:
        given[stream] = bad
    done = subprocess.run(
        command_line(RECOVERY, *args),
        **given,  # type: ignore[call-overload]
        stdin=subprocess.DEVNULL,
        text=True,
        cwd=place,
        timeout=60,
        check=False,
        preexec_fn=(lambda: os.close(number)) if bad is None else None,
    )
    if bad is not None:
        os.close(bad)
    return done.returncode, done.stderr if stream == "stdout" else done.stdout


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_result_that_stdout_did_not_get_is_no_success(place: Path, name: str, how: str) -> None:
    args, wanted = COMMANDS[name]
    code, said = _run(place, args, "stdout", how)
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    # Who asks for help on a closed stdout gets nothing, and click calls that done.
    lost = name in WRITES and (how != "closed" or name not in ("help", "version"))
    assert code == (1 if lost else wanted), said
    if lost and name not in ("help", "version"):
        assert "stdout: " in said
        assert "the result could not be written to it completely" in said


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_stderr_did_not_get_changes_no_result(place: Path, name: str, how: str) -> None:
    args, wanted = COMMANDS[name]
    code, told = _run(place, args, "stderr", how)
    assert code == wanted
    assert bool(told) == (name in WRITES)


def test_nothing_is_opened_in_the_place_of_a_closed_stderr(place: Path) -> None:
    """Whatever a library prints there would end up in a journal or a connection."""
    code = (
        "import os, sys; from kafka_unclean_recovery.cli.entry import main\n"
        "sys.argv[1:] = ['--version']\n"
        f"try: main({RECOVERY!r})\n"
        "finally: print(os.open(os.devnull, os.O_RDONLY))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.close(2),
    )
    assert int(done.stdout.splitlines()[-1]) > 2


def test_a_terminal_that_shows_nothing_holds_up_nothing(tmp_path: Path) -> None:
    """As where the network of an ssh session hangs: what it takes at last is all there."""
    ours, its = pty.openpty()
    done = tmp_path / "done"
    code = (
        "from pathlib import Path\n"
        "from kafka_unclean_recovery.cli.terminal import standard_streams as streams\n"
        "streams.begin()\n"
        "for number in range(2000): streams.write_soon(f'sentence {number:04}\\n')\n"
        "assert streams.is_waiting()\n"
        f"Path({str(done)!r}).touch()\n"
        "streams.write_waiting(None)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=its) as process:
        os.close(its)
        try:
            wait_until(
                lambda: done.exists() or process.poll() is not None,
                60,
                lambda: "all sentences to be said",
            )
            shown = b""
            while not shown.endswith(b"sentence 1999\r\n"):
                shown += os.read(ours, 65536)
        finally:
            process.kill()
            os.close(ours)
    assert shown.split() == b"".join(b"sentence %04d " % n for n in range(2000)).split()


def test_kafka_elect_leaders_too(place: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command_line(ELECTION, "--help"), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, "No space left on device" in done.stderr) == (1, True)


_OTHERS = """
import logging, sys, threading, warnings
from kafka_unclean_recovery.cli import entry
from kafka_unclean_recovery.cli.terminal import standard_streams

EVIL = "x\\x1b[2J\\u202e\\nkafka-unclean-recovery: all is well"

def speak(*_: object) -> int:
    logging.getLogger("asyncio").error(EVIL)
    warnings.warn(EVIL)
    def end() -> None:
        raise ValueError(EVIL)
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    raise ValueError(EVIL)

entry.run = speak
entry.main({program!r})
"""


def test_what_libraries_and_python_say_does_not_act_on_the_terminal_either() -> None:
    code = _OTHERS.format(program=RECOVERY)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    lines = done.stderr.splitlines()
    assert sum("all is well" in line for line in lines) == 4
    assert done.stderr.replace("\n", "").isprintable()
    assert not [line for line in lines if not line.startswith("  ")]
