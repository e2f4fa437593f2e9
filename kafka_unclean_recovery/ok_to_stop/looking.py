"""The cluster is looked at for what decides whether brokers may be stopped; nothing is changed.

Whatever can't be read becomes a problem, with the grant that is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Behind, Reader
from kafka_unclean_recovery.cluster.requests.configs import ConfigSource, ConfigValue, topic_configs
from kafka_unclean_recovery.cluster.requests.describe import (
    Reassignment,
    RequestFailed,
    Topic,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import describe_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import (
    NONE,
    UNKNOWN_TOPIC_OR_PARTITION,
    error_name,
)
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    NoBrokerReachable,
    NoControllerReachable,
)
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.doctor.releases import ELR_VERSION, METADATA_VERSION, release_of
from kafka_unclean_recovery.emulator.controller.state import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
)
from kafka_unclean_recovery.formats.ok_to_stop import (
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
    VoterStateJson,
)
from kafka_unclean_recovery.model import Broker, Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.ok_to_stop.prediction import BY_BROKER
from kafka_unclean_recovery.recovery.hidden_topics import Hidden, hidden_topics, not_looked

T = TypeVar("T")
_SECONDS = 10.0
_NO_QUORUM = "no controller leads the quorum, as far as brokers tell: nobody would be elected"
_UNKNOWN = "unknown"
_SOURCES = {
    ConfigSource.TOPIC: "topic",
    ConfigSource.ALL_BROKERS: "all_brokers",
    ConfigSource.ONE_BROKER: "one_broker",
    ConfigSource.FILE: "file",
    ConfigSource.DEFAULT: "default",
}
_Configs = Mapping[str, ConfigValue]


@dataclass(frozen=True, slots=True)
class Slowly:
    """The answers that seldom change: of each broker, and of the topics of these names."""

    names: frozenset[str]
    hidden: Hidden
    releases: Sequence[str | None]
    min_isrs: _Configs
    uncleans: _Configs
    own_min_isrs: Mapping[int, int | None]
    problems: Mapping[str, None]


class Look:
    """One look at the cluster. Each question has a deadline. kept: what an earlier look kept, which
    is not asked again as long as the topics are the same."""

    def __init__(self, nodes: Nodes, reader: Reader, kept: Slowly | None = None) -> None:
        self._nodes = nodes
        self._reader = reader
        self._problems: dict[str, None] = {}
        self.kept = kept

    async def observation(self, now: Callable[[], str]) -> ObservationJson:
        """Return what is so. now: the time in ISO 8601, asked for at the end. Raises what
        Reader.cluster raises."""
        cluster, _ = await self._reader.cluster()
        listed = await self._topics()
        live = list(cluster.brokers.values())
        voters, reassignments, slowly = await asyncio.gather(
            self._voters(), self._reassignments(), self._slowly(live, listed)
        )
        # Whether a broker answers is only known of now.
        silent = {} if slowly is self.kept else slowly.hidden.silent
        self.kept = slowly
        topics = tuple(
            _observed(topic, reassignments, slowly.min_isrs, slowly.uncleans)
            for topic in listed
            if topic.error != UNKNOWN_TOPIC_OR_PARTITION
        )
        finalized = (await self._nodes.any(Deadline.after(_SECONDS))).finalized_features
        return ObservationJson(
            cluster_id=cluster.cluster_id,
            observed_at=now(),
            release=_one(slowly.releases),
            elr=_elr(finalized, topics),
            brokers=_brokers(cluster, silent, slowly.own_min_isrs),
            voters=voters,
            topics=topics,
            problems=tuple({**self._problems, **slowly.problems}),
        )

    async def _slowly(self, live: Sequence[Broker], listed: Sequence[Topic]) -> Slowly:
        names = frozenset(topic.name for topic in listed if topic.error == NONE)
        if self.kept is not None and self.kept.names == names:
            return self.kept
        problems: dict[str, None] = {}
        hidden, releases, min_isrs, uncleans = await asyncio.gather(
            self._hidden(live, listed),
            self._releases(live),
            self._configs(sorted(names), MIN_INSYNC_REPLICAS, problems),
            self._configs(sorted(names), UNCLEAN_LEADER_ELECTION_ENABLE, problems),
        )
        problems.update(dict.fromkeys(hidden.problems))
        own = await self._own_min_isrs(live, min_isrs)
        return Slowly(names, hidden, releases, min_isrs, uncleans, own, problems)

    async def _topics(self) -> list[Topic]:
        """Read the topics through a broker that is not behind, where that can be known."""
        read = partial(self._reader.topics, None)
        try:
            return await self._reader.current(read)
        except RequestFailed as error:
            problem = f"whether brokers are behind is not known ({error}); grant Cluster:DESCRIBE"
        except (Behind, NoControllerReachable) as error:
            problem = f"what is read may be old: {error}"
        self._problems[problem] = None
        return await read()

    async def _voters(self) -> tuple[VoterStateJson, ...] | None:
        async def ask(connection: Connection) -> tuple[VoterStateJson, ...] | None:
            quorum = await describe_quorum(connection, Deadline.after(_SECONDS))
            if quorum is None:
                return None
            told = quorum.tells_times
            return tuple(
                VoterStateJson(voter.id, quorum.follows(voter) if told else None)
                for voter in quorum.voters
            )

        try:
            voters = await self._nodes.ask_controller(ask, Deadline.after(_SECONDS))
        except RequestFailed as error:
            self._problems[f"the voters are not known ({error}); grant Cluster:DESCRIBE"] = None
            return None
        except (ConnectionFailed, NoBrokerReachable) as error:
            self._problems[f"the voters are not known: {error}"] = None
            return None
        if voters is None:
            self._problems[_NO_QUORUM] = None
        return voters

    async def _reassignments(self) -> Mapping[TopicPartition, Reassignment] | None:
        try:
            return dict(await self._reader.reassignments())
        except RequestFailed as error:
            problem = f"reassignments are not known ({error}); grant Cluster:DESCRIBE"
        except (ConnectionFailed, NoBrokerReachable) as error:
            problem = f"reassignments are not known: {error}"
        self._problems[problem] = None
        return None

    async def _hidden(self, live: Sequence[Broker], listed: Sequence[Topic]) -> Hidden:
        visible = frozenset(topic.name for topic in listed)
        try:
            return await hidden_topics(self._nodes, self._reader, live, visible)
        except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
            return not_looked(str(error))

    async def _releases(self, live: Sequence[Broker]) -> list[str | None]:
        async def release(connection: Connection, _: Deadline) -> str | None:
            level = connection.features.get(METADATA_VERSION)
            return None if level is None else release_of(level)

        return await self._each(live, release)

    async def _configs(self, names: Sequence[str], key: str, problems: dict[str, None]) -> _Configs:
        try:
            connection = await self._nodes.any(Deadline.after(_SECONDS))
            return await topic_configs(connection, names, key, Deadline.after(_SECONDS))
        except (ConnectionFailed, NoBrokerReachable, RequestFailed) as error:
            problems[f"{key} is not known: {error}"] = None
            return {}

    async def _own_min_isrs(
        self, live: Sequence[Broker], min_isrs: _Configs
    ) -> dict[int, int | None]:
        """Ask each broker for its own value where a topic takes that: brokers' files may differ."""
        sample = [n for n, found in min_isrs.items() if _SOURCES.get(found.source) in BY_BROKER][:1]
        if not sample:
            return {}

        async def own(connection: Connection, deadline: Deadline) -> int | None:
            found = await topic_configs(connection, sample, MIN_INSYNC_REPLICAS, deadline)
            return _number(found.get(sample[0]))

        values = await self._each(live, own)
        return {broker.id: value for broker, value in zip(live, values, strict=True)}

    async def _each(
        self, brokers: Sequence[Broker], ask: Callable[[Connection, Deadline], Awaitable[T]]
    ) -> list[T | None]:
        """Ask each broker; None for one that does not answer, which others tell of."""

        async def one(broker: Broker) -> T | None:
            deadline = Deadline.after(_SECONDS)
            try:
                return await ask(await self._nodes.broker(broker, deadline), deadline)
            except (ConnectionFailed, RequestFailed):
                return None

        return list(await asyncio.gather(*map(one, brokers)))


