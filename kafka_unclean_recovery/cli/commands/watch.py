"""kafka-unclean-recovery watch tells how many further failures partitions stand, for ever."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import typer

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.clusters import ClusterName
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import (
    BootstrapServer,
    CommandConfig,
    Format,
    MetricsFile,
    OutputFormat,
)
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import print_text
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.documents.margin import MarginJson
from kafka_unclean_recovery.documents.observation import ObservationJson
from kafka_unclean_recovery.documents.reading.codec import json_line
from kafka_unclean_recovery.errors import OK
from kafka_unclean_recovery.ok_to_stop.looking import Look, QuorumState
from kafka_unclean_recovery.ok_to_stop.margin_text import margin_metrics, render_margin
from kafka_unclean_recovery.ok_to_stop.margins import (
    Margins,
    document,
    margins,
    quorum_margin,
    unknown,
)
from kafka_unclean_recovery.ok_to_stop.seldom import Seldom
from kafka_unclean_recovery.survey.any_broker import FAILURES, will_not_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Look at the cluster again and again, and tell how many further failures its partitions stand.

    The first look is printed whole, and then what changes. Nothing of the cluster is changed. It
    goes on until a signal ends it, or for --duration-ms.
    """

    bootstrap_server: BootstrapServer
    command_config: CommandConfig = None
    interval_ms: Annotated[
        int,
        typer.Option(
            min=100, metavar="MS", help="From the end of a look to the next, in milliseconds."
        ),
    ] = 10_000
    duration_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="MS",
            help="End after this time, in milliseconds. By default only a signal ends it.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    metrics_file: MetricsFile = None
    cluster: ClusterName = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


# Configs, rights and releases seldom change: they are asked again after so many looks.
_KEPT_LOOKS = 30
# A look that takes longer, and thrice as long as the last one did, tells nothing until it ends:
# where no controller answers it waits for each of its questions.
_SLOW_SECONDS = 10.0


def watch(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    return run(
        console,
        options.bootstrap_server,
        options.command_config,
        lambda session: _watch(session, options),
    )


class _Told:
    """What was told last, so that only what changes is told."""

    def __init__(self, console: Console, options: Options) -> None:
        self._console = console
        self._format = options.format
        self._margins: Margins | None = None
        self._last: MarginJson | None = None
        self._failed = 0
        self._took = 0.0

    @property
    def patience(self) -> float:
        """Return for how many seconds a look may take before what was told is taken back."""
        return max(_SLOW_SECONDS, 3 * self._took)

    def tell(self, seen: ObservationJson, quorum: QuorumState, took: float) -> None:
        now = margins(seen)
        of_quorum = quorum_margin(seen, quorum)
        found = document(seen, now, self._margins, of_quorum, self._failed)
        self._show(found)
        if found.known:
            self._margins, self._took = now, took

    def tell_nothing(self, why: str, *, failed: bool) -> None:
        """Take back what the last look told."""
        self._failed += failed
        if self._last is not None and (failed or self._last.known):
            self._show(unknown(self._last, _now(), why, self._failed))

    def _show(self, found: MarginJson) -> None:
        metrics_file.found(margin_metrics(found))
        metrics_file.write_pass()
        last = self._last
        if last is None or _differs(last, found):
            whole = last is None or (found.known > 0 and not last.known)
            text = json_line(found) if self._format.is_json else render_margin(found, whole)
            print_text(self._console, text, self._format)
        self._last = found


def _differs(last: MarginJson, found: MarginJson) -> bool:
    if found.changes:
        return True
    kept = ("stands", "elr_members", "out_of_sync", "down", "not_known", "problems", "quorum")
    return any(getattr(last, name) != getattr(found, name) for name in kept)


async def _watch(session: Session, options: Options) -> int:
    await session.cluster()
    told = _Told(session.console, options)
    kept: Seldom | None = None
    deadline = None if options.duration_ms is None else Deadline.after(options.duration_ms / 1000)
    interval, failing, looks = options.interval_ms / 1000, False, 0
    while True:
        look = Look(session.nodes, session.reader, kept if looks % _KEPT_LOOKS else None)
        begun = time.monotonic()
        try:
            seen = await _looked(session, look, told)
        except FAILURES as error:
            if will_not_pass(error):
                raise
            if not failing:
                session.console.say(f"looks fail, and go on: {error}")
            told.tell_nothing(f"the look failed: {error}", failed=True)
            failing, kept = True, None
        else:
            if failing:
                session.console.say("looks succeed again")
            told.tell(seen, look.quorum, time.monotonic() - begun)
            failing, kept, looks = False, look.kept, looks + 1
        if deadline is not None and deadline.remaining() <= interval:
            return OK
        await session.stop.unless(asyncio.sleep(interval))


async def _looked(session: Session, look: Look, told: _Told) -> ObservationJson:
    """Return what is seen; while it takes long, tell that nothing is known. Raises what the look
    raises."""
    looking = asyncio.ensure_future(
        metrics_file.timed("look", session.stop.unless(look.observation(_now)))
    )
    done, _ = await asyncio.wait({looking}, timeout=told.patience)
    if not done:
        told.tell_nothing(f"the look has not ended after {told.patience:.0f} s", failed=False)
    return await looking


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


COMMAND = Command(Options, watch, "kafka-unclean-recovery watch")
