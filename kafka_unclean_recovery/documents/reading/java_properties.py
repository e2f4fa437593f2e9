"""Parse the syntax of java.util.Properties as its load() documents it; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\n|\r")
_COMMENT = ("#", "!")

# A key runs to the first unescaped separator; one = or : may stand between blanks.
_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.?)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


class BadEscape(ValueError):
    r"""A \u without four hex digits. line: its number, from 1."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def parse_java_properties(text: str) -> dict[str, str]:
    """Return the properties of a file; the last of a repeated key wins. Raises BadEscape."""
    properties: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line)
        try:
            properties[_unescape(key)] = _unescape(value)
        except ValueError:
            raise BadEscape(number) from None
    return properties


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, logical line), without comments and empty lines."""
    lines = enumerate(_LINE_END.split(text), start=1)
    for number, natural in lines:
        line = natural.lstrip(_BLANKS)
        if line.startswith(_COMMENT):
            continue
        parts = [line]
        while _continues(parts[-1]):
            _, following = next(lines, (0, ""))
            parts[-1:] = [parts[-1][:-1], following.lstrip(_BLANKS)]
        if whole := "".join(parts):
            yield number, whole


def _continues(line: str) -> bool:
    backslashes = len(line) - len(line.rstrip("\\"))
    return backslashes % 2 == 1


def _split(line: str) -> tuple[str, str]:
    key = _KEY.match(line)
    assert key is not None  # the pattern matches the empty string
    separator = _SEPARATOR.match(line, key.end())
    assert separator is not None
    return key.group(), line[separator.end() :]


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    unescaped = _ESCAPE.sub(_meaning, text)
    # Java's escapes are UTF-16: a character above U+FFFF is written as two of them.
    return unescaped.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def _meaning(escape: re.Match[str]) -> str:
    body = escape.group(1)
    if len(body) > 1:
        return chr(int(body[1:], 16))
    if body == "u":
        raise ValueError("malformed \\uXXXX escape")
    return _CONTROL.get(body, body)
