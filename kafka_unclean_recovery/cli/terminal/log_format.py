"""--log-format says how sentences are written to stderr.

Every command has this flag and reads it before its other flags, so the flag also tells which
command of a group runs. One process runs one command, so the module keeps both for the whole
process."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from kafka_unclean_recovery.shown import cut, shown


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


# Longer than any of ours: so much of a text from outside leaves the others on the screen.
_LONGEST = 10_000

_log_format, _command = LogFormat.TEXT, ""
_context: typer.Context | None = None


def write_log_as(log_format: LogFormat, command: str) -> None:
    """Set the format from now on. command: the command's name with its subcommand."""
    global _log_format, _command
    _log_format, _command = log_format, command


def is_json() -> bool:
    return _log_format is LogFormat.JSON


def log_line(who: str, sentence: str) -> str:
    """Return the line for a sentence, which is always one. who: the program, whose name the text
    format puts first."""
    sentence = cut(sentence, _LONGEST)
    if not is_json():
        return f"{who}: {shown(sentence)}"
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"at": now, "command": _command, "message": sentence})


def context_of_command() -> typer.Context:
    """Return the context of the command whose flags were read last."""
    assert _context is not None, "the command has no --log-format"
    return _context


def _begin(context: typer.Context, value: LogFormat) -> LogFormat:
    global _context
    _context = context
    write_log_as(value, context.command_path)
    return value


# The callback does the work when the flag is read; commands only declare the flag.
LogFormatFlag = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        callback=_begin,
        is_eager=True,
        help="Format of messages on stderr: text, or a JSON object for each message.",
    ),
]
