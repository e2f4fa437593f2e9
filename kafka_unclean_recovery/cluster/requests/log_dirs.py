"""One broker describes its log directories (DescribeLogDirs, KIP-113 and KIP-827)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.log_apis import DESCRIBE_LOG_DIRS
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, Errors
from kafka_unclean_recovery.model import TopicPartition


@dataclass(frozen=True, slots=True)
class LogDir:
    """One log directory. error: Kafka's error code, 0 while the directory works. usable_bytes and
    total_bytes describe its volume, and are None where they are not told (before 3.3). sizes: bytes
    of each replica in it."""

    path: str
    error: int
    usable_bytes: int | None
    total_bytes: int | None
    sizes: Mapping[TopicPartition, int]


async def describe_log_dirs(connection: Connection, deadline: Deadline) -> tuple[LogDir, ...]:
    """Return the log directories of the broker that is asked, including topics that the caller may
    not describe.

    Needs DESCRIBE on the cluster. Raises RequestFailed.
    """
    asking = Message(DESCRIBE_LOG_DIRS, {"topics": None})
    told: tuple[LogDir, ...] = await connection.request(asking, deadline, made=_log_dirs)
    return told


def _log_dirs(answer: Mapping[str, Any]) -> tuple[LogDir, ...]:
    if answer["error_code"] != Errors.NONE:
        raise RequestFailed("DescribeLogDirs", answer["error_code"])
    return tuple(
        LogDir(
            directory["log_dir"],
            directory["error_code"],
            _known(directory["usable_bytes"]),
            _known(directory["total_bytes"]),
            {
                TopicPartition(topic["name"], p["partition_index"]): p["partition_size"]
                for topic in directory["topics"]
                for p in topic["partitions"]
            },
        )
        for directory in answer["results"]
    )


def topics_in(directories: tuple[LogDir, ...]) -> frozenset[str]:
    """Return the names of the topics that have a replica in these directories."""
    names = {tp.topic for directory in directories for tp in directory.sizes}
    return frozenset(names - {CLUSTER_METADATA_TOPIC})


def _known(size: int) -> int | None:
    return None if size < 0 else size
