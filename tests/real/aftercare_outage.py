"""An election that leaves things behind: transactions whose markers died, and a group beyond the
end.

Brokers 1 and 3 hold the data; 2 holds the groups and the transactions' states, and lives. 3 dies,
1 goes on and ends transactions, 1 dies, and 3 comes back: what 1 wrote meanwhile is gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.deadline import Deadline
from tests.real.cluster import KafkaCluster
from tests.real.commits import commit
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import create_topic, wait_until_replicated
from tests.real.releases import ONE
from tests.real.waiting import wait_until

TOPIC = "orders"
DEAD, COORDINATOR, SURVIVOR = 1, 2, 3
# What of each partition is beyond the survivor's log: the marker of a transaction that was
# committed, of one that was aborted, nothing (its transaction is open), plain records.
COMMITTED, ABORTED, OPEN, PLAIN = range(4)
HELD, MORE = 10, 5
GROUP, CONTENT_GROUP = "beyond", "content"
RESUMED = "resumed"
TIMEOUT = 60.0
# Longer than clocks may differ: else it can't be told from one that began later.
_LASTS_SECONDS = 1.5
_INTERNAL = ("__consumer_offsets", "__transaction_state")


def new_cluster(
    directory: Path, version: str = ONE, properties: Mapping[str, str] = {}
) -> KafkaCluster:
    return KafkaCluster.create(directory, version, brokers=3, properties=properties)


def outage(cluster: KafkaCluster) -> tuple[Producer, Producer]:
    """Make an outage: started and without a leader when this returns; 1 is dead. Return idempotent
    producers that live on: of the plain records, and of the last one alone."""
    cluster.start()
    connection = cluster.connection()
    for topic in _INTERNAL:
        create_topic(connection, topic, [[COORDINATOR]] * 4, {"cleanup.policy": "compact"})
    create_topic(connection, TOPIC, [[DEAD, SURVIVOR]] * 4)
    _agree(cluster, {DEAD, SURVIVOR})
    early = _idempotent(cluster)
    for record in range(HELD):
        _produce(early, PLAIN, record)
    producers = {
        number: _transactional(cluster, f"of {number}") for number in (COMMITTED, ABORTED, OPEN)
    }
    for number, producer in producers.items():
        producer.begin_transaction()
        _produce(producer, number, 0)
    # Each has begun by now, however long the others took.
    began = time.monotonic()
    wait_until(lambda: time.monotonic() > began + _LASTS_SECONDS, TIMEOUT, lambda: "its time")
    for number, producer in producers.items():
        for record in range(1, HELD):
            _produce(producer, number, record)
    wait_until_replicated(connection, TOPIC, dict.fromkeys(range(4), HELD))
    _lose(cluster, SURVIVOR)
    _agree(cluster, {DEAD})
    late = _idempotent(cluster)
    for record in range(HELD, HELD + MORE - 1):
        _produce(early, PLAIN, record)
    _produce(late, PLAIN, HELD + MORE - 1)
    producers[COMMITTED].commit_transaction(TIMEOUT)
    producers[ABORTED].abort_transaction(TIMEOUT)
    commit_offset(cluster, GROUP, PLAIN, HELD + MORE, epoch=0)
    commit_offset(cluster, CONTENT_GROUP, PLAIN, HELD, epoch=0)
    _lose(cluster, DEAD)
    cluster.start_node(SURVIVOR)
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline)
    return early, late


def commit_offset(
    cluster: KafkaCluster, group: str, partition: int, offset: int, epoch: int
) -> None:
    where = Position(TOPIC, partition, offset, leader_epoch=epoch)
    commit(cluster.connection(), group, where)


def begin_anew(cluster: KafkaCluster, partition: int) -> Producer:
    """Begin a transaction now, with a record of long ago."""
    producer = _transactional(cluster, RESUMED)
    producer.begin_transaction()
    producer.produce(TOPIC, b"since", partition=partition, timestamp=1_000_000)
    assert producer.flush(TIMEOUT) == 0
    return producer


def read_committed(cluster: KafkaCluster, partitions: Iterable[int]) -> dict[int, list[bytes]]:
    """Return the values that a consumer gets; an open transaction it takes for the end."""
    settings = {
        **cluster.connection(),
        **QUIETLY,
        "group.id": "readers",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
        "fetch.wait.max.ms": 20,
    }
    consumer = Consumer(settings, logger=SILENT)
    found: dict[int, list[bytes]] = {number: [] for number in partitions}
    left = set(found)
    deadline = Deadline.after(TIMEOUT)
    try:
        consumer.assign([Position(TOPIC, number, OFFSET_BEGINNING) for number in found])
        while left:
            assert not deadline.expired, found
            for message in consumer.consume(1, timeout=1.0):
                number, error = message.partition(), message.error()
                assert number is not None
                if error is None:
                    found[number].append(message.value() or b"")
                else:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    left.discard(number)
    finally:
        consumer.close()
    return found


def _idempotent(cluster: KafkaCluster) -> Producer:
    settings = {**cluster.connection(), **QUIETLY, "enable.idempotence": True}
    return Producer(settings, logger=SILENT)


def _transactional(cluster: KafkaCluster, name: str) -> Producer:
    settings = {
        **cluster.connection(),
        **QUIETLY,
        "transactional.id": name,
        "transaction.timeout.ms": 900_000,
    }
    producer = Producer(settings, logger=SILENT)
    producer.init_transactions(TIMEOUT)
    return producer


def _produce(producer: Producer, partition: int, number: int) -> None:
    producer.produce(TOPIC, str(number).encode(), partition=partition)
    assert producer.flush(TIMEOUT) == 0


def _lose(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker})


def _agree(cluster: KafkaCluster, isr: set[int]) -> None:
    cluster.wait_until_partitions(TOPIC, lambda p: not p.offline and set(p.isr) == isr, TIMEOUT)
