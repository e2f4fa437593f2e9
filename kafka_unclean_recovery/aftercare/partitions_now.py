"""The partitions are read as they are now, from a broker that is not behind, and with their
reassignments; what may be hidden is told with them, and so are brokers that live and are not
listed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import (
    DESCRIBE,
    Topic,
    not_told,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.requests.groups import without_leader
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.kafka_names import CONSUMER_OFFSETS, TRANSACTION_STATE, Errors
from kafka_unclean_recovery.model import (
    NO_TOPIC_ID,
    Cluster,
    GroupBeyond,
    PartitionState,
    TopicPartition,
)
from kafka_unclean_recovery.survey.answer import answered
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.hidden_topics import hidden_topics
from kafka_unclean_recovery.survey.led_unseen import led_unseen, unseen_text
from kafka_unclean_recovery.survey.liveness import (
    Heard,
    doubts,
    in_sync_beside_a_leader,
    unseen,
)
from kafka_unclean_recovery.survey.newest import newest
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.wording import count_text

_Read = tuple[Cluster, frozenset[int], list[Topic]]


@dataclass(frozen=True, slots=True)
class Scope:
    """The partitions to look at. named: partitions that must be there, None for every partition
    that `includes` lets in. elected: partitions that an unclean election is known to have elected.
    may_lack: tells which partitions may lack records, so that their producers are told of.
    given_up: the groups that a journal says had read more than the elected log held. topic_ids: of
    the topics that a journal's elections were for, as far as it tells. gone: brokers whose disks
    are lost for good, as the operator says."""

    includes: Callable[[TopicPartition], bool]
    named: frozenset[TopicPartition] | None = None
    elected: frozenset[TopicPartition] = frozenset()
    may_lack: Callable[[TopicPartition], bool] = lambda _: False
    given_up: Mapping[TopicPartition, Sequence[GroupBeyond]] = field(default_factory=dict)
    topic_ids: Mapping[TopicPartition, str] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Seen:
    """The partitions that were asked for. topics: all that the caller may see. unknown: sentences
    on what may be hidden, or old. doubts: why brokers that are not listed as live are not known to
    be dead. unseen: how those of them live that are not listed as fenced either. led_unseen: who
    leads partitions that look as if nobody led them."""

    cluster: Cluster
    topics: Sequence[Topic]
    states: Sequence[PartitionState]
    unknown: Sequence[str]
    doubts: Mapping[int, str] = field(default_factory=dict)
    unseen: Mapping[int, str] = field(default_factory=dict)
    led_unseen: Mapping[TopicPartition, str] = field(default_factory=dict)


async def see(nodes: Nodes, reader: Reader, asked: Scope) -> Seen:
    """Read the partitions. Raises what Reader.topics raises."""
    ((cluster, rights, topics), old), (states_of, untold) = await asyncio.gather(
        _read_now(reader), _reassignments(reader)
    )
    states, unknown = _states(topics, asked)
    replicas = {broker for state in states for broker in state.replicas}
    heard = await _heard(reader, cluster, topics, replicas)
    doubted = doubts(replicas, heard)
    led, unclear = await _led_unseen(reader, cluster, states, topics, doubted)
    unknown += [sentence for sentence in (old, untold, unclear) if sentence is not None]
    unknown += [*_hidden(topics, rights), *await _not_shown(reader, topics)]
    if asked.named is None:
        unknown += await _undescribed(nodes, reader, cluster, topics, asked)
    told = [states_of(state) for state in states]
    return Seen(cluster, topics, told, unknown, doubted, unseen(replicas, heard), led)


async def _read_now(reader: Reader) -> tuple[_Read, str | None]:
    """Return the brokers, the rights on the cluster and all topics, and why these may be old."""

    async def read() -> _Read:
        (cluster, rights), topics = await asyncio.gather(reader.cluster(), reader.topics(None))
        return cluster, rights, topics

    return await newest(reader, read)


async def _heard(
    reader: Reader, cluster: Cluster, topics: Sequence[Topic], replicas: Collection[int]
) -> Heard:
    every = (state for topic in topics for state in topic.told)
    return await heard_of(reader, replicas, cluster, in_sync_beside_a_leader(cluster, every))


async def _led_unseen(
    reader: Reader,
    cluster: Cluster,
    states: Sequence[PartitionState],
    topics: Sequence[Topic],
    doubts: Mapping[int, str],
) -> tuple[dict[TopicPartition, str], str | None]:
    """Return who leads partitions that look as if nobody led them, and why that may be unknown."""
    untold = {
        TopicPartition(topic.name, number)
        for topic in topics
        for number, error in topic.untold.items()
        if error == Errors.LISTENER_NOT_FOUND
    }
    found = {
        s.topic_partition: unseen_text(s, doubts) for s in states if s.topic_partition in untold
    }
    led = await answered(led_unseen(reader, cluster, states, doubts))
    unclear = led.untold("whether brokers lead that are not listed is unknown")
    return {**found, **(led.value or {})}, unclear


async def _reassignments(
    reader: Reader,
) -> tuple[Callable[[PartitionState], PartitionState], str | None]:
    """Return what adds its reassignment to a partition, and why that may be unknown."""
    found = await answered(reader.reassignments())
    if found.value is None:
        return _as_told, found.untold("reassignments are unknown", "Cluster:DESCRIBE")
    return partial(with_reassignment, reassignments=found.value), None


def _as_told(state: PartitionState) -> PartitionState:
    return state


def _states(topics: Sequence[Topic], asked: Scope) -> tuple[list[PartitionState], list[str]]:
    every = {p.topic_partition: p for topic in topics for p in _seen(topic)}
    wanted = every if asked.named is None else asked.named
    chosen = sorted(filter(asked.includes, wanted))
    missing = [
        f"{tp} does not exist, or may not be described: DESCRIBE on the topic is needed"
        for tp in chosen
        if tp not in every
    ]
    anew = [tp for tp in chosen if tp in every and _made_anew(every[tp], asked)]
    missing += [
        f"{tp}: its topic was deleted and created again since the election: what was elected is"
        " gone, and the new one is not looked at (--topics does)"
        for tp in anew
    ]
    errors = not_told(topics) if asked.named is None else {}
    unseen = {str(tp) for tp in every}
    missing += [
        f"{name} could not be described: {error}"
        for name, error in errors.items()
        if name not in unseen
    ]
    if not chosen:
        missing.append("no partition is among those asked for: see --topics")
    return [every[tp] for tp in chosen if tp in every and tp not in anew], missing


def _made_anew(state: PartitionState, asked: Scope) -> bool:
    """Return True for a partition of another topic than the one whose election is followed up: what
    a journal knows of groups and losses says nothing of it."""
    elected = asked.topic_ids.get(state.topic_partition, state.topic_id)
    return state.topic_id not in (elected, *NO_TOPIC_ID)


def _seen(topic: Topic) -> Iterator[PartitionState]:
    """Yield the partitions that were told, or whose leader is only not on this listener."""
    for state in topic.partitions:
        if (
            topic.untold.get(state.partition, Errors.LISTENER_NOT_FOUND)
            == Errors.LISTENER_NOT_FOUND
        ):
            yield state


def _hidden(topics: Sequence[Topic], rights: frozenset[int]) -> list[str]:
    """Return what may be hidden. Coordinators that are not there leave groups and transactions out
    without an error."""
    found = []
    for name, what in ((CONSUMER_OFFSETS, "groups"), (TRANSACTION_STATE, "transactions")):
        partitions = [p for topic in topics if topic.name == name for p in topic.partitions]
        if which := without_leader(name, partitions):
            found.append(f"{which} have no leader: {what} that are on them are unknown")
    if DESCRIBE not in rights:
        found.append("groups may be left out: listing all needs DESCRIBE on the cluster")
    return found


async def _not_shown(reader: Reader, topics: Sequence[Topic]) -> list[str]:
    """Ask for Kafka's own topics by name: without rights the list of all topics lacks them."""
    missing = {CONSUMER_OFFSETS, TRANSACTION_STATE} - {topic.name for topic in topics}
    asked = await reader.topics(sorted(missing)) if missing else []
    return [
        f"whether all of {topic.name} has leaders is unknown: {error_name(topic.error)}"
        for topic in asked
        if topic.error not in (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    ]


async def _undescribed(
    nodes: Nodes, reader: Reader, cluster: Cluster, topics: Sequence[Topic], asked: Scope
) -> list[str]:
    """Return what is known of hidden topics. Topics that the caller may not describe are left out
    without an error, but log directories name them."""
    visible = {topic.name for topic in topics}
    hidden = await hidden_topics(nodes, reader, list(cluster.brokers.values()), visible)
    found = [
        f"whether topics of broker {broker} are hidden is unknown: {why}"
        for broker, why in sorted(hidden.silent.items())
    ]
    if hidden.refused is not None:
        found.append(
            f"whether topics are hidden is unknown ({hidden.refused}); grant Cluster:DESCRIBE"
        )
    of_it = [name for name in hidden.names if asked.includes(TopicPartition(name, 0))]
    if of_it:
        found.append(
            f"{count_text(len(of_it), 'topic')} may not be described, the first: {of_it[0]};"
            " DESCRIBE and READ on topics are needed"
        )
    return found
