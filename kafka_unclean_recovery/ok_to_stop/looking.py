"""The cluster is looked at for what decides whether brokers may be stopped; nothing is changed.

Whatever can't be read becomes a problem, with the grant that is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Literal, TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import (
    READ,
    Reassignment,
    Topic,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, describe_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.documents.observation import ObservationJson, VoterStateJson
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.ok_to_stop.observed import (
    Answers,
    has_elr,
    in_sync_unlisted,
    observed_brokers,
    observed_topic,
    one,
    strangers,
)
from kafka_unclean_recovery.ok_to_stop.seldom import Seldom, ask_seldom
from kafka_unclean_recovery.ok_to_stop.survivors import Survivors, survivors
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.answer import Answer, answered
from kafka_unclean_recovery.survey.answering import silent_brokers
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.led_unseen import led_unseen
from kafka_unclean_recovery.survey.liveness import fetched_lately
from kafka_unclean_recovery.survey.newest import newest
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport import ReplicaLogSource

_NO_QUORUM = "no controller leads the quorum, as far as brokers tell: nobody would be elected"

T = TypeVar("T")
QuorumState = Literal["up", "down", "silent", "untold"]
"""up: a controller leads, and a majority follows; down: none does; silent: nothing was heard of it;
untold: there is no quorum, or this user may not ask."""
_Read = tuple[Cluster, list[Topic]]
_Hidden = frozenset[TopicPartition]


class Look:
    """One look at the cluster. Each question has a deadline.

    kept: what an earlier look kept; of that nothing is asked again, and of brokers only whether
    those answer that the controllers do not hear. source: asked for the logs of partitions that
    nobody leads; nobody is asked where it is None. quorum: what was heard of it in this look.
    """

    def __init__(
        self,
        nodes: Nodes,
        reader: Reader,
        kept: Seldom | None = None,
        source: ReplicaLogSource | None = None,
    ) -> None:
        self._nodes = nodes
        self._reader = reader
        self._source = source
        self._problems: dict[str, None] = {}
        self.kept = kept
        self.quorum: QuorumState = "silent"

    async def observation(self, now: Callable[[], str]) -> ObservationJson:
        """Return what is so, as JSON's types have it. `now` tells the time in ISO 8601 once all is
        asked. Raises what Reader.cluster raises."""
        asked, voters = await self._asked()
        brokers = observed_brokers(asked)
        unseen = frozenset(b.id for b in brokers if not b.listed and b.up)
        topics = tuple(
            observed_topic(topic, asked, unseen)
            for topic in asked.topics
            if topic.error != Errors.UNKNOWN_TOPIC_OR_PARTITION
        )
        finalized = (await self._nodes.any(budgets.READ.deadline())).finalized_features
        return ObservationJson(
            cluster_id=asked.cluster.cluster_id,
            observed_at=now(),
            release=one(asked.seldom.releases.values()),
            elr=has_elr(finalized, topics),
            brokers=brokers,
            voters=voters,
            topics=topics,
            problems=tuple({**self._problems, **dict.fromkeys(asked.seldom.problems)}),
        )

    async def _asked(self) -> tuple[Answers, tuple[VoterStateJson, ...] | None]:
        cluster, listed = await self._current()
        quorum = self._reader.controllers.quorum
        live = list(cluster.brokers.values())
        topics = {topic.name: topic.topic_id for topic in listed if topic.error == Errors.NONE}
        visible = frozenset(topic.name for topic in listed)
        hidden, silent, voters, reassignments, seldom = await asyncio.gather(
            self._hidden_leaders(cluster, listed),
            self._silent(live),
            self._voters(quorum),
            self._reassignments(),
            ask_seldom(self._nodes, self._reader, live, topics, visible, self.kept),
        )
        self.kept = seldom
        in_sync = in_sync_unlisted(cluster, listed, hidden)
        heard = await heard_of(self._reader, strangers(cluster, listed), cluster, in_sync)
        best = await self._survivors(cluster, listed, hidden)
        return Answers(heard, listed, hidden, silent, seldom, reassignments, best), voters

    async def _current(self) -> _Read:
        """Read brokers and topics through a broker that is not behind, where that can be known."""

        async def read() -> _Read:
            (cluster, _), topics = await asyncio.gather(
                self._reader.cluster(), self._reader.topics(None)
            )
            return cluster, topics

        found, old = await newest(self._reader, read)
        if old is not None:
            self._problems[old] = None
        return found

    async def _hidden_leaders(self, cluster: Cluster, listed: Sequence[Topic]) -> _Hidden:
        """Return the partitions that only look as if nobody led them."""
        found = {
            TopicPartition(topic.name, number)
            for topic in listed
            for number, error in topic.untold.items()
            if error == Errors.LISTENER_NOT_FOUND
        }
        led = await answered(led_unseen(self._reader, cluster, _leaderless(listed), {}))
        self._untold(led, "whether brokers lead that are not listed is not known")
        found |= (led.value or {}).keys()
        return frozenset(found)

    async def _silent(self, live: Sequence[Broker]) -> dict[int, str]:
        asked = live
        if self.kept is not None:
            controllers = self._reader.controllers
            asked = [b for b in live if fetched_lately(b.id, controllers) is None]
        return await silent_brokers(self._nodes, asked, budgets.ANSWERS_AT_ALL.deadline())

    async def _voters(self, quorum: Quorum | None) -> tuple[VoterStateJson, ...] | None:
        """Return the voters as the quorum that was read has them, and ask where none was."""

        async def ask(connection: Connection) -> Quorum | None:
            return await describe_quorum(connection, budgets.QUORUM.deadline())

        if quorum is None:
            found = await answered(self._nodes.ask_controller(ask, budgets.QUORUM.deadline()))
            if self._untold(found, "the voters are not known"):
                nobody = found.refused or self._reader.controllers.none_to_ask
                self.quorum = "untold" if nobody else "silent"
                return None
            quorum = found.value
        self.quorum = "up" if quorum is not None and quorum.up else "down"
        if quorum is None:
            self._problems[_NO_QUORUM] = None
            return None
        return tuple(
            VoterStateJson(voter.id, quorum.follows(voter) if quorum.tells_times else None)
            for voter in quorum.voters
        )

    async def _reassignments(self) -> Mapping[TopicPartition, Reassignment] | None:
        found = await answered(self._reader.reassignments())
        self._untold(found, "reassignments are not known")
        return found.value

    def _untold(self, found: Answer[T], what: str) -> bool:
        """Return whether there is no answer, and note that as a problem."""
        sentence = found.untold(what, "Cluster:DESCRIBE")
        if sentence is not None:
            self._problems[sentence] = None
        return sentence is not None

    async def _survivors(
        self, cluster: Cluster, listed: Sequence[Topic], hidden: _Hidden
    ) -> dict[TopicPartition, Survivors]:
        offline = [s for s in _leaderless(listed) if s.topic_partition not in hidden]
        if self._source is None or not offline:
            return {}
        deadline = budgets.SURVIVING_LOGS.deadline()
        no_read = frozenset(t.name for t in listed if READ not in t.authorized_operations)
        return await survivors(self._source, cluster, offline, no_read, deadline)


def _leaderless(topics: Sequence[Topic]) -> list[PartitionState]:
    return [state for state in chain.from_iterable(t.told for t in topics) if state.offline]
