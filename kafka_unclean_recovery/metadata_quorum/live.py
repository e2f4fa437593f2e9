"""What running brokers tell: without a quorum they go on, and each knows the newest metadata that
it has fetched. One may know more than the others, so all are asked."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.identity import prove
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    Topic,
    describe_cluster,
    describe_topics,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, describe_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.model import Cluster

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class Live:
    """The cluster as running brokers describe it, each partition as of its newest leader epoch, or
    why it could not be asked. brokers: those that any of them lists as live. untold: sentences on
    brokers that did not tell what they know. addresses: where the live brokers are. fenced: those
    that are registered, and that none lists as live; None where that is not told (before 4.0)."""

    cluster_id: str | None
    brokers: frozenset[int]
    topics: tuple[Topic, ...]
    problem: str | None = None
    untold: tuple[str, ...] = ()
    addresses: Mapping[int, Address] = field(default_factory=dict)
    fenced: frozenset[int] | None = None

    @property
    def leaderless(self) -> list[str]:
        """Return the partitions without a leader that have a live replica."""
        return [
            str(state.topic_partition)
            for topic in self.topics
            for state in topic.partitions
            if state.leader == NO_LEADER
            and (set(state.replicas) - set(state.offline_replicas)) & self.brokers
        ]


@dataclass(frozen=True, slots=True)
class _Told:
    cluster: Cluster
    topics: Sequence[Topic]


async def ask_brokers(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Live:
    """Ask every broker that is named, and every one that these list as live. Never raises for a
    cluster that does not answer."""
    named = await asyncio.gather(*(_ask(address, config, deadline) for address in addresses))
    told = [each for each in named if isinstance(each, _Told)]
    if not told:
        return Live(None, frozenset(), (), "; ".join(map(str, named)))
    ids = {each.cluster.cluster_id for each in told}
    if len(ids) > 1:
        return Live(None, frozenset(), (), f"they are of clusters {' and '.join(sorted(ids))}")
    (cluster_id,) = ids
    # Which broker answers at an address that was named is not proven.
    listed = {id_: b for each in told for id_, b in each.cluster.brokers.items()}
    brokers = [broker for _, broker in sorted(listed.items())]
    every = await asyncio.gather(
        *(_ask((b.host, b.port), config, deadline, (cluster_id, b.id)) for b in brokers)
    )
    told += [each for each in every if isinstance(each, _Told)]
    at = {(broker.host, broker.port) for broker in brokers}
    untold = [
        f for a, f in zip(addresses, named, strict=True) if isinstance(f, str) and a not in at
    ]
    untold += [
        f"broker {broker.id} did not tell what it knows: {each}"
        for broker, each in zip(brokers, every, strict=True)
        if isinstance(each, str)
    ]
    live = frozenset(id_ for each in told for id_ in each.cluster.brokers)
    fenced = {id_ for each in told for id_ in each.cluster.fenced}
    lists = any(each.cluster.lists_fenced for each in told)
    return Live(
        cluster_id,
        live,
        _newest(each.topics for each in told),
        untold=tuple(untold),
        addresses={broker.id: (broker.host, broker.port) for broker in brokers},
        fenced=frozenset(fenced) - live if lists else None,
    )


async def _ask(
    address: Address,
    config: ClientConfig,
    deadline: Deadline,
    is_to_be: tuple[str, int] | None = None,
) -> _Told | str:
    """Return what the broker tells, or why not. is_to_be: the cluster and id that it must have."""
    try:
        async with await Connection.open(*address, config, deadline) as connection:
            if is_to_be is not None:
                await prove(connection, *is_to_be, deadline)
            cluster, _ = await describe_cluster(connection, deadline)
            return _Told(cluster, await describe_topics(connection, None, deadline))
    except (ConnectionFailed, RequestFailed) as error:
        return str(error)


def _newest(told: Iterable[Sequence[Topic]]) -> tuple[Topic, ...]:
    """Return all topics, by id as topics are made anew, each partition as of its newest epoch."""
    found: dict[tuple[str, str], Topic] = {}
    for topic in (topic for topics in told for topic in topics):
        key = topic.name, topic.topic_id
        found[key] = _newer(found[key], topic) if key in found else topic
    return tuple(found[key] for key in sorted(found))


def _newer(one: Topic, other: Topic) -> Topic:
    states = {state.partition: state for state in one.partitions}
    for state in other.partitions:
        known = states.get(state.partition)
        if known is None or state.leader_epoch > known.leader_epoch:
            states[state.partition] = state
    return replace(one, partitions=tuple(states[number] for number in sorted(states)))


async def ask_controller(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Quorum | str:
    """Ask all the controllers about the quorum; a sentence where none of them leads, or can be
    asked, or where two of them say that another one leads, as two quorums do."""
    found = await asyncio.gather(*(_ask_one(a, config, deadline) for a in addresses))
    told = {each.leader_epoch: each for each in found if isinstance(each, Quorum)}
    if not told:
        return "; ".join(dict.fromkeys(str(each) for each in found))
    newest = told[max(told)]
    up = {each.leader for each in told.values() if each.up}
    if len(up) > 1:
        return f"controllers {' and '.join(map(str, sorted(up)))} lead, each a quorum of its own"
    return newest


async def _ask_one(address: Address, config: ClientConfig, deadline: Deadline) -> Quorum | str:
    try:
        async with await Connection.open(*address, config, deadline) as connection:
            quorum = await describe_quorum(connection, deadline)
    except (ConnectionFailed, RequestFailed) as error:
        return str(error)
    return "it does not lead, and says that nobody does" if quorum is None else quorum


def ahead_of(live: Live, image: MetadataImage) -> Iterator[str]:
    """Yield what shows that the running brokers know more than a copy."""
    for topic in live.topics:
        known = image.partitions.get(uuid.UUID(topic.topic_id)) if topic.topic_id else None
        if known is None:
            yield f"running brokers serve topic {topic.name} ({topic.topic_id})"
            continue
        for state in topic.partitions:
            held = known.get(state.partition)
            if held is None or state.leader_epoch > held.leader_epoch:
                epoch = "does not have it" if held is None else f"says {held.leader_epoch}"
                yield (
                    f"running brokers are at leader epoch {state.leader_epoch} of"
                    f" {state.topic_partition}, and the copy {epoch}"
                )
