"""Records that topics alter or refuse, by a salvage and by a plain producer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import KafkaError, Message, Producer

from tests.real.metadata import QUIETLY, SILENT
from tests.salvage.batches import Fields, batch, numbered
from tests.salvage.replay.saved import salvaged

TIMEOUT = 60.0
DAY_MS = 86_400_000


def odd_records(now: int) -> list[Fields]:
    """Return odd records. now: ms since 1970."""
    return [
        (0, b"zero", b"", ()),
        (1000, b"old", b"", ()),
        (now, b"large", os.urandom(5000), ()),
        (now, None, b"keyless", ()),
        (now + DAY_MS, b"new", b"", ()),
    ]


def odd_salvage(directory: Path, records: list[Fields]) -> Path:
    """Write a salvage of orders-0 with these records."""
    return salvaged(directory, {1: numbered(0, 10) + batch(10, records)})


def refused(connection: Mapping[str, str], topic: str, records: list[Fields]) -> set[bytes]:
    """Return the keys, or else values, that the brokers don't take; each goes alone."""
    producer = Producer({**connection, **QUIETLY, "retries": 0}, logger=SILENT)
    found: set[bytes] = set()

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            found.add(message.key() or message.value() or b"")

    for time, key, value, _ in records:
        producer.produce(topic, value, key, 0, timestamp=time or 1, on_delivery=delivered)
        assert producer.flush(TIMEOUT) == 0
    return found
