"""A loser is a live replica that would truncate records under the designated leader. This module
does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.model import EpochLineage, PartitionPlan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.ranges import lost_under


@dataclass(frozen=True, slots=True)
class Loser:
    """A live replica that holds records which the designated leader lacks. lost: these records, in
    rising offset, not empty. log: the whole log of the replica, as it was observed."""

    topic_partition: TopicPartition
    log: ReplicaLog
    lost: EpochLineage

    @property
    def broker(self) -> int:
        return self.log.broker

    @property
    def start_offset(self) -> int:
        return self.lost[0].start_offset

    @property
    def end_offset(self) -> int:
        """Return the end of the last span (exclusive)."""
        return self.lost[-1].end_offset

    @property
    def records(self) -> int:
        """Return the number of records, counted as offsets."""
        return sum(span.end_offset - span.start_offset for span in self.lost)


@dataclass(frozen=True, slots=True)
class Losers:
    """The losers of one partition. untold: live replicas whose loss can't be told, each with the
    reason."""

    known: tuple[Loser, ...]
    untold: Mapping[int, str]


def losers_of(plan: PartitionPlan) -> Losers:
    """Return the losers of a plan, which must have a designated leader."""
    leader = plan.ranking[0].log
    known: list[Loser] = []
    untold: dict[int, str] = {}
    for log in plan.replica_logs:
        if log.broker == leader.broker or not _would_follow(plan, log):
            continue
        why = _why_untold(log, leader)
        if why is not None:
            untold[log.broker] = why
        elif not log.empty and (lost := lost_under(log, leader).spans):
            known.append(Loser(plan.state.topic_partition, log, lost))
    return Losers(tuple(known), untold)


def _would_follow(plan: PartitionPlan, log: ReplicaLog) -> bool:
    """Return whether the replica would follow the new leader, or may. A live broker whose log
    directory failed truncates nothing, no more than a dead one."""
    told = log.live and log.problem is None
    return log.broker in plan.state.online_replicas or told or log.unproven is not None


def _may_live(log: ReplicaLog) -> bool:
    """Return True for a replica whose broker is not listed as live, and not known to be dead."""
    return not log.live and log.unproven is not None


def _why_untold(log: ReplicaLog, leader: ReplicaLog) -> str | None:
    if log.problem is not None:
        return log.problem
    if _may_live(log):
        return f"its broker {log.unproven}"
    if log.log_end_offset is None:
        return "how far its log goes is not known"
    if log.empty:
        return None
    if log.epochs is None:
        return "its lineage is not known"
    if leader.epochs is None or leader.log_end_offset is None:
        return f"the lineage of broker {leader.broker}, which is to lead, is not known"
    return None


def other_leader(before: PartitionPlan, now: PartitionPlan) -> str | None:
    """Return why another leader than that the tails were saved for is to be elected, or None."""
    if now.designated_leader in (None, before.designated_leader):
        return None
    return (
        f"broker {now.designated_leader} is the one to lead by now, not broker"
        f" {before.designated_leader}, for which the tails were saved; run it again"
    )


def unsaved(now: PartitionPlan, saved: Iterable[Loser]) -> str | None:
    """Return which unsaved records the election would destroy, by the plan that was made after
    saving; None when there are none."""
    if now.designated_leader is None:
        return None
    tails = {loser.broker: loser.lost for loser in saved}
    again = losers_of(now)
    reasons = [
        f"broker {loser.broker} would by now lose other records than those saved"
        for loser in again.known
        if tails.get(loser.broker) != loser.lost
    ]
    reasons += [
        f"what broker {broker} would lose can't be told: {why}"
        for broker, why in again.untold.items()
        if broker not in tails
    ]
    return "; ".join(reasons) or None
