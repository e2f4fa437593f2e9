"""Where a salvage keeps the files of a replica, below its directory. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.model import TopicPartition

RECORDS = "records"
"""What Spark and pyarrow.dataset read as one table, partitioned by topic in Hive's way."""

_SEGMENTS = "segments"


@dataclass(frozen=True, slots=True)
class Place:
    """Of one replica, as relative paths. copy: counts the directories in which its broker holds the
    partition. One that holds it twice won't start, but its disks may tell."""

    topic_partition: TopicPartition
    broker: int
    copy: int = 1

    @property
    def segments(self) -> str:
        """The directory of its segment files."""
        return f"{_SEGMENTS}/{self.topic_partition}/{self._replica}"

    @property
    def records(self) -> str:
        """The Parquet file."""
        # Readers pass over files whose names begin with "_" or ".", as those of topics may.
        partition = f"partition-{self.topic_partition.partition}"
        return f"{RECORDS}/topic={self.topic_partition.topic}/{partition}.{self._replica}.parquet"

    @property
    def _replica(self) -> str:
        return f"broker-{self.broker}" + (f".{self.copy}" if self.copy > 1 else "")
