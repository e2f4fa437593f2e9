"""What the cluster tells of the wanted partitions before any replica is asked.

Rights are checked here: a cluster whose topics the caller may not describe returns an empty list,
which must not be taken for "nothing is offline".
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.cluster.requests.describe import (
    READ,
    Reassignment,
    RequestFailed,
    Topic,
    not_told,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
    NoControllerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.planning.dead_leaders import dead_leaders_text, led_by_the_dead
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.hidden_topics import some_topics
from kafka_unclean_recovery.survey.liveness import (
    Heard,
    doubts,
    in_sync_beside_a_leader,
    not_known_yet,
    unseen,
    with_unregistered,
)
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.wording import and_more

_TICK_SECONDS = 0.25

_HIDDEN = (
    "led by a broker that is not on the listener this command came in by, so nothing is offline and"
    " nobody is elected; come in by a listener that all brokers advertise"
)

States = dict[TopicPartition, PartitionState]
Read = tuple[Cluster, list[Topic]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The partitions that a run looks at, and the brokers that it waits for.

    partitions: sorted; None means all offline partitions, of the topics whose whole names `topics`
    matches, of all without it. wait_for: broker ids. wait_for_all: wait
    for every replica of every offline partition. ask_groups: ask consumer groups for their
    committed offsets. gone: brokers whose disks are lost for good, which nobody waits for.
    """

    partitions: tuple[TopicPartition, ...] | None
    wait_for: frozenset[int] = frozenset()
    wait_for_all: bool = False
    will_elect: bool = False
    ask_groups: bool = False
    gone: frozenset[int] = frozenset()
    topics: re.Pattern[str] | None = None

    def has(self, topic: str) -> bool:
        return self.topics is None or self.topics.fullmatch(topic) is not None


@dataclass(frozen=True, slots=True)
class View:
    """What the cluster tells of the wanted partitions before any replica is asked.

    states: the wanted partitions that exist. missing: why each other wanted partition was not
    found. led_by_the_dead: partitions whose leader is not live. doubts: why replicas' brokers that
    are not listed as live are not known to be dead. not_known_yet: those of them of which that
    will be known in a while, such as one that may be starting again.
    """

    cluster: Cluster
    states: States
    missing: Mapping[TopicPartition, str]
    led_by_the_dead: States
    doubts: Mapping[int, str] = field(default_factory=dict)
    not_known_yet: tuple[int, ...] = ()

    @property
    def offline(self) -> States:
        return {tp: state for tp, state in self.states.items() if state.offline}


class MissingRight(Exception):
    """The caller lacks a right that the run needs; the message says how to grant it."""


class QuorumSilent(Exception):
    """The controller quorum does not answer; the message says what can still be done."""


