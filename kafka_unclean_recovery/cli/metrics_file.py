"""--metrics-file names the file to which a run writes its metrics, for node_exporter's textfile
collector.

No other file is ever replaced: each run writes its own figures, also a run that fails or is
interrupted. A file that exists must already hold such metrics, so that a wrong name destroys
nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kafka_unclean_recovery import __version__
from kafka_unclean_recovery.cli.terminal.console import (
    Console,
    check_output,
    check_outside_log_directories,
    open_plain,
)
from kafka_unclean_recovery.cli.terminal.output_files import partial_of
from kafka_unclean_recovery.errors import NOT_ALL, OK, Exit, usage

if TYPE_CHECKING:
    from kafka_unclean_recovery.report.prometheus import Metric

T = TypeVar("T")

FLAG = "--metrics-file"
_FIRST_LINE = b"# HELP kafka_unclean_recovery_"


@dataclass(slots=True)
class _Run:
    """The run whose metrics are written.

    begun: in seconds of time.monotonic. phases: seconds by phase. found: the metrics that the
    command reported last.
    """

    path: Path
    command: str
    begun: float
    phases: dict[str, float] = field(default_factory=dict)
    found: Sequence[Metric] = ()


# One process runs one command, so one run for the whole process is enough.
_run: _Run | None = None


def is_wanted() -> bool:
    """Tell whether this run writes metrics."""
    return _run is not None


def found(metrics: Sequence[Metric]) -> None:
    """Set the metrics about the cluster or the disks; the last call counts."""
    if _run is not None:
        _run.found = metrics


async def timed(phase: str, work: Awaitable[T]) -> T:
    """Return the result of `work`, and add the seconds it took to the metric of its phase."""
    begun = time.monotonic()
    try:
        return await work
    finally:
        if _run is not None:
            _run.phases[phase] = _run.phases.get(phase, 0.0) + time.monotonic() - begun


@contextmanager
def metered(console: Console, path: Path | None, command: str) -> Iterator[None]:
    """Write the metrics when the command ends, however it ends. path: None for no file.

    Raises Exit(2) before the command begins when the file can't be used; a file that can't be
    written at the end is only reported.
    """
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
        # Typer's exceptions carry an exit code; the interpreter exits with 1 for all others.
        code = getattr(ended, "exit_code", NOT_ALL)
        raise
    finally:
        try:
            _write(run, code)
        except Exit as error:
            console.say(str(error))
        _run = None


def write_pass() -> None:
    """Write the file as of now, without an exit code, for a command that goes on. A file that
    can't be written is reported at the end."""
    if _run is not None:
        with suppress(Exit):
            _write(_run, None)


def _write(run: _Run, exit_code: int | None) -> None:
    """Write the file. Raises Exit(2)."""
    from kafka_unclean_recovery.report.prometheus import exposition, labelled
    from kafka_unclean_recovery.report.run_metrics import run_metrics

    seconds = time.monotonic() - run.begun
    about = run_metrics(__version__, time.time(), seconds, exit_code, run.phases)
    # The collector reads all files of a directory together: no series may be in two of them.
    text = exposition(labelled([*about, *run.found], {"command": run.command}))
    _check(run.path)
    partial = partial_of(run.path)
    try:
        try:
            # Mode "x" creates a new file, and never follows a link that somebody else put there.
            with partial.open("x", encoding="utf-8") as file:
                file.write(text)
            partial.replace(run.path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise usage(f"{FLAG} {run.path}: {error.strerror}") from None


def _check(path: Path) -> None:
    """Refuse a file that is not metrics, or can't be written. Raises Exit(2)."""
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
            f"{FLAG} {path}: the file holds something else than metrics of this tool, and only"
            " those are replaced; name another file"
        )
    if not os.access(path.parent, os.W_OK):
        raise usage(f"{FLAG} {path}: {path.parent} can not be written to; name another directory")
