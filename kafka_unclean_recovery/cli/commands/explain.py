"""kafka-unclean-recovery explain shows what a finding or a check of doctor means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.errors import OK, usage
from kafka_unclean_recovery.runbook import entries, shown
from kafka_unclean_recovery.wording import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Explain a finding of a plan or a check of doctor: meaning, impact, what to look at and to do.

    Needs no cluster and no network. Without CODE all codes are listed.
    """

    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="Code as plans and doctor print it, such as live_records_truncated.",
            show_default=False,
        ),
    ] = None
    log_format: LogFormatFlag = LogFormat.TEXT


def explain(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2) for an unknown code."""
    known = entries()
    if options.code is None:
        width = max(map(len, known))
        lines = (f"{e.code:<{width}}  {e.severity or e.kind}\n" for e in known.values())
        console.artefact("".join(lines))
        return OK
    if options.code not in known:
        hint = did_you_mean(options.code, known)
        raise usage(f"no finding, label or check is called {options.code!r}{hint}")
    console.artefact(shown(known[options.code]))
    return OK


COMMAND = Command(Options, explain, "kafka-unclean-recovery explain")
