"""Topics and records for real clusters, by an independent client (confluent-kafka).

A connection is `host:port,...`, or the settings that `KafkaCluster.connection()` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
)
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]
from confluent_kafka.cimpl import NewTopic

from kafka_unclean_recovery.deadline import Deadline
from tests.real.metadata import QUIETLY, SILENT
from tests.real.waiting import wait_until

Connection = str | Mapping[str, str]
Settings = dict[str, str | int | float | bool]
Value = Callable[[int], bytes]


def numbered(number: int) -> bytes:
    """The value of record n is n: what is lost can be told from what is left."""
    return str(number).encode()


def create_topic(
    connection: Connection,
    topic: str,
    assignment: Sequence[Sequence[int]],
    config: Mapping[str, str] = {},
    timeout: float = 60.0,
) -> None:
    """One partition for each list of replicas, the preferred leader first."""
    new = NewTopic(
        topic,
        num_partitions=len(assignment),
        replica_assignment=[list(replicas) for replicas in assignment],
        config=dict(config),
    )
    client = AdminClient(_settings(connection), logger=SILENT)
    created = client.create_topics([new], operation_timeout=timeout, request_timeout=timeout)
    created[topic].result(timeout)


def produce(
    connection: Connection,
    topic: str,
    partition: int,
    count: int,
    *,
    first: int = 0,
    acks: str = "all",
    value: Value = numbered,
    timeout: float = 60.0,
) -> None:
    """Write records `first`, `first + 1` ... to one partition."""
    numbers = {partition: range(first, first + count)}
    produce_many(connection, topic, numbers, acks=acks, value=value, timeout=timeout)


def produce_many(
    connection: Connection,
    topic: str,
    numbers: Mapping[int, range],
    *,
    acks: str = "all",
    value: Value = numbered,
    timeout: float = 60.0,
) -> None:
    """Write to many partitions at once; returns when every record is acknowledged."""
    deadline = Deadline.after(timeout)
    failures: list[str] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(f"{message.topic()}-{message.partition()}: {error}")

    settings = _settings(connection) | {
        "acks": acks,
        "linger.ms": 5,
        # Two at a time change places where the first has to be sent again.
        "max.in.flight": 1,
        "queue.buffering.max.messages": 1_000_000,
        "message.timeout.ms": int(timeout * 1000),
    }
    producer = Producer(settings, logger=SILENT)
    for partition, chosen in numbers.items():
        for number in chosen:
            producer.produce(topic, value(number), partition=partition, on_delivery=delivered)
        producer.poll(0)
    pending = producer.flush(deadline.remaining())
    if pending or failures:
        raise RuntimeError(
            f"{pending} records unacknowledged, {len(failures)} failed: {failures[:3]}"
        )


def wait_until_replicated(
    connection: Connection, topic: str, ends: Mapping[int, int], timeout: float = 60.0
) -> None:
    """Every in-sync replica of each partition has reached its end: the high watermark says so.

    For many partitions this and acks=1 beat acks=all by far: librdkafka sends a request for each
    partition, and a broker takes the next one of a connection once the last is acknowledged.
    """
    client = AdminClient(_settings(connection), logger=SILENT)
    end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    latest = dict.fromkeys((Position(topic, partition) for partition in ends), end)
    behind: dict[int, int] = {}

    def replicated() -> bool:
        answers = client.list_offsets(latest, request_timeout=timeout)
        marks = {position.partition: _offset(found) for position, found in answers.items()}
        behind.clear()
        behind.update({p: mark for p, mark in marks.items() if mark < ends[p]})
        return not behind

    wait_until(replicated, timeout, lambda: f"replicated; high watermarks behind: {behind}")


def _offset(found: Future[Any]) -> int:
    """The latest offset; -1 while a new leader does not know the high watermark yet."""
    try:
        offset: int = found.result().offset
    except KafkaException as error:
        if error.args[0].code() != KafkaError.OFFSET_NOT_AVAILABLE:
            raise
        return -1
    return offset


def consume_all(
    connection: Connection, topic: str, partition: int, timeout: float = 60.0
) -> list[bytes]:
    """The values of every record, from the log start to the high watermark.

    On a healthy cluster `__consumer_offsets` appears: librdkafka insists on a group, never used
    here, and asks for its coordinator.
    """
    deadline = Deadline.after(timeout)
    settings = _settings(connection) | {
        "group.id": "tests",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }
    consumer = Consumer(settings, logger=SILENT)
    try:
        consumer.assign([Position(topic, partition, OFFSET_BEGINNING)])
        return _read_to_the_end(consumer, deadline)
    finally:
        consumer.close()


def _read_to_the_end(consumer: Consumer, deadline: Deadline) -> list[bytes]:
    values: list[bytes] = []
    while not deadline.expired:
        for message in consumer.consume(1000, timeout=min(1.0, deadline.remaining())):
            error = message.error()
            if error is None:
                values.append(message.value() or b"")
            elif error.code() == KafkaError._PARTITION_EOF:
                return values
            elif not error.retriable():
                raise RuntimeError(f"cannot consume: {error}")
    raise TimeoutError(f"the end was not reached after {len(values)} records")


def _settings(connection: Connection) -> Settings:
    if isinstance(connection, str):
        connection = {"bootstrap.servers": connection}
    return {**connection, **QUIETLY}
