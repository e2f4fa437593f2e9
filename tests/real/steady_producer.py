"""A producer that never stops while something happens to the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

from confluent_kafka import KafkaError, Message, Producer

from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import numbered

PAUSE_SECONDS = 0.05
# Of a record: an ordinary one takes milliseconds.
TIMEOUT = 20.0


@dataclass(slots=True)
class Produced:
    """What became of the records so far, in the order of the answers."""

    acknowledged: list[bytes] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def answered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acknowledged.append(message.value() or b"")
        else:
            self.failed.append(str(error))


@contextmanager
def producing(connection: Mapping[str, str], topic: str, first: int) -> Iterator[Produced]:
    """Write numbered records one by one to partition 0 with acks=all while the body runs."""
    produced, over = Produced(), Event()
    thread = Thread(target=_produce_until, args=(over, connection, topic, first, produced))
    thread.start()
    try:
        yield produced
    finally:
        over.set()
        thread.join()


def _produce_until(
    over: Event, connection: Mapping[str, str], topic: str, first: int, produced: Produced
) -> None:
    settings: dict[str, str | int | float | bool] = {
        **connection,
        **QUIETLY,
        "acks": "all",
        "message.timeout.ms": int(TIMEOUT * 1000),
    }
    producer, number = Producer(settings, logger=SILENT), first
    while not over.wait(PAUSE_SECONDS):
        producer.produce(topic, numbered(number), partition=0, on_delivery=produced.answered)
        producer.poll(0)
        number += 1
    left = producer.flush(TIMEOUT)
    produced.failed.extend(["no answer"] * left)
