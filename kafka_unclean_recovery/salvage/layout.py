"""A salvage keeps the files of each replica at fixed places below its output directory. This module
does no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.model import TopicPartition

RECORDS = "records"
"""The directory that Spark and pyarrow.dataset read as one table, partitioned by topic in Hive's
way."""

_SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class ReplicaPlace:
    """The paths of one replica's files, relative to the output directory. copy: counts the
    directories in which the broker holds the partition. A broker that holds one twice won't start,
    but its disks may tell."""

    topic_partition: TopicPartition
    broker: int
    copy: int = 1

    @property
    def segments(self) -> str:
        """Return the directory of the replica's segment files."""
        return f"{_SEGMENTS}/{self.topic_partition}/{self._replica}"

    @property
    def records(self) -> str:
        """Return the path of the replica's Parquet file."""
        # Readers pass over files whose names begin with "_" or ".", as names of topics may.
        partition = f"partition-{self.topic_partition.partition}"
        return f"{RECORDS}/topic={self.topic_partition.topic}/{partition}.{self._replica}.parquet"

    @property
    def _replica(self) -> str:
        return f"broker-{self.broker}" + (f".{self.copy}" if self.copy > 1 else "")