def _one(releases: Sequence[str | None]) -> str:
    told = {release for release in releases if release is not None}
    return told.pop() if len(told) == 1 else _UNKNOWN


def _elr(finalized: Mapping[str, int], topics: Sequence[ObservedTopicJson]) -> bool:
    if finalized:
        return finalized.get(ELR_VERSION, 0) > 0
    partitions = (partition for topic in topics for partition in topic.partitions)
    return any(partition.elr or partition.last_known_elr for partition in partitions)


def _brokers(
    cluster: Cluster, silent: Mapping[int, str], own: Mapping[int, int | None]
) -> tuple[ObservedBrokerJson, ...]:
    live = (
        ObservedBrokerJson(b.id, b.rack, False, silent.get(b.id), own.get(b.id))
        for b in cluster.brokers.values()
    )
    fenced = (ObservedBrokerJson(id_, None, True, None, None) for id_ in cluster.fenced)
    return tuple(sorted((*live, *fenced), key=lambda broker: broker.id))


def _observed(
    topic: Topic,
    reassignments: Mapping[TopicPartition, Reassignment] | None,
    min_isrs: _Configs,
    uncleans: _Configs,
) -> ObservedTopicJson:
    min_isr, unclean = min_isrs.get(topic.name), uncleans.get(topic.name)
    number, flag = _number(min_isr), None if unclean is None else unclean.value
    problem = None
    if topic.error != NONE:
        problem = f"{error_name(topic.error)}; grant Topic:DESCRIBE"
    elif topic.untold:
        problem = (
            f"not all its partitions are told: {error_name(next(iter(topic.untold.values())))}"
        )
    elif (lacking := _lacking(topic)) is not None:
        problem = f"partition {lacking} is missing in the answer; look again"
    elif number is None or flag not in ("true", "false"):
        problem = (
            _config_problem(MIN_INSYNC_REPLICAS, min_isr)
            if number is None
            else _config_problem(UNCLEAN_LEADER_ELECTION_ENABLE, unclean)
        )
    source = _UNKNOWN if min_isr is None else _SOURCES.get(min_isr.source, _UNKNOWN)
    return ObservedTopicJson(
        topic.name,
        topic.topic_id,
        number,
        source,
        None if flag is None else flag == "true",
        problem,
        tuple(_partition(state, reassignments or {}) for state in topic.partitions),
    )


def _lacking(topic: Topic) -> int | None:
    """Return a partition that the answer lacks: Kafka numbers them without a gap."""
    told = {state.partition for state in topic.partitions}
    return next((number for number in range(len(told)) if number not in told), None)


def _config_problem(key: str, found: ConfigValue | None) -> str:
    why = "" if found is None or found.error == NONE else f" ({error_name(found.error)})"
    return f"{key} is not known{why}; grant Topic:DESCRIBE_CONFIGS"


def _number(found: ConfigValue | None) -> int | None:
    if found is None or found.error != NONE or found.value is None or not found.value.isdigit():
        return None
    return int(found.value)


def _partition(
    state: PartitionState, reassignments: Mapping[TopicPartition, Reassignment]
) -> ObservedPartitionJson:
    told = with_reassignment(state, reassignments)
    return ObservedPartitionJson(
        told.partition,
        told.leader,
        told.replicas,
        told.isr,
        told.elr,
        told.last_known_elr,
        told.offline_replicas,
        told.adding_replicas,
        told.removing_replicas,
    )
