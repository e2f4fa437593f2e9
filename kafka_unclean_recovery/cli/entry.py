"""Every command starts and ends in this module, which also reports wrong flags."""

from __future__ import annotations

import functools
import gc
import io
import os
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import Any

import typer

from kafka_unclean_recovery.cli.clusters import named_beside
from kafka_unclean_recovery.cli.environment import (
    PREFIX,
    from_environment,
    given_by_environment,
    unknown_variables,
    variable_of,
)
from kafka_unclean_recovery.cli.programs import program
from kafka_unclean_recovery.cli.start import hint_for
from kafka_unclean_recovery.cli.terminal import standard_streams
from kafka_unclean_recovery.cli.terminal.log_format import (
    LogFormat,
    context_of_command,
    is_json,
    log_line,
    write_log_as,
)
from kafka_unclean_recovery.errors import NOT_ALL, USAGE, Exit, usage
from kafka_unclean_recovery.shown import cut, shown

_INTERRUPTED = 130
# Some releases of Typer contain click, others depend on it; this name works with both.
_UsageError: Any = typer.BadParameter.__base__
_FLAG = "--log-format"
_NO_NUMBER = "is not a valid int range"
# True once a command has begun; before that only the parser writes to stdout.
_begun = False


def main(name: str) -> None:
    """Run the command line of this process. Raises SystemExit."""
    # Answers about thousands of partitions are many objects and no garbage. With the default
    # threshold of 700 the collector walks them again and again, for a tenth of the run.
    gc.set_threshold(100_000)
    sys.excepthook = _say_crash
    standard_streams.hold_descriptors()
    standard_streams.screen_libraries()
    raise_limit()
    code = run(name, sys.argv[1:])
    try:
        code = standard_streams.end(code)
    except KeyboardInterrupt:
        # Ctrl-C here means that nobody waits for the rest of the output.
        os._exit(_INTERRUPTED)
    # Python walks all objects once more when it ends; none of them needs anything done.
    gc.freeze()
    sys.exit(code)


# A run needs a file descriptor for each connection, and more for what it writes. This is more than
# any cluster needs; some systems refuse an unlimited number.
_MANY = 65_536


def raise_limit() -> None:
    """Raise the soft limit of open files to the hard one, which many shells and services leave far
    below it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else min(hard, _MANY)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return
    # A system may allow less than it says.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _say_crash(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback as Python does, but nothing in it on which a terminal acts."""
    import traceback

    text = "".join(traceback.format_exception(kind, error, trace))
    standard_streams.write_soon(indent(text, standard_streams.SET_IN))
    standard_streams.write_waiting(None)


def run(name: str, args: Sequence[str]) -> int:
    """Run a command line of the program and return its exit code."""
    global _begun
    _begun = False
    standard_streams.begin()
    return standard_streams.exit_code(_run(name, args))


def _run(name: str, args: Sequence[str]) -> int:
    command = prepared(name)
    try:
        code = command.main(args=list(args), prog_name=name, standalone_mode=False)
    except Exit as error:
        # The library that the command needs is missing, so its flags are not parsed.
        write_log_as(_log_format(args), name)
        standard_streams.write_soon(f"{log_line(name, str(error))}\n")
        return error.code
    except OSError as error:
        # The parser only writes to stdout; what can't be imported has a name.
        if _begun or error.filename is not None:
            raise
        standard_streams.write_soon(f"{log_line(name, f'stdout: {error.strerror}')}\n")
        return NOT_ALL
    except _UsageError as error:
        # The error is written as --log-format says, which the parser may not have read yet.
        path = name if error.ctx is None else error.ctx.command_path
        write_log_as(_log_format(args), path)
        code = _say_usage_error(error, path)
        for sentence in unknown_variables(os.environ):
            standard_streams.write_soon(f"{log_line(path, sentence)}\n")
        return code
    except typer.Abort:
        return _INTERRUPTED
    except SystemExit as ended:
        # Typer exits this way when the reader of --help has gone.
        return ended.code if isinstance(ended.code, int) else NOT_ALL
    return code if isinstance(code, int) else 0


