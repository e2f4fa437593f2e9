"""What the others lose under a leader that the controller elects by itself; no I/O.

Nobody compares logs in such an election: whoever is elected leads with what its log holds once its
broker has started, and all others are truncated to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from kafka_unclean_recovery.model import Divergence, EpochLineage, ReplicaLog
from kafka_unclean_recovery.planning.lineage import count_once, tail_of
from kafka_unclean_recovery.planning.reach import kept_under, reach
from kafka_unclean_recovery.wording import count_text, ids_text


class Cuts(Struct, frozen=True):
    """What one leader costs. live: where replicas of live brokers are truncated. dead: the same of
    scanned disks that reach further than the leader. records: of both, each (leader epoch, offset)
    once. untold: brokers of replicas that may be cut and whose logs can't be compared; doubt: why
    the first can't. better: a live replica that ranks above the leader is among them, so that
    another leader would have lost less. stuck: who may fetch no more after its cut."""

    leader: int
    leader_end: int | None
    live: tuple[Divergence, ...] = ()
    dead: tuple[Divergence, ...] = ()
    records: int = 0
    untold: tuple[int, ...] = ()
    doubt: str = ""
    better: bool = False
    stuck: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[Divergence, ...]:
        return (*self.live, *self.dead)


def cuts_under(leader: ReplicaLog, others: Iterable[ReplicaLog]) -> Cuts:
    """Return what the others lose under this leader. What a dead disk has beyond and an earlier
    election gave up counts for nothing."""
    live: list[Divergence] = []
    dead: list[Divergence] = []
    tails: list[EpochLineage] = []
    untold: list[ReplicaLog] = []
    better = False
    for log in others:
        kept = kept_under(log, leader)
        if kept is None or log.epochs is None:
            untold += [log] if log.live and not log.empty else []
            continue
        tail = tail_of(log.epochs, kept)
        if tail and (log.live or reach(log) > reach(leader)):
            (live if log.live else dead).append(Divergence(log.broker, kept, count_once([tail])))
            tails.append(tail)
            better |= log.live and reach(log) > reach(leader)
    end = leader.log_end_offset if leader.sure else None
    records = count_once(tails)
    return Cuts(
        leader.broker,
        end,
        tuple(live),
        tuple(dead),
        records,
        tuple(log.broker for log in untold),
        _doubt(untold[0], leader) if untold else "",
        better,
        tuple(cut.broker for cut in (*live, *dead) if may_stick(cut.offset, leader)),
    )


def may_stick(kept: int, leader: ReplicaLog) -> bool:
    """Return True where a follower is cut at the log start of its leader, which DeleteRecords may
    have put within a batch. From there on the leader sends the whole batch, the follower can't
    append what lies below its log end, and Kafka fetches the partition no more
    (kafka.cluster.Partition, appendRecordsToFollowerOrFutureReplica, for a log that is not empty).
    """
    start = start_by_epochs(leader)
    return 0 < kept == (leader.log_start_offset if start is None else start)


def start_by_epochs(leader: ReplicaLog) -> int | None:
    """Return the offset that the log of a scanned leader starts at if DeleteRecords moved it since
    the last checkpoint of log starts, a minute apart: its epochs begin there at once. None where
    both tell the same."""
    if leader.scanned is None or leader.log_start_offset is None or leader.epochs is None:
        return None
    begin = leader.epochs[0].start_offset if leader.epochs else leader.log_end_offset
    return begin if begin is not None and begin > leader.log_start_offset else None


def _doubt(log: ReplicaLog, leader: ReplicaLog) -> str:
    doubts = (
        doubt for each in (log, leader) for doubt in (each.problem, each.suspect, each.unproven)
    )
    return next(filter(None, doubts), "leader epochs of its log are not known")


def cuts_text(cuts: Cuts) -> str:
    """Return text such as "its log ends at 100, and 150 records of live brokers 3,4 are cut"."""
    if cuts.leader_end is None:
        return "how far its log goes then is not known, and the others are cut to that"
    end = f"its log ends at {cuts.leader_end}"
    cut = f"{count_text(cuts.records, 'record')} of {_whose(cuts)} are cut" if cuts.records else ""
    lose = "lose" if len(cuts.untold) > 1 else "loses"
    untold = (
        f"what {_brokers(cuts.untold)} {lose} then is not known: {cuts.doubt}"
        if cuts.untold
        else ""
    )
    told = [part for part in (cut, untold) if part]
    if not told:
        return f"{end}, and nothing that is known is cut"
    return ", and ".join([end, *told]) + (stuck_text(cuts.stuck) if cuts.stuck else "")


def stuck_text(brokers: Sequence[int]) -> str:
    return (
        f"; {_brokers(brokers)} may then fetch it no more, for the log of the leader starts right"
        " there, which may be within a batch"
    )


def _whose(cuts: Cuts) -> str:
    live = [f"live {_brokers([cut.broker for cut in cuts.live])}"] if cuts.live else []
    dead = [f"the disk of {_brokers([cut.broker for cut in cuts.dead])}"] if cuts.dead else []
    return " and ".join([*live, *dead])


def _brokers(brokers: Sequence[int]) -> str:
    return f"broker{'s' if len(brokers) > 1 else ''} {ids_text(brokers)}"
