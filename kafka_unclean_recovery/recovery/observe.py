"""The first phase of a run observes which partitions are offline, which brokers are live, and how
far the log of each live replica goes.

Rights are checked first: a cluster whose topics the caller may not describe returns an empty list,
which must not be taken for "nothing is offline".
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Behind, Reader
from kafka_unclean_recovery.cluster.requests.describe import (
    ALTER,
    READ,
    Reassignment,
    RequestFailed,
    Topic,
    not_told,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.wire.error_codes import (
    NONE,
    TOPIC_AUTHORIZATION_FAILED,
    UNKNOWN_TOPIC_OR_PARTITION,
    error_name,
)
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
    NoControllerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    Cluster,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.dead_leaders import dead_leaders_text, led_by_the_dead
from kafka_unclean_recovery.recovery.collect import Gathering
from kafka_unclean_recovery.recovery.group_offsets import (
    NO_WITNESSES,
    Witnesses,
    ask_groups,
    not_asked_since,
)
from kafka_unclean_recovery.recovery.hidden_topics import hidden_topics, not_looked, some_topics
from kafka_unclean_recovery.recovery.wait_for_brokers import Waits, waiting_text
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.transport import ReplicaLogSource

_TICK_SECONDS = 0.25
# A working controller quorum answers within this time, a controller failover included.
_QUORUM_SECONDS = 10.0
# Enough for one read of the live brokers and of many partitions.
_LOOK_SECONDS = 5.0
# Brokers get at least this long to answer once the awaited brokers are back or the time is up.
_ANSWER_SECONDS = 10.0
# Most changes show in the list of live brokers; the others show only in the partitions.
_LOOK_AGAIN_SECONDS = 5.0
_GROUPS_SECONDS = 3.0

# The controller gets this long to say which brokers are behind when nothing is to be elected.
_GLANCE_SECONDS = 2.0

States = dict[TopicPartition, PartitionState]
Read = tuple[Cluster, list[Topic]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The partitions that a run looks at, and the brokers that it waits for.

    partitions: sorted; None means all offline partitions. wait_for: broker ids. wait_for_all: wait
    for every replica of every offline partition. ask_groups: ask consumer groups for their
    committed offsets.
    """

    partitions: tuple[TopicPartition, ...] | None
    wait_for: frozenset[int] = frozenset()
    wait_for_all: bool = False
    will_elect: bool = False
    ask_groups: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that a run has seen of the cluster.

    states: the wanted partitions that exist. missing: why each other wanted partition was not
    found. replica_logs: the logs of the replicas of the offline partitions. silent_brokers: why a
    live broker gave no answer, by broker id. problems: sentences. witnesses: the offsets that
    groups committed. came_back: partitions that have a leader again, in their state without one.
    led_by_the_dead: partitions whose leader is not live; they are not elected.
    """

    cluster: Cluster
    states: Mapping[TopicPartition, PartitionState]
    missing: Mapping[TopicPartition, str]
    replica_logs: Mapping[TopicPartition, Sequence[ReplicaLog]]
    silent_brokers: Mapping[int, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    witnesses: Witnesses = NO_WITNESSES
    came_back: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    led_by_the_dead: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)


Advise = Callable[[Observation], Mapping[int, str]]
"""Returns in words what the return of each dead broker would bring, by broker id."""


class MissingRight(Exception):
    """The caller lacks a right that the run needs; the message says how to grant it."""


class QuorumSilent(Exception):
    """The controller quorum does not answer; the message says what can still be done."""


class Observer:
    def __init__(
        self,
        nodes: Nodes,
        reader: Reader,
        source: ReplicaLogSource,
        stop: Stop,
        progress: Callable[[str], None],
        say: Callable[[str], None],
    ) -> None:
        """progress: shows a sentence that is soon replaced; say: prints a sentence that stays."""
        self._nodes = nodes
        self._reader = reader
        self._source = source
        self._stop = stop
        self._progress = progress
        self._say = say
        self._rights: frozenset[int] = frozenset()
        self._without_leader: States = {}
        self._next_look = Deadline.after(0)
        self._visible: set[str] = set()
        self._problems: dict[str, None] = {}

    async def observe(
        self, wanted: Wanted, seconds: float, advise: Advise = lambda _: {}
    ) -> Observation:
        """Observe the wanted partitions, and observe them anew once the awaited brokers are back or
        the time is up.

        seconds: how long brokers may take to answer, counted from the first request for replica
        logs; the time that a silent broker costs before that request is not counted. advise: gives
        the sentences about the brokers that are waited for.

        Raises MissingRight, NoBrokerReachable, ClustersMixed, and Interrupted when nothing has been
        seen yet.
        """
        if wanted.will_elect:
            self._nodes.open_controller_soon(Deadline.after(_QUORUM_SECONDS))
        _, self._rights = await self._stop.unless(self._reader.cluster())
        if wanted.will_elect and ALTER not in self._rights:
            raise MissingRight(
                "this user lacks ALTER on the cluster, which electing needs: grant Cluster:ALTER"
                " and Topic(*):READ"
            )
        view = await self._stop.unless(self._describe(wanted))
        await self._nodes.only_one_cluster(0.0)
        deadline = Deadline.after(seconds)
        waits = Waits(wanted.wait_for, wanted.wait_for_all, self._say)
        if not waits.absent(view.offline, view.cluster.brokers):
            return await self._see_with_groups(waits, wanted, deadline, view)
        seen, view = await self._see(waits, wanted, deadline, view, advise)
        with contextlib.suppress(Interrupted):
            view = await self._stop.unless(self._look(wanted, view, anew=True))
            nobody = Waits((), wait_for_all=False, say=self._say)
            deadline = deadline.at_least(_ANSWER_SECONDS)
            seen = await self._see_with_groups(nobody, wanted, deadline, view)
        return seen

    async def _see_with_groups(
        self, waits: Waits, wanted: Wanted, deadline: Deadline, view: _View
    ) -> Observation:
        """Ask groups while the replicas are asked; groups have a time limit of their own."""
        asking = asyncio.create_task(self._ask_groups(wanted, view))
        try:
            seen, _ = await self._see(waits, wanted, deadline, view, lambda _: {})
            witnesses = await asking
            if wanted.ask_groups:
                witnesses = not_asked_since(witnesses, view.offline, seen.states)
            return replace(seen, witnesses=witnesses)
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _ask_groups(self, wanted: Wanted, view: _View) -> Witnesses:
        offline = view.offline
        if not wanted.ask_groups or not offline:
            return NO_WITNESSES
        deadline = Deadline.after(_GROUPS_SECONDS)
        live = view.cluster.brokers.values()
        asking = ask_groups(
            self._nodes.config, self._reader, live, offline.values(), self._rights, deadline
        )
        try:
            return await self._stop.unless(asking)
        except Interrupted:
            return Witnesses(unknown=("what groups committed is unknown: interrupted",))

    async def _see(
        self, waits: Waits, wanted: Wanted, deadline: Deadline, view: _View, advise: Advise
    ) -> tuple[Observation, _View]:
        gathering = Gathering(self._source, deadline, self._answered)
        try:
            view = await self._gather(gathering, waits, wanted, deadline, view, advise)
        finally:
            await gathering.end()
        return self._observation(gathering, view), view

    def _observation(self, gathering: Gathering, view: _View) -> Observation:
        live = view.cluster.brokers
        logs = {tp: gathering.replica_logs(state, live) for tp, state in view.offline.items()}
        return Observation(
            view.cluster,
            view.states,
            view.missing,
            logs,
            {b: reason for b, reason in gathering.failures.items() if b in live},
            tuple(self._problems),
            came_back={
                tp: before
                for tp, before in self._without_leader.items()
                if tp in view.states and not view.states[tp].offline
            },
            led_by_the_dead=view.led_by_the_dead,
        )

    async def add_hidden_topics(self, wanted: Wanted, seen: Observation) -> Observation:
        """Return the observation with the problem of topics that this user may not describe.

        This is not part of `observe` so that it delays no election: elections go on beside it.
        Brokers that gave no answer before are not asked again.
        """
        if wanted.partitions is not None:
            return seen
        asked = [b for b in seen.cluster.brokers.values() if b.id not in seen.silent_brokers]
        looking = hidden_topics(self._nodes, self._reader, asked, self._visible)
        try:
            hidden = await self._stop.unless(looking)
        except Interrupted:
            hidden = not_looked("interrupted")
        except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
            hidden = not_looked(str(error))
        return replace(
            seen,
            silent_brokers={**hidden.silent, **seen.silent_brokers},
            problems=(*seen.problems, *hidden.problems),
        )

    def _answered(self, broker: int) -> None:
        self._progress(f"broker {broker} answered")

    async def _describe(self, wanted: Wanted) -> _View:
        self._problems.clear()
        names = None
        if wanted.partitions is not None:
            names = sorted({tp.topic for tp in wanted.partitions})
        (cluster, topics), reassignments = await asyncio.gather(
            self._read(names, wanted.will_elect), self._reassignments(wanted.will_elect)
        )
        self._visible = {topic.name for topic in topics}
        self._check_told(names, topics)
        self._check_read(topics)
        dead = await self._led_by_the_dead(wanted, cluster, topics)
        self._next_look = Deadline.after(_LOOK_AGAIN_SECONDS)
        states, missing = _select(wanted.partitions, topics, reassignments)
        for tp, state in states.items():
            if state.offline:
                self._without_leader[tp] = state
        return _View(cluster, states, missing, dead)

    async def _led_by_the_dead(
        self, wanted: Wanted, cluster: Cluster, topics: Iterable[Topic]
    ) -> States:
        """Return the wanted partitions whose leader is not live, and note them as a problem."""
        every = (state for topic in topics for state in topic.partitions)
        dead = {s.topic_partition: s for s in every if led_by_the_dead(s, cluster)}
        if wanted.partitions is not None:
            dead = {tp: state for tp, state in dead.items() if tp in wanted.partitions}
        if dead:
            # A leader may have come back since the brokers were listed.
            cluster, _ = await self._reader.cluster()
            dead = {tp: state for tp, state in dead.items() if led_by_the_dead(state, cluster)}
        if dead:
            self._problem(dead_leaders_text(dead, cluster))
        return dead

    async def _read(self, names: Sequence[str] | None, will_elect: bool) -> Read:
        """Read the cluster and its topics through a broker that is not behind.

        When nothing is to be elected, any broker serves if none is known to be current. Raises
        QuorumSilent when something is to be elected and the controller quorum does not answer.
        """

        async def read() -> Read:
            (cluster, _), topics = await asyncio.gather(
                self._reader.cluster(), self._reader.topics(names)
            )
            return cluster, topics

        try:
            if will_elect:
                return await self._once_led(lambda: self._reader.current(read))
            return await self._reader.current(read, _GLANCE_SECONDS)
        except Behind as error:
            self._problem(f"what was seen may be old: {error}")
        except (NoControllerReachable, RequestFailed):
            # The read of reassignments fails too, and reports the silent controller.
            pass
        return await read()

    async def _once_led(self, read: Callable[[], Awaitable[Read]]) -> Read:
        """Read until a controller leads the quorum. Raises QuorumSilent when none does in time."""
        deadline = Deadline.after(_QUORUM_SECONDS)
        while True:
            try:
                return await read()
            except RequestFailed as error:
                raise _quorum_silent(str(error)) from None
            except NoControllerReachable as error:
                # A controller failover takes a moment.
                if deadline.expired:
                    raise _quorum_silent(str(error)) from None
            await asyncio.sleep(min(_TICK_SECONDS, deadline.remaining()))

    async def _reassignments(self, needed: bool) -> Mapping[TopicPartition, Reassignment]:
        """Return the reassignments in progress, which only the controller knows. Raises
        QuorumSilent when they are needed for electing and not known."""
        reason = "the controller quorum does not answer"
        try:
            async with asyncio.timeout(_QUORUM_SECONDS):
                return await self._reader.reassignments()
        except (TimeoutError, RequestFailed, ConnectionFailed, NoBrokerReachable) as error:
            reason = str(error) or reason
        if needed:
            raise _quorum_silent(reason)
        self._problem(f"reassignments in progress are not known: {reason}")
        return {}

    def _problem(self, sentence: str) -> None:
        self._problems[sentence] = None

    def _check_told(self, names: Sequence[str] | None, topics: Iterable[Topic]) -> None:
        """Note topics that could not be described, when all topics were asked for; a topic that was
        named is reported as missing instead."""
        errors = not_told(topics) if names is None else {}
        if errors:
            why = ", ".join(sorted(set(errors.values())))
            self._problem(
                f"{some_topics(sorted(errors))} could not be described ({why}): whether their"
                " partitions are offline is not known"
            )

    def _check_read(self, topics: Iterable[Topic]) -> None:
        names = [t.name for t in topics if t.error == NONE and READ not in t.authorized_operations]
        if names:
            self._problem(
                f"this user lacks READ on {some_topics(names)}: how far the replicas go can't be"
                " read; grant Topic:READ"
            )

    async def _gather(
        self,
        gathering: Gathering,
        waits: Waits,
        wanted: Wanted,
        deadline: Deadline,
        view: _View,
        advise: Advise,
    ) -> _View:
        """Ask brokers until all live and all awaited brokers have answered, the time is up, nothing
        is offline any more, or the run is to stop. Return the newest view."""
        while not self._stop.requested:
            gathering.ask(view.cluster.brokers, view.offline)
            await self._or_stop(gathering.wait(min(_TICK_SECONDS, deadline.remaining())))
            absent = waits.absent(view.offline, view.cluster.brokers)
            waiting = view.offline and (gathering.waiting_for or absent)
            if deadline.expired or not waiting:
                break
            waits.tell_whom(
                (view, absent, gathering.answered), partial(self._advise, advise, gathering, view)
            )
            self._progress(waiting_text(gathering.waiting_for, absent))
            if not gathering.waiting_for:
                await self._or_stop(asyncio.sleep(min(_TICK_SECONDS, deadline.remaining())))
            before, view = view, await self._look_again(wanted, deadline, view)
            waits.tell_what_came_back(before.states, view.states)
        return view

    def _advise(self, advise: Advise, gathering: Gathering, view: _View) -> Mapping[int, str]:
        return advise(self._observation(gathering, view))

    async def _or_stop(self, work: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(Interrupted):
            await self._stop.unless(work)

    async def _look_again(self, wanted: Wanted, deadline: Deadline, view: _View) -> _View:
        """Return a new view, or the old view when the cluster can't be read: a node that hangs
        delays neither the deadline nor the reaction to a signal."""
        if deadline.expired:
            return view
        try:
            async with asyncio.timeout(min(_LOOK_SECONDS, deadline.remaining())):
                return await self._stop.unless(self._look(wanted, view))
        except (TimeoutError, ConnectionFailed, NoBrokerReachable, Interrupted):
            pass
        return view

    async def _look(self, wanted: Wanted, view: _View, *, anew: bool = False) -> _View:
        """Return a new view when the live brokers have changed or a few seconds have passed,
        because partitions may have come back; otherwise return the old view."""
        cluster, _ = await self._reader.cluster()
        same = cluster.brokers.keys() == view.cluster.brokers.keys()
        if same and not (anew or self._next_look.expired):
            return view
        now = await self._describe(wanted)
        # A partition that came back by itself stays in the report.
        gone = {tp: state for tp, state in view.states.items() if tp not in now.states}
        if not gone or wanted.partitions is not None:
            return now
        return replace(now, states=now.states | await self._reader.partitions(sorted(gone)))


async def unknown_brokers(reader: Reader, cluster: Cluster, ids: Iterable[int]) -> list[int]:
    """Return the ids of brokers that the cluster does not list, live or fenced, and that hold no
    replica of a visible topic."""
    strangers = set(ids) - cluster.brokers.keys() - set(cluster.fenced)
    for topic in await reader.topics(None) if strangers else ():
        for state in topic.partitions:
            strangers.difference_update(state.replicas)
    return sorted(strangers)


@dataclass(frozen=True, slots=True)
class _View:
    cluster: Cluster
    states: States
    missing: Mapping[TopicPartition, str]
    led_by_the_dead: States

    @property
    def offline(self) -> States:
        return {tp: state for tp, state in self.states.items() if state.offline}


def _quorum_silent(reason: str) -> QuorumSilent:
    return QuorumSilent(
        f"{reason}: nothing can be elected until the quorum answers; the replica info can"
        " still be read (--show-replica-info)"
    )


def _select(
    wanted: Sequence[TopicPartition] | None,
    topics: Sequence[Topic],
    reassignments: Mapping[TopicPartition, Reassignment],
) -> tuple[States, dict[TopicPartition, str]]:
    """Return (the wanted partitions that exist, why each other wanted partition was not found)."""
    every = {p.topic_partition: p for topic in topics for p in topic.told}
    if wanted is None:
        found = [tp for tp, state in every.items() if state.offline]
    else:
        found = [tp for tp in wanted if tp in every]
    states = {tp: with_reassignment(every[tp], reassignments) for tp in sorted(found)}
    errors = {topic.name: topic.error for topic in topics}
    errors |= {f"{topic.name}-{n}": e for topic in topics for n, e in topic.untold.items()}
    missing = {tp: _why_missing(tp, errors) for tp in wanted or () if tp not in states}
    return states, missing


def _why_missing(tp: TopicPartition, errors: Mapping[str, int]) -> str:
    code = errors.get(tp.topic, UNKNOWN_TOPIC_OR_PARTITION)
    if code == NONE and str(tp) in errors:
        return f"partition {tp}: {error_name(errors[str(tp)])}"
    if code == NONE:
        return f"topic {tp.topic} has no partition {tp.partition}"
    if code == UNKNOWN_TOPIC_OR_PARTITION:
        return f"topic {tp.topic} does not exist"
    if code == TOPIC_AUTHORIZATION_FAILED:
        return f"topic {tp.topic} does not exist, or this user may not describe it"
    return f"topic {tp.topic}: {error_name(code)}"
