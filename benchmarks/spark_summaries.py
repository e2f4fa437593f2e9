"""Summaries of many partitions, made at once: what a scan of thousands of disks would have left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.summaries import (
    PARTITIONS as PARTITIONS_DIRECTORY,
)
from kafka_unclean_recovery.spark.summaries import (
    REPLICAS as REPLICAS_DIRECTORY,
)
from kafka_unclean_recovery.spark.summaries import (
    SCAN,
    ScanHead,
    head_json,
)
from kafka_unclean_recovery.spark.tables import PARTITIONS, REPLICAS

COPIES = 3
BROKERS = 300
PARTITIONS_OF_A_TOPIC = 500
_FILE = 125_000
_SEED = 7
# Of partitions: those whose replicas parted, of these those that parted in an election; suspects of
# replicas.
_PARTED, _ELECTED, _SUSPECT = 0.1, 0.7, 0.001

_NO_BROKERS = (
    "elr",
    "last_known_elr",
    "offline_replicas",
    "adding_replicas",
    "removing_replicas",
)

_arrow: Any = pyarrow
_parquet: Any = pyarrow.parquet


def write_many(directory: Path, count: int) -> Path:
    """Write `count` partitions of three replicas: most are equal; in a tenth of the partitions one
    leads in a newer epoch, or reaches further, and the others have tails that it lacks."""
    random = np.random.default_rng(_SEED)
    for name in (REPLICAS_DIRECTORY, PARTITIONS_DIRECTORY):
        (directory / name).mkdir(parents=True)
    order = random.permutation(count)
    for number, begin in enumerate(range(0, count, _FILE)):
        ids = order[begin : begin + _FILE]
        replicas, partitions = _tables(random, ids)
        file = f"part-{number:05}.parquet"
        _parquet.write_table(replicas, directory / REPLICAS_DIRECTORY / file)
        _parquet.write_table(partitions, directory / PARTITIONS_DIRECTORY / file)
    head = ScanHead(
        "cluster-1", "2026-01-02T03:04:05+00:00", ScanMode.DEEP, tuple(range(BROKERS)), 3, 100
    )
    (directory / SCAN).write_text(head_json(head))
    return directory


def _tables(random: Any, ids: Any) -> tuple[Any, Any]:
    first = random.integers(0, BROKERS, len(ids))
    brokers = ((first[:, None] + np.arange(COPIES)) % BROKERS).astype(np.int32)
    epochs, lengths, spans = _lineages(random, len(ids))
    topics = _arrow.array([f"topic-{i // PARTITIONS_OF_A_TOPIC:05}" for i in ids])
    numbers = (ids % PARTITIONS_OF_A_TOPIC).astype(np.int32)
    replicas = _replicas(random, topics, numbers, brokers, lengths, spans)
    return replicas, _partitions(topics, numbers, brokers, epochs)


def _lineages(random: Any, count: int) -> tuple[Any, Any, tuple[Any, Any, Any]]:
    """Return (leader epoch of partitions; spans of replicas; epoch, start and end of spans)."""
    older = random.choice([0, 0, 1, 3], count)
    end = random.integers(1000, 1 << 30, count)
    parted = random.random(count) < _PARTED
    elected = parted & (random.random(count) < _ELECTED)
    lengths = np.repeat(older + 1, COPIES).reshape(count, COPIES)
    lengths[:, 0] += elected
    flat = lengths.reshape(-1)
    owner = np.repeat(np.arange(count * COPIES), flat)
    partition, copy = owner // COPIES, owner % COPIES
    place = np.arange(len(owner)) - np.repeat(np.cumsum(flat) - flat, flat)
    # The first replica's newest epoch begins below the ends of the others.
    step = 50
    ends = end[partition] - (older[partition] - place) * step
    newest = place > older[partition]
    starts = np.where(place == 0, 0, end[partition] - (older[partition] - place + 1) * step)
    last_old = (copy == 0) & elected[partition] & (place == older[partition])
    ends = np.where(last_old, end[partition] - 10, ends)
    starts = np.where(newest, end[partition] - 10, starts)
    ends = np.where(newest, end[partition] + 5, ends)
    # Without an election the others lag, which loses nothing, or are as long as each other.
    behind = (parted & ~elected)[partition] & (copy > 0) & (place == older[partition])
    ends = np.where(behind, end[partition] - copy, ends)
    return older + elected, flat, (place.astype(np.int32), starts, ends)


def _replicas(
    random: Any, topics: Any, numbers: Any, brokers: Any, lengths: Any, spans: tuple[Any, Any, Any]
) -> Any:
    count = brokers.size
    each = np.repeat(np.arange(len(numbers)), COPIES)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    last = offsets[1:] - 1
    kind = REPLICAS.field("epochs").type
    structs = _arrow.StructArray.from_arrays(
        [_arrow.array(column) for column in spans], fields=list(kind.value_type)
    )
    suspect = random.random(count) < _SUSPECT
    columns = {
        "topic": topics.take(_arrow.array(each)),
        "partition": numbers[each],
        "broker": brokers.reshape(-1),
        "topic_id": _same("M2FhNjY0YjUtNGVmZC00", count),
        "mode": _same("deep", count),
        "log_start_offset": np.zeros(count, np.int64),
        "log_end_offset": spans[2][last],
        "last_written_leader_epoch": spans[0][last],
        "epochs": _arrow.ListArray.from_arrays(offsets, structs, type=kind),
        "high_watermark": spans[2][last] - 10,
        "size": spans[2][last] * 100,
        "trust": _arrow.array(np.where(suspect, "suspect", "trusted")),
        "reason": _arrow.array(["offsets fall" if one else None for one in suspect]),
        "compacted": np.zeros(count, bool),
        "directory": _same("/mnt/broker/topic", count),
    }
    return _table(columns, count, REPLICAS)


def _partitions(topics: Any, numbers: Any, brokers: Any, epochs: Any) -> Any:
    count = len(numbers)
    one = np.arange(count + 1, dtype=np.int32)
    every = _lists(brokers.reshape(-1), one * COPIES)
    none = _lists(np.zeros(0, np.int32), one * 0)
    columns = {
        "topic": topics,
        "partition": numbers,
        "topic_id": _same("M2FhNjY0YjUtNGVmZC00", count),
        "leader": np.full(count, -1, np.int32),
        "leader_epoch": epochs.astype(np.int32),
        "replicas": every,
        "isr": _lists(brokers[:, 0], one),
        "compacted": np.zeros(count, bool),
        "findings": _arrow.array([[]] * count, PARTITIONS.field("findings").type),
        **dict.fromkeys(_NO_BROKERS, none),
    }
    return _table(columns, count, PARTITIONS)


def _lists(values: Any, offsets: Any) -> Any:
    kind = PARTITIONS.field("replicas").type
    return _arrow.ListArray.from_arrays(offsets, _arrow.array(values), type=kind)


def _same(value: str, count: int) -> Any:
    return _arrow.array([value]).take(_arrow.array(np.zeros(count, np.int64)))


def _table(columns: dict[str, Any], count: int, schema: Any) -> Any:
    arrays = [
        columns[field.name] if field.name in columns else _arrow.nulls(count, field.type)
        for field in schema
    ]
    return _arrow.Table.from_arrays([_arrow.array(a) for a in arrays], schema=schema)
