"""Parse the names in a log directory (one subdirectory per replica) and in a replica's directory
(its files).

Source: org.apache.kafka.storage.internals.log.LocalLog (parseTopicPartitionName, logDeleteDirName)
and LogFileUtils; org.apache.kafka.snapshot.Snapshots.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, INT64_MAX
from kafka_unclean_recovery.model import TopicPartition

# A replica's directory has one of these names:
#
#     <topic>-<partition>                      in use
#     <topic>-<partition>.<unique id>-delete   to be deleted, its topic or replica is gone
#     <topic>-<partition>.<unique id>-future   being copied here from another directory (JBOD)
#     <topic>-<partition>.<unique id>-stray    found at start, not assigned to this broker
#
# A topic consists of up to 249 of [a-zA-Z0-9._-], so it may hold dashes and dots itself: the last
# dash before the last dot begins the partition, which a broker also reads with a plus or zeros in
# front, though it never writes them. The unique id is 32 hex digits; Kafka takes any
# text without blanks for one, and so do we. For -delete and -stray Kafka cuts the topic so that the
# name has 255 characters at most.
_DIRECTORY = re.compile(r"([a-zA-Z0-9._-]{1,249})-(\+?[0-9]+)(?:\.[^\s./]+-(delete|future|stray))?")
_LONGEST_NAME = 255


class DirectoryKind(StrEnum):
    LIVE = "live"
    DELETED = "delete"
    FUTURE = "future"
    STRAY = "stray"


@dataclass(frozen=True, slots=True)
class PartitionDirectory:
    """One replica's directory. topic_cut: the topic may be the beginning of a longer name, which
    only partition.metadata tells."""

    topic_partition: TopicPartition
    kind: DirectoryKind
    topic_cut: bool = False

    @property
    def is_cluster_metadata(self) -> bool:
        """Return True for KRaft's metadata log, which is no topic to recover."""
        return self.topic_partition.topic == CLUSTER_METADATA_TOPIC


def parse_partition_directory(name: str) -> PartitionDirectory | None:
    """Return the parts of the directory's name, None when it is no replica's directory."""
    match = _DIRECTORY.fullmatch(name)
    if match is None or (partition := int(match[2])) > INT32_MAX or match[1] in (".", ".."):
        return None
    kind = DirectoryKind(match[3] or "live")
    may_be_cut = kind in (DirectoryKind.DELETED, DirectoryKind.STRAY)
    cut = may_be_cut and len(name) >= _LONGEST_NAME
    return PartitionDirectory(TopicPartition(match[1], partition), kind, cut)


# A file of a replica has one of these names, to which a suffix may be appended for a while:
#
#     <20 digits>.log                            the segment that begins at that offset
#     <20 digits>.index .timeindex .txnindex     its indexes
#     <20 digits>.snapshot                       producer state before that offset
#     <20 digits>-<10 digits>.checkpoint         metadata snapshot: end offset (exclusive), epoch
#
#     .deleted   no longer part of the log
#     .cleaned   a compacted or split segment being written; a broker that starts deletes it
#     .swap      a whole segment that replaces the segments it was made of: a broker that starts
#                finishes the replacement
#     .part      a metadata snapshot being written; a random number stands before its .checkpoint
_FILE = re.compile(
    r"([0-9]{20})(?:\.(log|index|timeindex|txnindex|snapshot)"
    r"|-([0-9]{10})(?:\.(checkpoint)|-[0-9]+\.(checkpoint)(?=\.part)))"
    r"(?:\.(deleted|cleaned|swap|part))?"
)


class FileKind(StrEnum):
    SEGMENT = "log"
    OFFSET_INDEX = "index"
    TIME_INDEX = "timeindex"
    TRANSACTION_INDEX = "txnindex"
    PRODUCER_SNAPSHOT = "snapshot"
    METADATA_SNAPSHOT = "checkpoint"


class FileState(StrEnum):
    LIVE = "live"
    DELETED = "deleted"
    CLEANED = "cleaned"
    SWAP = "swap"
    PARTIAL = "part"


# A lookup is several times as fast as the enumeration's own, and each file of a disk is one.
_KINDS = {kind.value: kind for kind in FileKind}
_STATES = {state.value: state for state in FileState}


@dataclass(frozen=True, slots=True)
class PartitionFile:
    """A file of a replica. `offset` is inclusive for segments and their indexes, exclusive for
    snapshots; `epoch` is a metadata snapshot's, else None."""

    offset: int
    kind: FileKind
    state: FileState = FileState.LIVE
    epoch: int | None = None


def parse_partition_file(name: str) -> PartitionFile | None:
    """Return the parts of the file's name, None for others (leader-epoch-checkpoint ...)."""
    match = _FILE.fullmatch(name)
    if match is None or (offset := int(match[1])) > INT64_MAX:
        return None
    epoch = int(match[3]) if match[3] else None
    if epoch is not None and epoch > INT32_MAX:
        return None
    kind = _KINDS[match[2] or match[4] or match[5]]
    return PartitionFile(offset, kind, _STATES[match[6] or "live"], epoch)


def segment_base_offset(name: str) -> int | None:
    """Return the first offset that a live segment may hold; None for every other file."""
    file = parse_partition_file(name)
    if file is None or file.kind is not FileKind.SEGMENT or file.state is not FileState.LIVE:
        return None
    return file.offset
