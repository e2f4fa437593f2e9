"""These functions parse the words of commands into values. Each raises ValueError with the form
that it takes."""

from __future__ import annotations

import re

from kafka_unclean_recovery.emulator.disks.damage import Damage
from kafka_unclean_recovery.emulator.faults import CLIENTS, CONTROLLER, NOWHERE, STOPPED, Drop
from kafka_unclean_recovery.emulator.listener.intercepts import Where
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules.events import ElectionType
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER

# Kafka allows these characters (Topic.LEGAL_CHARS), and a directory name allows no more of them.
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_LARGEST = 1 << 31


def text(word: str) -> str:
    return word


def topic(word: str) -> str:
    if not _TOPIC.fullmatch(word) or word in (".", ".."):
        raise ValueError(f"{word!r} is no name of a topic: letters, digits, '.', '_' and '-'")
    return word


def partition(word: str) -> tuple[str, int]:
    name, dash, digits = word.rpartition("-")
    if not dash or not digits.isdecimal():
        raise ValueError(f"{word!r} is no partition: TOPIC-NUMBER, as in orders-0")
    return topic(name), whole(digits)


def whole(word: str) -> int:
    if not (word.isascii() and word.isdecimal()) or int(word) >= _LARGEST:
        raise ValueError(f"{word!r} is no whole number")
    return int(word)


def offsets(word: str) -> tuple[int, int]:
    """Return the offsets [first, end)."""
    first, _, end = word.partition("-")
    found = whole(first), whole(end)
    if found[0] >= found[1]:
        raise ValueError(f"{word!r} holds no offset: give FIRST-END, its end exclusive")
    return found


def one_or_more(word: str) -> int:
    if (found := whole(word)) < 1:
        raise ValueError(f"{word!r} is not 1 or more")
    return found


def broker(word: str) -> int:
    if not word.isdecimal() or whole(word) < 1:
        raise ValueError(f"{word!r} is no broker: they are numbered from 1")
    return int(word)


def process(word: str) -> int:
    """Parse the name of a process that can be paused."""
    return CONTROLLER if word == "controller" else broker(word)


def arrival(word: str) -> int:
    """Parse a broker to which an address leads."""
    return NOWHERE if word == "nowhere" else broker(word)


def link_end(word: str) -> int:
    named = {"controller": CONTROLLER, "clients": CLIENTS}
    if word not in named and not word.isdecimal():
        raise ValueError(f"{word!r} is no end of a link: a broker's number, controller or clients")
    return named[word] if word in named else broker(word)


def brokers(word: str) -> tuple[int, ...]:
    """Parse brokers with commas between them. An empty word means none."""
    return tuple(broker(each) for each in word.split(",")) if word else ()


def brokers_or_none(word: str) -> tuple[int, ...] | None:
    """Parse brokers with commas between them. An empty word means that nothing is wanted."""
    return brokers(word) or None


def leader(word: str) -> int:
    return NO_LEADER if word == "none" else broker(word)


def assignment(word: str) -> list[tuple[int, ...]]:
    """Parse an assignment as kafka-topics --replica-assignment does: 1:2:4,2:4:1."""
    return [tuple(map(broker, replicas.split(":"))) for replicas in word.split(",")]


def seconds(word: str) -> float:
    """Parse milliseconds into seconds."""
    return whole(word) / 1000


def seconds_or_all(word: str) -> float | None:
    return STOPPED if word == "all" else seconds(word)


def yes_or_no(word: str) -> bool:
    if word not in ("yes", "no"):
        raise ValueError(f"{word!r} is neither yes nor no")
    return word == "yes"


def lag(word: str) -> int | None:
    return STOPPED if word == "all" else whole(word)


def drop(word: str) -> Drop:
    return Drop(_one_of(word, [each.value for each in Drop]))


def damage(word: str) -> Damage:
    return Damage(_one_of(word, [each.value for each in Damage]))


def acks(word: str) -> str:
    return _one_of(word, ["all", "1", "0"])


def election_type(word: str) -> ElectionType:
    return ElectionType(_one_of(word, [each.value for each in ElectionType]))


def carried_out(word: str) -> bool:
    """Return whether the action happens after the request was carried out."""
    return _one_of(word, ["before", "after"]) == "after"


def entries(word: str) -> frozenset[str]:
    """Parse names of entries with commas between them."""
    if not all(names := word.split(",")):
        raise ValueError("names of entries are wanted, as in orders-0,payments")
    return frozenset(names)


def entries_or_all(word: str) -> frozenset[str] | None:
    return None if word == "all" else entries(word)


def where(word: str) -> Where:
    return Where(_one_of(word, [each.value for each in Where]))


def error_code(word: str) -> int:
    """Parse an error's number, or its name in Kafka's class Errors if it is known here."""
    negative, digits = word.startswith("-"), word.removeprefix("-")
    if digits.isdecimal() and (code := whole(digits)) < 1 << 15:
        return -code if negative else code
    if word not in Errors.__members__:
        raise ValueError(f"{word!r} is no error known here; give its number, as in 6")
    return Errors[word].value


def output_format(word: str) -> str:
    return _one_of(word, ["text", "json"])


def _one_of(word: str, allowed: list[str]) -> str:
    if word not in allowed:
        raise ValueError(f"{word!r} is none of {', '.join(allowed)}")
    return word
