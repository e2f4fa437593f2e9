"""What an archive holds, told by Kafka's dump of the logs and by the controllers' metadata log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.metadata.image import partition_states
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from tests.real.archive import unpack
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, broker_truths

METADATA = "__cluster_metadata-0"


@dataclass(frozen=True, slots=True)
class Partition:
    """in_sync: its ISR, ELR and last known ELR. Its leader is not told: whether the last one was
    fenced on disk already when the controllers were killed is a matter of milliseconds."""

    replicas: tuple[int, ...]
    in_sync: frozenset[int]
    adding: frozenset[int]
    removing: frozenset[int]

    @classmethod
    def of(cls, state: PartitionState) -> Partition:
        return cls(
            state.replicas,
            frozenset((*state.isr, *state.elr, *state.last_known_elr)),
            frozenset(state.adding_replicas),
            frozenset(state.removing_replicas),
        )


@dataclass(frozen=True, slots=True)
class AtRest:
    """All but Kafka's own topics, whose records differ from time to time. replicas: of each broker.
    partitions: as the controller that knows most has them."""

    replicas: Mapping[int, Mapping[TopicPartition, ReplicaTruth]]
    partitions: Mapping[TopicPartition, Partition]


def at_rest(archive: Path, directory: Path) -> AtRest:
    """Unpack the archive into the directory."""
    unpack(archive, directory)
    cluster = KafkaCluster(directory)
    try:
        replicas = {broker: broker_truths(cluster, broker) for broker in cluster.spec.broker_ids}
        known = [_metadata(cluster.log_dir(node)) for node in cluster.spec.controller_ids]
    finally:
        cluster.close()
    states = partition_states(max(known, key=lambda read: read.authority).image)
    return AtRest(
        {
            broker: {p: truth for p, truth in truths.items() if not _own(p.topic)}
            for broker, truths in replicas.items()
        },
        {s.topic_partition: Partition.of(s) for s in states if not _own(s.topic)},
    )


def _metadata(log_dir: Path) -> ClusterMetadata:
    files = filter(lambda path: is_metadata_file(path.name), (log_dir / METADATA).iterdir())
    return read_metadata([MetadataFile.of(path.name, path.read_bytes()) for path in files])


def _own(topic: str) -> bool:
    return topic.startswith("__")
