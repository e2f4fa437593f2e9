"""--log-format: how sentences on stderr are written.

Every command has the flag, and it is read before its others, so it also tells which command of a
group the flags are of. One process runs one command, so both are kept here for all of it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


_log_format, _command = LogFormat.TEXT, ""
_context: typer.Context | None = None


def write_log_as(log_format: LogFormat, command: str) -> None:
    """From now on. command: with its subcommand."""
    global _log_format, _command
    _log_format, _command = log_format, command


def is_json() -> bool:
    return _log_format is LogFormat.JSON


def log_line(who: str, sentence: str) -> str:
    """who: the program, which text has in front."""
    if not is_json():
        return f"{who}: {sentence}"
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"at": now, "command": _command, "message": sentence})


def context_of_command() -> typer.Context:
    """Of the command whose flags were read last."""
    assert _context is not None, "the command has no --log-format"
    return _context


def _begin(context: typer.Context, value: LogFormat) -> LogFormat:
    global _context
    _context = context
    write_log_as(value, context.command_path)
    return value


# It does its work when it is read; commands only declare it.
LogFormatFlag = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        callback=_begin,
        is_eager=True,
        help="What stderr gets: text, or a JSON object for each sentence.",
    ),
]
