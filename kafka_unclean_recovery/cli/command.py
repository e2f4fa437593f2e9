"""A command is made from a dataclass, whose fields are its flags, and from the function that does
its work; the flags are declared nowhere else."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperGroup

from kafka_unclean_recovery.cli.exits import USAGE, Exit
from kafka_unclean_recovery.cli.terminal.log_format import context_of_command

_NAME = "kafka-unclean-recovery"

Command = Callable[..., None]
"""A function that Typer can turn into a command."""


def command(
    options: type[Any],
    run: str,
    says: str = _NAME,
    required: Sequence[str] = (),
    extra: str = "",
) -> Command:
    """Return the function for Typer; the docstring of `options` is the help.

    run: the module of cli/runs and its function, as "doctor:diagnose", which is called with a
    Console and the options and returns the exit code. says: the name in front of sentences on
    stderr. required: fields that only a group without a command needs, so Typer can't ask for
    them. extra: the extra of pyproject.toml that holds what the module imports.
    """

    def invoke(**flags: Any) -> None:
        # Without --log-format the context is that of a group further up, which has called this.
        context = context_of_command() if "log_format" in flags else None
        if context is not None and context.invoked_subcommand is not None:
            _refuse_flags_before(context, context.invoked_subcommand)
            return
        for name in required:
            _require(name, flags[name])
        given = options(**flags)
        code = carry_out(lambda console, _: _function(run, extra)(console, given), given, says)
        raise typer.Exit(code)

    hints = get_type_hints(options, include_extras=True)
    fields = dataclasses.fields(options)
    invoke.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_parameter(field, hints[field.name]) for field in fields]
    )
    invoke.__annotations__ = {field.name: hints[field.name] for field in fields}
    invoke.__doc__ = options.__doc__
    invoke.__name__ = run.partition(":")[0]
    return invoke


def carry_out(work: Callable[[Any, Any], int], options: Any, says: str = _NAME) -> int:
    """Return the exit code of the work, and say the sentence of an Exit that ends it."""
    from kafka_unclean_recovery.cli.terminal.console import Console

    console = Console(says)
    try:
        return work(console, options)
    except Exit as error:
        console.say(str(error))
        return error.code


def _function(run: str, extra: str) -> Callable[[Any, Any], int]:
    """Import the function of a command. Raises Exit(2) when a library of an extra is missing."""
    # Kafka's codec takes 0.2 s to import: --help and a wrong flag should not wait for it.
    module, name = run.split(":")
    try:
        runs = import_module(f"kafka_unclean_recovery.cli.runs.{module}")
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise Exit(USAGE, f"{error.name} is not installed, which {extra}") from None
    found: Callable[[Any, Any], int] = getattr(runs, name)
    return found


def _refuse_flags_before(context: typer.Context, command: str) -> None:
    """Refuse a flag before the command, because Typer would ignore the flag without a message."""
    group = context.command
    assert isinstance(group, TyperGroup)
    chosen = group.get_command(context, command)
    assert chosen is not None
    path = context.command_path
    its_own = {flag for param in chosen.params for flag in param.opts}
    for param in group.params:
        source = context.get_parameter_source(param.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        flag = param.opts[0]
        if flag in its_own:
            context.fail(f"{flag} goes after the command: {path} {command} {flag} ...")
        context.fail(f"{flag} is no flag of {command}; it goes with {path} without a command.")


def _require(name: str, value: object) -> None:
    if value is None:
        context_of_command().fail(f"Missing option '--{name.replace('_', '-')}'.")


def _parameter(field: dataclasses.Field[Any], hint: object) -> inspect.Parameter:
    default = field.default
    if default is dataclasses.MISSING:
        default = inspect.Parameter.empty
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint
    )
