"""The files in which an operator names partitions and leaders, read strictly. Pure.

Accepted, mixed freely (KIP-1275, "kafka-unclean-recovery.sh" and "kafka-elect-leaders.sh"):

    {"partitions": [{"topic": "foo", "partitions": [0, 3]},
                    {"topic": "bar", "partition": 0, "designatedLeader": 1}]}

A slip in such a file elects the wrong replica, so nothing is guessed and nothing given twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition

LEADER_KEYS = ("designatedLeader", "desiredLeader")
"""The key of KIP-1275, and that of KIP-966 before it."""

_INT32_MAX = 2**31 - 1
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_STRING = r'"(?:[^"\\]|\\.)*"'
_JSON_FIX = "names and texts go in double quotes, a comma between entries and none after the last"


class JsonObject(dict[str, object]):
    """A JSON object that remembers a key given twice, of which json.loads drops the first."""

    repeated: str | None = None


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


def parse_partitions(text: str, source: str) -> tuple[TopicPartition, ...]:
    """The partitions that `text` names, in its order; other keys (a leader) are ignored.

    `source` is what errors call the file. Raises InputError.
    """
    seen: dict[TopicPartition, Place] = {}
    for place, entry in _entries(text, source):
        for where, topic_partition in _partitions_of(entry, place):
            _claim(seen, topic_partition, where)
    return tuple(seen)


def parse_elections(text: str, source: str) -> tuple[tuple[TopicPartition, int | None], ...]:
    """(partition, broker id of its designated leader or None), in the order of `text`.

    A leader beside a list of partitions is meant for each of them. Raises InputError.
    """
    seen: dict[TopicPartition, Place] = {}
    elections: list[tuple[TopicPartition, int | None]] = []
    for place, entry in _entries(text, source):
        leader = _leader(entry, place)
        for where, topic_partition in _partitions_of(entry, place):
            _claim(seen, topic_partition, where)
            elections.append((topic_partition, leader))
    return tuple(elections)


def load_object(text: str, source: str) -> JsonObject:
    """The one JSON object that `text` is; a byte order mark before it is let pass.

    Raises InputError with line and column (both from 1) for what is not JSON.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError(
            f'{source}: line 1: the file is empty; it must hold {{"partitions": [...]}}'
        )
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=lambda name: _reject(name, text)
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise InputError(f"{source}: {where}: {error.msg}; {_JSON_FIX}") from None
    except RecursionError:
        raise InputError(f"{source}: nested too deeply; lists and objects go 4 deep here") from None
    except ValueError:  # Python's bound on the digits of a number
        line = text.count("\n", 0, _position(r"\d{640,}", text)) + 1
        raise InputError(f"{source}: line {line}: a number has too many digits") from None
    return _as_object(value, Place(source))


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        made.repeated = next(key for key in keys if keys.count(key) > 1)
    return made


def _reject(constant: str, text: str) -> NoReturn:
    """Python reads NaN and Infinity, which JSON has not."""
    position = _position(r"-?(?:NaN|Infinity)", text)
    raise json.JSONDecodeError(f"{constant} is not a JSON number", text, position)


def _position(token: str, text: str) -> int:
    """Where `token` first stands outside of a string; 0 if nowhere."""
    for match in re.finditer(f"{_STRING}|(?P<token>{token})", text):
        if match["token"]:
            return match.start()
    return 0


def _entries(text: str, source: str) -> Iterator[tuple[Place, JsonObject]]:
    place = Place(source).at("partitions")
    root = load_object(text, source)
    if "partitions" not in root:
        raise Place(source).error('has no "partitions"; write {"partitions": [{"topic": ...}]}')
    for index, entry in enumerate(_as_list(root["partitions"], place)):
        yield place.item(index), _as_object(entry, place.item(index))


def _partitions_of(entry: JsonObject, place: Place) -> Iterator[tuple[Place, TopicPartition]]:
    topic = _topic(entry, place)
    if ("partition" in entry) == ("partitions" in entry):
        has = "both" if "partition" in entry else "neither"
        raise place.error(
            f'has {has} of "partition" (a number) and "partitions" (a list); give one'
        )
    if "partition" in entry:
        where = place.at("partition")
        yield where, TopicPartition(topic, _number(entry["partition"], where, "partition number"))
        return
    for index, number in enumerate(_as_list(entry["partitions"], place.at("partitions"))):
        where = place.at("partitions").item(index)
        yield where, TopicPartition(topic, _number(number, where, "partition number"))


def _claim(seen: dict[TopicPartition, Place], named: TopicPartition, where: Place) -> None:
    first = seen.setdefault(named, where)
    if first is not where:
        raise where.error(f"{named} was already named at {first.path}; remove one of the two")


def _leader(entry: JsonObject, place: Place) -> int | None:
    given = [_number(entry[key], place.at(key), "broker id") for key in LEADER_KEYS if key in entry]
    if len(set(given)) > 1:
        both = " and ".join(f"{key} {id_}" for key, id_ in zip(LEADER_KEYS, given, strict=True))
        raise place.error(f"has {both}, which differ; keep one of them")
    return given[0] if given else None


def _topic(entry: JsonObject, place: Place) -> str:
    if "topic" not in entry:
        raise place.error('has no "topic"; add the name of the topic')
    name, where = entry["topic"], place.at("topic")
    if not isinstance(name, str):
        raise where.error(f"must be the name of a topic in double quotes, not {_shown(name)}")
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise where.error(
            f"{_shown(name)} is not a legal topic name; "
            'it has 1 to 249 of a-z A-Z 0-9 . _ - and is not "." or ".."'
        )
    return name


def _number(value: object, place: Place, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        fix = "; remove the quotes" if isinstance(value, str) and value.isdecimal() else ""
        raise place.error(f"must be a {what}, a whole number, not {_shown(value)}{fix}")
    if not 0 <= value <= _INT32_MAX:
        raise place.error(f"must be a {what} from 0 to {_INT32_MAX}, not {_shown(value)}")
    return value


def _as_object(value: object, place: Place) -> JsonObject:
    if not isinstance(value, JsonObject):
        raise place.error(f"must be an object {{...}}, not {_shown(value)}")
    if value.repeated is not None:
        raise place.error(f"has {_shown(value.repeated)} twice; remove one of the two")
    return value


def _as_list(value: object, place: Place) -> list[object]:
    if not isinstance(value, list):
        raise place.error(f"must be a list [...], not {_shown(value)}")
    if not value:
        raise place.error("is an empty list; name at least one partition")
    return value


def _shown(value: object) -> str:
    """`value` as the file has it, short; what it holds is not followed, however deep."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
