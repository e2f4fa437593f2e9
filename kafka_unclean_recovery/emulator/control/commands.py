"""This module parses the language of scenario files and of `emulator ctl`: one command a line,
words and key=value.

It is pure: text in, values out. `#` begins a comment; quotes are those of a shell. The module
executing carries out each command under the same name.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.emulator.control import command_values as value

Parse = Callable[[str], Any]

CONFIGS = "configs"
"""A command holds its keys with a dot under this name. They are configs: text by name."""


class BadCommand(ValueError):
    """A command is wrong. The text says what is allowed, and in a file names file and line."""


class NotDone(BadCommand):
    """A command was tried, and failed wholly or in part."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `values`: by the name of the word or key, in the types of command_values; a word
    that may be repeated has a tuple. Words and keys that were not given are missing."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of one command. It takes `words` in order and `optional` ones after them, or else
    `many`: one or more of a kind. `one_of`: exactly one of these keys is given. `configs`: whether
    keys with a dot are taken."""

    words: Mapping[str, Parse] = field(default_factory=dict)
    optional: Mapping[str, Parse] = field(default_factory=dict)
    many: Mapping[str, Parse] = field(default_factory=dict)
    keys: Mapping[str, Parse] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()
    configs: bool = False


_BROKERS = Form(many={"BROKER": value.broker})
_PROCESSES = Form(many={"BROKER|controller": value.process})
_ENDS = {"BROKER": value.link_end, "BROKER|controller|clients": value.link_end}
_TOPIC = {"TOPIC": value.topic}
_PARTITION = {"TOPIC-PARTITION": value.partition}
_DISK = Form(words={"BROKER": value.broker}, keys={"index": value.whole})

FORMS: Mapping[str, Form] = {
    # These commands are about topics, records and elections.
    "create-topic": Form(
        words=_TOPIC,
        keys={
            "partitions": value.one_or_more,
            "replication-factor": value.one_or_more,
            "replica-assignment": value.assignment,
        },
        configs=True,
    ),
    "delete-topic": Form(words=_TOPIC),
    "alter-configs": Form(words=_TOPIC, configs=True),
    "alter-broker-configs": Form(configs=True),
    "produce": Form(
        words={**_PARTITION, "COUNT": value.one_or_more},
        keys={
            "acks": value.acks,
            "batch": value.one_or_more,
            "broker": value.broker,
            "timeout-ms": value.seconds,
        },
    ),
    "share-group": Form(
        words={"GROUP": value.text, **_PARTITION},
        keys={"start": value.whole, "done": value.offsets},
        one_of=("start",),
    ),
    "elect-leaders": Form(
        words={"preferred|unclean|designated": value.election_type},
        optional=_PARTITION,
        keys={"designated-leader": value.broker},
    ),
    "reassign": Form(
        words=_PARTITION, keys={"replicas": value.brokers_or_none}, one_of=("replicas",)
    ),
    # These commands are about processes.
    "kill": _BROKERS,
    "power-off": _BROKERS,
    "stop": _BROKERS,
    "drain": _BROKERS,
    "start": _BROKERS,
    "pause": _PROCESSES,
    "resume": _PROCESSES,
    "unregister-broker": _BROKERS,
    "fence": _BROKERS,
    "unfence": _BROKERS,
    # These commands are about disks.
    "flush": _BROKERS,
    "lose-disk": _DISK,
    "wipe": _DISK,
    "exchange-disk": _DISK,
    "corrupt-disk": Form(
        words={"BROKER": value.broker},
        optional=_PARTITION,
        keys={"damage": value.damage, "seed": value.whole},
    ),
    # These commands are about links and followers.
    "drop-link": Form(words=_ENDS, keys={"how": value.drop}),
    "delay-link": Form(words=_ENDS, keys={"ms": value.seconds}, one_of=("ms",)),
    "restore-link": Form(words=_ENDS),
    "restore-links": Form(),
    "lag": Form(
        words={"BROKER": value.broker},
        keys={"records": value.lag, "partition": value.partition},
        one_of=("records",),
    ),
    "lag-metadata": Form(
        words={"BROKER": value.broker},
        keys={"ms": value.seconds_or_all, "fetched": value.yes_or_no},
        one_of=("ms",),
    ),
    # These commands are about what clients see of brokers.
    "lead-astray": Form(words={"BROKER": value.broker, "TO-BROKER|nowhere": value.arrival}),
    "unlist": _BROKERS,
    "list-again": _BROKERS,
    # These commands are about requests.
    "intercept": Form(
        words={"API": value.text},
        keys={
            "error": value.error_code,
            "leave-out": value.entries_or_all,
            "throttle-ms": value.seconds,
            "no-answer": value.carried_out,
            "close": value.carried_out,
            "delay-ms": value.seconds,
            "delay-answer-ms": value.seconds,
            "of": value.entries,
            "where": value.where,
            "broker": value.broker,
            "times": value.one_or_more,
        },
        one_of=(
            *("error", "leave-out", "throttle-ms"),
            *("no-answer", "close", "delay-ms", "delay-answer-ms"),
        ),
    ),
    "clear-intercepts": Form(),
    # These commands look at the cluster.
    "wait-until": Form(
        words=_PARTITION,
        keys={
            "leader": value.leader,
            "isr": value.brokers,
            "elr": value.brokers,
            "timeout-ms": value.seconds,
        },
    ),
    "status": Form(keys={"format": value.output_format}),
    "metrics": Form(),
    "help": Form(optional={"COMMAND": value.text}),
}


def usage(name: str) -> str:
    """Return how a command is written."""
    form = FORMS[name]
    words = [*form.words, *(f"[{each}]" for each in form.optional)]
    words += [f"{each}..." for each in form.many]
    keys = [f"{key}=" if key in form.one_of else f"[{key}=]" for key in form.keys]
    if len(form.one_of) > 1:
        others = [f"[{key}=]" for key in form.keys if key not in form.one_of]
        keys = ["|".join(f"{key}=" for key in form.one_of), *others]
    return " ".join([name, *words, *keys, *(["[CONFIG=]..."] if form.configs else [])])


def grammar(name: str | None = None) -> str:
    """Return how every command is written, a line each, or the named one. Raises BadCommand."""
    if name is not None:
        return usage(_known(name)) + "\n"
    return "".join(f"{usage(each)}\n" for each in FORMS)


def _known(name: str) -> str:
    if name not in FORMS:
        raise BadCommand(f"{name!r} is no command; there are {', '.join(FORMS)}")
    return name


def parse_line(line: str) -> Command | None:
    """Parse a line into a command, or None if it is empty or a comment. Raises BadCommand."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise BadCommand(f"{error}, in {line.strip()!r}") from None
    return parse_words(words) if words else None


