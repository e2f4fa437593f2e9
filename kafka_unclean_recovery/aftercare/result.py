"""What one look at the partitions found, and whether it is over. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging
from kafka_unclean_recovery.cluster.requests.transactions import ProducerState
from kafka_unclean_recovery.model import GroupBeyond, PartitionState, TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionCare:
    """One partition. log_end_offset: the leader's, exclusive. transactions: the leader's; without
    a leader those of each live replica, which hang once that is elected. problems: why something
    could not be seen, a sentence each: what they hide is unknown. returning: replicas whose disks
    may hold more than the leader, or did. producers: that the leader knows, where records may be
    gone; None is unknown."""

    state: PartitionState
    log_end_offset: int | None = None
    transactions: tuple[Hanging, ...] = ()
    groups: tuple[GroupBeyond, ...] = ()
    problems: tuple[str, ...] = ()
    returning: tuple[Returning, ...] = ()
    producers: tuple[ProducerState, ...] | None = ()

    @property
    def topic_partition(self) -> TopicPartition:
        return self.state.topic_partition

    @property
    def out_of_sync(self) -> tuple[int, ...]:
        """Replicas that are not back in the ISR, ascending."""
        return tuple(sorted(set(self.state.replicas) - set(self.state.isr)))

    @property
    def hanging(self) -> tuple[Hanging, ...]:
        """Transactions that nobody ends by himself, or of which that is not known; without a
        leader one more for each replica that has it."""
        return tuple(h for h in self.transactions if h.verdict.ending is not Ending.OPEN)

    @property
    def over(self) -> bool:
        left = self.state.offline or self.out_of_sync or self.hanging or self.groups
        return not left and not self.problems


@dataclass(frozen=True, slots=True)
class Aftercare:
    """partitions: by topic and partition. unknown: what could not be seen of the cluster as a
    whole, a sentence each."""

    cluster_id: str
    partitions: tuple[PartitionCare, ...]
    unknown: tuple[str, ...]

    @property
    def over(self) -> bool:
        """Nothing is left, and nothing may be hidden."""
        return not self.unknown and all(row.over for row in self.partitions)

    def hanging(self) -> Iterator[Hanging]:
        for row in self.partitions:
            yield from row.hanging

    def endable(self) -> Iterator[Hanging]:
        """Those with a sure verdict, and a leader to write it."""
        for row in self.partitions:
            if not row.state.offline:
                yield from (each for each in row.hanging if each.verdict.sure)

    def groups(self) -> Iterator[GroupBeyond]:
        for row in self.partitions:
            yield from row.groups
