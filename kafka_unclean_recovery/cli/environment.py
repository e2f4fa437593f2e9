"""Flags out of the environment: KAFKA_UNCLEAN_RECOVERY_[COMMAND_]FLAG for each flag there is.

What says how the cluster is reached and how stderr is written has the plain name in every command
as well, so that one export serves all; a command's own name comes before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperGroup, TyperOption

PREFIX = "KAFKA_UNCLEAN_RECOVERY"

_SHARED = frozenset({"--bootstrap-server", "--command-config", "--log-format"})
# They show something and end: a variable for that would be in the way of every run.
_NONE = frozenset({"--version", "--help"})


def name_variables(command: Any, prefix: str) -> None:
    """Give each flag of a command, and of those below it, its variables, and say so at the end of
    its --help. An empty one is not set."""
    options = list(options_of(command))
    for option in options:
        option.envvar = list(_variables(option.opts[0], prefix))
        # Names so long would be broken in two, and be most of what --help shows.
        option.show_envvar = False
    if options:
        command.epilog = _epilog(options, prefix)
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            name_variables(below, f"{prefix}_{_word(name)}")


def options_of(command: Any) -> Iterator[TyperOption]:
    """The flags that the environment can give."""
    for param in command.params:
        if isinstance(param, TyperOption) and param.opts[0] not in _NONE:
            yield param


def variable_of(option: TyperOption) -> str:
    """The one whose value counts. Raises StopIteration when none is set."""
    return next(name for name in option.envvar or () if os.environ.get(name))


def from_environment(context: Any, option: TyperOption) -> bool:
    source = context.get_parameter_source(option.name)
    return source is not None and source.name == "ENVIRONMENT"


def given_by_environment(context: Any) -> str:
    """As "--yes (KAFKA_UNCLEAN_RECOVERY_YES)", one after the other; empty for none. Values are
    left out: they are the user's own, and may be long."""
    return ", ".join(
        f"{option.opts[0]} ({variable_of(option)})"
        for option in options_of(context.command)
        if from_environment(context, option)
    )


def plain_variable(flag: str) -> str:
    """Without the name of a command."""
    return f"{PREFIX}_{_word(flag)}"


def _variables(flag: str, prefix: str) -> Iterator[str]:
    """The command's own comes first."""
    own, plain = f"{prefix}_{_word(flag)}", plain_variable(flag)
    yield own
    if flag in _SHARED and own != plain:
        yield plain


def _epilog(options: Sequence[TyperOption], prefix: str) -> str:
    example = next(option for option in options if option.opts[0] not in _SHARED)
    text = (
        f"Environment: each flag can be given as {prefix}_ and its name, such as"
        f" {prefix}_{_word(example.opts[0])} for {example.opts[0]}."
    )
    shared = [option.opts[0] for option in options if option.opts[0] in _SHARED]
    if prefix != PREFIX:
        text += f" {', '.join(shared)}: {PREFIX}_ and its name does, too, for every command."
    return f"{text} The command line comes before it, and an empty variable is not set."


def _word(name: str) -> str:
    return name.lstrip("-").replace("-", "_").replace(".", "_").upper()
