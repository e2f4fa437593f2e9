"""Consumer groups that have read what is gone. Pure.

A committed offset beyond the log end shows it at once. Once writers have filled the gap only the
leader epoch of the commit does: that epoch ends before the commit in the leader's log (KIP-320).
A commit without an epoch tells nothing then.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_unclean_recovery.cluster.groups import Commit


@dataclass(frozen=True, slots=True)
class GroupBeyond:
    """commit: of a group that read records which the leader does not have. resume: the offset
    from which on all is new to it. refilled: new records lie where the gone ones were, and a
    consumer may skip them without a word."""

    commit: Commit
    resume: int
    refilled: bool

    @property
    def gone(self) -> int:
        """Offsets that the group was past, and whose records are gone."""
        return self.commit.offset - self.resume


def group_beyond(commit: Commit, log_end: int, epoch_end: int | None) -> GroupBeyond | None:
    """log_end, epoch_end (of the commit's leader epoch): of the leader, exclusive; epoch_end None
    where it is not known. None when nothing is wrong, as far as can be told."""
    resume = log_end if epoch_end is None else min(log_end, epoch_end)
    if commit.offset <= resume:
        return None
    return GroupBeyond(commit, resume, refilled=log_end > resume)
