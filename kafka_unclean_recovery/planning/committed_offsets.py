"""Find consumer groups that have read more than a log holds; no I/O.

A committed offset beyond the log end shows such a group at once. Once writers have filled the gap,
only the leader epoch of the commit shows it: in the leader's log that epoch ends before the commit
(KIP-320). A commit without an epoch tells nothing then, unless somebody knows where the log ended.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_unclean_recovery.model import Commit, GroupBeyond, ReplicaLog
from kafka_unclean_recovery.planning.lineage import end_offset_for


def group_beyond(commit: Commit, log_end: int, epoch_end: int | None) -> GroupBeyond | None:
    """Return the group if its commit lies beyond the leader's log; None when nothing is wrong, as
    far as can be told.

    log_end: the leader's log end offset, exclusive. epoch_end: the end of the commit's leader epoch
    in the leader's log, exclusive; None where it is not known.
    """
    resume = log_end if epoch_end is None else min(log_end, epoch_end)
    if commit.offset <= resume:
        return None
    return GroupBeyond(commit, resume, refilled=log_end > resume)


def groups_beyond(log: ReplicaLog, commits: Iterable[Commit]) -> tuple[GroupBeyond, ...]:
    """Return the groups beyond one replica's log, the furthest first; none where the log may be
    longer than it seems."""
    if log.log_end_offset is None or not log.sure:
        return ()
    found = (group_beyond(c, log.log_end_offset, _epoch_end(log, c)) for c in commits)
    return tuple(sorted(filter(None, found), key=lambda f: (-f.gone, f.commit.group)))


def _epoch_end(log: ReplicaLog, commit: Commit) -> int | None:
    if log.epochs is None or log.log_end_offset is None or commit.leader_epoch is None:
        return None
    return end_offset_for(log.epochs, log.log_end_offset, commit.leader_epoch)[1]


def weighs(commit: Commit, leader_epoch: int) -> bool:
    """Return whether a commit is evidence. Kafka takes any offset, and a commit without a leader
    epoch, or with a later one than the partition's `leader_epoch`, was not read from this topic as
    far as anybody can tell."""
    return commit.leader_epoch is not None and commit.leader_epoch <= leader_epoch
