"""kafka-unclean-recovery emulator scenarios shows the outages that come with the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.emulator.bundled import scenarios, story_of
from kafka_unclean_recovery.errors import OK, usage
from kafka_unclean_recovery.wording import did_you_mean

_COLUMNS, _INDENT = 78, "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Show the scenarios that come with the emulator, for its --scenario NAME.

    Without NAME all of them are listed, each with the outage that it makes. With NAME its commands
    are shown, as a file of one's own may have them.
    """

    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Scenario to show.", show_default=False),
    ] = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


def show(console: Console, options: Options) -> int:
    """Run the command and return its exit code. Raises Exit(2) for an unknown name."""
    known = scenarios()
    if options.name is not None and options.name not in known:
        raise usage(f"no scenario is called {options.name!r}{did_you_mean(options.name, known)}")
    if options.format.is_json:
        chosen = known if options.name is None else {options.name: known[options.name]}
        console.artefact(scenarios_json(chosen))
    elif options.name is None:
        told = {name: story_of(text) for name, text in known.items()}
        console.artefact("\n".join(f"{name}\n{_text(story)}\n" for name, story in told.items()))
    else:
        console.artefact(known[options.name])
    return OK


def scenarios_json(told: Mapping[str, str]) -> str:
    """Return an object of schemas/emulator-scenarios-1.schema.json, in one line. told: the text of
    each scenario's file, by its name."""
    # Imported for this line alone: a page for people needs no codec.
    from kafka_unclean_recovery.documents.pages import EmulatorScenariosJson, ScenarioJson
    from kafka_unclean_recovery.documents.reading.codec import json_line

    rows = tuple(
        ScenarioJson(name, story_of(text), tuple(text.splitlines())) for name, text in told.items()
    )
    return json_line(EmulatorScenariosJson(scenarios=rows))


def _text(story: str) -> str:
    return fill(story, _COLUMNS, initial_indent=_INDENT, subsequent_indent=_INDENT)


COMMAND = Command(Options, show, "kafka-unclean-recovery emulator scenarios")
