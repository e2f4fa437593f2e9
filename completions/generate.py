"""Static completion scripts for bash, zsh and fish, from the commands' own flags.

Static, so that pressing TAB starts no Python. `make completions` writes them; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from kafka_unclean_recovery.cli import elect_leaders, unclean_recovery

HERE = Path(__file__).parent
Command = Callable[..., None]
COMMANDS: dict[str, Command] = {
    unclean_recovery.NAME: unclean_recovery.unclean_recovery,
    elect_leaders.NAME: elect_leaders.elect_leaders,
}
_FILES = ("FILE", "NEWFILE", "JOURNAL")


@dataclass(frozen=True)
class Flag:
    """One flag: what it takes is nothing, a word (`choices` empty or not), or a file."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...]
    is_file: bool


def flags(command: Command) -> list[Flag]:
    """From the command's own signature: Annotated[type, typer.Option(...)]."""
    hints = get_type_hints(command, include_extras=True)
    options = [(name, get_args(hint)) for name, hint in hints.items() if name != "return"]
    found = [_flag(name, kind, option) for name, (kind, option) in options]
    return [*found, Flag(("--help",), "Show this message and exit", False, (), False)]


def _flag(name: str, kind: Any, option: Any) -> Flag:
    choices = tuple(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ()
    # Within Annotated, typer keeps the first name given where a default would stand.
    first = (option.default,) if isinstance(option.default, str) else ()
    return Flag(
        (*first, *(option.param_decls or ())) or ("--" + name.replace("_", "-"),),
        (option.help or "").split(". ")[0].rstrip("."),
        kind is not bool,
        tuple(choice.value for choice in choices),
        option.metavar in _FILES,
    )


def bash(name: str, command: Command) -> str:
    function = "_" + name.replace("-", "_")
    every = " ".join(n for flag in flags(command) for n in flag.names)
    cases = []
    for flag in flags(command):
        if flag.choices:
            reply = f'COMPREPLY=($(compgen -W "{" ".join(flag.choices)}" -- "$cur"))'
        elif flag.is_file:
            reply = 'COMPREPLY=($(compgen -f -- "$cur"))'
        elif flag.takes_value:
            reply = "COMPREPLY=()"
        else:
            continue
        cases.append(f"        {'|'.join(flag.names)}) {reply}; return ;;")
    return "\n".join(
        [
            f"{function}() {{",
            '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            '    case "$prev" in',
            *cases,
            "    esac",
            f'    COMPREPLY=($(compgen -W "{every}" -- "$cur"))',
            "}",
            f"complete -o filenames -F {function} {name}",
            "",
        ]
    )


def zsh(name: str, command: Command) -> str:
    lines = [f"#compdef {name}", "_arguments \\"]
    for flag in flags(command):
        text = flag.help.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " ")
        for option in flag.names:
            value = ""
            if flag.choices:
                value = f":value:({' '.join(flag.choices)})"
            elif flag.is_file:
                value = ":file:_files"
            elif flag.takes_value:
                value = ":value: "
            lines.append(f"    '{option}[{text}]{value}' \\")
    lines[-1] = lines[-1].removesuffix(" \\")
    return "\n".join([*lines, ""])


def fish(name: str, command: Command) -> str:
    lines = [f"complete -c {name} -f"]
    for flag in flags(command):
        text = flag.help.replace("'", "")
        for option in flag.names:
            line = f"complete -c {name} -l {option.removeprefix('--')} -d '{text}'"
            if flag.choices:
                line += f" -x -a '{' '.join(flag.choices)}'"
            elif flag.is_file:
                line += " -r -F"
            elif flag.takes_value:
                line += " -x"
            lines.append(line)
    return "\n".join([*lines, ""])


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
