"""Static completion scripts for bash, zsh and fish, from the commands' own flags.

Static, so that pressing TAB starts no Python. `make completions` writes them; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer.models import ArgumentInfo

from kafka_unclean_recovery.cli import (
    elect_leaders,
    plan_from_disks,
    scan_log_dirs,
    unclean_recovery,
)

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
}


@dataclass(frozen=True)
class Flag:
    """`choices`: the words that it takes, empty when any will do."""

    names: tuple[str, ...]
    help: str
    takes: Takes
    choices: tuple[str, ...] = ()
    repeatable: bool = False


@dataclass(frozen=True)
class Command:
    """A declaration for Typer, and its subcommands by name, which come right after its own name."""

    declaration: Declaration
    subcommands: Mapping[str, Declaration] = field(default_factory=dict)


COMMANDS = {
    unclean_recovery.NAME: Command(
        unclean_recovery.unclean_recovery,
        {
            scan_log_dirs.NAME: scan_log_dirs.scan_log_dirs,
            plan_from_disks.NAME: plan_from_disks.plan_from_disks,
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


def takes_directories(declaration: Declaration) -> bool:
    """Whether it has directories as arguments."""
    return any(isinstance(option, ArgumentInfo) for _, _, option in _parameters(declaration))


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
    called = {sub: f"{function}_{sub.replace('-', '_')}" for sub in command.subcommands}
    parts = [
        _bash_function(called[sub], declaration, {})
        for sub, declaration in command.subcommands.items()
    ]
    parts.append(_bash_function(function, command.declaration, called))
    return "\n".join([*parts, f"complete -o filenames -F {function} {name}", ""])


def _bash_function(function: str, declaration: Declaration, called: Mapping[str, str]) -> str:
    """`called`: the function of each subcommand."""
    every = " ".join(n for flag in flags(declaration) for n in flag.names)
    lines = [
        f"{function}() {{",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
    ]
    if called:
        lines += [
            '    if ((COMP_CWORD > 1)); then case "${COMP_WORDS[1]}" in',
            *(f"        {sub}) {other}; return ;;" for sub, other in called.items()),
            "    esac; fi",
        ]
    lines += ['    case "$prev" in', *_bash_cases(declaration), "    esac"]
    if takes_directories(declaration):
        lines.append(f'    if [[ "$cur" != -* ]]; then {_BASH[Takes.DIRECTORY]}; return; fi')
    if called:
        lines.append(f'    local commands=""; ((COMP_CWORD > 1)) || commands="{" ".join(called)}"')
        every = f"$commands {every}"
    return "\n".join([*lines, f'    COMPREPLY=($(compgen -W "{every}" -- "$cur"))', "}"])


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
            reply = f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$cur"))'
        yield f"        {'|'.join(flag.names)}) {reply}; return ;;"


def zsh(name: str, command: Command) -> str:
    if not command.subcommands:
        return "\n".join([f"#compdef {name}", _zsh_arguments(command.declaration, []), ""])
    lines = [f"#compdef {name}", 'if ((CURRENT > 2)); then case "$words[2]" in']
    for sub, declaration in command.subcommands.items():
        # Of a subcommand the words begin with its own name.
        lines += [
            f"{sub})",
            "shift words; ((CURRENT--))",
            _zsh_arguments(declaration, []),
            "return ;;",
        ]
    first = [f"1:command:({' '.join(command.subcommands)})"]
    return "\n".join([*lines, "esac; fi", _zsh_arguments(command.declaration, first), ""])


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
    if takes_directories(declaration):
        specs.append("*:directory:_files -/")
    return " \\\n".join(["_arguments", *(f"    '{spec}'" for spec in specs)])


def fish(name: str, command: Command) -> str:
    lines = [f"complete -c {name} -f"]
    subcommands = " ".join(command.subcommands)
    if subcommands:
        first = "test (count (commandline -opc)) -eq 1"
        lines.append(f"complete -c {name} -n '{first}' -a '{subcommands}'")
    own = f" -n 'not __fish_seen_subcommand_from {subcommands}'" if subcommands else ""
    lines += _fish_lines(f"complete -c {name}{own}", command.declaration)
    for sub, declaration in command.subcommands.items():
        where = f"complete -c {name} -n '__fish_seen_subcommand_from {sub}'"
        lines += _fish_lines(where, declaration)
    return "\n".join([*lines, ""])


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
    if takes_directories(declaration):
        yield f"{start} {_FISH_DIRECTORIES}"


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
