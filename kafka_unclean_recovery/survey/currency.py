"""Read through a broker that is not behind: what a broker has fetched or applied is told, and held
against what the controllers have committed.

A broker that is cut off from the controllers goes on answering from its old metadata, and so does
one that has fetched more than it has applied.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.api_versions import applied_offset
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import NoBrokerReachable
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.any_broker import PAUSE_SECONDS, Read

T = TypeVar("T")
Looked = Callable[[], Awaitable[T]]
"""Reads by the Reader that this belongs to."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer came from. broker: None for one that was reached by an address that it does
    not advertise. applied: the last metadata record (inclusive) that it had applied before it
    answered, None where it does not tell."""

    broker: int | None
    applied: int | None

    def has(self, committed: int, brokers: frozenset[int]) -> bool:
        """Return True where it had applied every record below `committed`; of one that does not
        tell, where it is among the brokers that have fetched them."""
        return self.broker in brokers if self.applied is None else self.applied >= committed - 1


@dataclass(frozen=True, slots=True)
class Controllers:
    """What the controllers said when they were last asked. quorum: None where they did not
    answer. none_to_ask: the cluster has no quorum (ZooKeeper)."""

    quorum: Quorum | None
    none_to_ask: bool


class Behind(Exception):
    """No broker could be read whose metadata is known to be new enough; the message says why."""


class _NotReached(Exception):
    """No connection led to any of the brokers that were to be read."""

    def __init__(self, why: NoBrokerReachable) -> None:
        super().__init__(why)
        self.why = why


class Currency:
    """Knows which answers are not behind. controllers: what they said when last asked."""

    def __init__(
        self,
        nodes: Nodes,
        clock: Clock,
        quorum: Callable[[float], Awaitable[Quorum | None]],
        cluster: Callable[[], Awaitable[object]],
    ) -> None:
        """Take `quorum`, which asks the controllers for so many seconds at most, and `cluster`,
        which reads the live brokers."""
        self._nodes = nodes
        self._clock = clock
        self._quorum = quorum
        self._cluster = cluster
        # These answers came since `current` began to look; None outside of it, where nobody asks
        # what a broker has applied.
        self._sources: list[Source] | None = None
        self._held_against_controllers = False
        self.controllers = Controllers(None, none_to_ask=False)
        # Until this deadline the broker that is read counts as not behind.
        self._vouched_for = Deadline.after(0.0, clock)

    @property
    def vouched_for(self) -> bool:
        """Return True while the broker that is read counts as not behind."""
        return not self._vouched_for.expired

    @property
    def held_against_controllers(self) -> bool:
        """Return True while a read counts only with all that controllers committed."""
        return self._sources is not None and self._held_against_controllers

    def vouch(self) -> None:
        """Let the broker that is read count as not behind for a moment."""
        self._vouched_for = Deadline.after(budgets.CURRENT.good_for, self._clock)

    def marked(self, read: Read[T]) -> Read[T]:
        """Return a read that also tells what its broker had applied, where somebody asks that."""
        return read if self._sources is None else partial(_marked, self._nodes, self._sources, read)

    async def current(self, read: Looked[T], patience: float, within: float) -> T:
        """Return what Reader.current returns."""
        deadline = Deadline.after(within, self._clock)
        committed: int | None = None
        for tries in itertools.count(1):
            # Waiting for one that has all and is silent takes as long: others have all by then.
            last = deadline.expired
            self.controllers = Controllers(None, none_to_ask=False)
            quorum = await self._quorum(patience)
            self._held_against_controllers = quorum is not None and quorum.tells_ends
            self.controllers = Controllers(quorum, none_to_ask=quorum is None)
            if quorum is None or not quorum.tells_ends:
                found = await self._agreed(read, deadline)
                break
            committed = quorum.high_watermark if committed is None else committed
            brokers = _with(quorum, self._nodes.live, committed)
            unreached: NoBrokerReachable | None = None
            try:
                answer = await self._read_through(brokers, read)
            except _NotReached as error:
                answer, unreached = None, error.why
            sources = answer[1] if answer else []
            if answer is not None and all(each.has(committed, brokers) for each in sources):
                found = answer[0]
                break
            if last:
                if unreached is not None:
                    raise Behind(_unreached_text(brokers, unreached))
                raise Behind(_behind_text(quorum, self._nodes.live, committed, sources))
            await asyncio.sleep(PAUSE_SECONDS)
            if tries > 1:
                # A broker that is behind may not know all live brokers; a bootstrap server may.
                self._nodes.forsake_reads()
                await self._cluster()
        self.vouch()
        return found

    async def _read_through(
        self, brokers: frozenset[int], read: Looked[T]
    ) -> tuple[T, list[Source]] | None:
        """Return the answer, and where it came from; None without brokers. Raises _NotReached when
        none of them can be reached."""
        if not brokers:
            return None
        try:
            await self._nodes.turn_to(brokers, Deadline.after(budgets.CURRENT.seconds, self._clock))
        except NoBrokerReachable as error:
            raise _NotReached(error) from None
        return await self._traced(read)

    async def _traced(self, read: Looked[T]) -> tuple[T, list[Source]]:
        """Return the answer, and where it came from."""
        sources: list[Source] = []
        self._sources = sources
        try:
            return await read(), sources
        finally:
            self._sources = None

    async def _agreed(self, read: Looked[T], deadline: Deadline) -> T:
        while True:
            one, sources = await self._traced(read)
            others = self._nodes.live - {source.broker for source in sources}
            second = None
            with contextlib.suppress(_NotReached):
                second = await self._read_through(frozenset(others), read)
            if second is None or second[0] == one:
                return one
            if any(source.broker not in others for source in second[1]):
                return one
            if deadline.expired:
                raise Behind(
                    "two brokers do not agree on who is live and on the partitions, and the"
                    " controller does not tell which of them is behind"
                )
            await asyncio.sleep(PAUSE_SECONDS)


async def _marked(
    nodes: Nodes,
    sources: list[Source],
    read: Read[T],
    connection: Connection,
    deadline: Deadline,
) -> T:
    """Read, and add to `sources` what the broker had applied before it answered."""
    # Tasks begin in the order in which they are made, and a broker answers in the order in which it
    # was asked.
    asking = asyncio.create_task(applied_offset(connection, deadline))
    reading = asyncio.ensure_future(read(connection, deadline))
    try:
        found = await reading
        sources.append(Source(nodes.broker_of(connection), await asking))
        return found
    finally:
        for task in (asking, reading):
            task.cancel()
        await asyncio.gather(asking, reading, return_exceptions=True)


def _with(quorum: Quorum, brokers: frozenset[int], committed: int) -> frozenset[int]:
    ends = {id_: quorum.log_end_offset(id_) for id_ in brokers}
    return frozenset(id_ for id_, end in ends.items() if end is not None and end >= committed)


def _behind_text(
    quorum: Quorum, brokers: frozenset[int], committed: int, sources: Sequence[Source]
) -> str:
    """Return a sentence that says why none of these brokers was read."""
    applied = {s.broker: s.applied + 1 for s in sources if s.applied is not None}
    known = [_got_text(id_, quorum, committed, applied.get(id_)) for id_ in sorted(brokers)]
    told = ", ".join(known) or "no broker is listed as live"
    return f"no broker that could be read has all of the controller's metadata: {told}"


def _unreached_text(brokers: frozenset[int], why: NoBrokerReachable) -> str:
    """Return a sentence for brokers that have everything and can't be read."""
    which = ", ".join(map(str, sorted(brokers)))
    return (
        f"none of the brokers with all of the controller's metadata ({which}) could be reached at"
        f" the address that it advertises: {why.reasons}"
    )


def _got_text(broker: int, quorum: Quorum, committed: int, applied: int | None) -> str:
    end = quorum.log_end_offset(broker)
    text = f"broker {broker} has {'none' if end is None else end} of its {committed} records"
    return text if applied is None else f"{text}, and has applied {applied}"
