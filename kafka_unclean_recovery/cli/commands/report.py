"""kafka-unclean-recovery report writes the post-mortem of a run from its journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import Format, Gone, Last, ReportFormat
from kafka_unclean_recovery.cli.incident import last_journal
from kafka_unclean_recovery.cli.selection import broker_ids
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console, check_output, read_input
from kafka_unclean_recovery.cli.terminal.log_format import (
    LogFormat,
    LogFormatFlag,
    context_of_command,
)
from kafka_unclean_recovery.cli.terminal.output import window_above
from kafka_unclean_recovery.cli.terminal.output_files import write_new
from kafka_unclean_recovery.errors import OK, usage
from kafka_unclean_recovery.post_mortem.copies import joined
from kafka_unclean_recovery.post_mortem.document import render_json
from kafka_unclean_recovery.post_mortem.markdown import render_markdown
from kafka_unclean_recovery.post_mortem.page import render_page
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.post_mortem.screen import screen
from kafka_unclean_recovery.post_mortem.story import PostMortem
from kafka_unclean_recovery.post_mortem.words import headline


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Write the post-mortem of a recovery: what was known when, elected and lost, and what is left.

    No cluster is contacted, and nothing is changed. The command aftercare with --journal adds to
    the journal what the election left behind.
    """

    journal: Annotated[
        Path | None, typer.Argument(metavar="JOURNAL", help="The journal of a run that elected.")
    ] = None
    last: Last = False
    copy: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="JOURNAL",
            help="Copy of the journal, to which commands on another host added what they found: the"
            " report tells of that, too. May be given several times.",
        ),
    ] = None
    markdown: Annotated[bool, typer.Option("--markdown", help="Same as --format markdown.")] = False
    html: Annotated[bool, typer.Option("--html", help="Same as --format html.")] = False
    json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False
    format: Annotated[
        ReportFormat | None,
        typer.Option(
            help="Format of the report; by default markdown, and on a terminal what fits into its"
            " window. markdown: text for a ticket. html: one page with pictures and without"
            " scripts. json: everything that was known.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="NEWFILE", help="Write the report to this new file; by default to stdout."
        ),
    ] = None
    gone: Gone = None
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


_COPY = "--copy"
_RENDER: dict[ReportFormat, Callable[[PostMortem], str]] = {
    ReportFormat.MARKDOWN: render_markdown,
    ReportFormat.HTML: render_page,
    ReportFormat.JSON: render_json,
}


def write_report(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit."""
    chosen = _chosen(options)
    check_output(options.output, "--output")
    gone = broker_ids(options.gone, "--gone")
    journal = _journal(console, options)
    copies = [
        (read_input(path, _COPY, torn=True), f"{_COPY} {path}") for path in options.copy or ()
    ]
    text = joined(read_input(journal, "JOURNAL", torn=True), copies)
    told = read_post_mortem(text, str(journal))
    told = replace(told, gone=told.gone | _known(gone, told))
    on_screen = options.output is None and chosen is None
    window = window_above(console, Format.TABLE, ()) if on_screen else None
    if window is not None:
        console.reading(f"{line}\n" for line in screen(told, window))
        return OK
    text = _RENDER[chosen or ReportFormat.MARKDOWN](told)
    if options.output is None:
        console.artefact(text)
    else:
        write_new(options.output, text, "--output")
    for sentence, alarm in headline(told):
        if alarm:
            console.say(sentence)
    return OK


def _journal(console: Console, options: Options) -> Path:
    """Return the journal to read. Raises Exit(2)."""
    if options.last and options.journal is not None:
        raise usage("JOURNAL and --last both name a journal: give one of them")
    if options.last:
        return last_journal(console)
    if options.journal is None:
        context_of_command().fail("Missing argument 'JOURNAL', or --last.")
    return options.journal


def _known(gone: frozenset[int], told: PostMortem) -> frozenset[int]:
    """Return the brokers in --gone. Raises Exit(2) for one of which it knows no replica."""
    plans = (election.plan for election in told.elections if election.plan is not None)
    known = {broker for plan in plans for broker in plan.state.replicas}
    if strangers := sorted(gone - known):
        there = ", ".join(map(str, sorted(known))) or "none"
        raise usage(
            f"--gone: the journal has no replica on broker {strangers[0]}; brokers: {there}"
        )
    return gone


def _chosen(options: Options) -> ReportFormat | None:
    """Return the format that was asked for, None for none. Raises Exit(2) for two."""
    given = {
        ReportFormat.MARKDOWN: options.markdown,
        ReportFormat.HTML: options.html,
        ReportFormat.JSON: options.json,
    }
    formats = {each for each, flag in given.items() if flag or each is options.format}
    if len(formats) > 1:
        raise usage("--markdown, --html and --json exclude each other: write one after the other")
    return next(iter(formats), None)


COMMAND = Command(Options, write_report)
