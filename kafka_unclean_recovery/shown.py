"""Texts from outside become fit for a terminal and for a shell: names, reasons and paths come from
brokers, disks and files, and may hold escape codes, line ends, or characters that turn the order of
others round."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable

_BREAKS = re.compile(r"\s*[\n\r\t\f\v\x1c-\x1f\x85\u2028\u2029]\s*")
# Longer than any reason of ours: so much of a text leaves what stands below it on the screen.
_LONGEST = 4000


def shown(text: str) -> str:
    """Return the text on one line: what can't be printed is written as \\x1b or \\u202e."""
    return text if text.isprintable() else "".join(map(_shown_character, text))


def reason(text: str) -> str:
    """Return a sentence that somebody else wrote as one line: line ends become blanks, and of a
    very long one the beginning is kept."""
    return shown(_BREAKS.sub(" ", cut(text)).strip())


def cut(text: str, most: int = _LONGEST) -> str:
    """Return the text, or the beginning of a very long one and how long it is."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def shown_lines(lines: Iterable[str]) -> str:
    """Return lines of text, of which none can become two."""
    return "\n".join(map(shown, lines))


def screened(text: str, kept: re.Pattern[str] | None = None) -> str:
    """Return the text of some lines, whose line ends are ours. kept: what else is."""
    if kept is not None:
        ours = kept.findall(text)
        return "".join(
            each
            for part, own in zip(kept.split(text), [*ours, ""], strict=True)
            for each in (screened(part), own)
        )
    if text.replace("\n", "").isprintable():
        return text
    return "\n".join(map(shown, text.split("\n")))


def shell_join(words: Iterable[str]) -> str:
    """Return a command to be pasted. A word with characters that can't be printed is made by
    printf, in any shell: so none reaches the terminal, and the word is the same."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    made = "".join(map(_quoted_character, word))
    if word.endswith("\n"):
        # A shell cuts line ends off what a command prints; only bash, zsh and ksh know this way.
        return "$'" + made.replace("\\0", "\\") + "'"
    return f"\"$(printf '%b' {shlex.quote(made)})\""


def _shown_character(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def _quoted_character(character: str) -> str:
    if character.isprintable() and character not in "\\'":
        return character
    return "".join(f"\\0{byte:03o}" for byte in os.fsencode(character))
