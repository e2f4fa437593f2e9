"""Flags in front of a command of a group."""

from __future__ import annotations

import typer
from typer.core import TyperGroup


def refuse_flags_before(context: typer.Context, command: str) -> None:
    """A flag before the command would be dropped in silence."""
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
