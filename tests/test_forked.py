"""A command that is forked cannot be told from one that a new interpreter runs."""

from __future__ import annotations

import socket
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli import ELECTION, RECOVERY
from tests import forked

NOWHERE = ("--bootstrap-server", "127.0.0.1:1", "--all-offline-partitions")
LINES = {
    "what is said at once": (RECOVERY, "--version"),
    "help": (ELECTION, "--help"),
    "a wrong flag": (ELECTION, "--nonsense"),
    "no subcommand of ours": (RECOVERY, "recoverr"),
    "nobody answers": (RECOVERY, *NOWHERE, "--show-replica-info", "--recovery-duration-ms", "1"),
    "a file that is not there": (RECOVERY, "plan", "--replica-info-file", "not-there.json"),
    "names that are no ASCII": (RECOVERY, "plan", "--replica-info-file", "äöü-\udcff"),
}


def new_process(
    program: str, *arguments: str, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    words = [str(Path(sys.executable).with_name(program)), *arguments]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, env=variables
    )


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_it_ends_and_says_the_same(line: tuple[str, ...]) -> None:
    program, *arguments = line
    there, here = new_process(program, *arguments), forked.run(program, *arguments, timeout=60)
    assert (there.args, there.returncode) == (here.args, here.returncode)
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)


def test_its_variables_are_those_it_is_given_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = (RECOVERY, *NOWHERE, "--automated-recovery", "--yes")
    monkeypatch.setenv("KAFKA_UNCLEAN_RECOVERY_ACCEPT_LOS", "*:0")
    # This server has had the variable from its start on.
    monkeypatch.setattr(forked, "_server", cache(forked._server.__wrapped__))
    refused = forked.run(*line, timeout=60)
    assert (refused.returncode, "KAFKA_UNCLEAN_RECOVERY_ACCEPT_LOS" in refused.stderr) == (2, True)
    assert refused.stderr == new_process(*line).stderr
    monkeypatch.delenv("KAFKA_UNCLEAN_RECOVERY_ACCEPT_LOS")
    assert forked.run(*line, timeout=60).returncode == 3


def test_what_python_reads_when_it_starts_is_for_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "no such action")
    assert "no such action" in forked.run(RECOVERY, "--version", timeout=60).stderr


def test_one_that_takes_too_long_is_killed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        port = silent.getsockname()[1]
        line = ("--bootstrap-server", f"127.0.0.1:{port}", "--all-offline-partitions")
        with pytest.raises(TimeoutError, match="not done within 5 s"):
            forked.run(RECOVERY, *line, "--show-replica-info", timeout=5)
        connection, _ = silent.accept()
        with connection:
            connection.settimeout(60)
            while connection.recv(65536):  # Until it is gone.
                pass
    assert forked.run(RECOVERY, "--version", timeout=60).returncode == 0


def test_one_that_is_given_up_before_it_begins_is_killed_and_others_go_on() -> None:
    with pytest.raises(TimeoutError, match="not done within 0 s"):
        forked.run(RECOVERY, "--version", timeout=0)
    assert forked.run(RECOVERY, "--version", timeout=60).returncode == 0
