"""A part as a process: what it says as it comes, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.night.parts import Part

# Pytest has brokers and containers to stop.
PATIENCE = 180.0


@dataclass(frozen=True, slots=True)
class Ended:
    """closing: the last line it printed."""

    passed: bool
    closing: str
    seconds: float


def run(part: Part, root: Path) -> Ended:
    """Run a part. Ctrl-C reaches it once, and it has time to clear up; a second one kills it."""
    begun = time.monotonic()
    process = subprocess.Popen(
        part.command,
        cwd=root,
        env={**os.environ, **part.environment, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        # A night begins by nohup, mostly, and what is tried has to notice a SIGHUP.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    try:
        closing = _shown(process)
        code = process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        assert process.stdout is not None
        process.stdout.close()
    return Ended(code == 0, closing, time.monotonic() - begun)


def _shown(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    closing = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        closing = line.strip() or closing
    return closing


def _end(process: subprocess.Popen[str]) -> None:
    _signal(process, signal.SIGINT)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            print(process.communicate(timeout=PATIENCE)[0], end="", flush=True)
    finally:
        # Whoever is left of its group.
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
