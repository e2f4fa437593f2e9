"""What every command does before its own work and after it, and how wrong flags are told."""

from __future__ import annotations

import functools
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from kafka_unclean_recovery.cli import standard_streams
from kafka_unclean_recovery.cli.environment import (
    PREFIX,
    from_environment,
    given_by_environment,
    name_variables,
    variable_of,
)
from kafka_unclean_recovery.cli.exits import NOT_ALL, USAGE, Exit
from kafka_unclean_recovery.cli.log_format import (
    LogFormat,
    context_of_command,
    is_json,
    log_line,
    write_log_as,
)

_INTERRUPTED = 130
# Typer brings click along, or needs it, by its release; this name leads to it in both.
_UsageError: Any = typer.BadParameter.__base__
_FLAG = "--log-format"
# Whether a command has begun; before that only the parser writes, to stdout.
_begun = False


def main(app: typer.Typer, name: str, prefix: str = PREFIX) -> None:
    """Run the command line of this process. Raises SystemExit."""
    # Answers about thousands of partitions are many objects and no garbage: the default of 700
    # has the collector walk them over and over, a tenth of the run.
    gc.set_threshold(100_000)
    standard_streams.hold_descriptors()
    code = run(app, name, sys.argv[1:], prefix)
    try:
        code = standard_streams.end(code)
    except KeyboardInterrupt:
        # Nobody reads what is left.
        os._exit(_INTERRUPTED)
    sys.exit(code)


def run(app: typer.Typer, name: str, args: Sequence[str], prefix: str = PREFIX) -> int:
    """The exit code. prefix: of the variables that can give its flags."""
    global _begun
    _begun = False
    standard_streams.begin()
    return standard_streams.exit_code(_run(app, name, args, prefix))


def _run(app: typer.Typer, name: str, args: Sequence[str], prefix: str) -> int:
    command = prepared(app, prefix)
    try:
        code = command.main(args=list(args), prog_name=name, standalone_mode=False)
    except OSError as error:
        if _begun:
            raise
        standard_streams.write_soon(f"{log_line(name, f'stdout: {error.strerror}')}\n")
        return NOT_ALL
    except _UsageError as error:
        # A wrong flag is told in the format that another one asks for, which may not be read yet.
        path = name if error.ctx is None else error.ctx.command_path
        write_log_as(_log_format(args), path)
        return _say_usage_error(error, path)
    except typer.Abort:
        return _INTERRUPTED
    except SystemExit as ended:
        # Typer's, where nobody reads --help any more.
        return ended.code if isinstance(ended.code, int) else NOT_ALL
    return code if isinstance(code, int) else 0


def prepared(app: typer.Typer, prefix: str) -> Any:
    """The command with variables for its flags, and with what all commands have around them."""
    command = get_command(app)
    name_variables(command, prefix)
    _surround(command)
    return command


def _surround(command: Any) -> None:
    if command.callback is not None:
        command.callback = _surrounded(command.callback)
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            _surround(below)


def _surrounded(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def run_command(**flags: Any) -> Any:
        global _begun
        context = context_of_command()
        if context.invoked_subcommand is not None:
            return work(**flags)
        _begun = True
        # Not for --help and a wrong flag to wait for.
        from kafka_unclean_recovery.cli.console import Console
        from kafka_unclean_recovery.cli.metrics_file import metered

        console = Console(context.command_path)
        if told := given_by_environment(context):
            console.say(f"from the environment: {told}")
        try:
            with metered(console, _path(flags.get("metrics_file")), context.command_path):
                return _with_true_code(work, flags)
        except Exit as error:
            console.say(str(error))
            raise typer.Exit(error.code) from None

    return run_command


def _with_true_code(work: Callable[..., Any], flags: dict[str, Any]) -> Any:
    try:
        return work(**flags)
    except typer.Exit as ended:
        raise typer.Exit(standard_streams.exit_code(ended.exit_code)) from None


def _path(value: str | Path | None) -> Path | None:
    """Typer of some releases leaves that to the command itself."""
    return None if value is None else Path(value)


def _log_format(args: Sequence[str]) -> LogFormat:
    """As --log-format or its variable has it, before the rest is looked at."""
    given = os.environ.get(f"{PREFIX}_LOG_FORMAT")
    words = iter(args)
    for word in words:
        if word == _FLAG:
            given = next(words, None)
        elif word.startswith(f"{_FLAG}="):
            given = word.partition("=")[2]
    return LogFormat.JSON if given == LogFormat.JSON else LogFormat.TEXT


def _say_usage_error(error: Any, path: str) -> int:
    """Of a value out of the environment the message names the variable."""
    option = getattr(error, "param", None)
    if option is not None and error.param_hint is None:
        hint = " / ".join(f"'{flag}'" for flag in option.opts if flag.startswith("-"))
        if hint and from_environment(error.ctx, option):
            variable = variable_of(option)
            hint = f"{hint} from the environment ({variable}={os.environ[variable]})"
        error.param_hint = hint or None
        # Typer's own words begin so.
        error.message = (error.message or "").removeprefix("Value error, ")
    if is_json():
        from kafka_unclean_recovery.cli.console import Console

        Console(path).say(f"{error.format_message()} See {path} --help.")
    else:
        text = io.StringIO()
        error.show(text)
        standard_streams.write_soon(text.getvalue())
    return USAGE
