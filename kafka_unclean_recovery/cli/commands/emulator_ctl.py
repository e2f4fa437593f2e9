"""kafka-unclean-recovery emulator ctl sends one command to a running emulator."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.flags import Format, OutputFormat
from kafka_unclean_recovery.cli.terminal.colour import Color, ColorFlag
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.terminal.log_format import LogFormat, LogFormatFlag
from kafka_unclean_recovery.emulator.control.commands import (
    BadCommand,
    NotDone,
    grammar,
    parse_words,
)
from kafka_unclean_recovery.emulator.control.commands import Command as Scenario
from kafka_unclean_recovery.emulator.control.control_socket import ask
from kafka_unclean_recovery.emulator.disks.data_dir_claim import socket_of
from kafka_unclean_recovery.errors import NOT_ALL, OK, USAGE, usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Carry out one command of a scenario in a running emulator.

    Commands kill, start or fence brokers, drop links, intercept requests, write records, or show
    the status. The command help lists all of them.
    """

    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="Command with its arguments, for example: kill 4, or: status.",
        ),
    ]
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Data directory of the emulator, as in its --data-dir; give this or --socket.",
        ),
    ] = None
    socket: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Control socket, which the emulator printed as control.socket; give this or"
            " --data-dir.",
        ),
    ] = None
    format: OutputFormat = Format.TABLE
    log_format: LogFormatFlag = LogFormat.TEXT
    color: ColorFlag = Color.AUTO


# Seconds to wait beyond the time that the command itself may wait.
_PATIENCE = 60.0


def control(console: Console, options: Options) -> int:
    """Send the command and return the exit code: 2 for a wrong command, 1 for one that failed."""
    words, as_json = options.command, options.format.is_json
    try:
        # The command is checked here, so that a wrong one is reported without an emulator.
        command = parse_words(words)
        if command.name == "help":
            console.artefact(_help(command, words, as_json=as_json))
            return OK
        structured = as_json and command.name == "status"
        asked = [*words, "format=json"] if structured else words
        answer = _answer(_socket(options.data_dir, options.socket), asked, command)
        if as_json:
            answer = ctl_json(words, json.loads(answer) if structured else answer)
        console.artefact(answer)
    except NotDone as error:
        console.say(str(error))
        return NOT_ALL
    except BadCommand as error:
        console.say(str(error))
        return USAGE
    return OK


def _help(command: Scenario, words: Sequence[str], *, as_json: bool) -> str:
    """Return the help text, which needs no emulator."""
    text = grammar(command.values.get("COMMAND"))
    return ctl_json(words, text) if as_json else text


def ctl_json(words: Sequence[str], answer: object) -> str:
    """Return an object of schemas/emulator-ctl-1.schema.json, in one line."""
    head = {"format_version": 1, "kind": "emulator-ctl", "command": list(words)}
    return json.dumps({**head, "answer": answer}) + "\n"


def _socket(data_dir: Path | None, socket: Path | None) -> Path:
    if (data_dir is None) == (socket is None):
        raise usage("exactly one of --data-dir and --socket says which emulator")
    if socket is not None:
        return socket
    assert data_dir is not None
    try:
        return socket_of(data_dir)
    except ValueError as error:
        raise usage(f"--data-dir {error}") from None


def _answer(path: Path, words: Sequence[str], command: Scenario) -> str:
    try:
        timeout = _PATIENCE + command.values.get("timeout-ms", 0.0)
        return ask(path, shlex.join(words), timeout)
    except OSError as error:
        raise usage(
            f"no emulator answers at {path}: {error.strerror or error}; give the"
            " control.socket that a running one printed"
        ) from None


COMMAND = Command(Options, control, "kafka-unclean-recovery emulator ctl")
