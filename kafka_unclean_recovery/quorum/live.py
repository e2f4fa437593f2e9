"""What running brokers tell: without a quorum they go on, and know the newest metadata that they
have fetched."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    Topic,
    describe_cluster,
    describe_topics,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, describe_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address, connect_any
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class Live:
    """The cluster as one running broker describes it, or why it could not be asked. Brokers that
    are fenced are left out."""

    cluster_id: str | None
    brokers: frozenset[int]
    topics: tuple[Topic, ...]
    problem: str | None = None

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


async def ask_brokers(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Live:
    """Ask the first broker that answers. Never raises for a cluster that does not answer."""
    try:
        connection = await connect_any(addresses, config, deadline)
    except NoBrokerReachable as error:
        return Live(None, frozenset(), (), str(error))
    try:
        cluster, _ = await describe_cluster(connection, deadline)
        topics = await describe_topics(connection, None, deadline)
    except (ConnectionFailed, RequestFailed) as error:
        return Live(None, frozenset(), (), str(error))
    finally:
        await connection.close()
    return Live(cluster.cluster_id, frozenset(cluster.brokers), tuple(topics))


async def ask_controller(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Quorum | str:
    """Ask a controller about the quorum; a sentence where it does not lead, or can't be asked."""
    try:
        connection = await connect_any(addresses, config, deadline)
    except NoBrokerReachable as error:
        return str(error)
    try:
        quorum = await describe_quorum(connection, deadline)
    except (ConnectionFailed, RequestFailed) as error:
        return str(error)
    finally:
        await connection.close()
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
