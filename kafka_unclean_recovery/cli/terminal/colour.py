"""--color says whether text for people has colours. Nothing is told by colour alone.

Colours are put into lines that are laid out and screened already, so no width counts them and no
text from outside brings its own. One process runs one command, so the module keeps what the flag
says for the whole process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TextIO

import typer

from kafka_unclean_recovery.cli.terminal import standard_streams


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_RED, _GREEN, _YELLOW, _END = "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_MEANT: Mapping[str, str] = {
    # What is lost, or may be; what failed and must be looked at.
    "bad": _RED,
    # Nobody knows it, or nobody looked.
    "unsure": _YELLOW,
    # It is as it should be, and the leader that is designated or was elected.
    "good": _GREEN,
}
_WORDS = re.compile(
    r"""
    (?P<bad>
        certain\ loss\ (?!0\b|unknown)\d[\d,]*(?:\ records?)?
      | (?<=:\ )(?:refused|failed|no_candidate)(?=[:,]|$)
      | ^(?:failure|loss)(?=\ +[a-z_]+:)
      | ^no(?=[:,]|$)
    )|(?P<unsure>
        (?:certain|possible)\ loss\ unknown
      | possible\ loss\ (?!0\b)\d[\d,]*(?:\ records?)?
      | ^(?:warning|unknown)(?=\ +[a-z_]+:)
      | ^unknown(?=[:,]|$)
    )|(?P<good>
        (?:certain|possible)\ loss\ 0(?:\ records)?\b(?!,\d)
      | (?<=:\ )(?:elected|already_online)(?=[:,]|$)
      | (?<=\ \ )\*(?=\ |$)
      | ^(?:ok|yes)(?=\ +[a-z_]+:|[:,]|$)
    )
    """,
    re.VERBOSE | re.MULTILINE,
)

_when = Color.AUTO


def painted(text: str) -> str:
    """Return the text with colours around the words that a reader looks for."""
    return _WORDS.sub(_coloured, text)


def _coloured(found: re.Match[str]) -> str:
    assert found.lastgroup is not None
    return f"{_MEANT[found.lastgroup]}{found.group()}{_END}"


def wanted(stream: TextIO | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the stream gets colours: by --color, else where it is a terminal that shows
    them and NO_COLOR (no-color.org) is not set."""
    if _when is not Color.AUTO:
        return _when is Color.ALWAYS
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return not plain and standard_streams.is_terminal(stream)


def paint(when: Color) -> None:
    """Let `wanted` go by the flag from now on."""
    global _when
    _when = when


def _begin(when: Color) -> Color:
    paint(when)
    return when


# The callback does the work when the flag is read; commands only declare the flag.
ColorFlag = Annotated[
    Color,
    typer.Option(
        "--color",
        callback=_begin,
        is_eager=True,
        help="Colours in text for people: auto has them on a terminal unless NO_COLOR is set or"
        " TERM is dumb.",
    ),
]
