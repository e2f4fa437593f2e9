"""Before any broker runs the active controller is asked for its metadata log: it has who may lead,
and who is fenced, as it is now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import RequestFailed, cluster_of_controller
from kafka_unclean_recovery.cluster.requests.metadata_log import fetch_metadata_log
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum, describe_quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import Address
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import ClusterMetadata, read_metadata
from kafka_unclean_recovery.log_dir.metadata.elections import fencing, unclean_topics
from kafka_unclean_recovery.log_dir.metadata.image import partition_states
from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo

_HINTS: Mapping[int, str] = {
    Errors.MISMATCHED_ENDPOINT_TYPE: "; a broker's address goes with --bootstrap-server",
    Errors.CLUSTER_AUTHORIZATION_FAILED: (
        "; grant Cluster:DESCRIBE and Cluster:CLUSTER_ACTION, or scan a controller's log directory"
    ),
}


@dataclass(frozen=True, slots=True)
class Controllers:
    """What the active controller tells. info: partitions without any log of theirs. living: brokers
    with replicas that follow its metadata log, and so run."""

    info: ReplicaInfo
    living: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    cluster_id: str
    quorum: Quorum
    log: Mapping[str, bytes]


async def ask_controllers(
    addresses: Sequence[Address], config: ClientConfig, deadline: Deadline
) -> Controllers | str:
    """Return what the active one of these controllers tells; a sentence on why none does."""
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    every = await asyncio.gather(*(_ask(each, config, deadline) for each in addresses))
    told = [each for each in every if isinstance(each, _Told)]
    if not told:
        return "; ".join(dict.fromkeys(str(each) for each in every))
    newest = max(told, key=lambda each: each.quorum.leader_epoch)
    if not newest.quorum.up:
        return f"no majority of the voters follows controller {newest.quorum.leader}"
    try:
        files = [MetadataFile.of(name, content) for name, content in newest.log.items()]
        metadata = read_metadata(files)
    except BadFormat as error:
        return f"the metadata log of controller {newest.quorum.leader}: {error}"
    info = _info(newest, metadata, begun)
    return Controllers(info, _living(newest.quorum, info))


async def _ask(address: Address, config: ClientConfig, deadline: Deadline) -> _Told | str:
    try:
        async with await Connection.open(*address, config, deadline) as connection:
            # A broker would pass the next question on to a controller.
            cluster_id = await cluster_of_controller(connection, deadline)
            quorum = await describe_quorum(connection, deadline)
            if quorum is None:
                return f"{connection.address} does not lead"
            log = await fetch_metadata_log(connection, quorum.leader_epoch, deadline)
    except RequestFailed as error:
        return f"{error}{_HINTS.get(error.code, '')}"
    except ConnectionFailed as error:
        return str(error)
    return _Told(cluster_id, quorum, log)


def _info(told: _Told, metadata: ClusterMetadata, at: str) -> ReplicaInfo:
    states = partition_states(metadata.image)
    stopped = metadata.stopped and f"controller {told.quorum.leader}: {metadata.stopped}"
    return ReplicaInfo(
        told.cluster_id,
        at,
        (),
        tuple(PartitionInfo(state.topic_partition, state, ()) for state in states),
        metadata.last_epoch,
        metadata.end_offset,
        problems=(stopped,) if stopped else (),
        unclean_topics=unclean_topics(metadata.image),
        fencing=fencing(metadata.image),
    )


def _living(quorum: Quorum, info: ReplicaInfo) -> tuple[int, ...]:
    states = (part.state for part in info.partitions if part.state is not None)
    brokers = {broker for state in states for broker in state.replicas}
    following = {f.id for f in (*quorum.observers, *quorum.voters) if quorum.follows(f)}
    return tuple(sorted(brokers & following))
