"""Who would truncate what under the designated leader. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.model import EpochLineage, PartitionPlan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.ranges import lost_under


@dataclass(frozen=True, slots=True)
class Loser:
    """A live replica that holds what the designated leader lacks: `lost`, in rising offset and not
    empty. `log` is the whole of it, as it was observed."""

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
        """Exclusive."""
        return self.lost[-1].end_offset

    @property
    def records(self) -> int:
        """Counted as offsets."""
        return sum(span.end_offset - span.start_offset for span in self.lost)


@dataclass(frozen=True, slots=True)
class Losers:
    """Of one partition. untold: live replicas of which it can't be told what they would lose, each
    with the reason."""

    known: tuple[Loser, ...]
    untold: Mapping[int, str]


def losers_of(plan: PartitionPlan) -> Losers:
    """The plan has a designated leader."""
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
    """A live broker whose log directory failed truncates nothing, no more than a dead one."""
    return log.broker in plan.state.online_replicas or (log.live and log.problem is None)


def _why_untold(log: ReplicaLog, leader: ReplicaLog) -> str | None:
    if log.problem is not None:
        return log.problem
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
    """Why the leader that the tails were saved for is the one to elect no more."""
    if now.designated_leader in (None, before.designated_leader):
        return None
    return (
        f"broker {now.designated_leader} is the one to lead by now, not broker"
        f" {before.designated_leader}, for which the tails were saved; run it again"
    )


def unsaved(now: PartitionPlan, saved: Iterable[Loser]) -> str | None:
    """What the election would destroy that was not saved, by the plan of what was observed
    afterwards; None when that is nothing."""
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
