"""The files that cli/start.py answers from: the help of each command, and all flags; and all
variables, for cli/environment.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from completions.commands import PROGRAMS
from kafka_unclean_recovery.cli.entry import prepared
from kafka_unclean_recovery.cli.environment import VARIABLES, options_of
from kafka_unclean_recovery.cli.start import COLUMNS, help_file

HELP = Path(__file__).parent.parent / "kafka_unclean_recovery" / "help"
FLAGS = HELP / "flags.txt"


def help_files() -> dict[Path, str]:
    """Return the text of each file."""
    contexts = [c for name in PROGRAMS for c in _contexts(name, prepared(name), None)]
    texts = {HELP / help_file(c.command_path): f"{c.get_help()}\n" for c in contexts}
    variables = sorted({name for c in contexts for name in _variables(c.command)})
    return texts | {FLAGS: "".join(map(_flags, contexts)), VARIABLES: "\n".join([*variables, ""])}


def _contexts(name: str, command: Any, parent: Any) -> Iterator[Any]:
    context = typer.Context(command, info_name=name, parent=parent, terminal_width=COLUMNS - 2)
    yield context
    for sub, nested in getattr(command, "commands", {}).items():
        if not nested.hidden:
            yield from _contexts(sub, nested, context)


def _flags(context: Any) -> str:
    options = [p for p in context.command.get_params(context) if p.param_type_name == "option"]
    flags = [f"{name}{'' if p.is_flag else '='}" for p in options for name in p.opts]
    return f"{context.command_path}\t{' '.join(flags)}\n"


def _variables(command: Any) -> Iterator[str]:
    return (name for option in options_of(command) for name in option.envvar or ())
