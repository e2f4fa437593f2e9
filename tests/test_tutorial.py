"""The commands of a page's outage, run in their order, print what stands there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_lines import ROOT
from tests.mission.terminal import Terminal
from tests.mission.test_screens import ELECT
from tests.real.waiting import wait_until

SERVER, SOCKET, JOURNAL, LEFT_OUT = "127.0.0.1:9092", "SOCKET", "JOURNAL", "[...]"
SECONDS = 60.0


# Fewer commands: they are no longer seen.
@pytest.mark.parametrize(
    ("page", "commands"),
    [
        *(("tutorial", 9), ("incident", 8), ("wait-or-elect", 5), ("disks", 6)),
        *(("start-order", 8), ("quorum", 4), ("before-start", 4), ("salvage", 4)),
        *(("after-the-election", 6), ("report", 4)),
    ],
)
def test_its_commands_print_what_it_shows(page: str, commands: int, tmp_path: Path) -> None:
    first, *others = found = _commands((ROOT / "docs" / f"{page}.md").read_text())
    assert len(found) == commands
    with _emulator(first[0], tmp_path) as places:
        for line, shown in others:
            for journal in (tmp_path / "state").rglob("*.jsonl"):
                places[JOURNAL] = str(journal)
            printed = _printed(_with(line, places), tmp_path)
            _compare(line, [_with(text, places) for text in shown], printed)


def test_the_question_looks_as_its_page_shows_it(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "consent.md").read_text()
    (indented,) = re.findall(r"^    orders-0: elect (?:.*\n    |\n    )*.*\n", page, re.MULTILINE)
    shown = re.sub(r"^    ", "", indented, flags=re.MULTILINE)
    first = "kafka-unclean-recovery emulator --data-dir home --scenario stale-tail"
    with _emulator(first, tmp_path) as places:
        terminal = Terminal((100, 50), "--bootstrap-server", places[SERVER], *ELECT)
        terminal.answer("partitions, 1: ", "y\n")
        terminal.answer("Enter to leave: ", "1\n")
        assert shown in terminal.finish().text


def _commands(page: str) -> list[tuple[str, list[str]]]:
    """Return each command line of the page, and the lines that are shown behind it."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^    \$ .*\n(?:(?:    .*)?\n)*", page, re.MULTILINE):
        for line in block.rstrip("\n").split("\n"):
            text = line.removeprefix("    ")
            if text.startswith("$ "):
                found.append((text[2:], []))
            else:
                found[-1][1].append(text)
    return found


def _compare(line: str, shown: list[str], printed: str) -> None:
    """Check that all shown lines come, in order; without [...] nothing is between two."""
    pattern = "".join(r"(?:.*\n)*?" if s == LEFT_OUT else re.escape(s) + r"\n" for s in shown)
    assert re.fullmatch(pattern, printed), f"{line}\n{printed}"


def _with(text: str, places: dict[str, str]) -> str:
    for placeholder, place in places.items():
        text = text.replace(placeholder, place)
    return text


def _argv(line: str) -> list[str]:
    program, *words = shlex.split(line)
    assert program in ("kafka-unclean-recovery", "kafka-elect-leaders")
    return [str(Path(sys.executable).with_name(program)), *words]


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


def _printed(line: str, home: Path) -> str:
    """Return what both streams say; the tutorial's reader sees them on one terminal."""
    done = subprocess.run(
        _argv(line),
        cwd=home,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.stdout


@contextmanager
def _emulator(line: str, home: Path) -> Iterator[dict[str, str]]:
    """Yield what stands for the placeholders, while the emulator runs."""
    told = home / "told"
    with (
        told.open("w") as file,
        subprocess.Popen(_argv(line), cwd=home, env=_environment(home), stdout=file) as process,
    ):
        try:
            wait_until(lambda: told.read_text().count("\n") >= 2, SECONDS, told.read_text)
            server, socket = told.read_text().splitlines()[:2]
            addresses = server.removeprefix("bootstrap.servers=")
            yield {SERVER: addresses, SOCKET: socket.removeprefix("control.socket=")}
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)
