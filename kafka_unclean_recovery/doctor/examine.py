"""The examination asks a cluster everything that the checks need, and changes nothing.

Each question has a connection and a deadline of its own. A broker answers the requests of one
connection one after another, so that a request which it keeps (the quorum is lost) or never answers
(the broker hangs) would hold up the others.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.api_versions import missing_requests, tells_fenced
from kafka_unclean_recovery.cluster.requests.asking import Portion
from kafka_unclean_recovery.cluster.requests.configs import ConfigValue, topic_configs
from kafka_unclean_recovery.cluster.requests.controller_requests import try_electing, try_reordering
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    Topic,
    describe_cluster,
    describe_topics,
    list_reassignments,
)
from kafka_unclean_recovery.cluster.requests.log_dirs import describe_log_dirs, topics_in
from kafka_unclean_recovery.cluster.requests.quorum_state import describe_quorum
from kafka_unclean_recovery.cluster.requests.replica_log_info import (
    LIMIT,
    id_partition,
    replica_log_info,
    speaks,
    unspoken,
)
from kafka_unclean_recovery.cluster.requests.replica_probe import NO_EPOCH, end_offsets, epoch_ends
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_QUORUM
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.dial import address_text
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED
from kafka_unclean_recovery.cluster.wire.errors import (
    ConnectionFailed,
    FailureKind,
    NoBrokerReachable,
)
from kafka_unclean_recovery.cluster.wire.race import Attempt, first_success
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.doctor.facts import (
    BrokerSeen,
    ClockOffset,
    Facts,
    QuorumAnswer,
    Room,
    Spoken,
)
from kafka_unclean_recovery.kafka_names import (
    METADATA_VERSION,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
)
from kafka_unclean_recovery.mechanisms import Dialect, ElectionMethod, Wishes
from kafka_unclean_recovery.model import Broker, Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.answer import Answer, answered
from kafka_unclean_recovery.survey.any_broker import FAILURES
from kafka_unclean_recovery.survey.currency import Behind
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.led_unseen import led_unseen
from kafka_unclean_recovery.survey.liveness import (
    doubts,
    in_sync_beside_a_leader,
    unseen,
)
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.transport.choosing import (
    NotOffered,
    dialect_for,
    is_emulator,
    method_for,
)

T = TypeVar("T")

_NONE_LEADS = "no controller leads the quorum, as far as brokers tell"

Question = Callable[[Connection, Deadline], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Patient:
    """The cluster to examine. timeout: bounds each question, in seconds."""

    bootstrap: Sequence[Address]
    config: ClientConfig
    wishes: Wishes
    timeout: float


async def examine(
    patient: Patient, room: Callable[[str], Room], wall_ms: Callable[[], int]
) -> Facts:
    """Examine the cluster. `room` gives the room on this machine by the id of the cluster,
    `wall_ms` this machine's clock in ms since the Unix epoch. Questions are asked side by side, in
    three rounds. Raises NoBrokerReachable or ConnectionFailed when nobody describes the cluster,
    and RequestFailed."""
    nodes = Nodes(patient.bootstrap, patient.config)
    reader = Reader(nodes, time.monotonic, patient.timeout)
    try:
        cluster, _ = await reader.cluster()
        one = await nodes.any(Deadline.after(patient.timeout))
        examination = _Examination(patient, nodes, reader, cluster, wall_ms)
        facts = await examination.facts(room, tells_fenced(one))
        return replace(facts, zookeeper=one.version_for(DESCRIBE_QUORUM) is None)
    finally:
        await nodes.close()


@dataclass(frozen=True, slots=True)
class _Heard(Generic[T]):
    """An answer in the race of the brokers that are asked; its connection is closed already."""

    answer: Answer[T]

    async def close(self) -> None:
        pass


class _Examination:
    def __init__(
        self,
        patient: Patient,
        nodes: Nodes,
        reader: Reader,
        cluster: Cluster,
        wall_ms: Callable[[], int],
    ) -> None:
        self._patient = patient
        self._nodes = nodes
        self._reader = reader
        self._cluster = cluster
        self._wall_ms = wall_ms
        live = [(b.host, b.port) for b in cluster.brokers.values()]
        self._addresses = tuple(dict.fromkeys((*live, *patient.bootstrap)))

    async def facts(self, room: Callable[[str], Room], fenced_told: bool) -> Facts:
        method = await self._method()
        seen = asyncio.gather(self._bootstrap(), self._brokers(), self._now())
        by_controller = asyncio.gather(
            self._ask(self._quorum),
            self._ask(self._of_controller(list_reassignments)),
            self._ask(self._of_controller(try_reordering)),
            self._ask(self._of_controller(self._election(method))),
        )
        (bootstrap, other_clusters), brokers, (cluster, topics, old) = await seen
        quorum, reassignments, reordering, electing = await by_controller
        topics = await self._again_if_hidden(topics, brokers)
        tried, configs, (unseen, led) = await asyncio.gather(
            self._tried(brokers, topics.value or ()),
            self._configs(topics),
            self._not_listed(cluster, topics.value or ()),
        )
        return Facts(
            cluster=cluster,
            fenced_told=fenced_told,
            bootstrap=bootstrap,
            brokers=tried,
            method=method,
            quorum=quorum,
            reassignments=reassignments,
            reordering=reordering,
            electing=electing,
            topics=topics,
            configs=configs,
            room=room(self._cluster.cluster_id),
            other_clusters=other_clusters,
            unseen=unseen,
            led_unseen=led,
            old=old,
        )

    async def _now(self) -> tuple[Cluster, Answer[tuple[Topic, ...]], str | None]:
        """Return the brokers and topics, through a broker that is not behind where that can be
        known, and why they may be old."""

        async def read() -> tuple[Cluster, tuple[Topic, ...]]:
            (cluster, _), topics = await asyncio.gather(
                self._reader.cluster(), self._reader.topics(None)
            )
            return cluster, tuple(topics)

        old = None
        try:
            async with asyncio.timeout(self._patient.timeout):
                cluster, topics = await self._reader.current(
                    read, budgets.QUORUM_AT_A_GLANCE.seconds
                )
                return cluster, Answer(topics), None
        except Behind as error:
            old = str(error)
        except (TimeoutError, *FAILURES):
            # What keeps it from being known has a check of its own.
            pass
        return self._cluster, await self._ask(_topics), old

    async def _not_listed(
        self, cluster: Cluster, topics: Sequence[Topic]
    ) -> tuple[Mapping[int, str], Mapping[TopicPartition, str]]:
        """Return (what shows that brokers live that are not listed, who leads partitions that only
        look as if nobody led them), as far as that is told."""
        states = [state for topic in topics for state in topic.told]
        replicas = {broker for state in states for broker in state.replicas}
        in_sync = in_sync_beside_a_leader(cluster, states)
        heard = await heard_of(self._reader, replicas, cluster, in_sync)
        try:
            led = await led_unseen(self._reader, cluster, states, doubts(replicas, heard))
        except FAILURES:
            led = {}
        return unseen(replicas, heard), led

    def _deadline(self) -> Deadline:
        return Deadline.after(self._patient.timeout)

    async def _ask(self, question: Question[T]) -> Answer[T]:
        """Ask one broker after another, because a broker that is silent, or cut off from the
        controllers, does not speak for the cluster."""
        deadline = self._deadline()

        async def attempt(address: Address) -> _Heard[T]:
            opening = Connection.open(*address, self._patient.config, deadline)
            try:
                async with await opening as connection:
                    return _Heard(Answer(await question(connection, deadline)))
            except RequestFailed as error:
                if error.code in UNAUTHORIZED:
                    return _Heard(Answer(problem=str(error), refused=True))
                where = address_text(*address)
                raise ConnectionFailed(FailureKind.BAD_ANSWER, where, str(error)) from None

        attempts: list[Attempt[_Heard[T]]]
        attempts = [partial(attempt, address) for address in self._addresses]
        found = await first_success(attempts, budgets.DOCTOR.alone)
        if isinstance(found, _Heard):
            return found.answer
        return Answer(problem="; ".join(map(str, found)) or "there is nobody to ask")

    def _of_controller(self, question: Question[T]) -> Question[T]:
        """Return a question for the controller, where brokers do not pass it on."""

        async def ask(connection: Connection, deadline: Deadline) -> T:
            address = await self._nodes.controller_address(connection, deadline)
            if address is None or address_text(*address) == connection.address:
                return await question(connection, deadline)
            opening = Connection.open(*address, self._patient.config, deadline)
            async with await opening as controller:
                return await question(controller, deadline)

        return ask

    async def _ask_broker(self, broker: Broker, question: Question[T]) -> Answer[T]:
        deadline = self._deadline()

        async def asking() -> T:
            opening = Connection.open(broker.host, broker.port, self._patient.config, deadline)
            async with await opening as connection:
                return await question(connection, deadline)

        return await answered(asking())

    async def _method(self) -> Answer[ElectionMethod]:
        try:
            return Answer(await method_for(self._nodes, self._patient.wishes, self._deadline()))
        except (NotOffered, NoBrokerReachable) as error:
            return Answer(problem=str(error))

    def _election(self, method: Answer[ElectionMethod]) -> Question[None]:
        chosen = method.value or ElectionMethod.REORDER
        return lambda connection, deadline: try_electing(connection, chosen, deadline)

    async def _quorum(self, connection: Connection, deadline: Deadline) -> QuorumAnswer:
        sent = self._wall_ms()
        quorum = await describe_quorum(connection, deadline)
        answered = self._wall_ms()
        if quorum is None:
            raise RequestFailed(_NONE_LEADS, Errors.NOT_CONTROLLER)
        if quorum.now_ms is None:
            return QuorumAnswer(quorum)
        middle, half = (sent + answered) // 2, (answered - sent + 1) // 2
        return QuorumAnswer(quorum, ClockOffset(quorum.now_ms - middle, half))

    async def _bootstrap(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return (the addresses that gave no connection, with the reason; those of another cluster,
        with its id). An address that is reached and does not tell its cluster is in neither."""

        async def cluster_id(connection: Connection, deadline: Deadline) -> str | None:
            try:
                return (await describe_cluster(connection, deadline))[0].cluster_id
            except (ConnectionFailed, RequestFailed):
                return None

        bootstrap = self._patient.bootstrap
        answers = await asyncio.gather(
            *(self._ask_broker(Broker(-1, host, port), cluster_id) for host, port in bootstrap)
        )
        told = {address_text(*a): answer for a, answer in zip(bootstrap, answers, strict=True)}
        unreached = {text: a.problem for text, a in told.items() if a.problem is not None}
        ids = {text: answer.value for text, answer in told.items() if answer.value is not None}
        return unreached, {t: id_ for t, id_ in ids.items() if id_ != self._cluster.cluster_id}

    async def _brokers(self) -> tuple[BrokerSeen, ...]:
        brokers = [self._cluster.brokers[id_] for id_ in sorted(self._cluster.brokers)]
        return tuple(await asyncio.gather(*map(self._broker, brokers)))

    async def _broker(self, broker: Broker) -> BrokerSeen:
        async def spoken(connection: Connection, deadline: Deadline) -> Spoken:
            return _spoken(connection, self._patient.wishes)

        async def proof(connection: Connection, deadline: Deadline) -> str | None:
            return await prove(connection, self._cluster.cluster_id, broker.id, deadline)

        told, log_dirs, proven = await asyncio.gather(
            self._ask_broker(broker, spoken),
            self._ask_broker(broker, describe_log_dirs),
            self._ask_broker(broker, proof),
        )
        where = address_text(broker.host, broker.port)
        if proven.kind is FailureKind.OTHER_NODE:
            # Nothing that was told there is of this broker.
            told = replace(told, value=None, problem=proven.problem, kind=proven.kind)
            log_dirs = replace(log_dirs, value=None, problem=proven.problem, kind=proven.kind)
        return BrokerSeen(broker.id, where, told, log_dirs, proven)

    async def _again_if_hidden(
        self, topics: Answer[tuple[Topic, ...]], brokers: Sequence[BrokerSeen]
    ) -> Answer[tuple[Topic, ...]]:
        """Ask for the topics again when disks hold more of them, because a topic may have been
        created between the two questions."""
        on_disk = frozenset[str]().union(*(topics_in(b.log_dirs.value or ()) for b in brokers))
        if topics.failed or on_disk <= {topic.name for topic in topics.value or ()}:
            return topics
        return await self._ask(_topics)

    async def _configs(
        self, topics: Answer[tuple[Topic, ...]]
    ) -> Answer[Mapping[str, ConfigValue]]:
        if topics.failed:
            return Answer(problem=topics.problem)
        names = sorted(topic.name for topic in topics.value or ())
        return await self._ask(
            lambda c, deadline: topic_configs(c, names, UNCLEAN_LEADER_ELECTION_ENABLE, deadline)
        )

    async def _tried(
        self, brokers: Sequence[BrokerSeen], topics: Sequence[Topic]
    ) -> tuple[BrokerSeen, ...]:
        """Return the brokers with the results of reading one partition of each topic, which is
        tried only on brokers that were reached."""
        reached = [broker.id for broker in brokers if not broker.spoken.failed]
        shares = share_out(topics, reached)

        async def tried(seen: BrokerSeen) -> BrokerSeen:
            share = shares.get(seen.id, ())
            if not share or seen.spoken.value is None:
                return seen
            broker, dialect = self._cluster.brokers[seen.id], seen.spoken.value.dialect
            reading, telling = await asyncio.gather(
                self._ask_broker(broker, _reading(share)),
                self._ask_broker(broker, _log_infos(dialect, broker, share)),
            )
            ends, reads = reading.value or ({}, {})
            return replace(seen, ends=ends, reads=reads, infos=telling.value or {})

        return tuple(await asyncio.gather(*map(tried, brokers)))


