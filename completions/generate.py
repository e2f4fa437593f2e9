"""Completion scripts for bash, zsh and fish, man pages and help, from the commands' own flags;
the chart of docs/incident.chart.

The scripts are static, so that pressing TAB starts no Python, but for words that only a cluster
knows: `kafka-unclean-recovery complete` is asked for those. `make completions` writes all; a test
compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from completions.chart import chart
from completions.commands import ASKED_FOR, PROGRAMS, Argument, Command, Flag, Takes, command
from completions.help import help_files
from completions.man import MAN, command_pages, man_page
from completions.reference import reference_pages
from completions.runbook import runbook_pages
from kafka_unclean_recovery.cli import RECOVERY
from kafka_unclean_recovery.cli.commands import complete

HERE = Path(__file__).parent


def _function(name: str) -> str:
    return "_" + name.replace("-", "_")


def bash(top: Command) -> str:
    function = _function(top.name)
    return "\n".join(
        [
            _BASH_START.format(function=function, ask=_asking(top, '"$1"', '"${1%NAME}PROGRAM"')),
            *_bash_functions(function, function, top, 1),
            f"complete -o filenames -F {function} {top.name}",
            "",
        ]
    )


# $2 is what readline replaces: without an opening quote, and what stands before = or :. Words come
# line by line into COMPREPLY, so that no name is split, expanded or evaluated. readline does not
# quote all that is no file: of what a cluster says only plain names are offered.
_BASH_START = """\
{function}__reply() {{
    local word
    COMPREPLY=()
    while IFS= read -r word; do COMPREPLY+=("$word"); done
}}
{function}__ask() {{
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        case $word in *[!a-zA-Z0-9._,-]*) ;; *) COMPREPLY+=("$word") ;; esac
    done < <({ask} "$2" -- "${{COMP_LINE:0:COMP_POINT}}" < /dev/null 2> /dev/null)
}}
{function}__journals() {{
    local kept=${{XDG_STATE_HOME:-~/.local/state}}/kafka-unclean-recovery
    {function}__reply < <(compgen -f -- "$1"; [[ $1 ]] || compgen -G "$kept/*/*.jsonl")
}}"""


def _asking(top: Command, itself: str, other: str) -> str:
    """Return the call of the entry that asks a cluster. `itself` stands for the program as it was
    typed; `other` for the one that has the entry, which lies beside it."""
    if top.name == RECOVERY:
        return f"{itself} {complete.NAME}"
    program = other.replace("NAME", top.name).replace("PROGRAM", RECOVERY)
    return f"{program} {complete.NAME}"


def _bash_functions(prefix: str, function: str, called: Command, place: int) -> Iterator[str]:
    """Yield the functions. `prefix` starts helpers' names; `place`: of the subcommand's word."""
    others = {sub: f"{function}_{sub.replace('-', '_')}" for sub in called.subcommands}
    for sub, nested in called.subcommands.items():
        yield from _bash_functions(prefix, others[sub], nested, place + 1)
    yield _bash_function(prefix, function, called, others, place)


def _bash_function(
    prefix: str, function: str, called: Command, others: Mapping[str, str], place: int
) -> str:
    """Return one function. `others`: the function of each subcommand."""
    every = " ".join(name for flag in called.flags for name in flag.names)
    lines = [
        f"{function}() {{",
        '    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"',
        # --flag=value is three words here.
        '    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    ]
    if others:
        lines += [
            f'    if ((COMP_CWORD > {place})); then case "${{COMP_WORDS[{place}]}}" in',
            *(f'        {sub}) {other} "$@"; return ;;' for sub, other in others.items()),
            "    esac; fi",
        ]
    lines += ['    case "$prev" in', *_bash_cases(prefix, called.flags), "    esac"]
    if called.arguments:
        reply = _bash_reply(prefix, called.arguments[0])
        lines.append(f'    if [[ "$cur" != -* ]]; then {reply}; return; fi')
    if others:
        lines.append(
            f'    local commands=""; ((COMP_CWORD > {place})) || commands="{" ".join(others)}"'
        )
        every = f"$commands {every}"
    return "\n".join([*lines, f"    {_bash_words(prefix, every)}", "}"])


def _bash_cases(prefix: str, flags: Iterable[Flag]) -> Iterator[str]:
    for flag in flags:
        if flag.takes is not Takes.NOTHING:
            yield f"        {'|'.join(flag.names)}) {_bash_reply(prefix, flag)}; return ;;"


def _bash_reply(prefix: str, taking: Flag | Argument) -> str:
    if words := _words(taking):
        return _bash_words(prefix, " ".join(words))
    if taking.takes in ASKED_FOR:
        return f'{prefix}__ask "$1" {taking.takes}'
    if taking.takes is Takes.JOURNAL:
        return f'{prefix}__journals "$cur"'
    if taking.takes is Takes.WORD:
        return "COMPREPLY=()"
    kind = "-d" if taking.takes is Takes.DIRECTORY else "-f"
    return f'{prefix}__reply < <(compgen {kind} -- "$cur")'


def _bash_words(prefix: str, words: str) -> str:
    return f'{prefix}__reply < <(compgen -W "{words}" -- "$cur")'


def _words(taking: Flag | Argument) -> tuple[str, ...]:
    """Return the few words that a value may be; none when any will do."""
    return taking.choices if isinstance(taking, Flag) else taking.words


def zsh(top: Command) -> str:
    function = _function(top.name)
    program = _asking(top, '"${(Q)typed[1]}"', '"${${(Q)typed[1]}%NAME}PROGRAM"')
    start = _ZSH_START.format(name=top.name, function=function, ask=program)
    return "\n".join([start, *_zsh_lines(function, top), ""])


# `typed` keeps the words, which lose those of the commands around below. Candidates go to compadd
# as they are, which quotes them.
_ZSH_START = """\
#compdef {name}
local -a typed=("${{words[@]}}"); local -i typing=CURRENT
{function}__ask() {{
    local -a found
    found=("${{(@f)$({ask} $1 -- \\
        "${{(j: :)typed[1,typing-1]}} $PREFIX" < /dev/null 2> /dev/null)}}")
    compadd -- "${{(@)found:#}}"
}}
{function}__journals() {{
    _files
    [[ -n $PREFIX ]] || compadd -f -- \
        ${{XDG_STATE_HOME:-~/.local/state}}/kafka-unclean-recovery/*/*.jsonl(N)
}}"""


def _zsh_lines(function: str, called: Command) -> Iterator[str]:
    if not called.subcommands:
        yield _zsh_arguments(function, called)
        return
    yield 'if ((CURRENT > 2)); then case "$words[2]" in'
    for sub, nested in called.subcommands.items():
        # Of a subcommand the words begin with its own name.
        yield f"{sub})"
        yield "shift words; ((CURRENT--))"
        yield from _zsh_lines(function, nested)
        yield "return ;;"
    yield "esac; fi"
    yield _zsh_arguments(function, called)


def _zsh_arguments(function: str, called: Command) -> str:
    specs = []
    if called.subcommands:
        # No flag of this command comes before them.
        specs.append(f"1:command:({' '.join(called.subcommands)})")
    alone = "(1)" if specs else ""
    for flag in called.flags:
        text = flag.first_sentence.replace("[", "(").replace("]", ")").replace(":", " ")
        again = "*" if flag.repeatable else ""
        value = _zsh_value(function, flag)
        specs += [f"{alone}{again}{_zsh_name(name, flag)}[{text}]{value}" for name in flag.names]
    specs += ["*" + _zsh_value(function, argument) for argument in called.arguments[:1]]
    quoted = (spec.replace("'", "'\\''") for spec in specs)
    return " \\\n".join(["_arguments", *(f"    '{spec}'" for spec in quoted)])


def _zsh_name(name: str, flag: Flag) -> str:
    """Return the flag with = where a value follows: in the next word, or behind a =."""
    return name if flag.takes is Takes.NOTHING else f"{name}="


def _zsh_value(function: str, taking: Flag | Argument) -> str:
    if words := _words(taking):
        return f":value:({' '.join(words)})"
    if taking.takes in ASKED_FOR:
        return f":{taking.takes}:{{{function}__ask {taking.takes}}}"
    if taking.takes is Takes.JOURNAL:
        return f":journal:{{{function}__journals}}"
    return _ZSH[taking.takes]


_ZSH = {
    Takes.NOTHING: "",
    Takes.WORD: ":value: ",
    Takes.FILE: ":file:_files",
    Takes.DIRECTORY: ":directory:_files -/",
}


def fish(top: Command) -> str:
    itself = "(commandline -opc)[1]"
    program = _asking(top, itself, f"(string replace -r 'NAME$' PROGRAM -- {itself})")
    start = _FISH_START.format(name=top.name, function=_function(top.name), ask=program)
    return "\n".join([start, *_fish_command(top.name, top, ()), ""])


_FISH_START = """\
function _{function}_ask
    set -l call {ask} $argv -- (commandline -cp | string collect)
    command $call < /dev/null 2> /dev/null
end
function _{function}_journals
    set -l state ~/.local/state
    if test -n "$XDG_STATE_HOME"
        set state $XDG_STATE_HOME
    end
    for journal in $state/kafka-unclean-recovery/*/*.jsonl
        echo $journal
    end
end
complete -c {name} -f"""


def _fish_command(name: str, called: Command, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a command. `path`: the names of the commands around it, and its own."""
    seen = [f"__fish_seen_subcommand_from {each}" for each in path]
    if called.subcommands:
        subcommands = " ".join(called.subcommands)
        first = "; and ".join([*seen, f"test (count (commandline -opc)) -eq {len(path) + 1}"])
        yield f"complete -c {name} -n '{first}' -a '{subcommands}'"
        seen.append(f"not __fish_seen_subcommand_from {subcommands}")
    where = f" -n '{'; and '.join(seen)}'" if seen else ""
    yield from _fish_lines(name, f"complete -c {name}{where}", called)
    for sub, nested in called.subcommands.items():
        yield from _fish_command(name, nested, (*path, sub))


def _fish_lines(name: str, start: str, called: Command) -> Iterator[str]:
    for flag in called.flags:
        text = flag.first_sentence.replace("\\", "\\\\").replace("'", "\\'")
        for option in flag.names:
            described = f"{start} -l {option.removeprefix('--')} -d '{text}'"
            yield described + _fish_value(name, flag)
    for argument in called.arguments[:1]:
        yield start + _fish_words(name, argument)


def _fish_value(name: str, flag: Flag) -> str:
    if flag.takes is Takes.NOTHING:
        return ""
    files = flag.takes in (Takes.FILE, Takes.JOURNAL)
    return (" -r" if files else " -x") + _fish_words(name, flag)


def _fish_words(name: str, taking: Flag | Argument) -> str:
    if words := _words(taking):
        return f" -a '{' '.join(words)}'"
    if taking.takes in ASKED_FOR:
        return f" -a '(_{_function(name)}_ask {taking.takes})'"
    if taking.takes is Takes.JOURNAL:
        return f" -F -a '(_{_function(name)}_journals)'"
    return _FISH[taking.takes]


_FISH = {
    Takes.WORD: "",
    Takes.FILE: " -F",
    Takes.DIRECTORY: " -a '(__fish_complete_directories)'",
}


SHELLS: dict[str, Callable[[Command], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def generated() -> dict[Path, str]:
    """Return every file that comes out of the commands, and its text."""
    tops = [command(name) for name in PROGRAMS]
    scripts = {
        HERE / f"{top.name}.{shell}": write(top) for top in tops for shell, write in SHELLS.items()
    }
    pages = {MAN / f"{top.name}.1": man_page(top) for top in tops}
    for top in tops:
        pages |= {MAN / f"{name}.1": text for name, text in command_pages(top).items()}
    return scripts | pages | help_files() | runbook_pages() | reference_pages() | chart()


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
