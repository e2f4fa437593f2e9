"""JSON out of a file, read strictly: errors name the file, the place and the fix. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from kafka_unclean_recovery.errors import InputError

_STRING = r'"(?:[^"\\]|\\.)*"'
# A plan of some hundred thousand partitions has as many; an empty list takes 56 bytes of memory.
_MOST_ENTRIES, _MOST_VALUES = 10_000_000, 100_000_000
_JSON_FIX = "names and texts go in double quotes, a comma between entries and none after the last"


class JsonObject(dict[str, object]):
    """A JSON object that remembers a key given twice, of which json.loads drops the first.

    repeats_within: of a whole document: that this, or an object in it, has one.
    """

    repeated: str | None = None
    repeats_within: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something is said, as `partitions[2].partition`."""

    source: str
    path: str = ""

    def at(self, step: str) -> Place:
        return Place(self.source, f"{self.path}.{step}" if self.path else step)

    def item(self, index: int) -> Place:
        return Place(self.source, f"{self.path}[{index}]")

    def error(self, problem: str) -> InputError:
        where = f"{self.source}: {self.path}" if self.path else self.source
        return InputError(f"{where}: {problem}")


def load_object(text: str, source: str) -> JsonObject:
    """Return the one JSON object that `text` is; a byte order mark before it is let pass.

    Raises InputError with line and column (both from 1) for what is not JSON.
    """
    text = text.removeprefix("\ufeff")
    if text.count("{") + text.count("[") > _MOST_ENTRIES or text.count(",") > _MOST_VALUES:
        raise InputError(f"{source}: it holds more than any such file; use it as it was written")
    if not text.strip():
        raise InputError(
            f'{source}: line 1: the file is empty; it must hold {{"partitions": [...]}}'
        )
    repeated: list[str] = []
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: _object(pairs, repeated),
            parse_constant=lambda name: _reject(name, text),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InputError(f"{source}: {where}: {error.msg}; {_JSON_FIX}") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply; lists and objects go 4 deep here") from None
    except ValueError:  # Python's bound on the digits of a number
        line = text.count("\n", 0, _position(r"\d{640,}", text)) + 1
        raise InputError(f"{source}: line {line}: a number has too many digits") from None
    root = an_object(value, Place(source))
    root.repeats_within = bool(repeated)
    return root


def _object(pairs: list[tuple[str, object]], repeated: list[str]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        made.repeated = next(key for key in keys if keys.count(key) > 1)
        repeated.append(made.repeated)
    return made


def _reject(constant: str, text: str) -> NoReturn:
    """Raise JSONDecodeError for NaN and Infinity, which Python reads and JSON has not."""
    position = _position(r"-?(?:NaN|Infinity)", text)
    raise json.JSONDecodeError(f"{constant} is not a JSON number", text, position)


def _position(token: str, text: str) -> int:
    """Return where `token` first stands outside of a string; 0 if nowhere."""
    for match in re.finditer(f"{_STRING}|(?P<token>{token})", text):
        if match["token"]:
            return match.start()
    return 0


def an_object(value: object, place: Place) -> JsonObject:
    """Return the value. Raises InputError for what is no object, or has a key twice."""
    if not isinstance(value, JsonObject):
        raise place.error(f"must be an object {{...}}, not {shown(value)}")
    if value.repeated is not None:
        raise place.error(f"has {shown(value.repeated)} twice; remove one of the two")
    return value


def shown(value: object) -> str:
    """Return `value` as the file has it, short; what it holds is not followed, however deep."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
