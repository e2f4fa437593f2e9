"""A replayed record carries headers that say where the salvaged record was, and by which it is
recognised. This module does no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PREFIX = "kafka-unclean-recovery."
_NAMES = (
    "cluster",
    "topic",
    "topic-id",
    "partition",
    "offset",
    "leader-epoch",
    "broker",
    "timestamp",
)
_UNKNOWN = "-1"

Headers = Sequence[tuple[str, bytes | None]]

Position = tuple[int, int, int]
"""A record's place, (leader epoch, offset, broker), in the order in which a partition is produced.
Two replicas that have an offset under one leader epoch have the same record there, so its broker is
-1. Where the epoch is not known they may differ: the epoch is -1, and the broker counts."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The place that a salvaged record was read from. topic_id: as text. broker: the broker of the
    disk. timestamp: ms since 1970, None where the record had none."""

    cluster: str
    topic: str
    topic_id: str
    partition: int
    offset: int
    leader_epoch: int | None
    broker: int
    timestamp: int | None

    @property
    def position(self) -> Position:
        return position(self.leader_epoch, self.offset, self.broker)


def position(leader_epoch: int | None, offset: int, broker: int) -> Position:
    return (-1, offset, broker) if leader_epoch is None else (leader_epoch, offset, -1)


def origin_headers(origin: Origin) -> list[tuple[str, bytes]]:
    """Return the headers behind the record's own. Numbers are decimal, -1 means unknown."""
    values = (
        origin.cluster,
        origin.topic,
        origin.topic_id,
        origin.partition,
        origin.offset,
        _UNKNOWN if origin.leader_epoch is None else origin.leader_epoch,
        origin.broker,
        _UNKNOWN if origin.timestamp is None else origin.timestamp,
    )
    return [
        (PREFIX + name, str(value).encode()) for name, value in zip(_NAMES, values, strict=True)
    ]


def parse_origin(headers: Headers) -> Origin | None:
    """Return the origin of a record that was produced with `origin_headers`, None of any other.

    The last headers count: a record that was salvaged out of a side topic has older ones too.
    """
    last = headers[-len(_NAMES) :]
    if [key for key, _ in last] != [PREFIX + name for name in _NAMES]:
        return None
    try:
        cluster, topic, topic_id, *texts = [(value or b"").decode() for _, value in last]
        partition, offset, epoch, broker, timestamp = map(int, texts)
    except ValueError:
        return None
    known = None if epoch < 0 else epoch
    return Origin(
        cluster, topic, topic_id, partition, offset, known, broker, _time(texts[-1], timestamp)
    )


def _time(text: str, timestamp: int) -> int | None:
    return None if text == _UNKNOWN else timestamp
