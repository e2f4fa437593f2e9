"""What seldom changes of a cluster: hidden topics, releases and configs.

Each answer is kept by itself. One that failed is asked for again at the next look, and all after
a while. A topic that was made anew by the same name is another one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.configs import (
    ConfigSource,
    ConfigValue,
    number,
    topic_configs,
)
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.documents.observation import BY_BROKER
from kafka_unclean_recovery.kafka_names import (
    METADATA_VERSION,
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
    release_of,
)
from kafka_unclean_recovery.model import Broker
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.answer import answered
from kafka_unclean_recovery.survey.hidden_topics import Hidden, hidden_topics, not_looked
from kafka_unclean_recovery.survey.reading import Reader

T = TypeVar("T")
UNKNOWN = "unknown"
SOURCES = {
    ConfigSource.TOPIC: "topic",
    ConfigSource.ALL_BROKERS: "all_brokers",
    ConfigSource.ONE_BROKER: "one_broker",
    ConfigSource.FILE: "file",
    ConfigSource.DEFAULT: "default",
}
Configs = Mapping[str, ConfigValue]


@dataclass(frozen=True, slots=True)
class Seldom:
    """The answers about these topics (ids by name), and the brokers of these ids. fresh: until when
    answers are kept. min_isrs, uncleans: by topic; releases, own_min_isrs: by broker. problems:
    what could not be asked."""

    fresh: Deadline
    topics: Mapping[str, str] = field(default_factory=dict)
    asked: frozenset[int] = frozenset()
    hidden: Hidden = field(default_factory=Hidden)
    releases: Mapping[int, str | None] = field(default_factory=dict)
    min_isrs: Configs = field(default_factory=dict)
    uncleans: Configs = field(default_factory=dict)
    own_min_isrs: Mapping[int, int | None] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


async def ask_seldom(
    nodes: Nodes,
    reader: Reader,
    live: Sequence[Broker],
    topics: Mapping[str, str],
    visible: frozenset[str],
    kept: Seldom | None,
    clock: Clock = time.monotonic,
) -> Seldom:
    """Return what seldom changes; what `kept` knows of these topics and brokers is not asked.
    visible: the topics that were listed, `topics` the ids of those of them that were described."""
    if kept is None or kept.topics != topics or kept.fresh.expired:
        kept = Seldom(Deadline.after(budgets.CONFIGS.good_for, clock))
    asking = _Asking(nodes, reader, live)
    hidden, releases, min_isrs, uncleans = await asyncio.gather(
        _hidden(nodes, reader, live, visible, kept),
        asking.releases(kept.releases),
        asking.configs(topics, MIN_INSYNC_REPLICAS, kept.min_isrs),
        asking.configs(topics, UNCLEAN_LEADER_ELECTION_ENABLE, kept.uncleans),
    )
    own = await asking.own_min_isrs(min_isrs, kept.own_min_isrs)
    asked = frozenset(broker.id for broker in live)
    problems = (*asking.problems, *hidden.problems)
    return Seldom(kept.fresh, topics, asked, hidden, releases, min_isrs, uncleans, own, problems)


async def _hidden(
    nodes: Nodes,
    reader: Reader,
    live: Sequence[Broker],
    visible: frozenset[str],
    kept: Seldom,
) -> Hidden:
    """Ask over connections of their own: a quota holds back such large answers first."""
    if kept.hidden.whole and kept.asked.issuperset(broker.id for broker in live):
        return kept.hidden
    found = await answered(hidden_topics(nodes, reader, live, visible))
    return not_looked(str(found.problem)) if found.value is None else found.value


def _known(values: Mapping[int, T | None]) -> dict[int, T | None]:
    return {broker: value for broker, value in values.items() if value is not None}


class _Asking:
    """Asks some brokers. problems: sentences."""

    def __init__(self, nodes: Nodes, reader: Reader, live: Sequence[Broker]) -> None:
        self._nodes = nodes
        self._reader = reader
        self._live = live
        self.problems: dict[str, None] = {}

    async def releases(self, kept: Mapping[int, str | None]) -> dict[int, str | None]:
        async def release(connection: Connection, _: Deadline) -> str | None:
            level = connection.features.get(METADATA_VERSION)
            return None if level is None else release_of(level)

        return await self._each(_known(kept), release, self._nodes.shared)

    async def configs(self, names: Iterable[str], key: str, kept: Configs) -> Configs:
        known = {name: found for name, found in kept.items() if found.error == Errors.NONE}
        left = sorted(set(names) - known.keys())
        if not left:
            return known

        async def read(connection: Connection, deadline: Deadline) -> Configs:
            return await topic_configs(connection, left, key, deadline)

        found = await answered(self._reader.aside(read))
        if (sentence := found.untold(f"{key} is not known")) is not None:
            self.problems[sentence] = None
        return {**known, **(found.value or {})}

    async def own_min_isrs(
        self, min_isrs: Configs, kept: Mapping[int, int | None]
    ) -> dict[int, int | None]:
        """Ask each broker for its own value where a topic takes that: brokers' files may differ."""
        sample = [n for n, found in min_isrs.items() if SOURCES.get(found.source) in BY_BROKER][:1]
        if not sample:
            return {}

        async def own(connection: Connection, deadline: Deadline) -> int | None:
            found = await topic_configs(connection, sample, MIN_INSYNC_REPLICAS, deadline)
            return number(found.get(sample[0]))

        # What a quota holds back here must not keep the broker from showing that it lives.
        return await self._each(_known(kept), own, self._nodes.apart)

    async def _each(
        self,
        known: dict[int, T | None],
        ask: Callable[[Connection, Deadline], Awaitable[T | None]],
        over: Callable[[Broker, Deadline], AbstractAsyncContextManager[Connection]],
    ) -> dict[int, T | None]:
        """Ask each broker that is not known, over the connection that `over` gives; None for one
        that does not answer, which others tell of."""

        async def one(broker: Broker) -> T | None:
            deadline = budgets.CONFIGS.deadline()
            try:
                async with over(broker, deadline) as connection:
                    return await ask(connection, deadline)
            except (ConnectionFailed, RequestFailed):
                return None

        left = [broker for broker in self._live if broker.id not in known]
        answers = await asyncio.gather(*map(one, left))
        return {**known, **{b.id: found for b, found in zip(left, answers, strict=True)}}
