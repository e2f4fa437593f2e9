"""A returning replica has a disk that held more than its leader: its broker is yet to come back, or
is back and has lost the difference. This module does no I/O.

A broker that starts truncates its replicas to their leaders. Where its disk was scanned before, the
replica now has less than the scan, which shows the truncation.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_unclean_recovery.model import PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.reach import kept_under, records_beyond
from kafka_unclean_recovery.planning.started_replica import GONE
from kafka_unclean_recovery.wording import count_text


@dataclass(frozen=True, slots=True)
class Returning:
    """A replica whose disk holds or held more than its leader, or may do so.

    records: the number of records on its disk from `offset` on that its leader lacks or, once it is
    `back`, that it lacks itself; None where that is not known. directory: the directory of the
    replica on its disk. gone: the disk is lost for good.
    """

    broker: int
    back: bool
    why: str
    records: int | None = None
    offset: int | None = None
    directory: str | None = None
    gone: bool = False

    @property
    def holds_more(self) -> bool:
        return not self.back and not self.gone and bool(self.records)


def returning(
    state: PartitionState,
    logs: Mapping[int, ReplicaLog],
    disks: Mapping[int, ReplicaLog],
    unseen: Container[int] = (),
    gone: Container[int] = (),
) -> tuple[Returning, ...]:
    """Return the returning replicas of a partition with a leader, in the order of its replicas.
    logs: what live replicas hold, the leader's among them. disks: what was scanned. Both are by
    broker, as far as they are known. unseen: brokers that live and can't be asked; they are left
    out. gone: brokers whose disks are lost for good, of which only what is known to be lost with
    them is told."""
    every = (each for each in _returning(state, logs, disks) if each.broker not in unseen)
    told = (_with_its_disk(each) if each.broker in gone else each for each in every)
    return tuple(each for each in told if each is not None)


def _with_its_disk(found: Returning) -> Returning | None:
    """Return what is lost with the disk of a replica; None where nothing is known to be."""
    if not found.records:
        return None
    return replace(found, gone=True, why="its disk is lost for good, with what the leader lacks")


def _returning(
    state: PartitionState, logs: Mapping[int, ReplicaLog], disks: Mapping[int, ReplicaLog]
) -> Iterator[Returning]:
    for broker in state.replicas:
        dead, disk = broker in state.offline_replicas, disks.get(broker)
        if broker == state.leader or not (dead or disk):
            continue
        if disk is None:
            yield Returning(broker, False, "nobody has read its disk, which may hold more")
            continue
        now = logs.get(state.leader if dead else broker)
        if disk.problem == GONE:
            continue  # Nothing is there to be deleted.
        records = None if now is None else records_beyond(disk, now)
        directory = disk.scanned.directory if disk.scanned else None
        if records and now is not None:
            offset = kept_under(disk, now)
            yield Returning(broker, not dead, _why(dead), records, offset, directory)
        elif records is None and dead:
            doubt = disk.problem or disk.suspect or "it can't be compared with the leader's log"
            yield Returning(broker, False, f"its disk does not tell: {doubt}", directory=directory)


def _why(dead: bool) -> str:
    if dead:
        return "its disk holds what the leader lacks, and loses it when it starts"
    return "it is back, and has lost what its disk held when it was scanned"


def led_empty(
    state: PartitionState, leader: ReplicaLog, disks: Iterable[ReplicaLog]
) -> Iterator[str]:
    """Yield a sentence where the leader has nothing of what a scanned disk held: it began empty,
    and the others were cut to nothing. disks: as they were scanned, the leader's own among them."""
    if leader.log_start_offset != 0:
        return
    for disk in disks:
        lost = records_beyond(disk, leader)
        if lost and kept_under(disk, leader) == 0:
            yield (
                f"its leader, broker {state.leader}, has nothing of the"
                f" {count_text(lost, 'record')} that the disk of broker {disk.broker} held when it"
                " was scanned: it began empty, and the others were cut to that"
            )


def advice(every: Iterable[Returning]) -> Iterator[str]:
    """Yield what to do about each broker, over all partitions."""
    by_broker: dict[int, list[Returning]] = {}
    for found in every:
        by_broker.setdefault(found.broker, []).append(found)
    for broker, its in sorted(by_broker.items()):
        if more := [found for found in its if found.holds_more]:
            yield (
                f"broker {broker} deletes {_what(more)} when it starts, for their leaders lack"
                " them: salvage them, or move the partitions' directories aside, before it does"
            )
        if unread := [found for found in its if found.records is None]:
            yield (
                f"broker {broker} may hold more of {count_text(len(unread), 'partition')} than the"
                " leader, and deletes it when it starts: scan its disk (--log-dirs), or move the"
                " partitions' directories aside, before it does"
            )
        if lost := [found for found in its if found.gone]:
            yield f"the lost disk of broker {broker} held {_what(lost)} that their leaders lack"
        if lost := [found for found in its if found.back]:
            yield (
                f"broker {broker} is back, too late for {_what(lost)}: what was not salvaged is"
                " gone, but for whole segments, which are there as *.deleted for a minute"
            )


def _what(found: Sequence[Returning]) -> str:
    records = sum(each.records or 0 for each in found)
    return f"{count_text(records, 'record')} of {count_text(len(found), 'partition')}"
