"""Kafka's own controller loads metadata logs, one after the other in one JVM (SeedJudge.java)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real.jvm import java_command

_SOURCE = Path(__file__).with_name("SeedJudge.java")
_SILENT = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=off",)
_LEADS = "leads"


class SeedJudge:
    def __init__(self, process: subprocess.Popen[str], said: Path) -> None:
        self._process = process
        self._said = said

    def why_it_dies(self, metadata: Path) -> str | None:
        """Return the last words of a controller that loads this log; None where it leads."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{metadata}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        verdict, _, why = answer.partition(" ")
        assert verdict in (_LEADS, "dies"), (answer, self._said.read_text(errors="replace")[-2000:])
        assert not why.startswith("judge "), why
        return None if verdict == _LEADS else why


@contextmanager
def seed_judge(version: str) -> Iterator[SeedJudge]:
    """Yield a judge; Java compiles the one source file as it starts."""
    command = java_command(version, str(_SOURCE), heap_mb=256, options=_SILENT)
    with tempfile.NamedTemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        try:
            yield SeedJudge(process, Path(said.name))
        finally:
            process.kill()
            process.communicate()
