"""An emulated cluster that runs in a process of its own.

It says `bootstrap.servers=...` once its brokers listen; a number on its stdin kills that broker,
the end of stdin ends it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Emulated:
    """`addresses` are HOST:PORT of brokers 1, 2, ..."""

    process: subprocess.Popen[str]
    addresses: tuple[str, ...]

    def kill(self, broker: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{broker}\n")
        self.process.stdin.flush()


@contextmanager
def emulated(session_seconds: float, data_dir: Path) -> Iterator[Emulated]:
    """Gives it when its first line is there."""
    command = (sys.executable, "-m", "benchmarks.emulated_process")
    # What is installed is compiled already.
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [*command, str(session_seconds), str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=kept,
    )
    try:
        assert process.stdout is not None
        servers = process.stdout.readline().strip().removeprefix("bootstrap.servers=")
        yield Emulated(process, tuple(servers.split(",")))
        process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
        process.communicate()
