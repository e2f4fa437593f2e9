"""A group's offsets are committed, as soon as its coordinator has loaded what it coordinates."""

from __future__ import annotations

from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Position

from tests.real.metadata import QUIETLY, SILENT
from tests.real.waiting import wait_until

TIMEOUT = 60.0
# What a new coordinator answers for a moment; librdkafka gives it to who commits by hand.
_PASSING = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}


def commit(connection: Mapping[str, str], group: str, *places: Position) -> None:
    """Commit them one after another."""
    consumer = Consumer({**connection, **QUIETLY, "group.id": group}, logger=SILENT)
    try:
        for place in places:
            _commit(consumer, place)
    finally:
        consumer.close()


def _commit(consumer: Consumer, place: Position) -> None:
    passing: list[str] = []

    def committed() -> bool:
        try:
            (done,) = consumer.commit(offsets=[place], asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() not in _PASSING:
                raise
            passing.append(error.args[0].str())
            return False
        assert done.error is None
        return True

    wait_until(committed, TIMEOUT, lambda: f"{place} committed: {passing[-1]}")
