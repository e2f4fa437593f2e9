"""Parse the checkpoint files: leader epochs of one partition, offsets of many partitions.

Source: org.apache.kafka.server.common.CheckpointFile and, in
org.apache.kafka.storage.internals.checkpoint, LeaderEpochCheckpointFile and OffsetCheckpointFile.
"""

from __future__ import annotations

import re
from itertools import pairwise

from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, number, whole_lines
from kafka_unclean_recovery.model import TopicPartition

LEADER_EPOCHS = "leader-epoch-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"

# Every checkpoint is UTF-8 with every line ended:
#
#     0                    version
#     <count>              how many lines follow
#     <entry> ...
#
# An entry of leader-epoch-checkpoint is "epoch start_offset", both rising; an entry of the other
# files is "topic partition offset", and a topic consists of [a-zA-Z0-9._-]. One blank separates
# fields. A broker made a file of no bytes and never wrote it: it has no entries.
_EPOCH = re.compile(r"([0-9]+) ([0-9]+)")
_OFFSET = re.compile(r"([a-zA-Z0-9._-]{1,249}) ([0-9]+) ([0-9]+)")


def parse_leader_epochs(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return (leader epoch, start offset, inclusive) pairs, both strictly rising. Raises BadFormat.

    An epoch ends where the next begins. The last entry may lie at the log end: a leader assigns its
    epoch before it writes.
    """
    entries = tuple(_epoch(line) for line in _entries(LEADER_EPOCHS, data))
    for (epoch, start), (next_epoch, next_start) in pairwise(entries):
        if not (epoch < next_epoch and start < next_start):
            raise BadFormat(
                LEADER_EPOCHS, f"{epoch} {start} is followed by {next_epoch} {next_start}"
            )
    return entries


def _epoch(line: str) -> tuple[int, int]:
    match = _EPOCH.fullmatch(line)
    if match is None:
        raise BadFormat(LEADER_EPOCHS, f"not an entry: {excerpt(line)}")
    return number(LEADER_EPOCHS, match[1], INT32_MAX), number(LEADER_EPOCHS, match[2])


def parse_offsets(what: str, data: bytes) -> dict[TopicPartition, int]:
    """Return an offset of each partition. `what` is the file's name and decides the meaning: the
    high watermark (exclusive), the recovery point (exclusive; all below was synced) or the log
    start (inclusive).

    Raises BadFormat, also for a partition named twice.
    """
    offsets: dict[TopicPartition, int] = {}
    for line in _entries(what, data):
        match = _OFFSET.fullmatch(line)
        if match is None:
            raise BadFormat(what, f"not an entry: {excerpt(line)}")
        topic_partition = TopicPartition(match[1], number(what, match[2], INT32_MAX))
        if topic_partition in offsets:
            raise BadFormat(what, f"{excerpt(str(topic_partition))} is there twice")
        offsets[topic_partition] = number(what, match[3])
    return offsets


def _entries(what: str, data: bytes) -> list[str]:
    """Return the lines after version and count, which must agree with both."""
    lines = whole_lines(what, data)
    if not lines:
        return []
    if number(what, lines[0]) != 0:
        raise BadFormat(what, f"version {excerpt(lines[0])} is not known")
    if len(lines) < 2:
        raise BadFormat(what, "no count")
    if number(what, lines[1], INT32_MAX) != len(lines) - 2:
        raise BadFormat(what, f"{lines[1]} entries announced, {len(lines) - 2} there")
    return lines[2:]
