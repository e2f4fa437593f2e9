"""The marker on a replica's disk ends a transaction of which the leader has no end; no I/O.

A disk that holds the transaction's marker knows how it ended, whatever its coordinator has
forgotten, or learned from a log that was elected uncleanly. The marker counts only where it is of
this transaction:

* All that the leader has of the transaction lies before that marker, where both logs are the same.
  Producers without KIP-890 may have begun the next transaction since, whose records the leader
  takes for the same one.
* The marker's epoch is the transaction's, or a later one, as for the leader that would take it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging, Judgement
from kafka_unclean_recovery.log_dir.transaction_ends import Ends, FoundEnd, LeftOpen
from kafka_unclean_recovery.model import ReplicaLog
from kafka_unclean_recovery.planning.reach import kept_under

_WORDS = {Ending.COMMIT: "COMMIT", Ending.ABORT: "ABORT"}


@dataclass(frozen=True, slots=True)
class DiskEnds:
    """The ends that one scanned disk has of transactions that the leader leaves open."""

    log: ReplicaLog
    ends: Ends


def left_open(hanging: Hanging) -> LeftOpen:
    """Return the transaction as the reader of disks takes it."""
    here = hanging.transaction
    return LeftOpen(here.producer_id, here.start_offset, here.last_sequence, here.last_timestamp_ms)


def by_disks(hanging: Hanging, leader: ReplicaLog, disks: Mapping[int, DiskEnds]) -> Hanging:
    """Return the transaction with the verdict of the disks, by broker, where they have one."""
    if not (proofs := dict(_proofs(hanging, leader, disks))):
        return hanging
    endings = set(proofs.values())
    if len(endings) > 1:
        told = " and ".join(f"{_WORDS[end]} on that of broker {b}" for b, end in proofs.items())
        return _with(hanging, Ending.UNKNOWN, f"disks hold different ends of it: {told}")
    (ending,) = endings
    broker = next(iter(proofs))
    reason = f"the disk of broker {broker} holds its {_WORDS[ending]} marker"
    if not _under_way(hanging):
        return replace(hanging, verdict=Judgement(ending, reason, broker))
    if hanging.told is not None and hanging.told.state.startswith("Prepare"):
        return hanging  # Its coordinator writes an end right now, and nobody can stop that.
    later = "a later transaction of its producer is under way on this partition"
    why = f"{reason}, but {later}, whose end will end this one too: stop the producer"
    return _with(hanging, Ending.UNKNOWN, why)


def _with(hanging: Hanging, ending: Ending, reason: str) -> Hanging:
    return replace(hanging, verdict=Judgement(ending, reason))


def _under_way(hanging: Hanging) -> bool:
    """Return whether a coordinator will yet write an end for this producer on the partition."""
    told = hanging.told
    return told is not None and hanging.transaction.topic_partition in told.partitions


def _proofs(
    hanging: Hanging, leader: ReplicaLog, disks: Mapping[int, DiskEnds]
) -> Iterator[tuple[int, Ending]]:
    """Yield (broker, ending) for each disk that proves how the transaction ended."""
    for broker, disk in sorted(disks.items()):
        end = disk.ends.get(left_open(hanging))
        kept = kept_under(disk.log, leader)
        if end is not None and kept is not None and _is_of(hanging, end, kept, leader):
            yield broker, Ending.COMMIT if end.commit else Ending.ABORT


def _is_of(hanging: Hanging, end: FoundEnd, kept: int, leader: ReplicaLog) -> bool:
    """Return whether this end is the transaction's. kept: below it both logs are the same, so that
    all of the transaction is in both if its newest record is."""
    all_of_it = leader.log_end_offset == kept or (end.newest is not None and end.newest < kept)
    return all_of_it and end.producer_epoch >= hanging.transaction.producer_epoch