def share_out(
    topics: Sequence[Topic], reached: Sequence[int]
) -> Mapping[int, tuple[PartitionState, ...]]:
    """Return the partitions to try on each broker, sorted by topic. Each topic with a replica on a
    broker that was reached has one partition tried, on the broker with the least to do so far."""
    shares: dict[int, list[PartitionState]] = {id_: [] for id_ in reached}
    for topic in sorted(topics, key=lambda topic: topic.name):
        hosts = [(p, r) for p in topic.partitions for r in p.online_replicas if r in shares]
        if topic.error == Errors.NONE and hosts:
            partition, broker = min(hosts, key=lambda host: len(shares[host[1]]))
            shares[broker].append(partition)
    return {broker: tuple(share) for broker, share in shares.items()}


def _reading(
    share: Sequence[PartitionState],
) -> Question[tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int]]]:
    """Return a question for the error codes of ListOffsets and of Fetch, which are sent as a
    recovery sends them."""
    wanted = [state.topic_partition for state in share]

    async def read(
        connection: Connection, deadline: Deadline
    ) -> tuple[Mapping[TopicPartition, int], Mapping[TopicPartition, int]]:
        ends = await end_offsets(connection, wanted, deadline)
        reads = await epoch_ends(connection, dict.fromkeys(wanted, NO_EPOCH), deadline, Portion())
        return (
            {tp: end.error for tp, end in ends.items()},
            {tp: read.error for tp, read in reads.items()},
        )

    return read


