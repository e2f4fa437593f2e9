"""Our commands as an operator sees them: watched while they run, typed at, signalled, killed.

Synchronise on what they say on stderr; on a terminal that is where people read and answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.documents.journal_lines import parse, unfinished
from tests.real.cli import RECOVERY, TODAYS, Finished, Mechanism
from tests.real.waiting import wait_until

# Generous: two cores are shared with brokers.
TIMEOUT = 60.0
EVIDENCE = {"observed", "decision", "verified"}
REQUESTS = {"sent", "answered", "settled"}
PROMPT = r"elect these leaders(\? \[y/N\]|, type the number of partitions, \d+:) "


class Watched:
    """One running command."""

    def __init__(
        self, command: Sequence[str], home: Path, name: str, terminal: bool, heard: bool
    ) -> None:
        """Start the command. heard: somebody reads its stderr."""
        self.home = home
        self._stdout = home / f"{name}.stdout"
        self._said = bytearray()
        self._ended = 0.0
        self._begun = time.monotonic()
        self._mine, theirs = os.openpty() if terminal else os.pipe()
        self._terminal = terminal
        try:
            with self._stdout.open("wb") as stdout:
                self.process = subprocess.Popen(
                    command,
                    stdin=theirs if terminal else subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=theirs,
                    env=_environment(home),
                    start_new_session=True,
                    preexec_fn=_own_terminal if terminal else None,
                )
        finally:
            os.close(theirs)
        if not heard:
            # As when `2>&1 | tee` has died; nothing is read from here.
            os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), self._mine)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        # A terminal whose other end is closed fails to be read.
        with suppress(OSError):
            while data := os.read(self._mine, 65536):
                self._said += data
        self._ended = time.monotonic()

    @property
    def stderr(self) -> str:
        return self._said.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, pattern: str, timeout: float = TIMEOUT) -> None:
        """Wait until stderr holds it, or the command ended without."""

        def said() -> bool:
            return re.search(pattern, self.stderr) is not None

        wait_until(
            lambda: said() or self.process.poll() is not None,
            timeout,
            lambda: f"{pattern!r} on stderr: {self.stderr}",
        )
        self._reader.join(1.0 if self.process.poll() is not None else 0.0)
        assert said(), f"ended without saying {pattern!r}: {self.stderr}"

    def has_read_all_but(self, broker: int) -> None:
        """Wait until every broker has told its log but one that is not live, of a run on a
        terminal.

        The sentence "waiting for broker 1" comes as soon as anybody has answered; that nobody is
        left to answer, only the line of progress tells.
        """
        assert self._terminal
        self.wait_for(rf"waiting for broker {broker}: .*(lossless|better)")
        self.wait_for(rf"(\n|\x1b\[K)broker {broker} not live yet")

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def agree(self) -> None:
        """Answer the question whether to elect."""
        self.wait_for(PROMPT)
        (wanted,) = re.findall(r"total: (\d+) partitions? to elect", self.stderr)
        self.type(f"{wanted}\n" if "type the number" in self.stderr else "y\n")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self, timeout: float = TIMEOUT) -> Finished:
        """Wait for its end."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running after {timeout:g} s: {self.stderr}") from None
        self._reader.join(TIMEOUT)
        return Finished(code, self._stdout.read_text(), self.stderr)

    @property
    def seconds(self) -> float:
        """Return how long it ran; once it has ended."""
        return self._ended - self._begun

    def kill(self) -> None:
        """Send SIGKILL, as the out-of-memory killer would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self._reader.join(TIMEOUT)
        os.close(self._mine)


@dataclass(slots=True)
class Commands:
    """Starts them, each user with a state directory of their own, and ends what is left."""

    directory: Path
    mechanism: Mechanism = TODAYS
    _running: list[Watched] = field(default_factory=list)

    def start(
        self,
        *arguments: str,
        command: str = RECOVERY,
        terminal: bool = False,
        user: str = "me",
        heard: bool = True,
    ) -> Watched:
        home = self.directory / f"home-{user}"
        home.mkdir(exist_ok=True)
        script = str(Path(sys.executable).with_name(command))
        name = f"{command}-{len(self._running)}"
        how = self.mechanism.flags_of(command, arguments)
        watched = Watched([script, *arguments, *how], home, name, terminal, heard)
        self._running.append(watched)
        return watched

    def run(
        self, *arguments: str, command: str = RECOVERY, user: str = "me", timeout: float = TIMEOUT
    ) -> Finished:
        return self.start(*arguments, command=command, user=user).finish(timeout)

    def journals(self, user: str = "me") -> list[Path]:
        """Return every journal of the user's state directory, oldest first."""
        state = self.directory / f"home-{user}" / "state"
        return sorted(state.rglob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)

    def partitions_file(self, wanted: Mapping[str, Sequence[int]]) -> Path:
        entries = [{"topic": t, "partitions": list(numbers)} for t, numbers in wanted.items()]
        path = self.directory / f"partitions-{len(list(self.directory.iterdir()))}.json"
        path.write_text(json.dumps({"partitions": entries}))
        return path

    def close(self) -> None:
        for watched in self._running:
            watched.close()


def waiting_for_ghosts(seconds: float) -> tuple[str, str]:
    """Return arguments for Python that are the recovery command, which takes a request that it gave
    up for gone after so many seconds."""
    program = f"""
from functools import partial
from kafka_unclean_recovery.cli import session
from kafka_unclean_recovery.cli.entry import main
session.Patience = partial(session.Patience, ghost={seconds})
main("kafka-unclean-recovery")
"""
    return "-c", program


def outcomes(finished: Finished, topic: str) -> dict[int, tuple[str | None, str | None]]:
    """Return (outcome, reason) by partition, of a run with --format json."""
    rows = finished.partitions(topic)
    return {number: (row["outcome"], row["reason"]) for number, row in rows.items()}


def journal_lines(path: Path) -> list[dict[str, Any]]:
    return parse(path.read_text(), str(path))


def steps_noted(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the journal's events without those that tell what was known or each request."""
    return [line["event"] for line in lines if line["event"] not in EVIDENCE | REQUESTS]


def open_orders(path: Path) -> set[int]:
    """Return the partitions whose replica order the journal's run left to be put back."""
    return {step.topic_partition.partition for step in unfinished(journal_lines(path))}


def make_older(journal: Path, seconds: int) -> None:
    """Make the crash so long ago that nothing which the run sent can still be carried out."""
    clocks = ("at_ms", "boot_ms")
    lines = [
        line | {clock: max(0, line[clock] - 1000 * seconds) for clock in clocks if clock in line}
        for line in journal_lines(journal)
    ]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _environment(home: Path) -> dict[str, str]:
    ours = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    # Where Python finds the package, when a mutant of it is tried in another tree.
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "NO_COLOR": "1", **ours}


def _own_terminal() -> None:
    """Give this child its own terminal: Ctrl-C on it is for the child."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
