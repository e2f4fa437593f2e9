"""Kafka's own start of a log directory, in one long-lived JVM."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real.jvm import java_command

_SOURCE = Path(__file__).with_name("DiskOracle.java")
_QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"


@dataclass(frozen=True, slots=True)
class KafkaLog:
    """A replica after the start; epochs are (leader epoch, start offset)."""

    start: int
    end: int
    epochs: tuple[tuple[int, int], ...]
    segments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KafkaStart:
    """`ends` is the exception that ends the broker. offline: the log directories that are. logs: by
    the names of the log directory and of their own."""

    ends: str | None
    offline: frozenset[str]
    logs: dict[str, KafkaLog]


@dataclass(frozen=True, slots=True)
class Oracle:
    process: subprocess.Popen[str]

    def open(self, *directories: Path) -> KafkaStart:
        """Start on the directories, which are others afterwards."""
        return self._ask("open", directories)

    def make(self, *directories: Path) -> KafkaStart:
        """Start on the directories, and stop in order."""
        return self._ask("make", directories)

    def _ask(self, what: str, directories: Sequence[Path]) -> KafkaStart:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{what} {','.join(map(str, directories))}\n")
        stdin.flush()
        line = stdout.readline()
        assert line, f"Kafka's classes ended over {directories}: {self.process.poll()}"
        told = json.loads(line)
        logs = {
            log["name"]: KafkaLog(
                log["start"],
                log["end"],
                tuple((epoch, start) for epoch, start in log["epochs"]),
                tuple(log["segments"]),
            )
            for log in told["logs"]
        }
        return KafkaStart(told["ends"], frozenset(told["offline"]), logs)


@contextmanager
def oracle(version: str) -> Iterator[Oracle]:
    """Yield Kafka's classes of this release; they end with us."""
    command = java_command(version, str(_SOURCE), heap_mb=256, options=(_QUIET,))
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield Oracle(process)
        finally:
            process.kill()
