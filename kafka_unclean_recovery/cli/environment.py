"""Every flag can be given by an environment variable, KAFKA_UNCLEAN_RECOVERY_[COMMAND_]FLAG.

The flags that say how the cluster is reached and how stderr is written also have a variable without
the command's name, so that one export serves all commands; the variable with the command's name
counts before it. A variable that looks like ours and that no flag has is an error of usage: a limit
or a check that somebody relies on would be missing without a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperOption

PREFIX = "KAFKA_UNCLEAN_RECOVERY"

_SHARED = frozenset(
    {"--bootstrap-server", "--command-config", "--cluster", "--log-format", "--color"}
)
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


VARIABLES = Path(__file__).parent.parent / "help" / "variables.txt"
"""The variables of all flags of both commands, a line each; `make completions` writes it."""

_ELECTION = "KAFKA_ELECT_LEADERS_"
_OURS = (f"{PREFIX}_", _ELECTION)
_ALIKE = 0.85
# Kubernetes gives each container variables for every service beside it, whatever its name.
_SERVICE = re.compile(
    r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
# Images of brokers give properties of a broker this form, and KIP-966 has these.
_OF_BROKERS = {f"{PREFIX}_{name}" for name in ("STRATEGY", "TIMEOUT_MS", "MANAGER_ENABLED")}


def unknown_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each variable that is not empty and may be a slip of one of ours."""
    given = sorted(name for name, value in environ.items() if value)
    suspects = [name for name in given if name.upper().startswith("KAFKA")]
    if not suspects:
        return
    known = frozenset(VARIABLES.read_text(encoding="ascii").split())
    for name in suspects:
        if name in known or name in _OF_BROKERS or _SERVICE.fullmatch(name):
            continue
        if (nearest := _nearest(name, known)) is not None:
            yield f"{name}: no flag has this variable; rename it to {nearest}, or unset it"


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the variable that was most likely meant; None for a variable that is not ours."""
    from difflib import get_close_matches

    word = name.upper()
    ours = word.startswith(_OURS)
    if word.startswith(_ELECTION):
        word = f"{PREFIX}_{word.removeprefix('KAFKA_')}"
    # Sorted, so that the same one of several is named each time.
    found = get_close_matches(word, sorted(known), 1, 0.0 if ours else _ALIKE)
    return found[0] if found else None
