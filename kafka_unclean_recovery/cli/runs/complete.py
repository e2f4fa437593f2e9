"""What kafka-unclean-recovery complete does: candidates on stdout, or silence.

A shell waits for it in the middle of a line that somebody types. So nothing is asked of a person,
nothing is written, nothing is said of what went wrong, and after a second it is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shlex
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from kafka_unclean_recovery.cli.commands.complete import Kind, Options
from kafka_unclean_recovery.cli.console import Console
from kafka_unclean_recovery.cli.environment import plain_variable
from kafka_unclean_recovery.cluster.config.security import load_client_config
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap

_SECONDS = 1.0
BOOTSTRAP = ("--bootstrap-server",)
CONFIG = ("--command-config", "--admin.config")
# What Kafka allows (org.apache.kafka.common.internals.Topic). No other name reaches a shell.
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_CURSOR = "\0"


def print_candidates(_: Console, options: Options) -> NoReturn:
    """Ends the process, with code 0 whatever happened."""

    def over(*_: object) -> NoReturn:
        # Past every clean-up: a resolver's thread may hang for long.
        os._exit(0)

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    with contextlib.suppress(Exception):
        found = asyncio.run(candidates(options.kind, options.line, os.environ))
        os.write(1, "".join(f"{word}\n" for word in found).encode())
    over()


async def candidates(kind: Kind, line: str, environment: Mapping[str, str]) -> list[str]:
    """What the last word of the line may be, sorted. Raises whatever goes wrong."""
    words = words_of(line)
    server = value_of(words, BOOTSTRAP, environment)
    if server is None:
        return []
    config = load_client_config(value_of(words, CONFIG, environment))
    nodes = Nodes(parse_bootstrap(server), config)
    try:
        reader = Reader(nodes, time.monotonic, _SECONDS)
        if kind is Kind.TOPICS:
            return matching_topics((topic.name for topic in await reader.topics(None)), words[-1])
        return continued_list(await _offline_brokers(reader), words[-1])
    finally:
        await nodes.close()


def words_of(line: str) -> list[str]:
    """As a shell would take it apart, but nothing in it is carried out; the last is what is being
    typed, without what stands before a = in it."""
    for closing in ("", "'", '"'):
        with contextlib.suppress(ValueError):
            words = shlex.split(line + _CURSOR + closing)
            words[-1] = words[-1].partition(_CURSOR)[0]
            if words[-1].startswith("--"):
                words[-1] = words[-1].partition("=")[2]
            return words
    return [""]


def value_of(
    words: Sequence[str], flags: Sequence[str], environment: Mapping[str, str]
) -> str | None:
    """Of the last of the flags, before the word that is being typed; else of the environment."""
    found = environment.get(plain_variable(flags[0]))
    for word, following in itertools.pairwise(words):
        name, equals, value = word.partition("=")
        if name in flags:
            found = value if equals else following
    # The shell would have put these in place before the command is run.
    return os.path.expanduser(os.path.expandvars(found)) if found else None  # noqa: PTH111


def matching_topics(names: Iterable[str], typed: str) -> list[str]:
    return sorted(name for name in names if name.startswith(typed) and _TOPIC.fullmatch(name))


def continued_list(brokers: Iterable[int], typed: str) -> list[str]:
    """Of a list such as 1,2: each id that is not in it yet behind what is there; or `all`."""
    there, comma, begun = typed.rpartition(",")
    others = [str(b) for b in sorted(brokers) if str(b) not in there.split(",")]
    words = [*others, *([] if comma else ["all"])]
    return [f"{there}{comma}{word}" for word in words if word.startswith(begun)]


async def _offline_brokers(reader: Reader) -> set[int]:
    """Those that hold replicas, or are registered, and don't live."""
    (cluster, _), topics = await asyncio.gather(reader.cluster(), reader.topics(None))
    holders = {b for topic in topics for part in topic.partitions for b in part.replicas}
    return (holders | set(cluster.fenced)) - set(cluster.brokers)
