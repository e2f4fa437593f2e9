"""What brokers of a running cluster answer of the one topic, probe by probe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka.protocol.admin.topics import CreateTopicsRequest, DescribeTopicPartitionsRequest
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.protocol.producer.produce import ProduceRequest

from kafka_unclean_recovery.emulator import Cluster
from tests.emulator.asking import ask
from tests.log_dir.segments import v2

TOPIC = "orders"


def create(cluster: Cluster, assignment: Sequence[Sequence[int]], min_isr: int = 1) -> Any:
    """Create TOPIC by the first replica's broker, and return the answer about it, with its id."""
    topic = {
        "name": TOPIC,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [
            {"partition_index": number, "broker_ids": list(replicas)}
            for number, replicas in enumerate(assignment)
        ],
        "configs": [{"name": "min.insync.replicas", "value": str(min_isr)}],
    }
    values = {"topics": [topic], "validate_only": False}
    found = ask(cluster, assignment[0][0], CreateTopicsRequest, 7, values).topics[0]
    assert found.error_code == 0
    return found


def produce(cluster: Cluster, broker: int, records: int, partition: int = 0) -> int:
    """Write one batch by the leader alone (acks 1), and return the error."""
    data = {"index": partition, "records": v2(count=records)}
    topic = {"name": TOPIC, "partition_data": [data]}
    values = {"acks": 1, "timeout_ms": 1000, "topic_data": [topic]}
    found = ask(cluster, broker, ProduceRequest, 9, values)
    return int(found.responses[0].partition_responses[0].error_code)


def offset(
    cluster: Cluster, broker: int, timestamp: int = -1, partition: int = 0, asker: int = -2
) -> tuple[int, int, int]:
    """Return ListOffsets' (error, offset, leader epoch)."""
    wanted = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": timestamp}
    topics = [{"name": TOPIC, "partitions": [wanted]}]
    values = {"replica_id": asker, "isolation_level": 0, "topics": topics}
    found = ask(cluster, broker, ListOffsetsRequest, 8, values).topics[0].partitions[0]
    return found.error_code, found.offset, found.leader_epoch


def fetch(
    cluster: Cluster, broker: int, at: int, partition: int = 0, max_bytes: int = 1 << 20
) -> Any:
    """Return Fetch 12 as the future local replica, which reads any replica to its end."""
    wanted = {
        "partition": partition,
        "fetch_offset": at,
        "last_fetched_epoch": -1,
        "partition_max_bytes": max_bytes,
    }
    values = {
        "replica_id": -3,
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": max_bytes,
        "isolation_level": 0,
        "topics": [{"topic": TOPIC, "partitions": [wanted]}],
        "forgotten_topics_data": [],
        "rack_id": "any",
    }
    return ask(cluster, broker, FetchRequest, 12, values).responses[0].partitions[0]


def described(cluster: Cluster, broker: int, partition: int = 0) -> Any:
    """Return the partition as DescribeTopicPartitions has it."""
    values = {"topics": [{"name": TOPIC}], "response_partition_limit": 100, "cursor": None}
    answer = ask(cluster, broker, DescribeTopicPartitionsRequest, 0, values)
    return answer.topics[0].partitions[partition]


def lose(cluster: Cluster, broker: int) -> None:
    """Kill the broker, and end its session."""
    cluster.kill(broker)
    cluster.fence(broker)
