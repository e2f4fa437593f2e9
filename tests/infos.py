"""Scans of log directories, any at all, as a reader would accept them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from kafka_unclean_recovery.model import (
    BROKER_LISTS,
    EpochLineage,
    EpochSpan,
    Fencing,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
    Unfenced,
)
from tests.reports import count, findings, ids, scans, texts, topics, unknown

_epoch = st.integers(0, 2**31 - 1)


def _lineage(epochs: list[int], offsets: list[int]) -> EpochLineage:
    return tuple(
        EpochSpan(epoch, start, end)
        for epoch, (start, end) in zip(sorted(epochs), pairwise(sorted(offsets)), strict=False)
    )


_lineages = st.builds(
    _lineage,
    st.lists(_epoch, max_size=5, unique=True),
    st.lists(count, min_size=2, max_size=6, unique=True),
)


@st.composite
def _logs(draw: st.DrawFn, broker: int) -> ReplicaLog:
    epochs = draw(st.none() | _lineages)
    start, end = sorted((draw(count), draw(count)))
    if epochs:
        start, end = epochs[0].start_offset, epochs[-1].end_offset
    return ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=draw(st.none() | st.integers(-1, 2**31 - 1)),
        log_start_offset=draw(st.sampled_from([start, None])),
        high_watermark=draw(unknown),
        log_end_offset=draw(st.sampled_from([end, None])),
        epochs=epochs,
        source=draw(texts),
        problem=draw(st.none() | texts),
        suspect=draw(st.none() | texts),
        certain_end_offset=draw(unknown),
        scanned=draw(st.none() | scans),
        broker_epoch=draw(unknown),
    )


@st.composite
def _partitions(draw: st.DrawFn) -> PartitionInfo:
    topic, partition = draw(topics), draw(_epoch)
    state = None
    if draw(st.booleans()):
        lists: dict[str, Any] = {name: draw(ids) for name in BROKER_LISTS[1:]}
        state = PartitionState(
            topic,
            draw(texts),
            partition,
            draw(st.integers(-1, 5)),
            draw(st.integers(-1, 2**31 - 1)),
            draw(ids.filter(bool)),
            **lists,
            tiered=draw(st.none() | texts),
        )
    return PartitionInfo(
        TopicPartition(topic, partition),
        state,
        tuple(draw(_logs(broker)) for broker in draw(ids)),
        tuple(draw(st.lists(findings, max_size=2))),
        draw(st.booleans()),
    )


@st.composite
def any_infos(draw: st.DrawFn) -> ReplicaInfo:
    rows = draw(st.lists(_partitions(), max_size=3, unique_by=lambda row: row.topic_partition))
    metadata = draw(st.none() | st.tuples(_epoch, count))
    scanned_at = datetime(2026, 1, 2, tzinfo=UTC) + timedelta(seconds=draw(st.integers(0, 9)))
    return ReplicaInfo(
        cluster_id=draw(st.none() | texts),
        scanned_at=scanned_at.isoformat(),
        brokers=draw(ids),
        partitions=tuple(sorted(rows, key=lambda row: row.topic_partition)),
        metadata_epoch=metadata[0] if metadata else None,
        metadata_end_offset=metadata[1] if metadata else None,
        problems=tuple(draw(st.lists(texts, max_size=2))),
        interrupted=draw(st.booleans()),
        fencing=draw(st.none() | fencings()),
    )


@st.composite
def fencings(draw: st.DrawFn) -> Fencing:
    unfenced = draw(st.lists(st.integers(0, 5), max_size=4, unique=True))
    return Fencing(
        tuple(Unfenced(broker, draw(count), draw(st.booleans())) for broker in unfenced),
        draw(st.booleans()),
        draw(st.none() | st.booleans()),
        draw(st.none() | _epoch),
        draw(st.dictionaries(topics, _epoch, max_size=2)),
    )
