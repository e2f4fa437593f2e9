"""Parse sasl.jaas.config: one login module, its control flag, its options, a semicolon; no I/O.

The text is read as Kafka's JaasConfig reads it on Java's StreamTokenizer: with quotes of either
kind, C's escapes inside them, and comments between the words. No error message quotes the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_unclean_recovery.errors import ConfigError

_KEY = "sasl.jaas.config"
_EXAMPLE = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="..." password="...";'
)
_CONTROL_FLAGS = ("required", "requisite", "sufficient", "optional")

_TOKEN = re.compile(
    r"""
    (?P<skip> \s+ | //[^\r\n]* | /\*.*?\*/ )
  | "(?P<double> (?: \\. | [^"\\\r\n] )* )"
  | '(?P<single> (?: \\. | [^'\\\r\n] )* )'
  | (?P<mark> [=;] )
  | (?P<word> [^\s=;"']+ )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


@dataclass(frozen=True, slots=True)
class LoginModule:
    name: str
    options: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "mark" for = and ;, else "word"
    text: str


def parse_jaas(value: str, source: str) -> LoginModule:
    """Return the one login module of a jaas line. Raises ConfigError."""
    tokens = _tokens(value, source)
    if _Token("mark", ";") not in tokens:
        raise _error(source, "does not end in a semicolon: add ; after the last option")
    end = tokens.index(_Token("mark", ";"))
    if end != len(tokens) - 1:
        raise _error(source, "goes on after the semicolon: keep one login module only")
    if end < 2 or tokens[1].text.lower() not in _CONTROL_FLAGS:
        raise _error(source, f"needs a login module and `required` first, as in {_EXAMPLE}")
    return LoginModule(tokens[0].text, _options(tokens[2:end], source))


def _options(tokens: list[_Token], source: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for at in range(0, len(tokens), 3):
        kinds = [token.kind for token in tokens[at : at + 3]]
        if kinds != ["word", "mark", "word"]:
            fix = f"has an option that isn't key=value: put values in quotes, as in {_EXAMPLE}"
            raise _error(source, fix)
        options[tokens[at].text] = tokens[at + 2].text
    return options


def _tokens(value: str, source: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(value):
        match = _TOKEN.match(value, position)
        if match is None:
            raise _error(source, "has a quote that is never closed on its line: close it")
        tokens.extend(_token(match))
        position = match.end()
    return tokens


def _token(match: re.Match[str]) -> list[_Token]:
    kind = match.lastgroup
    if kind in ("double", "single"):
        return [_Token("word", _ESCAPE.sub(_meaning, match[kind]))]
    return [] if kind is None or kind == "skip" else [_Token(kind, match[kind])]


def _meaning(escape: re.Match[str]) -> str:
    body = escape.group(1)
    if body[0] in "01234567":
        return chr(int(body, 8))
    return _CONTROL.get(body, body)


def _error(source: str, sentence: str) -> ConfigError:
    return ConfigError(f"{source}: {_KEY} {sentence}")
