"""Producers whose records are gone need advice. This module does no I/O.

The advice tells what idempotent producers did when this was tried. No broker knows which client has
a producer id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_unclean_recovery.aftercare.result import PartitionCare
from kafka_unclean_recovery.wording import count_text


def producers_advice(rows: Iterable[PartitionCare]) -> Iterator[str]:
    """Yield what to do about these producers, over all partitions."""
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
