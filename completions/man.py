"""Man pages: what the parsers say of themselves, and written text around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from completions.commands import Argument, Command, Flag, every_command
from completions.man_text import TEXTS
from kafka_unclean_recovery import __version__

# Inside the package: a wheel has them under share/man too, where man(1) looks.
MAN = Path(__file__).parent.parent / "kafka_unclean_recovery" / "man"


def man_page(top: Command) -> str:
    """Return the page in roff, with the macros of man(7)."""
    text = TEXTS[top.name]
    # No date: the page would differ every day from what was generated.
    lines = [
        '.\\" Written by completions/man.py; `make completions` writes it again.',
        f'.TH {top.name.upper()} 1 "" "kafka-unclean-recovery {__version__}"',
        # What may be copied to a command line is neither hyphenated nor spaced out.
        ".nh\n.ad l",
        *_section("NAME", [f"{top.name} \\- {_plain(text.purpose)}"]),
        *_section("SYNOPSIS", _synopsis(top)),
        *_section("DESCRIPTION", _paragraphs(f"{top.help}\n\n{text.description}")),
        *_section("OPTIONS", _options(top.flags)),
    ]
    if top.subcommands:
        lines += _section("COMMANDS", _commands(top))
    for title, paragraphs in text.sections:
        lines += _section(title, _paragraphs(paragraphs))
    lines += _section("EXAMPLES", _examples(text.examples))
    lines += _section("SEE ALSO", [_plain(text.see_also)])
    return "\n".join([*lines, ""])


def command_pages(top: Command) -> dict[str, str]:
    """Return the page of each command below a program, by its name: its words with dashes."""
    below = list(every_command(top))[1:]
    return {words.replace(" ", "-"): _command_page(top, words, called) for words, called in below}


def _command_page(top: Command, words: str, called: Command) -> str:
    name = words.replace(" ", "-")
    also = [top.name, *(f"{name}-{each}" for each in called.subcommands)]
    lines = [
        '.\\" Written by completions/man.py; `make completions` writes it again.',
        f'.TH {name.upper()} 1 "" "kafka-unclean-recovery {__version__}"',
        ".nh\n.ad l",
        *_section("NAME", [f"{_plain(name)} \\- {_plain(called.short_help)}"]),
        *_section("SYNOPSIS", [f".HP\n{_bold(words)} [\\fIOPTIONS\\fR]{_arguments(called)}"]),
        *_section("DESCRIPTION", _paragraphs(called.help)),
    ]
    if called.arguments:
        lines += _section("ARGUMENTS", _described(called.arguments))
    lines += _section("OPTIONS", _options(called.flags))
    lines += _section("SEE ALSO", [", ".join(f"{_bold(each)}(1)" for each in also)])
    return "\n".join([*lines, ""])


def _section(title: str, lines: Iterable[str]) -> list[str]:
    return [f".SH {title}", *lines]


def _synopsis(top: Command) -> Iterator[str]:
    for words, called in every_command(top):
        # Indented where it goes on.
        yield f".HP\n{_bold(words)} [\\fIOPTIONS\\fR]{_arguments(called)}"


def _arguments(called: Command) -> str:
    return "".join(
        f" \\fI{_plain(each.metavar)}\\fR{'...' if each.repeatable else ''}"
        for each in called.arguments
    )


def _commands(top: Command) -> Iterator[str]:
    for words, called in list(every_command(top))[1:]:
        yield f".SS {_bold(words)}{_arguments(called)}"
        yield from _paragraphs(called.help)
        yield from _described(called.arguments)
        yield from _options(called.flags)


def _described(arguments: Iterable[Argument]) -> Iterator[str]:
    for each in arguments:
        yield f".TP\n\\fI{_plain(each.metavar)}\\fR\n{_plain(each.help)}"


def _options(flags: Iterable[Flag]) -> Iterator[str]:
    for flag in flags:
        names = ", ".join(map(_bold, flag.names))
        value = f" \\fI{_plain(flag.metavar)}\\fR" if flag.metavar else ""
        yield f".TP\n{names}{value}\n{_plain(flag.help)}{_plain(_note(flag))}"


def _note(flag: Flag) -> str:
    if flag.required:
        return " Required."
    return f" Default: {flag.default}." if flag.default else ""


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the parts of a text between empty lines."""
    for paragraph in text.strip().split("\n\n"):
        yield f".PP\n{_plain(' '.join(paragraph.split()))}"


def _examples(examples: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield what each example does, and its lines, which stay as they are."""
    for purpose, lines in examples:
        yield f".PP\n{_plain(purpose)}\n.PP\n.RS 4\n.nf"
        yield from map(_plain, lines.strip().splitlines())
        yield ".fi\n.RE"


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _plain(text: str) -> str:
    """Return the text with nothing that roff acts on; hyphens can be copied to a command line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