def parse_words(words: Sequence[str]) -> Command:
    """Parse the words of a command. Raises BadCommand."""
    name, *rest = words
    form = FORMS[_known(name)]
    plain = [word for word in rest if "=" not in word]
    try:
        return Command(name, {**_words(form, plain), **_keys(form, rest)})
    except ValueError as error:
        raise BadCommand(f"{error}; it is written: {usage(name)}") from None


def parse_scenario(content: str, file: str) -> Iterator[tuple[str, Command]]:
    """Yield each command with its place, "FILE, line N". Raises BadCommand."""
    for number, line in enumerate(content.splitlines(), 1):
        place = f"{file}, line {number}"
        try:
            command = parse_line(line)
        except BadCommand as error:
            raise BadCommand(f"{place}: {error}") from None
        if command is not None:
            yield place, command


def _words(form: Form, words: Sequence[str]) -> dict[str, Any]:
    if form.many:
        ((name, parse),) = form.many.items()
        if not words:
            raise ValueError(f"{name} is missing")
        found = tuple(map(parse, words))
        if twice := [each for place, each in enumerate(found) if each in found[:place]]:
            raise ValueError(f"{words[found.index(twice[0])]} is given twice")
        return {name: found}
    wanted = {**form.words, **form.optional}
    if len(words) < len(form.words):
        raise ValueError(f"{list(form.words)[len(words)]} is missing")
    if len(words) > len(wanted):
        raise ValueError(f"{words[len(wanted)]!r} is one word too many")
    return {name: parse(word) for (name, parse), word in zip(wanted.items(), words, strict=False)}


def _keys(form: Form, words: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    configs: dict[str, str] = {}
    for key, _, text in (word.partition("=") for word in words if "=" in word):
        if key in found or key in configs:
            raise ValueError(f"{key}= is given twice")
        if form.configs and "." in key:
            configs[key] = text
        elif key in form.keys:
            found[key] = _value(form.keys[key], key, text)
        else:
            allowed = [*form.keys, *(["configs, which have a dot"] if form.configs else [])]
            raise ValueError(f"{key}= is not among its keys: {', '.join(allowed) or 'none'}")
    given = [key for key in form.one_of if key in found]
    if form.one_of and len(given) != 1:
        raise ValueError("give one of " + ", ".join(f"{key}=" for key in form.one_of))
    return {**found, CONFIGS: configs} if form.configs else found


def _value(parse: Parse, key: str, text: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"{key}={text}: {error}") from None
