"""The result of one look at the partitions tells whether the aftercare is over, and gives its
metrics, and advice on producers. This module does no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.aftercare.gone_disks import GoneDisks
from kafka_unclean_recovery.aftercare.returning import Returning
from kafka_unclean_recovery.aftercare.transactions import Ending, Hanging
from kafka_unclean_recovery.cluster.requests.transactions import ProducerState
from kafka_unclean_recovery.model import GroupBeyond, PartitionState, TopicPartition
from kafka_unclean_recovery.report.prometheus import Metric, gauge
from kafka_unclean_recovery.wording import count_text, ids_text

_PREFIX = "kafka_unclean_recovery_aftercare"


@dataclass(frozen=True, slots=True)
class PartitionCare:
    """The result for one partition.

    log_end_offset: the leader's, exclusive. transactions: the leader's; without a leader those of
    each live replica, which hang once that replica is elected. problems: sentences on why something
    could not be seen; what they hide is unknown. returning: replicas whose disks hold more than the
    leader, may do so, or did. producers: the producers that the leader knows, where records may be
    gone; None is unknown. led_unseen: it looks as if nobody led it, and a broker does that is not
    listed. gone: replicas whose brokers have lost their disks for good, and which nobody waits for.
    min_isr: min.insync.replicas as its leader has it, asked where replicas are out of the ISR; None
    where it was not asked or not told.
    """

    state: PartitionState
    log_end_offset: int | None = None
    transactions: tuple[Hanging, ...] = ()
    groups: tuple[GroupBeyond, ...] = ()
    problems: tuple[str, ...] = ()
    returning: tuple[Returning, ...] = ()
    producers: tuple[ProducerState, ...] | None = ()
    led_unseen: bool = False
    gone: tuple[int, ...] = ()
    min_isr: int | None = None

    @property
    def topic_partition(self) -> TopicPartition:
        return self.state.topic_partition

    @property
    def leaderless(self) -> bool:
        return self.state.offline and not self.led_unseen

    @property
    def out_of_sync(self) -> tuple[int, ...]:
        """Return the replicas that are not back in the ISR, ascending."""
        return tuple(sorted(set(self.state.replicas) - set(self.state.isr)))

    @property
    def awaited(self) -> tuple[int, ...]:
        """Return the replicas that are not back in the ISR, and are not gone, ascending."""
        return tuple(sorted(set(self.out_of_sync) - set(self.gone)))

    @property
    def refuses_acks_all(self) -> bool:
        """Return True where it has a leader, and too few replicas in the ISR for acks=all."""
        state, least = self.state, self.min_isr
        return not state.offline and least is not None and len(state.isr) < least

    @property
    def hanging(self) -> tuple[Hanging, ...]:
        """Return the transactions that no coordinator is known to end. Without a leader a
        transaction is there once for each replica that has it."""
        return tuple(h for h in self.transactions if h.verdict.ending is not Ending.OPEN)

    @property
    def over(self) -> bool:
        state = self.state
        left = state.offline or state.reassigning or self.awaited or self.hanging or self.groups
        return not left and not self.refuses_acks_all and not self.problems


@dataclass(frozen=True, slots=True)
class Aftercare:
    """The result of one look. partitions: by topic and partition. unknown: sentences on what could
    not be seen of the cluster as a whole. unseen: what shows that brokers live that are not listed,
    by broker. gone: the brokers that the operator says are gone."""

    cluster_id: str
    partitions: tuple[PartitionCare, ...]
    unknown: tuple[str, ...]
    unseen: Mapping[int, str] = field(default_factory=dict)
    gone: tuple[GoneDisks, ...] = ()

    @property
    def over(self) -> bool:
        """Return True when nothing is left and nothing may be hidden."""
        return not self.unknown and all(row.over for row in self.partitions)

    def hanging(self) -> Iterator[Hanging]:
        for row in self.partitions:
            yield from row.hanging

    def endable(self) -> Iterator[Hanging]:
        """Yield the hanging transactions with a sure verdict and a leader for the marker."""
        for row in self.partitions:
            if not row.state.offline:
                yield from (each for each in row.hanging if each.verdict.sure)

    def groups(self) -> Iterator[GroupBeyond]:
        for row in self.partitions:
            yield from row.groups

    def share_groups(self) -> Iterator[GroupBeyond]:
        return (each for each in self.groups() if each.commit.share_done_to is not None)


def with_lost(found: Aftercare, lost: Mapping[TopicPartition, str]) -> Aftercare:
    """Return the result with what a run found lost under leaders that nobody consented to: such a
    partition is never over. lost: sentences."""
    if not lost:
        return found
    rows = (
        replace(row, problems=(*row.problems, lost[row.topic_partition]))
        if row.topic_partition in lost
        else row
        for row in found.partitions
    )
    return replace(found, partitions=tuple(rows))


def aftercare_metrics(found: Aftercare) -> list[Metric]:
    """Return the metrics of one look. Facts that could not be read have a metric of their own,
    because a 0 in another metric does not include them."""
    rows = found.partitions
    unknown = len(found.unknown) + sum(len(row.problems) for row in rows)
    hanging = list(found.hanging())
    unsure = sum(not each.verdict.sure for each in hanging)
    figures = {
        "over": ("1 when nothing is left to do, and nothing may be hidden.", int(found.over)),
        "partitions": ("Partitions looked at.", len(rows)),
        "partitions_left": ("Partitions that are not well yet.", sum(not r.over for r in rows)),
        "offline_partitions": ("Partitions without a leader.", sum(r.leaderless for r in rows)),
        "out_of_sync_replicas": (
            "Replicas not back in the ISR.",
            sum(len(r.out_of_sync) for r in rows),
        ),
        "hanging_transactions": ("Open transactions that no coordinator will end.", len(hanging)),
        "hanging_transactions_unknown": ("Hanging transactions of unknown ending.", unsure),
        "groups_beyond": ("Groups that read more than the log holds.", len(list(found.groups()))),
        "unknown": ("Facts that could not be read, and may hide more.", unknown),
    }
    return [gauge(f"{_PREFIX}_{name}", *figure) for name, figure in figures.items()]


def refused_advice(rows: Iterable[PartitionCare]) -> Iterator[str]:
    """Yield what ends it that leaders refuse acks=all."""
    refused = [row for row in rows if row.refuses_acks_all]
    if not refused:
        return
    first, more = refused[0], len(refused) > 1
    on_gone = any(row.gone for row in refused)
    how = ": reassign those on brokers that are gone, or start such a broker with empty disks"
    yield (
        f"{count_text(len(refused), 'partition')}, {'the first ' if more else ''}"
        f"{first.topic_partition} (ISR {ids_text(first.state.isr)}, min.insync.replicas"
        f" {first.min_isr}), {'refuse' if more else 'refuses'} what is written with acks=all, and"
        " who asks for the end may get OFFSET_NOT_AVAILABLE, until more replicas are in the"
        f" ISR{how if on_gone else ''}"
    )


def producers_advice(rows: Iterable[PartitionCare]) -> Iterator[str]:
    """Yield what to do about producers whose records are gone, over all partitions. It tells what
    idempotent producers did when this was tried."""
    told = {
        row.topic_partition: ids
        for row in rows
        if (ids := {p.producer_id for p in row.producers or () if not p.transactional})
    }
    if not told:
        return
    yield (
        f"{count_text(len(set().union(*told.values())), 'idempotent producer')} of"
        f" {count_text(len(told), 'partition')} may have had records that are gone, and no broker"
        " knows which client each is. If so, one of librdkafka fails with"
        " OUT_OF_ORDER_SEQUENCE_NUMBER, fatally, with all that it has queued: restart it; a Java"
        " one logs one WARN, goes on, and never mentions its acknowledged records that are gone"
    )
