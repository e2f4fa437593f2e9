"""Compare whoever leads at the end of a run with every log that was seen in it; no I/O.

The leader is asked where leader epochs end in its log, as a follower asks before it truncates
(KIP-101). So the answer holds while producers write, and is not fooled by a log that has grown
again over what is gone from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from msgspec import Struct

from kafka_unclean_recovery.model import EpochLineage, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, end_offset_for, tail_of
from kafka_unclean_recovery.planning.reach import reach
from kafka_unclean_recovery.wording import count_text, ids_text

EpochEnds = Mapping[int, tuple[int, int]]
"""What a leader answered: by leader epoch, (the largest epoch up to it that its log knows, or the
asked one itself where it knows only newer ones; the exclusive end of that epoch)."""

_NOTHING = (-1, -1)


class SeenLog(Struct, frozen=True):
    """A log as its broker told it, or as it is on a scanned disk, while the partition had no leader
    in this leader epoch."""

    topic_id: str
    leader_epoch: int
    log: ReplicaLog


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The records of logs that were seen which the leader lacks, each counted once. broker: the one
    whose log lacks most under the leader; end: where its log ended. leader_end: where the leader's
    log ends now. on_disks: some of these logs were read from scanned disks."""

    records: int
    broker: int
    end: int
    leader_end: int
    on_disks: bool = False


def next_epoch(leader_epoch: int, seen: Iterable[SeenLog], answers: EpochEnds) -> int | None:
    """Return the leader epoch to ask the leader for next; None when all that `shortfall` needs is
    known. leader_epoch: the leader's own."""
    if leader_epoch not in answers:
        return leader_epoch
    for each in seen:
        if each.leader_epoch not in answers:
            return each.leader_epoch
        if (asked := _kept(each.log, answers, answers[leader_epoch][1])[1]) is not None:
            return asked
    return None


def shortfall(leader_epoch: int, seen: Iterable[SeenLog], answers: EpochEnds) -> Shortfall | None:
    """Return what the leader lacks of the logs that were seen; None when that is nothing. A log
    that the leader's own was newer than when it was seen counts for nothing: an earlier election
    gave up what it has beyond."""
    leader_end = answers[leader_epoch][1]
    tails: list[tuple[ReplicaLog, EpochLineage]] = []
    for each in seen:
        kept = _kept(each.log, answers, leader_end)[0]
        if kept is not None and reach(each.log) > _reach_then(each, answers):
            tails.append((each.log, tail_of(each.log.epochs or (), kept)))
    records = count_once(tail for _, tail in tails)
    if not records:
        return None
    most, _ = max(tails, key=lambda found: (count_once([found[1]]), -found[0].broker))
    on_disks = any(log.scanned is not None for log, tail in tails if tail)
    return Shortfall(records, most.broker, most.log_end_offset or 0, leader_end, on_disks)


def last_epoch(log: ReplicaLog) -> int:
    """Return the leader epoch of the last record of a log that tells its epochs."""
    assert log.epochs
    return log.epochs[-1].epoch


def has_whole(log: ReplicaLog, answers: EpochEnds) -> bool:
    """Return True where the answer on the log's last epoch shows that the leader has all of it: the
    same epoch ends where it did, so nothing before that is other either."""
    return answers.get(last_epoch(log)) == (last_epoch(log), log.log_end_offset)


def unread(state: PartitionState) -> list[ReplicaLog]:
    """Return the logs of a partition's replicas, none of which is asked any more."""
    return [ReplicaLog(broker, live=False, problem="not asked") for broker in state.replicas]


def seen_on_disks(
    state: PartitionState, logs: Iterable[ReplicaLog], disks: Iterable[ReplicaLog]
) -> list[SeenLog]:
    """Return the logs that were read from scanned disks. state: as it was without a leader. logs:
    disks in place of what is not live. disks: the same as if nothing were live, which tells of
    brokers that are back, maybe with another disk."""
    scanned = {log.broker: log for log in disks}
    on_disks = (scanned[log.broker] if log.live else log for log in logs)
    return [
        SeenLog(state.topic_id, state.leader_epoch, log)
        for log in on_disks
        if log.scanned is not None
    ]


def of_this_topic(seen: Iterable[SeenLog], state: PartitionState) -> tuple[SeenLog, ...]:
    """Return the logs of this very topic that tell enough to count by. One that may be another
    broker's counts too: that nothing is lost is not sure either."""
    return tuple(
        each
        for each in seen
        if each.topic_id == state.topic_id and each.log.epochs and each.log.tells_enough
    )


def furthest_end_alone(seen: Iterable[SeenLog], state: PartitionState) -> int:
    """Return the furthest log end that a live broker told of this very topic, where it did not tell
    enough to count by; 0 without one. Where the same broker told all of as much, that counts."""
    every = [each for each in seen if each.topic_id == state.topic_id and each.log.live]
    counted = of_this_topic(every, state)
    ends = {each.log.broker: each.log.log_end_offset or 0 for each in counted}
    told = ((each.log.broker, each.log.log_end_offset or 0) for each in every)
    return max((end for broker, end in told if end > ends.get(broker, 0)), default=0)


def shortfall_text(short: Shortfall, state: PartitionState) -> str:
    """Return the sentence on what is lost, and on who must not be started before it is saved."""
    down = [replica for replica in state.replicas if replica not in state.online_replicas]
    who = "brokers or scanned disks" if short.on_disks else "brokers"
    text = (
        f"{count_text(short.records, 'record')} that {who} told of in this run are not in the log"
        f" of broker {state.leader}, which leads: it ends at {short.leader_end}, that of broker"
        f" {short.broker} ended at {short.end}"
    )
    if not down:
        return text
    if len(down) == 1:
        return (
            f"{text}; save the disk of broker {down[0]} before you start it: it may still hold"
            " them, and would be truncated"
        )
    return (
        f"{text}; save the disks of brokers {ids_text(down)} before you start them: they may still"
        " hold them, and would be truncated"
    )


def _kept(log: ReplicaLog, answers: EpochEnds, leader_end: int) -> tuple[int | None, int | None]:
    """Return (the exclusive end of what the log keeps under the leader, None), or (None, the leader
    epoch to ask the leader for before that is known). The steps are those of
    lineage.truncation_offset."""
    spans, end = log.epochs or (), log.log_end_offset or 0
    while spans:
        asked = spans[-1].epoch
        if asked not in answers:
            return None, asked
        leader_epoch, leader_says = answers[asked]
        follower_epoch, follower_says = end_offset_for(spans, end, leader_epoch)
        if follower_epoch == leader_epoch:
            return min(leader_says, follower_says, end), None
        end = min(follower_says, end)
        spans = tuple(span for span in spans if span.start_offset < end)
    return min(end, leader_end), None


def _reach_then(seen: SeenLog, answers: EpochEnds) -> tuple[int, int]:
    """Return how far the leader's log reached, as `reach` tells it, when the other was seen.

    Nobody led in that leader epoch, so no log knows it: an answer that names it is an echo.
    """
    answer = answers[seen.leader_epoch]
    return _NOTHING if answer[0] == seen.leader_epoch else answer