def _log_infos(
    dialect: Dialect | None, broker: Broker, share: Sequence[PartitionState]
) -> Question[Mapping[TopicPartition, int]]:
    """Return a question for the error codes of GetReplicaLogInfo, which has none where replicas are
    asked by other requests."""
    names = {id_partition(state): state.topic_partition for state in share[:LIMIT]}

    async def read(connection: Connection, deadline: Deadline) -> Mapping[TopicPartition, int]:
        if dialect is None or not speaks(connection, dialect):
            return {}
        wanted = [name for name in names if name is not None]
        told = await replica_log_info(connection, dialect, broker.id, wanted, deadline)
        return {names[name]: info.error for name, info in told.logs.items() if name in names}

    return read


def _spoken(connection: Connection, wishes: Wishes) -> Spoken:
    missing, dialect, problem = list(missing_requests(connection)), None, None
    try:
        dialect = dialect_for(connection, wishes)
    except NotOffered as error:
        problem = str(error)
    if dialect is not None and not speaks(connection, dialect):
        missing.append(unspoken(connection, dialect))
    return Spoken(
        missing=tuple(missing),
        metadata_version=connection.features.get(METADATA_VERSION),
        finalized=dict(connection.finalized_features),
        emulator=is_emulator(connection),
        dialect=dialect,
        not_offered=problem,
    )


async def _topics(connection: Connection, deadline: Deadline) -> tuple[Topic, ...]:
    return tuple(await describe_topics(connection, None, deadline))
