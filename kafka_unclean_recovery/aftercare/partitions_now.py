"""The partitions are read as they are now, from a broker that is not behind, and with their
reassignments; what may be hidden is told with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from kafka_unclean_recovery.aftercare.transactions import STATES_TOPIC
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Behind, Reader
from kafka_unclean_recovery.cluster.requests.describe import (
    DESCRIBE,
    RequestFailed,
    Topic,
    not_told,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.requests.groups import OFFSETS_TOPIC, without_leader
from kafka_unclean_recovery.cluster.requests.log_dirs import describe_log_dirs, topics_in
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
from kafka_unclean_recovery.model import (
    Broker,
    Cluster,
    GroupBeyond,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.wording import count_text

_FAILURES = (ConnectionFailed, RequestFailed)


@dataclass(frozen=True, slots=True)
class Asked:
    """The partitions to look at. named: partitions that must be there, None for every partition
    that `includes` lets in. elected: partitions that an unclean election is known to have elected.
    may_lack: tells which partitions may lack records, so that their producers are told of.
    given_up: the groups that a journal says had read more than the elected log held."""

    includes: Callable[[TopicPartition], bool]
    named: frozenset[TopicPartition] | None = None
    elected: frozenset[TopicPartition] = frozenset()
    may_lack: Callable[[TopicPartition], bool] = lambda _: False
    given_up: Mapping[TopicPartition, Sequence[GroupBeyond]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """The partitions that were asked for. topics: all that the caller may see. unknown: sentences
    on what may be hidden, or old."""

    cluster: Cluster
    topics: Sequence[Topic]
    states: Sequence[PartitionState]
    unknown: Sequence[str]


async def see(nodes: Nodes, reader: Reader, asked: Asked, timeout: float) -> Seen:
    """Read the partitions. timeout: the seconds that each broker may take to name its topics.
    Raises what Reader.topics raises."""
    cluster, rights = await reader.cluster()
    (topics, old), (states_of, untold) = await asyncio.gather(
        _topics_now(reader), _reassignments(reader)
    )
    states, unknown = _states(topics, asked)
    unknown += [*old, *untold, *_hidden(topics, rights), *await _not_shown(reader, topics)]
    if asked.named is None:
        unknown += await _undescribed(nodes, cluster.brokers, topics, asked, timeout)
    return Seen(cluster, topics, [states_of(state) for state in states], unknown)


async def _topics_now(reader: Reader) -> tuple[list[Topic], list[str]]:
    """Return all topics, and why what is told of them may be old."""
    read = partial(reader.topics, None)
    try:
        return await reader.current(read), []
    except RequestFailed as error:
        problem = f"whether brokers are behind is unknown ({error}); grant Cluster:DESCRIBE"
    except (Behind, NoControllerReachable) as error:
        problem = f"what is read may be old: {error}"
    return await read(), [problem]


async def _reassignments(
    reader: Reader,
) -> tuple[Callable[[PartitionState], PartitionState], list[str]]:
    """Return what adds its reassignment to a partition, and why that may be unknown."""
    try:
        found = await reader.reassignments()
    except RequestFailed as error:
        return _as_told, [f"reassignments are unknown ({error}); grant Cluster:DESCRIBE"]
    except (ConnectionFailed, NoBrokerReachable) as error:
        return _as_told, [f"reassignments are unknown: {error}"]
    return partial(with_reassignment, reassignments=found), []


def _as_told(state: PartitionState) -> PartitionState:
    return state


def _states(topics: Sequence[Topic], asked: Asked) -> tuple[list[PartitionState], list[str]]:
    every = {p.topic_partition: p for topic in topics for p in topic.told}
    wanted = every if asked.named is None else asked.named
    chosen = sorted(filter(asked.includes, wanted))
    missing = [
        f"{tp} does not exist, or may not be described: DESCRIBE on the topic is needed"
        for tp in chosen
        if tp not in every
    ]
    errors = not_told(topics) if asked.named is None else {}
    missing += [f"{name} could not be described: {error}" for name, error in errors.items()]
    if not chosen:
        missing.append("no partition is among those asked for: see --topics")
    return [every[tp] for tp in chosen if tp in every], missing


def _hidden(topics: Sequence[Topic], rights: frozenset[int]) -> list[str]:
    """Return what may be hidden. Coordinators that are not there leave groups and transactions out
    without an error."""
    found = []
    for name, what in ((OFFSETS_TOPIC, "groups"), (STATES_TOPIC, "transactions")):
        partitions = [p for topic in topics if topic.name == name for p in topic.partitions]
        if which := without_leader(name, partitions):
            found.append(f"{which} have no leader: {what} that are on them are unknown")
    if DESCRIBE not in rights:
        found.append("groups may be left out: listing all needs DESCRIBE on the cluster")
    return found


async def _not_shown(reader: Reader, topics: Sequence[Topic]) -> list[str]:
    """Ask for Kafka's own topics by name. Without rights on them they are left out of the list of
    all topics."""
    missing = {OFFSETS_TOPIC, STATES_TOPIC} - {topic.name for topic in topics}
    asked = await reader.topics(sorted(missing)) if missing else []
    return [
        f"whether all of {topic.name} has leaders is unknown: {error_name(topic.error)}"
        for topic in asked
        if topic.error not in (NONE, UNKNOWN_TOPIC_OR_PARTITION)
    ]


async def _undescribed(
    nodes: Nodes,
    brokers: Mapping[int, Broker],
    topics: Sequence[Topic],
    asked: Asked,
    timeout: float,
) -> list[str]:
    """Return what is known of hidden topics. Topics that the caller may not describe are left out
    without an error, but log directories name them."""
    names: set[str] = set()
    found: list[str] = []

    async def on_disk(broker: Broker) -> None:
        deadline = Deadline.after(timeout)
        try:
            connection = await nodes.broker(broker, deadline)
            names.update(topics_in(await describe_log_dirs(connection, deadline)))
        except _FAILURES as error:
            found.append(f"whether topics of broker {broker.id} are hidden is unknown: {error}")

    await asyncio.gather(*map(on_disk, brokers.values()))
    hidden = sorted(names - {topic.name for topic in topics})
    of_it = [name for name in hidden if asked.includes(TopicPartition(name, 0))]
    if of_it:
        found.append(
            f"{count_text(len(of_it), 'topic')} may not be described, the first: {of_it[0]};"
            " DESCRIBE and READ on topics are needed"
        )
    return found
