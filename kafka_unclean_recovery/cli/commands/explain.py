"""kafka-unclean-recovery explain shows what a finding or a check of doctor means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import fill
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.cli.terminal.output import columns_to_fit, print_text
from kafka_unclean_recovery.errors import OK, usage
from kafka_unclean_recovery.model import Severity
from kafka_unclean_recovery.runbook import Entry, entries, found, in_a_line, shown
from kafka_unclean_recovery.wording import did_you_mean

_COLUMNS, _INDENT = 78, "    "
_ONE = "one of them whole: kafka-unclean-recovery explain CODE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Explain a finding of a plan, a check of doctor or a word on the screen: meaning, impact, what
    to look at and to do.

    Needs no cluster and no network. Without CODE all codes are listed, each with a line.
    """

    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="Code as plans and doctor print it, such as live_records_truncated, or a word for"
            " what waiting brings or became of an election, such as lossless.",
            show_default=False,
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def explain(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2) for an unknown code."""
    known = entries()
    entry = None if options.code is None else found(options.code)
    if options.code is not None and entry is None:
        hint = did_you_mean(options.code, known)
        raise usage(f"no finding, label, check or word is called {options.code!r}{hint}")
    if options.format.is_json:
        console.artefact(explained_json(known.values() if entry is None else (entry,)))
    elif entry is not None:
        console.artefact(shown(entry))
    elif columns_to_fit(options.format) is not None:
        print_text(console, _by_gravity(known.values()), options.format, [_ONE])
    else:
        console.artefact("".join(map(_listed, known.values())))
    return OK


def _by_gravity(known: Iterable[Entry]) -> str:
    """Return the codes of each severity in a line, the gravest first, then those of each kind that
    has none."""
    codes: dict[str, list[str]] = {each.value: [] for each in Severity}
    for entry in known:
        # A finding that may be of several is told by the gravest.
        severity, *_ = entry.severity.replace(",", " ").split() or (entry.kind,)
        codes.setdefault(severity, []).append(entry.code)
    return "".join(f"{of}: {', '.join(names)}\n" for of, names in codes.items() if names)


def explained_json(told: Iterable[Entry]) -> str:
    """Return an object of schemas/explain-1.schema.json, in one line."""
    # Imported for this line alone: a page for people needs no codec.
    from kafka_unclean_recovery.documents.pages import ExplainedJson, ExplainJson
    from kafka_unclean_recovery.documents.reading.codec import json_line

    rows = (
        ExplainedJson(
            each.code,
            each.kind,
            each.severity or None,
            *(each.meaning.strip(), each.impact.strip(), each.look_at.strip(), each.to_do.strip()),
        )
        for each in told
    )
    return json_line(ExplainJson(entries=tuple(rows)))


def _listed(entry: Entry) -> str:
    """Return the code, what it is, and below what it means in a sentence, for 80 columns."""
    text = fill(in_a_line(entry), _COLUMNS, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return f"{entry.code} ({entry.severity or entry.kind})\n{text}\n"


COMMAND = Command(Options, explain, "kafka-unclean-recovery explain")
