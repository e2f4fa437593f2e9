"""Both programs: a command's module in commands/ is imported when a command line names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from kafka_unclean_recovery.cli import ELECTION, RECOVERY
from kafka_unclean_recovery.cli.command import COMMANDS, Command
from kafka_unclean_recovery.cli.environment import PREFIX, name_variables, word
from kafka_unclean_recovery.cli.terminal.help_groups import group_flags
from kafka_unclean_recovery.errors import USAGE, Exit

_MODULES = {RECOVERY: "unclean_recovery", ELECTION: "elect_leaders"}
_TOLD = {
    "scan-log-dirs": "Read how far the replicas in log directories go.",
    "plan": "Choose leaders from log directories alone.",
    "doctor": "Check that a recovery would work; nothing is changed.",
    "ok-to-stop": "Tell whether brokers may be stopped.",
    "watch": "Tell how many failures partitions stand, again and again.",
    "explain": "Explain a finding or a check of doctor.",
    "approve": "Approve a plan as a second person.",
    "aftercare": "Show what an unclean election left behind.",
    "before-start": "Foretell what a broker's start does to its disk.",
    "start-order": "Tell which broker to start first after a power cut.",
    "bundle": "Write all that tells of an outage into one archive.",
    "report": "Write the post-mortem of a run from its journal.",
    "salvage": "Save records on disks that the designated leaders lack.",
    "salvage replay": "Produce saved records to a topic.",
    "salvage offsets": "Bring back commits of groups.",
    "spark": "Scan, plan and salvage disks of thousands of brokers with Spark.",
    "spark scan": "Scan log directories into tables.",
    "spark plan": "Choose leaders from the tables of scans.",
    "spark salvage": "Save records on disks that the designated leaders lack.",
    "quorum": "Bring a metadata quorum back whose majority is lost for good.",
    "quorum inspect": "Compare copies of the metadata log.",
    "quorum plan": "Plan a new quorum from the best copy.",
    "quorum seed": "Write the log directory of the new controller.",
    "quorum verify": "Prove that the new quorum works.",
    "emulator": "Run an emulated cluster for rehearsals.",
    "emulator scenarios": "Show the outages that come with it.",
    "emulator ctl": "Carry out a command in a running emulator.",
    "complete": "",
}
"""The commands of kafka-unclean-recovery by their words, and what the help above tells of each; no
help tells of one with an empty text."""

_SALVAGED = "salvaged records: pip install 'kafka-unclean-recovery[salvage]'"
_EXTRAS = {
    "salvage replay": f"reads or produces {_SALVAGED}",
    "salvage offsets": f"reads {_SALVAGED}",
}
"""Commands whose modules import a library of an extra, and what it is for."""


class _Commands(Mapping[str, Any]):
    """The commands of a group by name, each made when it is asked for."""

    def __init__(self, told: Mapping[str, str], make: Callable[[str], Any]) -> None:
        self.told = told
        self._make = make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name not in self.told:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.told)

    def __len__(self) -> int:
        return len(self.told)


class _Group(TyperGroup):
    """A group whose help imports none of its commands."""

    def list_commands(self, _: object) -> list[str]:
        return list(self.commands)

    def format_commands(self, _: object, formatter: Any) -> None:
        told: Mapping[str, str] = self.commands.told  # type: ignore[attr-defined]
        with formatter.section("Commands"):
            formatter.write_dl([row for row in told.items() if row[1]])


def program(name: str, around: Callable[[Any], None]) -> Any:
    """Return the parser of a program. around: what is done to each command that is made."""
    prefix = PREFIX if name == RECOVERY else f"{PREFIX}_ELECT_LEADERS"
    made = _made(_MODULES[name], "", _TOLD if name == RECOVERY else {}, prefix, around)
    group_flags(made)
    return made


def _made(
    module: str, words: str, told: Mapping[str, str], prefix: str, around: Callable[[Any], None]
) -> Any:
    """Import the module of a command, and make its parser. words: none for a program itself."""
    declared: Command = _imported(module, words)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    about: dict[str, Any] = {"short_help": told.get(words)}
    below = {each: text for each, text in told.items() if _parent(each) == words}
    if below:
        if declared.work is not None:
            about |= {"subcommand_metavar": "[COMMAND [ARGS]...]", "invoke_without_command": True}
        else:
            about["no_args_is_help"] = True
        app.callback(cls=_Group, **about)(declared.for_typer())
    else:
        hidden = told.get(words) == ""
        app.command(words.rpartition(" ")[2], hidden=hidden, **about)(declared.for_typer())
    made: Any = typer.main.get_command(app)
    if below:

        def make(name: str) -> Any:
            path = f"{words} {name}".strip()
            its_module = path.replace(" ", "_").replace("-", "_")
            return _made(its_module, path, told, f"{prefix}_{word(name)}", around)

        texts = {each.rpartition(" ")[2]: text for each, text in below.items()}
        made.commands = _Commands(texts, make)
    name_variables(made, prefix)
    around(made)
    return made


def _parent(words: str) -> str:
    return words.rpartition(" ")[0]


def _imported(module: str, words: str) -> Command:
    """Return what the module declares. Raises Exit(2) when a library of an extra is missing."""
    try:
        found = import_module(f"{COMMANDS}.{module}")
    except ModuleNotFoundError as error:
        if words not in _EXTRAS:
            raise
        raise Exit(USAGE, f"{error.name} is not installed, which {_EXTRAS[words]}") from None
    declared: Command = found.COMMAND
    return declared
