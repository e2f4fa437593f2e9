"""Read the cluster through any broker that answers, and through one that is not behind where that
is asked for. A side question has a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.configs import (
    ConfigValue,
    TopicConfigs,
    configs_set,
    topic_configs,
)
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
from kafka_unclean_recovery.cluster.requests.electability import (
    NOT_ASKED,
    Electable,
    electable,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, led_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
    NoControllerReachable,
)
from kafka_unclean_recovery.deadline import Clock, Deadline
from kafka_unclean_recovery.kafka_names import UNCLEAN_LEADER_ELECTION_ENABLE, Errors
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.any_broker import (
    ATTEMPTS,
    FAILURES,
    PAUSE_SECONDS,
    AnyBroker,
    Over,
    Read,
    shared,
)
from kafka_unclean_recovery.survey.currency import Behind, Controllers, Currency

T = TypeVar("T")


class Reader:
    """Reads of the cluster, each bounded by `timeout` seconds, however many tries it takes.

    electable_untold: why brokers are not known to be electable, by broker; see `electable`.
    """

    def __init__(self, nodes: Nodes, clock: Clock, timeout: float = budgets.READ.seconds) -> None:
        self._nodes = nodes
        self._clock = clock
        self._timeout = timeout
        # Even a short timeout leaves time to ask other brokers.
        self._brokers = AnyBroker(nodes, min(budgets.READ.alone, timeout / ATTEMPTS))
        self._currency = Currency(nodes, clock, self._quorum_within, self.cluster)
        self.electable_untold: dict[int, str] = {}
        # How often in a row `described` found its broker behind.
        self._behind = 0

    @property
    def controllers(self) -> Controllers:
        """Return what the controllers said when `current` last asked them."""
        return self._currency.controllers

    @property
    def lived(self) -> frozenset[int]:
        """Return the brokers that were listed as live at any time so far."""
        return self._nodes.lived

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
        for _ in range(ATTEMPTS - 1):
            open_ = [t for t in found if not_told([t]) and t.error not in UNAUTHORIZED]
            if not open_:
                break
            await asyncio.sleep(PAUSE_SECONDS)
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
            if error == Errors.LISTENER_NOT_FOUND
        )

    async def partitions(
        self, wanted: Sequence[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        """Return the partitions of `wanted` (sorted) that one broker could describe now."""
        return dict((await self.described(wanted)).states)

    async def partitions_in_the_end(
        self, wanted: Sequence[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        """Return as `partitions` does, by brokers that have all that was committed when this call
        began; by any broker where the controllers do not answer. Raises Behind."""

        async def read() -> Described:
            return await self.described_by_any(wanted)

        try:
            found = await self.current(read, budgets.QUORUM_WHILE_POLLING.seconds)
        except (NoControllerReachable, RequestFailed):
            found = await read()
        return dict(found.states)

    async def described(self, wanted: Sequence[TopicPartition]) -> Described:
        """Return what one broker says of `wanted` (sorted).

        One broker may be behind, so a partition counts as gone only when two brokers say so where
        two live, or one broker says so twice; one that is known not to be behind is believed. A
        caller that reads again and again does not stay with a broker that is behind: once a second
        a broker that is not behind is looked for.
        """

        async def read() -> Described:
            return await self.described_by_any(wanted)

        if not self._currency.vouched_for:
            try:
                found = await self.current(read, budgets.QUORUM_WHILE_POLLING.seconds, within=0.0)
            except Behind:
                self._leave_who_stays_behind()
            except (NoControllerReachable, RequestFailed):
                pass
            else:
                self._behind = 0
                return found
            self._currency.vouch()
        return await read()

    def _leave_who_stays_behind(self) -> None:
        """Read elsewhere from now on where the broker that is read was behind twice in a row. Once
        is what any broker is: a record takes a moment to reach it."""
        self._behind += 1
        if self._behind > 1:
            self._behind = 0
            self._nodes.forsake_reads()

    async def described_by_any(self, wanted: Sequence[TopicPartition]) -> Described:
        """Return as `described` does, and look for no broker that is not behind: for `current`."""
        found = await self._read(lambda c, deadline: describe_partitions(c, wanted, deadline))
        return await self._confirmed(found) if self._may_be_there(found) else found

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
        if not self._may_be_there(found):
            return found
        again = await self._confirmed(found)
        # The controller was not asked about the partitions that only the second broker described.
        back = dict.fromkeys(again.states.keys() - found.states.keys(), "brokers differ on it")
        return replace(again, states=found.states, untold={**again.untold, **back})

    def _may_be_there(self, found: Described) -> bool:
        """Return True where what is gone may be so only for a broker that is behind. Another one
        would be asked then, and may be behind itself."""
        return bool(found.gone) and not self._currency.held_against_controllers

    async def _confirmed(self, found: Described) -> Described:
        """Ask again for the partitions that are gone, and return the joined answers."""
        gone = sorted(found.gone)
        await asyncio.sleep(PAUSE_SECONDS)
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
        deadline = Deadline.after(self._timeout / ATTEMPTS, self._clock)
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
        found = await self.placement(brokers, seconds)
        self.electable_untold |= found.untold
        return found

    async def placement(self, brokers: Collection[int], seconds: float) -> Electable:
        """Return on which of the brokers the controllers would place a topic; raises nothing."""
        if not brokers:
            return NOT_ASKED
        deadline = Deadline.after(seconds, self._clock)
        ask = partial(electable, brokers=brokers, deadline=deadline)
        try:
            return await self._nodes.ask_controller(ask, deadline)
        except (NoBrokerReachable, ConnectionFailed) as error:
            return Electable(frozenset(), dict.fromkeys(brokers, str(error)))

    async def unclean_elections(self, topics: Sequence[str]) -> Mapping[str, ConfigValue]:
        """Return unclean.leader.election.enable of each topic that this user may know it of, as far
        as a broker answers in a moment."""
        try:
            async with asyncio.timeout(budgets.UNCLEAN_ELECTIONS.seconds):
                found = await self.settings(topics, UNCLEAN_LEADER_ELECTION_ENABLE)
        except (TimeoutError, *FAILURES):
            return {}
        return {
            topic: told
            for topic, told in found.items()
            if told.error == Errors.NONE and told.value is not None
        }

    async def settings(self, topics: Sequence[str], key: str) -> Mapping[str, ConfigValue]:
        """Return the value of one config of each topic. The question has a connection of its own: a
        quota that it uses up costs no other one. Raises ConnectionFailed, NoBrokerReachable,
        RequestFailed."""

        async def read(connection: Connection, deadline: Deadline) -> Mapping[str, ConfigValue]:
            return await topic_configs(connection, topics, key, deadline)

        return await self._read(read, self._apart)

    async def configs_set(self, topics: Sequence[str]) -> Mapping[str, TopicConfigs]:
        """Return the configs of each topic that are no defaults, over a connection of its own.
        Raises ConnectionFailed, NoBrokerReachable, RequestFailed."""

        async def read(connection: Connection, deadline: Deadline) -> Mapping[str, TopicConfigs]:
            return await configs_set(connection, topics, deadline)

        return await self._read(read, self._apart)

    async def quorum(self, seconds: float) -> Quorum | None:
        """Return the quorum when its controllers can commit; see led_quorum. Raises
        NoBrokerReachable with what each broker said instead, and RequestFailed."""
        deadline = Deadline.after(seconds, self._clock)
        return await self._nodes.ask_controller(partial(led_quorum, deadline=deadline), deadline)

    async def current(
        self,
        read: Callable[[], Awaitable[T]],
        patience: float = budgets.QUORUM.seconds,
        within: float = budgets.CURRENT.seconds,
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
        return await self._currency.current(read, patience, within)

    async def _quorum_within(self, seconds: float) -> Quorum | None:
        return await self.quorum(min(self._timeout, seconds))

    async def _read(self, read: Read[T], over: Over = shared) -> T:
        """Return the first answer. Raises NoBrokerReachable, RequestFailed, or the last
        ConnectionFailed."""
        deadline = Deadline.after(self._timeout, self._clock)
        return await self._brokers.answer(self._currency.marked(read), over, deadline)


async def _topics(
    names: Sequence[str] | None, connection: Connection, deadline: Deadline
) -> list[Topic]:
    return await describe_topics(connection, names, deadline)
