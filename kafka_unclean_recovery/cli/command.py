"""A command is a dataclass, whose fields are its flags, and the function that does its work; the
flags are declared nowhere else."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, get_type_hints

import typer
from typer.core import TyperGroup

from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.terminal.log_format import context_of_command
from kafka_unclean_recovery.errors import Exit

COMMANDS = "kafka_unclean_recovery.cli.commands"
"""The package with a module for each command."""

Work = Callable[[Any, Any], int]
"""It is called with a Console and the options, and returns the exit code."""


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """A command, as its module declares it; the docstring of `options` is its help.

    work: of a group that works by itself the module and the function, as "salvage_work:save", for
    its flags are parsed before those of each of its commands, too; None for a group that only has
    commands. says: the name in front of sentences on stderr. required: fields that only a group
    without a command needs, so the parser can't ask for them.
    """

    options: type[Any]
    work: Work | str | None
    says: str = RECOVERY
    required: Sequence[str] = ()

    def for_typer(self) -> Callable[..., None]:
        """Return the function that Typer makes a command of."""

        def invoke(**flags: Any) -> None:
            self._invoke(flags)

        hints = get_type_hints(self.options, include_extras=True)
        fields = dataclasses.fields(self.options)
        invoke.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [_parameter(field, hints[field.name]) for field in fields]
        )
        invoke.__annotations__ = {field.name: hints[field.name] for field in fields}
        invoke.__doc__ = self.options.__doc__
        return invoke

    def _invoke(self, flags: dict[str, Any]) -> None:
        if self.work is None:
            return
        # Without --log-format the context is that of a group further up, which has called this.
        context = context_of_command() if "log_format" in flags else None
        if context is not None and context.invoked_subcommand is not None:
            _refuse_flags_before(context, context.invoked_subcommand)
            return
        for name in self.required:
            _require(name, flags[name])
        work = _imported(self.work) if isinstance(self.work, str) else self.work
        raise typer.Exit(carry_out(work, self.options(**flags), self.says))


def carry_out(work: Work, options: Any, says: str = RECOVERY) -> int:
    """Return the exit code of the work, and say the sentence of an Exit that ends it."""
    from kafka_unclean_recovery.cli.terminal.console import Console

    console = Console(says)
    try:
        return work(console, options)
    except Exit as error:
        console.say(str(error))
        return error.code


def _imported(name: str) -> Work:
    module, function = name.split(":")
    found: Work = getattr(import_module(f"{COMMANDS}.{module}"), function)
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
