"""Every flag can be given by an environment variable, KAFKA_UNCLEAN_RECOVERY_[COMMAND_]FLAG.

The flags that say how the cluster is reached and how stderr is written also have a variable without
the command's name, so that one export serves all commands; the variable with the command's name
counts before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperOption

PREFIX = "KAFKA_UNCLEAN_RECOVERY"

_SHARED = frozenset({"--bootstrap-server", "--command-config", "--log-format"})
# These flags print something and exit: a variable for them would stop every run.
_NONE = frozenset({"--version", "--help"})


def name_variables(command: Any, prefix: str) -> None:
    """Give each flag of a command its variables, and describe them at the end of its --help. An
    empty variable counts as not set."""
    options = list(options_of(command))
    for option in options:
        option.envvar = list(_variables(option.opts[0], prefix))
        # Such long names would be wrapped, and would fill most of --help.
        option.show_envvar = False
    if options:
        command.epilog = _epilog(options, prefix)


def options_of(command: Any) -> Iterator[TyperOption]:
    """Return the flags that have variables."""
    for param in command.params:
        if isinstance(param, TyperOption) and param.opts[0] not in _NONE:
            yield param


def variable_of(option: TyperOption) -> str:
    """Return the name of the variable whose value counts. Raises StopIteration when none is set."""
    return next(name for name in option.envvar or () if os.environ.get(name))


def from_environment(context: Any, option: TyperOption) -> bool:
    source = context.get_parameter_source(option.name)
    return source is not None and source.name == "ENVIRONMENT"


def given_by_environment(context: Any) -> str:
    """Return the flags that variables give, such as "--yes (KAFKA_UNCLEAN_RECOVERY_YES)", separated
    by commas; empty for none. Values are left out, because they are private and may be long."""
    return ", ".join(
        f"{option.opts[0]} ({variable_of(option)})"
        for option in options_of(context.command)
        if from_environment(context, option)
    )


def plain_variable(flag: str) -> str:
    """Return the name of a flag's variable without the name of a command."""
    return f"{PREFIX}_{word(flag)}"


def _variables(flag: str, prefix: str) -> Iterator[str]:
    """Return the names of a flag's variables, the one with the command's name first."""
    own, plain = f"{prefix}_{word(flag)}", plain_variable(flag)
    yield own
    if flag in _SHARED and own != plain:
        yield plain


def _epilog(options: Sequence[TyperOption], prefix: str) -> str:
    own = (option for option in options if option.opts[0] not in _SHARED)
    example = next(own, options[0])
    text = (
        f"Environment: each flag can also be given by a variable called {prefix}_ and its name,"
        f" such as {prefix}_{word(example.opts[0])} for {example.opts[0]}."
    )
    shared = [option.opts[0] for option in options if option.opts[0] in _SHARED]
    if prefix != PREFIX:
        text += f" {', '.join(shared)}: {PREFIX}_ and its name works for every command."
    return f"{text} The command line counts before a variable, and an empty variable is ignored."


def word(name: str) -> str:
    """Return what stands for a flag or a command in the name of a variable."""
    return name.lstrip("-").replace("-", "_").replace(".", "_").upper()
