"""--metrics-file: what the run found and how it went, for node_exporter's textfile collector.

The one file that is replaced: each run has its own figures, also one that fails or is interrupted.
What is there must be such a file, so that a slip in its name costs nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli.console import (
    Console,
    check_output,
    check_outside_log_directories,
    open_plain,
    partial_of,
)
from kafka_unclean_recovery.cli.exits import NOT_ALL, OK, Exit, usage
from kafka_unclean_recovery.report.prometheus import Metric, exposition, labelled
from kafka_unclean_recovery.report.run_metrics import run_metrics

T = TypeVar("T")

FLAG = "--metrics-file"
_FIRST_LINE = b"# HELP kafka_unclean_recovery_"


@dataclass(slots=True)
class _Run:
    """phases: seconds by name. found: what the command found last."""

    path: Path
    command: str
    begun: float
    phases: dict[str, float] = field(default_factory=dict)
    found: Sequence[Metric] = ()


# One process runs one command, as with its signals and its stderr.
_run: _Run | None = None


def found(metrics: Sequence[Metric]) -> None:
    """What the file is to tell of the cluster or the disks; the last counts."""
    if _run is not None:
        _run.found = metrics


async def timed(phase: str, work: Awaitable[T]) -> T:
    """The result of `work`; how long it took is a metric."""
    begun = time.monotonic()
    try:
        return await work
    finally:
        if _run is not None:
            _run.phases[phase] = _run.phases.get(phase, 0.0) + time.monotonic() - begun


@contextmanager
def metered(console: Console, path: Path | None, command: str) -> Iterator[None]:
    """However the command ends, the file tells it; None for no file. Raises Exit(2) before anything
    is begun; later a file that can't be written is only told."""
    global _run
    if path is None:
        yield
        return
    _check(path)
    _run = run = _Run(path, command, time.monotonic())
    code = OK
    try:
        yield
    except BaseException as ended:
        # Typer's ways to end have one; the interpreter's own is 1.
        code = getattr(ended, "exit_code", NOT_ALL)
        raise
    finally:
        try:
            _write(run, code)
        except Exit as error:
            console.say(str(error))
        _run = None


def write_pass() -> None:
    """The file as of now, for a command that goes on; without an exit code. That it can't be
    written is told in the end."""
    if _run is not None:
        with suppress(Exit):
            _write(_run, None)


def _write(run: _Run, exit_code: int | None) -> None:
    """Raises Exit(2)."""
    seconds = time.monotonic() - run.begun
    about = run_metrics(__version__, time.time(), seconds, exit_code, run.phases)
    # Files of two commands in one directory are read together: no series may be in both.
    text = exposition(labelled([*about, *run.found], {"command": run.command}))
    _check(run.path)
    partial = partial_of(run.path)
    try:
        try:
            # A new file, and no link of somebody else's to another one.
            with partial.open("x", encoding="utf-8") as file:
                file.write(text)
            partial.replace(run.path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise usage(f"{FLAG} {run.path}: {error.strerror}") from None


def _check(path: Path) -> None:
    """Raises Exit(2)."""
    check_outside_log_directories(path, FLAG)
    try:
        with open_plain(path, FLAG) as file:
            first = file.read(len(_FIRST_LINE))
    except FileNotFoundError:
        check_output(path, FLAG)
        return
    except OSError as error:
        raise usage(f"{FLAG} {path}: {error.strerror}") from None
    if first not in (b"", _FIRST_LINE):
        raise usage(
            f"{FLAG} {path}: holds something else than metrics of this tool, which alone are"
            " replaced; name another file"
        )
    if not os.access(path.parent, os.W_OK):
        raise usage(f"{FLAG} {path}: {path.parent} can not be written to; name another directory")
