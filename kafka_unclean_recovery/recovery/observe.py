"""The first phase of a run observes which partitions are offline, which brokers are live, and how
far the log of each live replica goes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import (
    ALTER,
    RequestFailed,
)
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    Cluster,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.seen_logs import SeenLog
from kafka_unclean_recovery.recovery.collect import Gathering
from kafka_unclean_recovery.recovery.fenced import SeenLogs
from kafka_unclean_recovery.recovery.group_offsets import (
    NO_WITNESSES,
    Witnesses,
    ask_groups,
    not_asked_since,
)
from kafka_unclean_recovery.recovery.tiered_topics import not_read, tiered_topics
from kafka_unclean_recovery.recovery.views import (
    MissingRight,
    View,
    Views,
    Wanted,
)
from kafka_unclean_recovery.recovery.wait_for_brokers import Waits, waiting_text
from kafka_unclean_recovery.shutdown import Interrupted, Stop
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.hidden_topics import hidden_topics, not_looked
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import ReplicaLogSource

_TICK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything that a run has seen of the cluster.

    states: the wanted partitions that exist. missing: why each other wanted partition was not
    found. replica_logs: the logs of the replicas of the offline partitions. silent_brokers: why a
    live broker gave no answer, by broker id. problems: sentences. witnesses: the offsets that
    groups committed. came_back: partitions that have a leader again, in their state without one.
    led_by_the_dead: partitions whose leader is not live; they are not elected. seen_logs: every log
    that a broker, live or fenced, told since the run began, also in earlier views, and those on
    scanned disks. tiered: why topics of offline partitions may have records in remote storage, by
    topic. topics: the topics that were described, with the number of their partitions.
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
    seen_logs: Mapping[TopicPartition, Collection[SeenLog]] = field(default_factory=dict)
    tiered: Mapping[str, str] = field(default_factory=dict)
    topics: Mapping[str, int] = field(default_factory=dict)


Advise = Callable[[Observation], Mapping[int, str]]
"""Returns in words what the return of each dead broker would bring, by broker id."""


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
        """Take `progress`, which shows a sentence that is soon replaced, and `say`, which prints
        one that stays."""
        self._nodes = nodes
        self._reader = reader
        self._views = Views(reader)
        self._source = source
        self._stop = stop
        self._progress = progress
        self._say = say
        self._rights: frozenset[int] = frozenset()
        self._throttled: set[int] = set()
        self._seen_logs: SeenLogs = {}

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
            self._nodes.open_controller_soon(budgets.QUORUM.deadline())
        _, self._rights = await self._stop.unless(self._reader.cluster())
        if wanted.will_elect and ALTER not in self._rights:
            raise MissingRight(
                "this user lacks ALTER on the cluster, which electing needs: grant Cluster:ALTER"
                " and Topic(*):READ"
            )
        view = await self._stop.unless(self._views.read(wanted))
        await self._nodes.only_one_cluster(0.0)
        deadline = Deadline.after(seconds)
        waits = Waits(wanted.wait_for, wanted.wait_for_all, self._say, wanted.gone)
        if not waits.absent(view.offline, view.cluster.brokers):
            return await self._see_with_groups(waits, wanted, deadline, view)
        seen, view = await self._see(waits, wanted, deadline, view, advise)
        seen = replace(seen, tiered=not_read({tp.topic for tp in view.offline}, "interrupted"))
        with contextlib.suppress(Interrupted):
            view = await self._stop.unless(self._views.newer(wanted, view, anew=True))
            nobody = Waits((), wait_for_all=False, say=self._say)
            deadline = deadline.at_least(budgets.LATE_LOGS.seconds)
            seen = await self._see_with_groups(nobody, wanted, deadline, view)
        return seen

    async def _see_with_groups(
        self, waits: Waits, wanted: Wanted, deadline: Deadline, view: View
    ) -> Observation:
        """Ask groups, and for the topics' remote storage, while the replicas are asked; both have a
        time limit of their own."""
        offline = view.offline
        asking = asyncio.create_task(self._ask_groups(wanted, view))
        asking_tiered = asyncio.create_task(self._ask_tiered(offline))
        try:
            seen, _ = await self._see(waits, wanted, deadline, view, lambda _: {})
            witnesses, tiered = await asking, await asking_tiered
            if wanted.ask_groups:
                witnesses = not_asked_since(witnesses, offline, seen.states)
            since = {tp: s for tp, s in seen.states.items() if s.offline and tp not in offline}
            tiered = {**await self._ask_tiered(since), **tiered}
            return replace(seen, witnesses=witnesses, tiered=tiered)
        finally:
            asking.cancel()
            asking_tiered.cancel()
            await asyncio.gather(asking, asking_tiered, return_exceptions=True)

    async def _ask_tiered(
        self, offline: Mapping[TopicPartition, PartitionState]
    ) -> Mapping[str, str]:
        topics = sorted({tp.topic for tp in offline})
        try:
            return await self._stop.unless(tiered_topics(self._reader, topics))
        except Interrupted:
            return not_read(topics, "interrupted")

    async def _ask_groups(self, wanted: Wanted, view: View) -> Witnesses:
        offline = view.offline
        if not wanted.ask_groups or not offline:
            return NO_WITNESSES
        deadline = budgets.GROUPS.deadline()
        live = view.cluster.brokers.values()
        asking = ask_groups(
            self._nodes.config, self._reader, live, offline.values(), self._rights, deadline
        )
        try:
            return await self._stop.unless(asking)
        except Interrupted:
            return Witnesses(unknown=("what groups committed is unknown: interrupted",))

    async def _see(
        self, waits: Waits, wanted: Wanted, deadline: Deadline, view: View, advise: Advise
    ) -> tuple[Observation, View]:
        gathering = Gathering(
            self._source, deadline, self._answered, self._nodes.throttled, self._seen_logs
        )
        try:
            view = await self._gather(gathering, waits, wanted, deadline, view, advise)
        finally:
            await gathering.end()
        return self._observation(gathering, view), view

    def _observation(self, gathering: Gathering, view: View) -> Observation:
        live = view.cluster.brokers
        logs = {
            tp: gathering.replica_logs(state, live, view.doubts)
            for tp, state in view.offline.items()
        }
        return Observation(
            view.cluster,
            view.states,
            view.missing,
            logs,
            {b: reason for b, reason in gathering.failures.items() if b in live},
            self._views.problems,
            came_back={
                tp: before
                for tp, before in self._views.without_leader.items()
                if tp in view.states and not view.states[tp].offline
            },
            led_by_the_dead=view.led_by_the_dead,
            seen_logs=self._seen_logs,
            topics=self._views.visible,
        )

    async def add_hidden_topics(self, wanted: Wanted, seen: Observation) -> Observation:
        """Return the observation with the problem of topics that this user may not describe.

        This is not part of `observe` so that it delays no election: elections go on beside it.
        Brokers that gave no answer before are not asked again.
        """
        if wanted.partitions is not None:
            return seen
        asked = [b for b in seen.cluster.brokers.values() if b.id not in seen.silent_brokers]
        looking = hidden_topics(self._nodes, self._reader, asked, self._views.visible.keys())
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

    def _say_who_is_throttled(self, brokers: Sequence[int]) -> None:
        """Say once of each broker that a quota holds its answers back."""
        for broker in brokers:
            why = self._nodes.throttled(broker)
            if why is not None and broker not in self._throttled:
                self._throttled.add(broker)
                self._say(f"waiting for broker {broker}: {why}")

    def _answered(self, broker: int) -> None:
        self._progress(f"broker {broker} answered")

    async def _gather(
        self,
        gathering: Gathering,
        waits: Waits,
        wanted: Wanted,
        deadline: Deadline,
        view: View,
        advise: Advise,
    ) -> View:
        """Ask brokers until all live and all awaited brokers have answered, the time is up, nothing
        is offline any more, or the run is to stop. Return the newest view."""
        while not self._stop.requested:
            gathering.ask(view.cluster.brokers, view.offline, view.cluster.fenced_at)
            await self._or_stop(gathering.wait(min(_TICK_SECONDS, deadline.remaining())))
            awaited = waits.absent(view.offline, view.cluster.brokers)
            absent = sorted({*awaited, *view.not_known_yet})
            unasked = gathering.unasked(view.cluster.brokers, view.offline)
            asking = gathering.waiting_for + gathering.fenced_waiting_for
            waiting = view.offline and (asking or absent or unasked)
            if deadline.expired or not waiting:
                break
            waits.tell_whom(
                (view, absent, gathering.answered), partial(self._advise, advise, gathering, view)
            )
            self._say_who_is_throttled(gathering.waiting_for)
            self._progress(waiting_text(asking, absent))
            if not asking and not unasked:
                await self._or_stop(asyncio.sleep(min(_TICK_SECONDS, deadline.remaining())))
            before, view = view, await self._look_again(wanted, deadline, view)
            waits.tell_what_came_back(before.states, view.states)
        return view

    def _advise(self, advise: Advise, gathering: Gathering, view: View) -> Mapping[int, str]:
        return advise(self._observation(gathering, view))

    async def _or_stop(self, work: Coroutine[Any, Any, None]) -> None:
        with contextlib.suppress(Interrupted):
            await self._stop.unless(work)

    async def _look_again(self, wanted: Wanted, deadline: Deadline, view: View) -> View:
        """Return a new view, or the old view when the cluster can't be read: a node that hangs
        delays neither the deadline nor the reaction to a signal."""
        if deadline.expired:
            return view
        try:
            async with asyncio.timeout(min(budgets.LOOK_AGAIN.seconds, deadline.remaining())):
                return await self._stop.unless(self._views.newer(wanted, view))
        except (TimeoutError, ConnectionFailed, NoBrokerReachable, Interrupted):
            pass
        return view
