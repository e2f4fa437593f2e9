"""Static completion scripts for bash, zsh and fish, from the commands' own flags.

Static, so that pressing TAB starts no Python. `make completions` writes them; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.models import ArgumentInfo

from kafka_unclean_recovery.cli import (
    aftercare,
    doctor,
    elect_leaders,
    emulator,
    plan_from_disks,
    salvage,
    salvage_replay,
    scan_log_dirs,
    spark,
    spark_plan,
    spark_salvage,
    unclean_recovery,
)
from kafka_unclean_recovery.emulator.commands import FORMS

HERE = Path(__file__).parent
Declaration = Callable[..., None]


class Takes(StrEnum):
    """What a shell can complete after a flag."""

    NOTHING = "nothing"
    WORD = "word"
    FILE = "file"
    DIRECTORY = "directory"


_BY_METAVAR = {
    "FILE": Takes.FILE,
    "NEWFILE": Takes.FILE,
    "JOURNAL": Takes.FILE,
    "DIR": Takes.DIRECTORY,
    "NEWDIR": Takes.DIRECTORY,
}


@dataclass(frozen=True)
class Flag:
    """`choices`: the words that it takes, empty when any will do."""

    names: tuple[str, ...]
    help: str
    takes: Takes
    choices: tuple[str, ...] = ()
    repeatable: bool = False


# What an argument is, by its metavar: the words that it takes, or else directories.
_ARGUMENT_WORDS = {"COMMAND": tuple(FORMS)}


@dataclass(frozen=True)
class Command:
    """A declaration for Typer, and its subcommands by name, which come right after its own name."""

    declaration: Declaration
    subcommands: Mapping[str, Command] = field(default_factory=dict)


COMMANDS = {
    unclean_recovery.NAME: Command(
        unclean_recovery.unclean_recovery,
        {
            scan_log_dirs.NAME: Command(scan_log_dirs.scan_log_dirs),
            plan_from_disks.NAME: Command(plan_from_disks.plan_from_disks),
            doctor.NAME: Command(doctor.doctor),
            salvage.NAME: Command(
                salvage.salvage, {salvage_replay.NAME: Command(salvage_replay.salvage_replay)}
            ),
            spark.NAME: Command(
                spark.spark,
                {
                    spark.SCAN: Command(spark.scan),
                    spark_plan.NAME: Command(spark_plan.spark_plan),
                    spark_salvage.NAME: Command(spark_salvage.spark_salvage),
                },
            ),
            aftercare.NAME: Command(aftercare.aftercare),
            emulator.NAME: Command(emulator.emulator, {emulator.CTL_NAME: Command(emulator.ctl)}),
        },
    ),
    elect_leaders.NAME: Command(elect_leaders.elect_leaders),
}


def flags(declaration: Declaration) -> list[Flag]:
    """From its own signature: Annotated[type, typer.Option(...)]."""
    found = [
        _flag(name, kind, option)
        for name, kind, option in _parameters(declaration)
        if not isinstance(option, ArgumentInfo)
    ]
    return [*found, Flag(("--help",), "Show this message and exit", Takes.NOTHING)]


def argument(declaration: Declaration) -> tuple[str, ...] | None:
    """The words that its arguments may be, none at all for directories; None without arguments."""
    for _, _, option in _parameters(declaration):
        if isinstance(option, ArgumentInfo):
            return _ARGUMENT_WORDS.get(option.metavar or "", ())
    return None


def _parameters(declaration: Declaration) -> Iterator[tuple[str, Any, Any]]:
    """(name, type, what Typer is told of it)."""
    for name, hint in get_type_hints(declaration, include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            kind, told = get_args(hint)
            yield name, kind, told


def _flag(name: str, kind: Any, option: Any) -> Flag:
    choices = tuple(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()
    # Within Annotated, typer keeps the first name given where a default would stand.
    first = (option.default,) if isinstance(option.default, str) else ()
    return Flag(
        (*first, *(option.param_decls or ())) or ("--" + name.replace("_", "-"),),
        (option.help or "").split(". ")[0].rstrip("."),
        Takes.NOTHING if kind is bool else _BY_METAVAR.get(option.metavar, Takes.WORD),
        tuple(choice.value for choice in choices),
        any(getattr(part, "__origin__", None) is list for part in get_args(kind)),
    )


def bash(name: str, command: Command) -> str:
    function = _function(name)
    parts = [*_bash_functions(function, command, 1), f"complete -o filenames -F {function} {name}"]
    return "\n".join([*parts, ""])


def _bash_functions(function: str, command: Command, place: int) -> Iterator[str]:
    """`place`: of its subcommand among the words."""
    called = {sub: f"{function}_{sub.replace('-', '_')}" for sub in command.subcommands}
    for sub, nested in command.subcommands.items():
        yield from _bash_functions(called[sub], nested, place + 1)
    yield _bash_function(function, command.declaration, called, place)


def _bash_function(
    function: str, declaration: Declaration, called: Mapping[str, str], place: int
) -> str:
    """`called`: the function of each subcommand."""
    every = " ".join(n for flag in flags(declaration) for n in flag.names)
    lines = [
        f"{function}() {{",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
    ]
    if called:
        lines += [
            f'    if ((COMP_CWORD > {place})); then case "${{COMP_WORDS[{place}]}}" in',
            *(f"        {sub}) {other}; return ;;" for sub, other in called.items()),
            "    esac; fi",
        ]
    lines += ['    case "$prev" in', *_bash_cases(declaration), "    esac"]
    if (words := argument(declaration)) is not None:
        reply = _bash_words(words) if words else _BASH[Takes.DIRECTORY]
        lines.append(f'    if [[ "$cur" != -* ]]; then {reply}; return; fi')
    if called:
        names = " ".join(called)
        lines.append(f'    local commands=""; ((COMP_CWORD > {place})) || commands="{names}"')
        every = f"$commands {every}"
    return "\n".join([*lines, f'    COMPREPLY=($(compgen -W "{every}" -- "$cur"))', "}"])


def _bash_words(words: Iterable[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$cur"))'


_BASH = {
    Takes.WORD: "COMPREPLY=()",
    Takes.FILE: 'COMPREPLY=($(compgen -f -- "$cur"))',
    Takes.DIRECTORY: 'COMPREPLY=($(compgen -d -- "$cur"))',
}


def _bash_cases(declaration: Declaration) -> Iterator[str]:
    for flag in flags(declaration):
        if flag.takes is Takes.NOTHING:
            continue
        reply = _BASH[flag.takes]
        if flag.choices:
            reply = _bash_words(flag.choices)
        yield f"        {'|'.join(flag.names)}) {reply}; return ;;"


def zsh(name: str, command: Command) -> str:
    return "\n".join([f"#compdef {name}", *_zsh_lines(command), ""])


def _zsh_lines(command: Command) -> Iterator[str]:
    if not command.subcommands:
        yield _zsh_arguments(command.declaration, [])
        return
    yield 'if ((CURRENT > 2)); then case "$words[2]" in'
    for sub, nested in command.subcommands.items():
        # Of a subcommand the words begin with its own name.
        yield f"{sub})"
        yield "shift words; ((CURRENT--))"
        yield from _zsh_lines(nested)
        yield "return ;;"
    yield "esac; fi"
    first = f"1:command:({' '.join(command.subcommands)})"
    yield _zsh_arguments(command.declaration, [first])


_ZSH = {
    Takes.NOTHING: "",
    Takes.WORD: ":value: ",
    Takes.FILE: ":file:_files",
    Takes.DIRECTORY: ":directory:_files -/",
}


def _zsh_arguments(declaration: Declaration, more: list[str]) -> str:
    """`more`: specs of arguments, which no flag of this command comes before."""
    specs = list(more)
    alone = "(1)" if more else ""
    for flag in flags(declaration):
        text = flag.help.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " ")
        value = f":value:({' '.join(flag.choices)})" if flag.choices else _ZSH[flag.takes]
        again = "*" if flag.repeatable else ""
        specs += [f"{alone}{again}{option}[{text}]{value}" for option in flag.names]
    if (words := argument(declaration)) is not None:
        specs.append(f"*:command:({' '.join(words)})" if words else "*:directory:_files -/")
    return " \\\n".join(["_arguments", *(f"    '{spec}'" for spec in specs)])


def fish(name: str, command: Command) -> str:
    return "\n".join([f"complete -c {name} -f", *_fish_command(name, command, ()), ""])


def _fish_command(name: str, command: Command, path: tuple[str, ...]) -> Iterator[str]:
    """`path`: the names of the commands around it, and its own."""
    seen = [f"__fish_seen_subcommand_from {each}" for each in path]
    if command.subcommands:
        subcommands = " ".join(command.subcommands)
        first = "; and ".join([*seen, f"test (count (commandline -opc)) -eq {len(path) + 1}"])
        yield f"complete -c {name} -n '{first}' -a '{subcommands}'"
        seen.append(f"not __fish_seen_subcommand_from {subcommands}")
    where = f" -n '{'; and '.join(seen)}'" if seen else ""
    yield from _fish_lines(f"complete -c {name}{where}", command.declaration)
    for sub, nested in command.subcommands.items():
        yield from _fish_command(name, nested, (*path, sub))


_FISH_DIRECTORIES = "-a '(__fish_complete_directories)'"
_FISH = {
    Takes.NOTHING: "",
    Takes.WORD: " -x",
    Takes.FILE: " -r -F",
    Takes.DIRECTORY: f" -x {_FISH_DIRECTORIES}",
}


def _fish_lines(start: str, declaration: Declaration) -> Iterator[str]:
    for flag in flags(declaration):
        text = flag.help.replace("'", "")
        value = f" -x -a '{' '.join(flag.choices)}'" if flag.choices else _FISH[flag.takes]
        for option in flag.names:
            yield f"{start} -l {option.removeprefix('--')} -d '{text}'{value}"
    if (words := argument(declaration)) is not None:
        yield f"{start} " + (f"-a '{' '.join(words)}'" if words else _FISH_DIRECTORIES)


def _function(name: str) -> str:
    return "_" + name.replace("-", "_")


SHELLS: dict[str, Callable[[str, Command], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def scripts() -> dict[Path, str]:
    return {
        HERE / f"{name}.{shell}": write(name, command)
        for name, command in COMMANDS.items()
        for shell, write in SHELLS.items()
    }


if __name__ == "__main__":
    for path, text in scripts().items():
        path.write_text(text)
