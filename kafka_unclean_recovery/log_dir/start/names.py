"""The names that a start fails over: of directories in a log directory, of files in a replica's.

Source: kafka.log.LogManager.loadLogs, UnifiedLog.parseTopicPartitionName, LogLoader, LogFileUtils,
ProducerStateManager.listSnapshotFiles, org.apache.kafka.snapshot.Snapshots.
"""

from __future__ import annotations

import re

from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, INT64_MAX

# Of all directories that are no replicas a broker takes one.
REMOTE_INDEX_CACHE = "remote-log-index-cache"
OUT_OF_USE = ("-delete", "-future", "-stray")
_OUT_OF_USE = re.compile(r"\S+-\S+\.\S+-(?:delete|future|stray)")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_DELETED_METADATA_SNAPSHOT = ".checkpoint.deleted"
# A broker reads an offset out of the name of every file that ends like this, up to the first dot.
_BEGIN_WITH_AN_OFFSET = (
    ".log",
    ".index",
    ".timeindex",
    ".txnindex",
    ".snapshot",
    ".swap",
    ".cleaned",
)
_METADATA_SNAPSHOTS = (".checkpoint", ".checkpoint.part", _DELETED_METADATA_SNAPSHOT)
_METADATA_SNAPSHOT = re.compile(r"[0-9]{20}.[0-9]{10}.*", re.DOTALL)


def replica_of_directory(name: str) -> tuple[str, int] | None:
    """Return (topic, partition) for which a broker takes a directory of this name among its
    replicas; None where it ends over it. The cache of remote indexes is to be left out before."""
    if name.endswith(OUT_OF_USE):
        if _OUT_OF_USE.fullmatch(name) is None:
            return None
        name = name.rpartition(".")[0]
    topic, _, partition = name.rpartition("-")
    if not topic or (number := _number(partition, INT32_MAX)) is None:
        return None
    return topic, number


def keeps_a_broker_from_starting(name: str) -> bool:
    """Return whether a broker ends over a directory of this name among its replicas."""
    return name != REMOTE_INDEX_CACHE and replica_of_directory(name) is None


def file_keeps_a_broker_from_starting(name: str, *, cluster_metadata: bool = False) -> bool:
    """Return whether a broker ends over a file of this name in a replica's directory.
    cluster_metadata: it is the directory of the controllers' log."""
    if name.endswith(_METADATA_SNAPSHOTS):
        return cluster_metadata and _METADATA_SNAPSHOT.fullmatch(name) is None
    if not name.endswith(_BEGIN_WITH_AN_OFFSET):
        return False
    return _number(name.partition(".")[0], INT64_MAX) is None


def taken_for_a_segment(name: str) -> bool:
    """Return whether a broker takes a file of this name for a segment, or a part of one, at the
    offset that it reads out of it; indexes without a segment it deletes."""
    return name.endswith((".log", ".swap", ".cleaned")) and (
        _number(name.partition(".")[0], INT64_MAX) is not None
    )


def _number(text: str, largest: int) -> int | None:
    """Parse a number as Java does."""
    if _NUMBER.fullmatch(text) is None or not -largest - 1 <= (number := int(text)) <= largest:
        return None
    return number
