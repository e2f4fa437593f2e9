"""kafka-unclean-recovery watch looks again and again, and prints what changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from kafka_unclean_recovery.cli import metrics_file
from kafka_unclean_recovery.cli.commands.watch import Options
from kafka_unclean_recovery.cli.console import Console
from kafka_unclean_recovery.cli.exits import OK
from kafka_unclean_recovery.cli.session import Session, run
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.files.codec import json_line
from kafka_unclean_recovery.formats.margin import MarginJson
from kafka_unclean_recovery.formats.ok_to_stop import ObservationJson
from kafka_unclean_recovery.margin.margins import Margins, document, margins
from kafka_unclean_recovery.margin.text import margin_metrics, render_margin
from kafka_unclean_recovery.ok_to_stop.looking import Look
from kafka_unclean_recovery.ok_to_stop.seldom import Seldom
from kafka_unclean_recovery.survey.any_broker import FAILURES, will_not_pass

# Configs, rights and releases seldom change: they are asked again after so many looks.
_KEPT_LOOKS = 30


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
        self._json = options.format.is_json
        self._margins: Margins | None = None
        self._last: MarginJson | None = None

    def tell(self, seen: ObservationJson) -> None:
        now = margins(seen)
        found = document(seen, now, self._margins)
        metrics_file.found(margin_metrics(found))
        metrics_file.write_pass()
        if self._last is None or _differs(self._last, found):
            text = json_line(found) if self._json else render_margin(found, self._last is None)
            self._console.artefact(text)
        self._margins, self._last = now, found


def _differs(last: MarginJson, found: MarginJson) -> bool:
    if found.changes:
        return True
    kept = ("stands", "elr_members", "out_of_sync", "down", "not_known", "problems")
    return any(getattr(last, name) != getattr(found, name) for name in kept)


async def _watch(session: Session, options: Options) -> int:
    await session.cluster()
    told = _Told(session.console, options)
    kept: Seldom | None = None
    deadline = None if options.duration_ms is None else Deadline.after(options.duration_ms / 1000)
    interval, failing, looks = options.interval_ms / 1000, False, 0
    while True:
        look = Look(session.nodes, session.reader, kept if looks % _KEPT_LOOKS else None)
        try:
            seen = await metrics_file.timed("look", session.stop.unless(look.observation(_now)))
        except FAILURES as error:
            if will_not_pass(error):
                raise
            if not failing:
                session.console.say(f"looks fail, and go on: {error}")
            failing, kept = True, None
        else:
            if failing:
                session.console.say("looks succeed again")
            told.tell(seen)
            failing, kept, looks = False, look.kept, looks + 1
        if deadline is not None and deadline.remaining() <= interval:
            return OK
        await session.stop.unless(asyncio.sleep(interval))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