def prepared(name: str) -> Any:
    """Return the parser of the program, with the steps around every command."""

    def surround(command: Any) -> None:
        command.callback = _surrounded(command.callback)

    return program(name, surround)


def _surrounded(work: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(work)
    def run_command(**flags: Any) -> Any:
        global _begun
        context = context_of_command()
        if context.invoked_subcommand is not None:
            return work(**flags)
        _begun = True
        # Imported late, so that --help and a wrong flag don't wait for these imports.
        from kafka_unclean_recovery.cli.metrics_file import metered
        from kafka_unclean_recovery.cli.terminal.console import Console

        console = Console(context.command_path)
        if told := given_by_environment(context):
            console.say(f"from the environment: {told}")
        try:
            with metered(console, _path(flags.get("metrics_file")), context.command_path):
                if unknown := list(unknown_variables(os.environ)):
                    raise usage("; ".join(unknown))
                if wrong := _flag_as_value(context) or named_beside(context):
                    raise usage(wrong)
                return _with_true_code(work, flags)
        except Exit as error:
            console.say(str(error))
            raise typer.Exit(error.code) from None

    return run_command


def _flag_as_value(context: Any) -> str | None:
    """Return what to say of a flag of the command that stands where the value of another belongs,
    as where a shell variable is empty; None where there is none."""
    flags = {flag for param in context.command.params for flag in param.opts}
    for param in context.command.params:
        value = context.params.get(param.name)
        for word in value if isinstance(value, (list, tuple)) else (value,):
            if word is not None and str(word) in flags and str(word).startswith("--"):
                return (
                    f"{param.opts[0]}: {word} stands where its value belongs; is a variable of the"
                    " shell empty there?"
                )
    return None


def _with_true_code(work: Callable[..., Any], flags: dict[str, Any]) -> Any:
    try:
        return work(**flags)
    except typer.Exit as ended:
        raise typer.Exit(standard_streams.exit_code(ended.exit_code)) from None


def _path(value: str | Path | None) -> Path | None:
    """Return the value as a Path, because some releases of Typer pass a text."""
    return None if value is None else Path(value)


def _log_format(args: Sequence[str]) -> LogFormat:
    """Return the format that --log-format or its variable gives, before other flags are parsed."""
    given = os.environ.get(f"{PREFIX}_LOG_FORMAT")
    words = iter(args)
    for word in words:
        if word == _FLAG:
            given = next(words, None)
        elif word.startswith(f"{_FLAG}="):
            given = word.partition("=")[2]
    return LogFormat.JSON if given == LogFormat.JSON else LogFormat.TEXT


def _say_usage_error(error: Any, path: str) -> int:
    """Print a usage error; for a value from the environment the message names the variable."""
    option = getattr(error, "param", None)
    if option is not None and error.param_hint is None:
        hint = " / ".join(f"'{flag}'" for flag in option.opts if flag.startswith("-"))
        if hint and from_environment(error.ctx, option):
            variable = variable_of(option)
            given = shown(cut(os.environ[variable]))
            hint = f"{hint} from the environment ({variable}={given})"
        error.param_hint = hint or None
        # The parser's words for a number that it can't read.
        error.message = (error.message or "").replace(_NO_NUMBER, "is no whole number")
    if (flag := getattr(error, "option_name", None)) and (hint := hint_for(path, flag)):
        error.message, error.possibilities = f"{error.message}{hint}", None
    # It quotes what was typed, or what the shell put there for a pattern of file names.
    error.message = shown(cut(error.message or ""))
    if is_json():
        from kafka_unclean_recovery.cli.terminal.console import Console

        Console(path).say(f"{error.format_message()} See {path} --help.")
    else:
        text = io.StringIO()
        error.show(text)
        # The parser sets choices off by tabs.
        standard_streams.write_soon(text.getvalue().expandtabs(4))
    return USAGE
