"""Parse Java's .properties format as java.util.Properties.load(InputStream) reads it.

    line      = blank | comment | key [separator value]
    comment   = optional blanks, then '#' or '!', up to the line's end
    separator = blanks, or optional blanks around one '=' or ':'
    escapes   = backslash t, n, r, f; backslash u and four hex digits; backslash and any other
                character is that character
    an odd number of backslashes at a line's end joins the next line, less its leading blanks

Bytes are ISO-8859-1. The later of two values of one key counts.
"""

from __future__ import annotations

import re

from kafka_unclean_recovery.log_dir.errors import BadFormat

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\r|\n")
_KEY = re.compile(r"(?:\\.|[^\\ \t\f=:])*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.)|$)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BAD_UNICODE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})")


def parse_properties(what: str, data: bytes) -> dict[str, str]:
    """Return the keys and values. Raises BadFormat for a broken \\u escape, as Java does."""
    values = {}
    for line in _logical_lines(data.decode("iso-8859-1")):
        if _BAD_UNICODE.search(line):
            raise BadFormat(what, "a broken \\u escape")
        key = _KEY.match(line)
        assert key is not None  # the pattern matches the empty string too
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None
        values[_unescaped(key.group())] = _unescaped(line[separator.end() :])
    return values


def _logical_lines(text: str) -> list[str]:
    """Return the lines with their continuations joined, without comments and blank lines."""
    lines: list[str] = []
    parts: list[str] = []
    for natural in _LINE_END.split(text):
        line = natural.lstrip(_BLANKS)
        if not parts and (not line or line[0] in "#!"):
            continue
        joined = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        parts.append(line[:-1] if joined else line)
        if not joined:
            lines.append("".join(parts))
            parts = []
    return [*lines, "".join(parts)] if parts else lines


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code, character = match.groups()
        return chr(int(code, 16)) if code else _NAMED.get(character, character or "")

    return _ESCAPE.sub(plain, text)
