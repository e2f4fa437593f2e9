"""An emulated cluster that runs in a process of its own, of the wheel as installed.

It says `bootstrap.servers=...` once its brokers listen; a number on its stdin kills that broker,
the end of stdin ends it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.installed import plain_environ, script

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
    """Yield an emulator once its first line is there."""
    with _running("emulated_process", str(session_seconds), str(data_dir)) as cluster:
        yield cluster


@contextmanager
def emulated_outage(data_dir: Path, partitions: int | None = None) -> Iterator[str]:
    """Yield the bootstrap servers of an outage; partitions None: of the one that is there."""
    made = () if partitions is None else (str(partitions),)
    with _running("outage_process", str(data_dir), *made) as cluster:
        yield ",".join(cluster.addresses[1:])


@contextmanager
def _running(module: str, *arguments: str) -> Iterator[Emulated]:
    process = subprocess.Popen(
        script(module, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=plain_environ(),
    )
    try:
        assert process.stdout is not None
        servers = process.stdout.readline().strip().removeprefix("bootstrap.servers=")
        yield Emulated(process, tuple(servers.split(",")))
        process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
        process.communicate()
