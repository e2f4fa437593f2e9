"""Decide which lost commits are brought back; no I/O.

A commit is brought back where the group would read again what it has read: forwards. Backwards only
where that was asked for, and never to an offset that the partition does not have: there a consumer
begins anew, at whatever its auto.offset.reset says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.offsets.commits import SavedCommit


class Decision(StrEnum):
    """What becomes of a lost commit, and why."""

    BRING_BACK = "bring_back"
    GONE_ON = "gone_on"
    DELETED = "deleted"
    NO_PARTITION = "no_partition"
    ANOTHER_TOPIC = "another_topic"
    BEYOND_LOG_END = "beyond_log_end"
    BELOW_LOG_START = "below_log_start"
    IN_USE = "in_use"


@dataclass(frozen=True, slots=True)
class Now:
    """The cluster as it is. committed: the offset by group and partition. active: the groups that
    have members. ends: (log start offset, log end offset (exclusive)) of each partition there
    is. topic_ids: of each topic, as Kafka writes them."""

    committed: Mapping[tuple[str, TopicPartition], int]
    active: frozenset[str]
    ends: Mapping[TopicPartition, tuple[int, int]]
    topic_ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reset:
    """One lost commit. committed: what the group has committed now, None without any."""

    saved: SavedCommit
    committed: int | None
    decision: Decision


def resets(commits: Iterable[SavedCommit], now: Now, *, backwards: bool) -> list[Reset]:
    """Return what is to become of each commit: by group, the newest commit first."""
    ordered = sorted(
        commits, key=lambda c: (c.group, -(c.committed_at or 0), c.topic_partition, c.saved_at)
    )
    return [_reset(commit, now, backwards) for commit in ordered]


def _reset(saved: SavedCommit, now: Now, backwards: bool) -> Reset:
    committed = now.committed.get((saved.group, saved.topic_partition))
    return Reset(saved, committed, _decision(saved, committed, now, backwards))


def _decision(saved: SavedCommit, committed: int | None, now: Now, backwards: bool) -> Decision:
    if saved.offset is None:
        return Decision.DELETED
    ends = now.ends.get(saved.topic_partition)
    if ends is None:
        return Decision.NO_PARTITION
    if saved.topic_id not in (None, now.topic_ids.get(saved.topic_partition.topic)):
        return Decision.ANOTHER_TOPIC
    if committed == saved.offset or (
        committed is not None and committed > saved.offset and not backwards
    ):
        return Decision.GONE_ON
    if saved.offset > ends[1]:
        return Decision.BEYOND_LOG_END
    if saved.offset < ends[0]:
        return Decision.BELOW_LOG_START
    return Decision.IN_USE if saved.group in now.active else Decision.BRING_BACK
