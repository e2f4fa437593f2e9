"""A work item is a handful of replicas of one log directory, or some pieces of a large one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow

from kafka_unclean_recovery.log_dir.pieces import Piece
from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.log_dir.scan_jobs import Job
from kafka_unclean_recovery.log_dir.tree import Location
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.spark.places import location_of
from kafka_unclean_recovery.spark.scan.piece_rows import piece_text

_arrow: Any = pyarrow

# Opening a replica's files takes as long as reading this many bytes.
REPLICA_COST = 256 << 10
_MOST_REPLICAS = 200

_REPLICA = _arrow.struct(
    [
        ("name", _arrow.string()),
        ("topic", _arrow.string()),
        ("partition", _arrow.int32()),
        ("high_watermark", _arrow.int64()),
        ("recovery_point", _arrow.int64()),
        ("log_start", _arrow.int64()),
    ]
)
# place: the number of the log directory among all, in the order of the roots. location: as
# places.address_of has it. size: bytes to be read. pieces: the pieces of one replica that are to be
# read now, as piece_rows has them; null where replicas are read whole.
ITEMS: Any = _arrow.schema(
    [
        ("place", _arrow.int64()),
        ("location", _arrow.string()),
        ("broker", _arrow.int32()),
        ("directory_id", _arrow.string()),
        ("stopped_clean", _arrow.bool_()),
        ("zookeeper", _arrow.bool_()),
        ("size", _arrow.int64()),
        ("replicas", _arrow.list_(_REPLICA)),
        ("pieces", _arrow.list_(_arrow.string())),
    ]
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A replica in the directory `name`, and the bytes to be read of it."""

    name: str
    replica: Replica
    size: int


def packed(replicas: Iterable[Measured], share: int) -> Iterator[list[Measured]]:
    """Yield groups of about `share` bytes, if that is no more than _MOST_REPLICAS replicas."""
    group: list[Measured] = []
    cost = 0
    for found in replicas:
        group.append(found)
        cost += found.size + REPLICA_COST
        if cost >= share or len(group) == _MOST_REPLICAS:
            yield group
            group, cost = [], 0
    if group:
        yield group


def item_row(place: int, location: str, group: Sequence[Measured]) -> dict[str, Any]:
    """Return a row of ITEMS for replicas of one log directory that are read whole."""
    first = group[0].replica
    return {
        "place": place,
        "location": location,
        "broker": first.broker,
        "directory_id": first.directory_id,
        "stopped_clean": first.stopped_clean,
        "zookeeper": first.zookeeper,
        "size": sum(found.size for found in group),
        "replicas": [_replica_row(found) for found in group],
        "pieces": None,
    }


def piece_items(
    place: int, location: str, found: Measured, pieces: Iterable[Piece], share: int
) -> Iterator[dict[str, Any]]:
    """Yield rows of ITEMS for one replica; each has pieces of about `share` bytes."""
    whole = item_row(place, location, [found])
    group: list[Piece] = []
    size = 0
    for piece in pieces:
        if group and size + piece.size > share:
            yield {**whole, "size": size, "pieces": [piece_text(one) for one in group]}
            group, size = [], 0
        group.append(piece)
        size += piece.size
    if group:
        yield {**whole, "size": size, "pieces": [piece_text(one) for one in group]}


def _replica_row(found: Measured) -> dict[str, Any]:
    replica = found.replica
    return {
        "name": found.name,
        "topic": replica.topic_partition.topic,
        "partition": replica.topic_partition.partition,
        "high_watermark": replica.high_watermark,
        "recovery_point": replica.recovery_point,
        "log_start": replica.log_start,
    }


def job_of(row: Mapping[str, Any], compacted: frozenset[str], store: Mapping[str, str]) -> Job:
    """Return the job that a row of ITEMS tells to scan. compacted: topics."""
    location = location_of(row["location"], store)
    replicas = tuple(
        (found["name"], _replica(row, found, location, compacted)) for found in row["replicas"]
    )
    return Job(location, replicas, row["size"])


def _replica(
    row: Mapping[str, Any], found: Mapping[str, Any], location: Location, compacted: frozenset[str]
) -> Replica:
    return Replica(
        broker=row["broker"],
        topic_partition=TopicPartition(found["topic"], found["partition"]),
        directory=str(location / found["name"]),
        directory_id=row["directory_id"],
        high_watermark=found["high_watermark"],
        recovery_point=found["recovery_point"],
        log_start=found["log_start"],
        stopped_clean=row["stopped_clean"],
        zookeeper=row["zookeeper"],
        compacted=found["topic"] in compacted,
    )


def bundled(costs: Sequence[int], count: int) -> Iterator[range]:
    """Yield about `count` bundles of neighbouring items, of about the same cost each."""
    target = sum(costs) / count if count else 0
    begun, reached, bundles = 0, 0.0, 0
    for place, cost in enumerate(costs):
        reached += cost
        # The bundles so far are compared with the sum so far, so that an excess of one bundle does
        # not add up over all.
        if reached >= target * (bundles + 1) or place == len(costs) - 1:
            yield range(begun, place + 1)
            begun, bundles = place + 1, bundles + 1
