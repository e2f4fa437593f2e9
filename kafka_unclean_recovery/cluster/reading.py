"""Read the cluster through any broker that answers: where one broker is silent, others are asked.

Reads change nothing, so they are repeated freely until their deadline, also side by side.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.api_versions import applied_offset
from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, topic_configs
from kafka_unclean_recovery.cluster.requests.describe import (
    Described,
    Reassignment,
    RequestFailed,
    Topic,
    describe_cluster,
    describe_partitions,
    describe_topics,
    describe_topics_by_metadata,
    list_reassignments,
    not_told,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.requests.electability import Electable, electable
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, led_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.error_codes import LISTENER_NOT_FOUND, NONE, UNAUTHORIZED
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
    NoControllerReachable,
)
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition

T = TypeVar("T")
Failure = ConnectionFailed | NoBrokerReachable | RequestFailed
FAILURES = (ConnectionFailed, NoBrokerReachable, RequestFailed)
"""What a look at the cluster may end with."""
Read = Callable[[Connection, Deadline], Awaitable[T]]
Over = Callable[[Connection, Deadline], AbstractAsyncContextManager[Connection]]
"""Given the connection to a broker, returns the connection over which to ask that broker."""

_ATTEMPTS = 4
_PAUSE_SECONDS = 0.1
_TICK_SECONDS = 0.25
# When a broker stays silent for this time while its answer is awaited, another is asked as well.
_SILENT_SECONDS = 2.0
# A controller that answers at all does so within the time of a failover.
_QUORUM_SECONDS = 10.0
# At least one broker must have all metadata within this time; a working broker is at most half a
# second behind.
_CURRENT_SECONDS = 4.0
# A broker that was not behind is read for _VOUCHED_SECONDS before the controller is asked again,
# and the asking takes at most _GLANCE_SECONDS.
_VOUCHED_SECONDS = 1.0
_GLANCE_SECONDS = 1.0
# A question that no decision rests on.
_SIDE_SECONDS = 3.0
_UNCLEAN = "unclean.leader.election.enable"


def will_not_pass(error: Failure) -> bool:
    """Return True for a refused login: looking again is of no use."""
    return not isinstance(error, RequestFailed) and error.is_authentication


def _shared(connection: Connection, deadline: Deadline) -> AbstractAsyncContextManager[Connection]:
    """Return the connection that all other reads use too."""
    return nullcontext(connection)


@dataclass(frozen=True, slots=True)
class _Source:
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
    """What the controllers said when `current` last asked them. quorum: None where they did not
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