class Views:
    """Reads views of the cluster, one after another.

    without_leader: the offline partitions of all views, as they were last seen offline. visible:
    the topics that the last view could describe, with the number of their partitions.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.without_leader: States = {}
        self.visible: Mapping[str, int] = {}
        self._next_look = Deadline.after(0)
        self._problems: dict[str, None] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the sentences about what the last view lacks."""
        return tuple(self._problems)

    async def read(self, wanted: Wanted) -> View:
        self._problems.clear()
        names = None
        if wanted.partitions is not None:
            names = sorted({tp.topic for tp in wanted.partitions})
        (cluster, every), reassignments = await asyncio.gather(
            self._current(names, wanted.will_elect), self._reassignments(wanted.will_elect)
        )
        self.visible = {topic.name: len(topic.partitions) for topic in every}
        topics = [topic for topic in every if wanted.has(topic.name)]
        if wanted.topics is not None and not topics:
            self._problem(
                f"--topics {wanted.topics.pattern}: no topic has such a name that this user may"
                " describe; it is compared with whole names"
            )
        self._check_told(names, topics)
        self._check_read(topics)
        dead = await self._led_by_the_dead(wanted, cluster, topics)
        # Most changes show in the list of live brokers; the others show only in the partitions.
        self._next_look = Deadline.after(budgets.LOOK_AGAIN.good_for)
        states, missing = _select(wanted.partitions, topics, reassignments)
        replicas = {r for state in states.values() if state.offline for r in state.replicas}
        heard = await self._heard_of(cluster, every, replicas)
        doubted, living = doubts(replicas, heard), unseen(replicas, heard)
        states = {tp: with_unregistered(state, cluster, living) for tp, state in states.items()}
        if hidden := await self._hidden_leaders(states, cluster, doubted):
            states = {tp: state for tp, state in states.items() if tp not in hidden}
            missing |= {tp: _HIDDEN for tp in hidden if wanted.partitions is not None}
        for tp, state in states.items():
            if state.offline:
                self.without_leader[tp] = state
        return View(cluster, states, missing, dead, doubted, not_known_yet(replicas, heard))

    async def _heard_of(
        self, cluster: Cluster, topics: Iterable[Topic], replicas: Collection[int]
    ) -> Heard:
        in_sync = in_sync_beside_a_leader(cluster, (s for topic in topics for s in topic.told))
        return await heard_of(self._reader, replicas, cluster, in_sync, self._reader.lived)

    async def _hidden_leaders(
        self, states: States, cluster: Cluster, doubts: Mapping[int, str]
    ) -> frozenset[TopicPartition]:
        """Return the partitions that only look offline: a leader, always in the ISR, is not on the
        listener that is read through. Note them as a problem."""
        unheard = {*doubts}
        if cluster.lists_fenced:
            # One that hangs for some seconds may lead all the same.
            listed = {*cluster.brokers, *cluster.fenced}
            unheard |= {b for state in states.values() for b in state.isr if b not in listed}
        suspected = [s for s in states.values() if s.offline and unheard.intersection(s.isr)]
        if not suspected:
            return frozenset()
        hidden = await self._reader.hidden_leaders(sorted({state.topic for state in suspected}))
        hidden &= states.keys()
        if hidden:
            names = [str(tp) for tp in sorted(hidden)]
            self._problem(f"{names[0]}{and_more(names)}: {_HIDDEN}")
        return hidden

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

    async def _current(self, names: Sequence[str] | None, will_elect: bool) -> Read:
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
            return await self._reader.current(read, budgets.QUORUM_AT_A_GLANCE.seconds)
        except Behind as error:
            self._problem(f"what was seen may be old: {error}")
        except (NoControllerReachable, RequestFailed):
            # The read of reassignments fails too, and reports the silent controller.
            pass
        return await read()

    async def _once_led(self, read: Callable[[], Awaitable[Read]]) -> Read:
        """Read until a controller leads the quorum. Raises QuorumSilent when none does in time."""
        deadline = budgets.QUORUM.deadline()
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
            async with asyncio.timeout(budgets.REASSIGNMENTS.seconds):
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
        names = [
            t.name for t in topics if t.error == Errors.NONE and READ not in t.authorized_operations
        ]
        if names:
            self._problem(
                f"this user lacks READ on {some_topics(names)}: how far the replicas go can't be"
                " read; grant Topic:READ"
            )

    async def newer(self, wanted: Wanted, view: View, *, anew: bool = False) -> View:
        """Return a new view when the live brokers have changed or a few seconds have passed,
        because partitions may have come back; otherwise return the old view."""
        cluster, _ = await self._reader.cluster()
        same = cluster.brokers.keys() == view.cluster.brokers.keys()
        if same and not (anew or self._next_look.expired):
            return view
        now = await self.read(wanted)
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
    code = errors.get(tp.topic, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if code == Errors.NONE and str(tp) in errors:
        return f"partition {tp}: {error_name(errors[str(tp)])}"
    if code == Errors.NONE:
        return f"topic {tp.topic} has no partition {tp.partition}"
    if code == Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return f"topic {tp.topic} does not exist"
    if code == Errors.TOPIC_AUTHORIZATION_FAILED:
        return f"topic {tp.topic} does not exist, or this user may not describe it"
    return f"topic {tp.topic}: {error_name(code)}"
