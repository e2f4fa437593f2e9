"""Decide which lost commits are brought back; no I/O.

A commit is brought back where the group would read again what it has read: forwards. Backwards only
where that was asked for, and never to an offset that the partition does not have: there a consumer
begins anew, at whatever its auto.offset.reset says. Nor to one below which the log has other
records than those that the group read: it would pass over them.
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
    OTHER_RECORDS = "other_records"
    NOT_SURE = "not_sure"
    IN_USE = "in_use"


@dataclass(frozen=True, slots=True)
class Now:
    """The cluster as it is. committed: the offset by group and partition. active: the groups that
    have members. ends: (log start offset, log end offset (exclusive)) of each partition there
    is. topic_ids: of each topic, as Kafka writes them. epoch_ends: see lineage.epoch_ends."""

    committed: Mapping[tuple[str, TopicPartition], int]
    active: frozenset[str]
    ends: Mapping[TopicPartition, tuple[int, int]]
    topic_ids: Mapping[str, str]
    epoch_ends: Mapping[tuple[TopicPartition, int], int]


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator asks for beyond the commits that are certainly good. backwards: those below
    what the group has committed now. without_epoch: those whose records tell no leader epoch."""

    backwards: bool = False
    without_epoch: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """One lost commit. committed: what the group has committed now, None without any. topic_id: of
    the topic that has the name now, None without one."""

    saved: SavedCommit
    committed: int | None
    decision: Decision
    topic_id: str | None = None


def resets(commits: Iterable[SavedCommit], now: Now, asked: Allowed) -> list[Reset]:
    """Return what is to become of each commit: by group, the newest commit first."""
    ordered = sorted(
        commits, key=lambda c: (c.group, -(c.committed_at or 0), c.topic_partition, c.saved_at)
    )
    return [_reset(commit, now, asked) for commit in ordered]


def _reset(saved: SavedCommit, now: Now, asked: Allowed) -> Reset:
    committed = now.committed.get((saved.group, saved.topic_partition))
    topic_id = now.topic_ids.get(saved.topic_partition.topic)
    return Reset(saved, committed, _decision(saved, committed, now, asked), topic_id)


def _decision(saved: SavedCommit, committed: int | None, now: Now, asked: Allowed) -> Decision:
    if saved.offset is None:
        return Decision.DELETED
    ends = now.ends.get(saved.topic_partition)
    if ends is None:
        return Decision.NO_PARTITION
    if saved.topic_id not in (None, now.topic_ids.get(saved.topic_partition.topic)):
        return Decision.ANOTHER_TOPIC
    if committed == saved.offset or (
        committed is not None and committed > saved.offset and not asked.backwards
    ):
        return Decision.GONE_ON
    if saved.offset > ends[1]:
        return Decision.BEYOND_LOG_END
    if saved.offset < ends[0]:
        return Decision.BELOW_LOG_START
    doubt = _doubt(saved, saved.offset, now, asked)
    if doubt is not None:
        return doubt
    return Decision.IN_USE if saved.group in now.active else Decision.BRING_BACK


def _doubt(saved: SavedCommit, offset: int, now: Now, asked: Allowed) -> Decision | None:
    """Return why the log may not have what the group read; None where it has."""
    if saved.leader_epoch is None:
        return None if asked.without_epoch else Decision.NOT_SURE
    end = now.epoch_ends.get((saved.topic_partition, saved.leader_epoch))
    if end is None:
        return Decision.NOT_SURE
    return Decision.OTHER_RECORDS if end < offset else None
