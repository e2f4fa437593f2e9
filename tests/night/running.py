"""Parts as processes, as many at once as have cores: what they say as it comes, and their ends."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.night.parts import CORES, Part

# Pytest has brokers and containers to stop.
PATIENCE = 180.0


@dataclass(frozen=True, slots=True)
class Ended:
    """closing: the last line it printed."""

    passed: bool
    closing: str
    seconds: float


def run(parts: Iterable[Part], root: Path) -> Generator[tuple[Part, Ended]]:
    """Run parts in their order, and yield each as it ends. Ctrl-C reaches those that run once, and
    they have time to clear up; a second one kills them."""
    waiting = deque(parts)
    with selectors.DefaultSelector() as selector:
        running: list[_Running] = []
        try:
            while waiting or running:
                while waiting and waiting[0].cores <= _free(each.part for each in running):
                    begun = _Running(waiting.popleft(), root)
                    running.append(begun)
                    selector.register(begun.output, selectors.EVENT_READ, begun)
                for key, _ in selector.select():
                    if not key.data.shown():
                        selector.unregister(key.fileobj)
                        ended = key.data.ended()
                        running.remove(key.data)
                        yield key.data.part, ended
        finally:
            _end([each.process for each in running])


def _free(parts: Iterable[Part]) -> int:
    return CORES - sum(part.cores for part in parts)


@dataclass(slots=True)
class _Running:
    part: Part
    root: Path
    process: subprocess.Popen[bytes] = field(init=False)
    _begun: float = field(init=False)
    _line: bytes = b""
    _closing: str = ""

    def __post_init__(self) -> None:
        print(f"\n=== {self.part.name}: {self.part.shows}", flush=True)
        self._begun = time.monotonic()
        self.process = subprocess.Popen(
            self.part.command,
            cwd=self.root,
            env={**os.environ, **self.part.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A night begins by nohup, mostly, and what is tried has to notice a SIGHUP.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def shown(self) -> bool:
        """Print the whole lines that it has said, with its name where it may not be alone; return
        whether there can be more."""
        said = os.read(self.output.fileno(), 65_536)
        *lines, self._line = (self._line + said).split(b"\n")
        if not said and self._line:
            lines.append(self._line)
        name = f"{self.part.name}: " if self.part.cores < CORES else ""
        for line in (line.decode(errors="replace") for line in lines):
            print(f"{name}{line}", flush=True)
            self._closing = line.strip() or self._closing
        return bool(said)

    def ended(self) -> Ended:
        code = self.process.wait()
        self.output.close()
        return Ended(code == 0, self._closing, time.monotonic() - self._begun)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        _signal(process, signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    try:
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                said, _ = process.communicate(timeout=max(deadline - time.monotonic(), 0.0))
                print(said.decode(errors="replace"), end="", flush=True)
    finally:
        for process in processes:
            # Whoever is left of its group.
            _signal(process, signal.SIGKILL)
            process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
