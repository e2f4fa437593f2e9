"""The two programs as values: what completions and man pages are generated from.

Read from the parsers themselves, so that what was registered there is all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import typer

from kafka_unclean_recovery.cli import ELECTION, RECOVERY
from kafka_unclean_recovery.cli.entry import prepared
from kafka_unclean_recovery.emulator.bundled import scenarios
from kafka_unclean_recovery.emulator.control.commands import FORMS
from kafka_unclean_recovery.runbook import entries

PROGRAMS = (RECOVERY, ELECTION)


class Takes(StrEnum):
    """What a shell can complete after a flag."""

    NOTHING = "nothing"
    WORD = "word"
    FILE = "file"
    JOURNAL = "journal"
    DIRECTORY = "directory"
    # A running cluster is asked for these: the kinds of cli/commands/complete.py.
    TOPICS = "topics"
    BROKERS = "brokers"
    DOWN_BROKERS = "down-brokers"
    OFFLINE_BROKERS = "offline-brokers"
    RACKS = "racks"
    CLUSTERS = "clusters"


ASKED_FOR = (
    Takes.TOPICS,
    Takes.BROKERS,
    Takes.DOWN_BROKERS,
    Takes.OFFLINE_BROKERS,
    Takes.RACKS,
    Takes.CLUSTERS,
)

_BY_METAVAR = {
    "FILE": Takes.FILE,
    "NEWFILE": Takes.FILE,
    "JOURNAL": Takes.JOURNAL,
    "PLAN": Takes.FILE,
    "NAME|FILE": Takes.FILE,
    "DIR": Takes.DIRECTORY,
    "NEWDIR": Takes.DIRECTORY,
    "SAVED": Takes.DIRECTORY,
    "REGEX": Takes.TOPICS,
    "TOPIC": Takes.TOPICS,
    "TOPIC[:MAX_RECORDS]": Takes.TOPICS,
    "IDS|all": Takes.OFFLINE_BROKERS,
    "IDS": Takes.DOWN_BROKERS,
    "RACK": Takes.RACKS,
}
# Words that an argument may be, by its metavar.
_ARGUMENT_WORDS = {
    "COMMAND": tuple(FORMS),
    "CODE": tuple(entries()),
    "NAME": tuple(scenarios()),
}
# Where a metavar stands for other things elsewhere.
_BY_FLAG = {"--brokers": Takes.BROKERS, "--cluster": Takes.CLUSTERS}
_BOOTSTRAP = "--bootstrap-server"


@dataclass(frozen=True)
class Flag:
    """`metavar` is empty where it takes nothing, `choices` where any word will do."""

    names: tuple[str, ...]
    help: str
    takes: Takes
    metavar: str = ""
    choices: tuple[str, ...] = ()
    repeatable: bool = False
    required: bool = False
    default: str = ""

    @property
    def first_sentence(self) -> str:
        return self.help.split(". ")[0].rstrip(".")


@dataclass(frozen=True)
class Argument:
    """`words`: those that it may be, none where any will do."""

    metavar: str
    help: str
    takes: Takes
    words: tuple[str, ...] = ()
    repeatable: bool = False


@dataclass(frozen=True)
class Command:
    """`help` is whole paragraphs with an empty line between."""

    name: str
    short_help: str
    help: str
    flags: tuple[Flag, ...]
    arguments: tuple[Argument, ...]
    subcommands: Mapping[str, Command]


def command(name: str) -> Command:
    return _command(name, prepared(name))


def _command(name: str, parsed: Any) -> Command:
    # The parser library has no types for this: typer carries its own copy of click by now.
    context = typer.Context(parsed, info_name=name)
    shown = [param for param in parsed.get_params(context) if not getattr(param, "hidden", False)]
    options = [param for param in shown if param.param_type_name == "option"]
    asks = any(_BOOTSTRAP in param.opts for param in options)
    return Command(
        name,
        parsed.get_short_help_str(200),
        parsed.help or "",
        tuple(_flag(param, context, asks) for param in options),
        tuple(_argument(param) for param in shown if param.param_type_name == "argument"),
        {
            sub: _command(sub, nested)
            for sub, nested in getattr(parsed, "commands", {}).items()
            if not nested.hidden
        },
    )


def _flag(option: Any, context: Any, asks: bool) -> Flag:
    """Return the flag. asks: its command asks a cluster, which can be asked for words too."""
    left, _ = option.get_help_record(context)
    metavar = "" if option.is_flag else left.partition(option.opts[-1])[2].strip()
    chosen = option.metavar is None and "|" in metavar
    known = _BY_FLAG.get(option.opts[0], _BY_METAVAR.get(metavar, Takes.WORD))
    takes = Takes.NOTHING if option.is_flag else known
    return Flag(
        tuple(option.opts),
        " ".join((option.help or "").split()),
        Takes.WORD if takes in ASKED_FOR and not asks else takes,
        metavar.strip("<>[]") if chosen else metavar,
        tuple(metavar.strip("<>[]").split("|")) if chosen else (),
        option.multiple,
        option.required,
        _default(option),
    )


def _default(option: Any) -> str:
    default = option.default
    if option.is_flag or default is None or callable(default):
        return ""
    return str(getattr(default, "value", default))


def _argument(argument: Any) -> Argument:
    metavar = (argument.metavar or argument.name.upper()).removeprefix("[").split("]")[0]
    return Argument(
        metavar,
        " ".join((argument.help or "").split()),
        _BY_METAVAR.get(metavar, Takes.DIRECTORY if metavar == "ROOT" else Takes.WORD),
        _ARGUMENT_WORDS.get(metavar, ()),
        argument.nargs == -1,
    )


def every_command(top: Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Command]]:
    """Yield (its words on a command line, the command), itself first."""
    words = (*path, top.name)
    yield " ".join(words), top
    for nested in top.subcommands.values():
        yield from every_command(nested, words)
