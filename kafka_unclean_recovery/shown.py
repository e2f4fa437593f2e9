"""Texts from outside become fit for a terminal and for a shell: names, reasons and paths come from
brokers, disks and files, and may hold escape codes, line ends, or characters that turn the order of
others round."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterable

_BREAKS = re.compile(r"\s*[\n\r\t\f\v\x1c-\x1f\x85\u2028\u2029]\s*")
# Longer than any reason of ours: so much of a text leaves what stands below it on the screen.
_LONGEST = 4000
# So many blanks in a row, and one more, reach from one line of a terminal to the beginning of the
# next.
_MOST_BLANKS = 16 * " "
_MANY_BLANKS = re.compile(f"(?<={_MOST_BLANKS}) +")
# Letters and marks by Unicode that have no ink of their own (Default_Ignorable_Code_Point).
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
# More marks than these on one letter reach into other lines.
_MARKS = 2


def shown(text: str) -> str:
    """Return the text on one line: what can't be printed is written as \\x1b or \\u202e, and so are
    blanks that would reach the beginning of a line of the terminal."""
    line = _printable(text)
    if _MOST_BLANKS not in line:
        return line
    return _MANY_BLANKS.sub(lambda blanks: "\\x20" * len(blanks[0]), line)


def reason(text: str) -> str:
    """Return a sentence that somebody else wrote as one line: line ends become blanks, and of a
    very long one the beginning is kept."""
    return shown(_BREAKS.sub(" ", cut(text)).strip())


def cut(text: str, most: int = _LONGEST) -> str:
    """Return the text, or the beginning of a very long one and how long it is."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def fitting(text: str, columns: int) -> str:
    """Return as much of the line as fits into so many columns, with the cursor behind it."""
    fits = left = 0
    for character in text:
        left += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if left >= columns:
            break
        fits += 1
    return text[:fits]


def width_of(text: str) -> int:
    """Return how many columns of a terminal the line takes."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(1 for character in text if unicodedata.combining(character))


def shown_lines(lines: Iterable[str]) -> str:
    """Join the lines to a text; no line can become two."""
    return "\n".join(map(shown, lines))


def screened(text: str, kept: re.Pattern[str] | None = None) -> str:
    """Return the text with its line ends; other characters that can't be printed are escaped, but
    for those that `kept` matches."""
    if kept is not None:
        ours = kept.findall(text)
        return "".join(
            each
            for part, own in zip(kept.split(text), [*ours, ""], strict=True)
            for each in (screened(part), own)
        )
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(_printable, text.split("\n")))


def shell_join(words: Iterable[str]) -> str:
    """Return a command to be pasted. A word with characters that can't be printed is made by
    printf, in any shell: so none reaches the terminal, and the word is the same."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    if _printable(word) == word:
        return shlex.quote(word)
    made = "".join(map(_quoted_character, word))
    if word.endswith("\n"):
        # A shell cuts line ends off what a command prints; only bash, zsh and ksh know this way.
        return "$'" + made.replace("\\0", "\\") + "'"
    return f"\"$(printf '%b' {shlex.quote(made)})\""


def _printable(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    found, marks = [], 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        found.append(character if _is_seen(character) and marks <= _MARKS else _written(character))
    return "".join(found)


def _is_seen(character: str) -> bool:
    return character.isprintable() and character not in _UNSEEN


def _written(character: str) -> str:
    return ascii(character)[1:-1]


def _quoted_character(character: str) -> str:
    # Between double quotes a shell that is typed into replaces ! by a command from before.
    if _is_seen(character) and character not in "\\'!":
        return character
    return "".join(f"\\0{byte:03o}" for byte in os.fsencode(character))
