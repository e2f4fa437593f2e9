"""The next commands that a command prints on stderr, as a person would paste them."""

from __future__ import annotations

import re
import shlex

from tests.command_lines import CommandLine, check

_NEXT = re.compile(r": (?:next|then|in the end).*?: (kafka-\S+ .*)$", re.MULTILINE)


def printed(stderr: str, **values: str) -> list[list[str]]:
    """Return the words behind the program in each printed next command, with the placeholders that
    only a person can fill in replaced. Each is parsed as the program would."""
    found = []
    for text in _NEXT.findall(stderr):
        for name, value in values.items():
            text = text.replace(name, shlex.quote(value))
        check(CommandLine("stderr", text))
        found.append(shlex.split(text)[1:])
    return found