class Reader:
    """Reads of the cluster, each bounded by `timeout` seconds, however many tries it takes.

    controllers: what they said when `current` was last called. electable_untold: why brokers are
    not known to be electable, by broker; see `electable`.
    """

    def __init__(self, nodes: Nodes, clock: Clock, timeout: float = 30.0) -> None:
        self._nodes = nodes
        self._clock = clock
        self._timeout = timeout
        # Even a short timeout leaves time to ask other brokers.
        self._silence = min(_SILENT_SECONDS, timeout / _ATTEMPTS)
        # These answers came since `current` began to look; None outside of it, where nobody asks
        # what a broker has applied.
        self._sources: list[_Source] | None = None
        self.controllers = Controllers(None, none_to_ask=False)
        self.electable_untold: dict[int, str] = {}
        # Until this deadline the broker that is read counts as not behind.
        self._vouched_for = Deadline.after(0.0, clock)

    async def cluster(self) -> tuple[Cluster, frozenset[int]]:
        """Return the live brokers, and the caller's rights on the cluster."""

        async def read(
            connection: Connection, deadline: Deadline
        ) -> tuple[Cluster, frozenset[int]]:
            cluster, rights = await describe_cluster(connection, deadline)
            self._nodes.know(cluster, connection)
            return cluster, rights

        return await self._read(read)

    async def topics(self, names: Sequence[str] | None) -> list[Topic]:
        """Return the named topics, or all that the caller may see. Topics that a broker gives an
        error for are asked for again, for a moment."""
        found = await self._read(partial(_topics, names))
        for _ in range(_ATTEMPTS - 1):
            open_ = [t for t in found if not_told([t]) and t.error not in UNAUTHORIZED]
            if not open_:
                break
            await asyncio.sleep(_PAUSE_SECONDS)
            left = sorted(topic.name for topic in open_)
            asked = await self._read(partial(_topics, left))
            again = {topic.name: topic for topic in asked}
            found = [again.get(topic.name, topic) for topic in found]
        return found

    async def hidden_leaders(self, names: Sequence[str]) -> frozenset[TopicPartition]:
        """Return the partitions of these topics that are led by a broker without the listener that
        is read through. Only Metadata tells them from those without a leader."""

        async def read(connection: Connection, deadline: Deadline) -> list[Topic]:
            return await describe_topics_by_metadata(connection, names, deadline)

        return frozenset(
            TopicPartition(topic.name, number)
            for topic in await self._read(read)
            for number, error in topic.untold.items()
            if error == LISTENER_NOT_FOUND
        )

    async def partitions(
        self, wanted: Sequence[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        """Return the partitions of `wanted` (sorted) that one broker could describe now."""
        return dict((await self.described(wanted)).states)

    async def described(self, wanted: Sequence[TopicPartition]) -> Described:
        """Return what one broker says of `wanted` (sorted).

        One broker may be behind, so a partition counts as gone only when two brokers say so where
        two live, or one broker says so twice. A caller that reads again and again does not stay
        with a broker that is behind: once a second a broker that is not behind is looked for.
        """

        async def read() -> Described:
            found = await self._read(lambda c, deadline: describe_partitions(c, wanted, deadline))
            return await self._confirmed(found) if found.gone else found

        if self._vouched_for.expired:
            with contextlib.suppress(Behind, NoControllerReachable, RequestFailed):
                return await self.current(read, _GLANCE_SECONDS, within=0.0)
            self._vouched_for = Deadline.after(_VOUCHED_SECONDS, self._clock)
        return await read()

    async def described_with_reassignments(self, wanted: Sequence[TopicPartition]) -> Described:
        """Return as `described` does, with the controller's reassignments in progress."""

        async def read(connection: Connection, deadline: Deadline) -> Described:
            found, reassignments = await asyncio.gather(
                describe_partitions(connection, wanted, deadline),
                self._reassignments_by(connection, deadline),
            )
            states = {tp: with_reassignment(s, reassignments) for tp, s in found.states.items()}
            return replace(found, states=states)

        found = await self._read(read)
        if not found.gone:
            return found
        again = await self._confirmed(found)
        # The controller was not asked about the partitions that only the second broker described.
        back = dict.fromkeys(again.states.keys() - found.states.keys(), "brokers differ on it")
        return replace(again, states=found.states, untold={**again.untold, **back})

    async def _confirmed(self, found: Described) -> Described:
        """Ask again for the partitions that are gone, and return the joined answers."""
        gone = sorted(found.gone)
        await asyncio.sleep(_PAUSE_SECONDS)
        again = await self._read_elsewhere(lambda c, d: describe_partitions(c, gone, d))
        return Described(
            {**found.states, **again.states},
            again.gone,
            {**found.untold, **again.untold},
            {**found.topic_ids, **again.topic_ids},
            {**found.errors, **again.errors},
            {**found.operations, **again.operations},
        )

    async def _read_elsewhere(self, read: Callable[[Connection, Deadline], Awaitable[T]]) -> T:
        """Read through another broker than the one that reads are sent to, where one answers."""
        deadline = Deadline.after(self._timeout / _ATTEMPTS, self._clock)
        sticky = (await self._nodes.any(deadline)).address
        for broker in self._nodes.known.values():
            if address_text(broker.host, broker.port) != sticky:
                with contextlib.suppress(ConnectionFailed):
                    return await read(await self._nodes.broker(broker, deadline), deadline)
        return await self._read(read)

    async def reassignments(self) -> Mapping[TopicPartition, Reassignment]:
        """Return every reassignment in progress, as the controller has them.

        The request does not use the connection of other reads: a broker answers one request after
        the other, and a request that waits for a controller would hold up all reads.
        """
        return await self.aside(list_reassignments)

    async def aside(self, read: Read[T]) -> T:
        """Return the answer to a side question: over a connection of its own, so that a quota or a
        slow answer holds up no other read."""
        return await self._read(read, self._apart)

    @asynccontextmanager
    async def _apart(self, connection: Connection, deadline: Deadline) -> AsyncIterator[Connection]:
        address = await self._nodes.controller_address(connection, deadline)
        ((host, port),) = [address] if address else parse_bootstrap(connection.address)
        async with await Connection.open(host, port, self._nodes.config, deadline) as own:
            yield own

    async def _reassignments_by(
        self, connection: Connection, deadline: Deadline
    ) -> Mapping[TopicPartition, Reassignment]:
        address = await self._nodes.controller_address(connection, deadline)
        if address is None:
            return await list_reassignments(connection, deadline)
        async with await Connection.open(*address, self._nodes.config, deadline) as own:
            return await list_reassignments(own, deadline)

    async def electable(self, brokers: Collection[int], seconds: float) -> Electable:
        """Return which of the brokers the controllers would elect; raises nothing. What they did
        not tell is kept in `electable_untold`."""
        if not brokers:
            return Electable(frozenset(), {})
        deadline = Deadline.after(seconds, self._clock)
        ask = partial(electable, brokers=brokers, deadline=deadline)
        try:
            found = await self._nodes.ask_controller(ask, deadline)
        except (NoBrokerReachable, ConnectionFailed) as error:
            found = Electable(frozenset(), dict.fromkeys(brokers, str(error)))
        self.electable_untold |= found.untold
        return found

    async def unclean_elections(self, topics: Sequence[str]) -> Mapping[str, bool]:
        """Return unclean.leader.election.enable of each topic that this user may know it of, as far
        as a broker answers in a moment. The question has a connection of its own: a quota that it
        uses up costs no other one."""

        async def read(connection: Connection, deadline: Deadline) -> Mapping[str, ConfigValue]:
            return await topic_configs(connection, topics, _UNCLEAN, deadline)

        try:
            async with asyncio.timeout(_SIDE_SECONDS):
                found = await self._read(read, self._apart)
        except (TimeoutError, *FAILURES):
            return {}
        return {
            topic: told.value == "true"
            for topic, told in found.items()
            if told.error == NONE and told.value is not None
        }

    async def quorum(self, seconds: float) -> Quorum | None:
        """Return the quorum when its controllers can commit; see led_quorum. Raises
        NoBrokerReachable with what each broker said instead, and RequestFailed."""
        deadline = Deadline.after(seconds, self._clock)
        return await self._nodes.ask_controller(partial(led_quorum, deadline=deadline), deadline)

    async def current(
        self,
        read: Callable[[], Awaitable[T]],
        patience: float = _QUORUM_SECONDS,
        within: float = _CURRENT_SECONDS,
    ) -> T:
        """Return what `read`, which reads by this Reader, gives through brokers that have all
        metadata that was committed when this call began. Raises Behind, and what `read` and
        `quorum` raise.

        A broker that is cut off from the controllers goes on answering from its old metadata, and
        so does one that has fetched more than it has applied. The active controller tells how far
        each broker has fetched, and a broker itself what it has applied. Where the controller does
        not tell, two brokers that agree are believed, or the only one. patience: seconds for the
        controller to answer; within: seconds for brokers to catch up.
        """
        deadline = Deadline.after(within, self._clock)
        committed: int | None = None
        for tries in itertools.count(1):
            # Waiting for one that has all and is silent takes as long: others have all by then.
            last = deadline.expired
            self.controllers = Controllers(None, none_to_ask=False)
            quorum = await self.quorum(min(self._timeout, patience))
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
            await asyncio.sleep(_PAUSE_SECONDS)
            if tries > 1:
                # A broker that is behind may not know all live brokers; a bootstrap server may.
                self._nodes.forsake_reads()
                await self.cluster()
        self._vouched_for = Deadline.after(_VOUCHED_SECONDS, self._clock)
        return found

    async def _read_through(
        self, brokers: frozenset[int], read: Callable[[], Awaitable[T]]
    ) -> tuple[T, list[_Source]] | None:
        """Return the answer, and where it came from; None without brokers. Raises _NotReached when
        none of them can be reached."""
        if not brokers:
            return None
        try:
            await self._nodes.turn_to(brokers, Deadline.after(_CURRENT_SECONDS, self._clock))
        except NoBrokerReachable as error:
            raise _NotReached(error) from None
        return await self._traced(read)

    async def _traced(self, read: Callable[[], Awaitable[T]]) -> tuple[T, list[_Source]]:
        """Return the answer, and where it came from."""
        sources: list[_Source] = []
        self._sources = sources
        try:
            return await read(), sources
        finally:
            self._sources = None

    async def _agreed(self, read: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
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
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _read(self, read: Read[T], over: Over = _shared) -> T:
        """Return the first answer. Raises NoBrokerReachable, RequestFailed, or the last
        ConnectionFailed."""
        deadline = Deadline.after(self._timeout, self._clock)
        asked: list[_Asked[T]] = []
        try:
            if self._sources is not None:
                read = partial(_marked, self._nodes, self._sources, read)
            return await self._first_answer(
                partial(_Asked, self._nodes, read, over, deadline), asked, deadline
            )
        finally:
            for each in asked:
                each.task.cancel()
            await asyncio.gather(*(each.task for each in asked), return_exceptions=True)

    async def _first_answer(
        self, ask: Callable[[], _Asked[T]], asked: list[_Asked[T]], deadline: Deadline
    ) -> T:
        """Return the first answer of the brokers asked so far. Each time one fails, or all are
        silent, one more broker is asked."""
        failure: Failure | None = None
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS or deadline.expired
            if attempt == 1 or not deadline.expired:
                asked.append(ask())
            while (done := await _done_or_silent(asked, self._silence, last)) is not None:
                asked.remove(done)
                failure = done.failure
                if failure is None:
                    return done.task.result()
                done.forsake()
                if not last:
                    await asyncio.sleep(min(_PAUSE_SECONDS, deadline.remaining()))
                    break
            for each in asked:
                each.forsake()
            if last or (isinstance(failure, NoBrokerReachable) and not asked):
                break
        assert failure is not None
        raise failure


class _Asked(Generic[T]):
    """One broker that was asked, or will be asked as soon as the connection is open."""

    def __init__(self, nodes: Nodes, read: Read[T], over: Over, deadline: Deadline) -> None:
        self.connection: Connection | None = None
        self._listening: Connection | None = None
        self._nodes = nodes
        self._begun = time.monotonic()
        self.task = asyncio.create_task(self._ask(read, over, deadline))

    async def _ask(self, read: Read[T], over: Over, deadline: Deadline) -> T:
        self.connection = await self._nodes.any(deadline)
        async with over(self.connection, deadline) as self._listening:
            return await read(self._listening, deadline)

    @property
    def quiet_for(self) -> float:
        """Return the seconds since the broker was asked in which nothing came from it."""
        waited = time.monotonic() - self._begun
        return waited if self._listening is None else min(waited, self._listening.silent_for)

    def forsake(self) -> None:
        if self.connection is not None:
            self._nodes.forsake(self.connection)

    @property
    def failure(self) -> Failure | None:
        """Return why the task ended without an answer that counts, or None. Raises RequestFailed
        when the caller lacks a right, because another broker would refuse too."""
        try:
            self.task.result()
        except (ConnectionFailed, NoBrokerReachable) as error:
            return error
        except RequestFailed as error:
            if error.code in UNAUTHORIZED:
                raise
            return error
        return None


async def _done_or_silent(
    asked: Sequence[_Asked[T]], silence: float, last: bool
) -> _Asked[T] | None:
    """Return one asked broker whose task is done. Return None when none is left, or, unless this is
    the `last` attempt, when all have been silent for `silence` seconds."""
    while asked:
        tasks = [each.task for each in asked]
        await asyncio.wait(tasks, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        done = [each for each in asked if each.task.done()]
        if done:
            return done[0]
        if not last and all(each.quiet_for >= silence for each in asked):
            return None
    return None


async def _marked(
    nodes: Nodes,
    sources: list[_Source],
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
        sources.append(_Source(nodes.broker_of(connection), await asking))
        return found
    finally:
        for task in (asking, reading):
            task.cancel()
        await asyncio.gather(asking, reading, return_exceptions=True)


async def _topics(
    names: Sequence[str] | None, connection: Connection, deadline: Deadline
) -> list[Topic]:
    return await describe_topics(connection, names, deadline)


def _with(quorum: Quorum, brokers: frozenset[int], committed: int) -> frozenset[int]:
    ends = {id_: quorum.log_end_offset(id_) for id_ in brokers}
    return frozenset(id_ for id_, end in ends.items() if end is not None and end >= committed)


def _behind_text(
    quorum: Quorum, brokers: frozenset[int], committed: int, sources: Sequence[_Source]
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
