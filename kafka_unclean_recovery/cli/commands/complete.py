"""kafka-unclean-recovery complete gives completion scripts words that only a cluster knows."""

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
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, NoReturn

import typer

from kafka_unclean_recovery.cli.clusters import clusters_file, named_clusters
from kafka_unclean_recovery.cli.command import Command
from kafka_unclean_recovery.cli.environment import plain_variable
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.config.security import load_client_config
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.survey.reading import Reader

NAME = "complete"


class Kind(StrEnum):
    TOPICS = "topics"
    BROKERS = "brokers"
    DOWN_BROKERS = "down-brokers"
    DOWN_BROKERS_OR_ALL = "offline-brokers"
    RACKS = "racks"
    CLUSTERS = "clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Print candidates for the last word of a command line, one on each line; none when in doubt.

    The command asks the cluster that the command line names, and takes at most one second.
    """

    kind: Annotated[Kind, typer.Argument(help="Kind of the last word.")]
    line: Annotated[str, typer.Argument(help="The command line up to the cursor, as typed.")]


_SECONDS = 1.0
BOOTSTRAP = ("--bootstrap-server",)
CONFIG = ("--command-config", "--admin.config")
CLUSTER = ("--cluster",)
# The names that Kafka allows topics (org.apache.kafka.common.internals.Topic). No other name, also
# of a rack or a cluster, reaches a shell.
_PLAIN = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_CURSOR = "\0"


def print_candidates(_: Console, options: Options) -> NoReturn:
    """Print the candidates and end the process, always with code 0."""

    def over(*_: object) -> NoReturn:
        # No clean-up is run, because a resolver's thread may hang for long.
        os._exit(0)

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    with contextlib.suppress(Exception):
        found = asyncio.run(candidates(options.kind, options.line, os.environ))
        os.write(1, "".join(f"{word}\n" for word in found).encode())
    over()


async def candidates(kind: Kind, line: str, environment: Mapping[str, str]) -> list[str]:
    """Return the candidates for the last word of the line, sorted. Raises any exception that
    occurs."""
    words = words_of(line)
    if kind is Kind.CLUSTERS:
        return matching(named_clusters(clusters_file(environment)), words[-1])
    server, path = _whom_to_ask(words, environment)
    if server is None:
        return []
    config = ClientConfig() if path is None else load_client_config(path)
    nodes = Nodes(parse_bootstrap(server), config)
    try:
        return await _asked(kind, Reader(nodes, time.monotonic, _SECONDS), words[-1])
    finally:
        await nodes.close()


def _whom_to_ask(
    words: Sequence[str], environment: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """Return the bootstrap servers and the client file that the line names, itself or by a name of
    clusters.toml, or that the environment has. Raises Exit."""
    name = value_of(words, CLUSTER, environment)
    if name is None:
        return value_of(words, BOOTSTRAP, environment), value_of(words, CONFIG, environment)
    found = named_clusters(clusters_file(environment))[name]
    path = found.command_config
    return found.bootstrap_server, None if path is None else str(path)


async def _asked(kind: Kind, reader: Reader, typed: str) -> list[str]:
    """Return the candidates that a cluster knows."""
    if kind is Kind.TOPICS:
        return matching((topic.name for topic in await reader.topics(None)), typed)
    if kind is Kind.RACKS:
        cluster, _ = await reader.cluster()
        brokers = (*cluster.brokers.values(), *cluster.fenced_at.values())
        return matching({broker.rack for broker in brokers if broker.rack}, typed)
    live, known = await _brokers(reader)
    if kind is Kind.BROKERS:
        return continued_list(known, typed)
    return continued_list(known - live, typed, all_too=kind is Kind.DOWN_BROKERS_OR_ALL)


def words_of(line: str) -> list[str]:
    """Split the line as a shell would, but expand nothing. The last word is the word being typed,
    without the part up to the = of a flag."""
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
    """Return the value of the last of these flags before the word being typed, or else the value of
    the environment variable."""
    found = environment.get(plain_variable(flags[0]))
    for word, following in itertools.pairwise(words):
        name, equals, value = word.partition("=")
        if name in flags:
            found = value if equals else following
    # The shell would expand these before it runs the command.
    return os.path.expanduser(os.path.expandvars(found)) if found else None  # noqa: PTH111


def matching(names: Iterable[str], typed: str) -> list[str]:
    return sorted(name for name in names if name.startswith(typed) and _PLAIN.fullmatch(name))


def continued_list(brokers: Iterable[int], typed: str, *, all_too: bool = False) -> list[str]:
    """Return continuations of a list such as 1,2: the list with each id that it lacks. all_too: the
    word `all` may stand for a list."""
    there, comma, begun = typed.rpartition(",")
    others = [str(b) for b in sorted(brokers) if str(b) not in there.split(",")]
    words = [*others, *(["all"] if all_too and not comma else [])]
    return [f"{there}{comma}{word}" for word in words if word.startswith(begun)]


async def _brokers(reader: Reader) -> tuple[set[int], set[int]]:
    """Return (live brokers, all that are live, registered, or hold replicas)."""
    (cluster, _), topics = await asyncio.gather(reader.cluster(), reader.topics(None))
    holders = {b for topic in topics for part in topic.partitions for b in part.replicas}
    live = set(cluster.brokers)
    return live, live | holders | set(cluster.fenced)


COMMAND = Command(Options, print_candidates)
