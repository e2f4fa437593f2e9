"""What librdkafka is told, and what becomes of its answers."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.listener.intercepts import Seen
from kafka_unclean_recovery.salvage.replay.producing import Client, Producer, ProducingFailed
from kafka_unclean_recovery.salvage.replay.records import SavedRecord
from kafka_unclean_recovery.salvage.replay.target import Target

RECORDS = [(SavedRecord(1, n, 0, 1000, None, b"x" * 100, ()), ()) for n in range(200)]


def test_no_batch_is_larger_than_any_of_the_targets_allows(kafka_cluster: Cluster) -> None:
    kafka_cluster.create_topic("small")
    sizes: list[int] = []

    def weigh(seen: Seen) -> None:
        for topic in seen.request.topic_data:
            sizes.extend(len(bytes(part.records)) for part in topic.partition_data)

    kafka_cluster.intercept("Produce", weigh, times=1000)
    targets = [
        Target("small", "", 1, {"max.message.bytes": "2000"}),
        Target("large", "", 1, {"max.message.bytes": "1000000"}),
    ]
    client = Client({"bootstrap.servers": kafka_cluster.bootstrap_servers})
    assert client.producer(targets).send("small", 0, RECORDS) == 200
    assert len(sizes) > 10
    assert max(sizes) <= 2000


class OneTimesOut:
    """A producer of librdkafka that gives up one record, and goes on."""

    def __init__(self) -> None:
        self._made = 0

    def produce(self, *_: Any, on_delivery: Any, **__: Any) -> None:
        self._made += 1
        code = confluent_kafka.KafkaError._MSG_TIMED_OUT
        on_delivery(confluent_kafka.KafkaError(code) if self._made == 2 else None, self)

    def offset(self) -> int:
        return self._made

    def flush(self, _: float) -> int:
        return 0


def test_one_record_that_was_not_acknowledged_is_a_failure_of_all() -> None:
    with pytest.raises(ProducingFailed, match="orders-0: Local: Message timed out"):
        Producer(OneTimesOut()).send("orders", 0, RECORDS[:3])
