"""What a cluster looks like to clients that are not ours: the judges of what our commands did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from kafka_unclean_recovery.deadline import Deadline
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT, PartitionView
from tests.real.waiting import wait_until

TIMEOUT = 60.0
# Who asks, or who answers, has not heard of an election yet.
_LED_ANEW = (
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
)


def partitions_of(cluster: KafkaCluster, topic: str) -> dict[int, PartitionView]:
    """Return the topic as the first live broker describes it."""
    return dict(cluster.view(cluster.live_brokers[0]).topics[topic])


def replica_orders(cluster: KafkaCluster, topic: str) -> dict[int, tuple[int, ...]]:
    return {number: seen.replicas for number, seen in partitions_of(cluster, topic).items()}


def leaders(cluster: KafkaCluster, topic: str) -> dict[int, int]:
    return {number: seen.leader for number, seen in partitions_of(cluster, topic).items()}


def wait_until_led(
    cluster: KafkaCluster,
    topic: str,
    leader: int,
    orders: Mapping[int, tuple[int, ...]],
    timeout: float = TIMEOUT,
) -> None:
    """Wait until every live broker shows this leader, and this order of the replicas, of these
    partitions.

    Brokers hear of changes one after the other: what one of them shows, another may not yet.
    """
    wanted = {number: (leader, order) for number, order in orders.items()}

    def seen(broker: int) -> dict[int, tuple[int, tuple[int, ...]]]:
        partitions = cluster.view(broker).topics.get(topic, {})
        return {n: (p.leader, p.replicas) for n, p in partitions.items() if n in wanted}

    wait_until(
        lambda: all(seen(broker) == wanted for broker in cluster.live_brokers),
        timeout,
        lambda: f"{wanted}; seen: { {b: seen(b) for b in cluster.live_brokers} }",
    )


def leader_epochs(
    cluster: KafkaCluster, topic: str, partitions: Iterable[int]
) -> dict[int, int | None]:
    """Return the epochs from the leaders themselves: each election would have raised them.

    librdkafka asks with the leader epoch that some broker's metadata has, and a broker may be
    behind: it is asked anew, until all are told.
    """
    end = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    left = {Position(topic, number): end for number in partitions}
    found: dict[int, int | None] = {}
    refused: dict[int, KafkaError] = {}

    def told() -> bool:
        client = AdminClient(_settings(cluster), logger=SILENT)
        for at, answer in client.list_offsets(left, request_timeout=TIMEOUT).items():
            try:
                found[at.partition] = answer.result(TIMEOUT).leader_epoch
            except KafkaException as error:
                refused[at.partition] = error.args[0]
                if error.args[0].code() not in _LED_ANEW:
                    raise
        for at in [at for at in left if at.partition in found]:
            del left[at]
        return not left

    wait_until(told, TIMEOUT, lambda: f"{topic}: { {at.partition for at in left} }: {refused}")
    return found


def reassignments(cluster: KafkaCluster) -> str:
    """Return what kafka-reassign-partitions.sh lists."""
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    listed = cluster.script("kafka-reassign-partitions", "--bootstrap-server", servers, "--list")
    return listed.stdout.strip()


def records_of(
    cluster: KafkaCluster, topic: str, partitions: Iterable[int]
) -> dict[int, list[bytes]]:
    """Return the values of all records by partition, from log start to high watermark."""
    read = read_records(cluster, [(topic, partition) for partition in partitions])
    return {partition: values for (_, partition), values in read.items()}


def read_records(
    cluster: KafkaCluster, partitions: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], list[bytes]]:
    """Return the values of all records by topic and partition.

    One consumer reads all: `records.consume_all` takes a second for each.
    """
    settings = _settings(cluster) | {
        "group.id": "tests",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
    }
    consumer = Consumer(settings, logger=SILENT)
    try:
        found: dict[tuple[str, int], list[bytes]] = {partition: [] for partition in partitions}
        consumer.assign([Position(*partition, OFFSET_BEGINNING) for partition in found])
        _read(consumer, found)
        return found
    finally:
        consumer.close()


def _read(consumer: Consumer, found: dict[tuple[str, int], list[bytes]]) -> None:
    """Read until every partition has ended."""
    deadline, left = Deadline.after(TIMEOUT), set(found)
    while left:
        if deadline.expired:
            raise TimeoutError(f"partitions {left} did not end")
        for message in consumer.consume(500, timeout=0.2):
            error, topic, number = message.error(), message.topic(), message.partition()
            assert topic is not None
            assert number is not None
            if error is None:
                found[topic, number].append(message.value() or b"")
            elif error.code() == KafkaError._PARTITION_EOF:
                left.discard((topic, number))
            elif not error.retriable():
                raise RuntimeError(f"cannot consume: {error}")


def _settings(cluster: KafkaCluster) -> dict[str, str | int | float | bool]:
    return {**cluster.connection(), **QUIETLY}
