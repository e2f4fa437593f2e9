"""How the outages of tests of trouble come about: many partitions of few records."""

from __future__ import annotations

from tests.real import recipes
from tests.real.cluster import KafkaCluster
from tests.real.records import create_topic, produce_many, wait_until_replicated

# Records in each partition of TOPIC.
ON_3, ON_4 = 30, 20
MOVED_RECORDS = 300
# Broker 3 and 4 hold the same of these, and they are offline too.
SHORT_LIVED, REBORN, LEAVING = "short-lived", "reborn", "leaving"
# Lives on broker 3 alone, and is online while that lives.
MOVING = "moving"


def trouble(cluster: KafkaCluster) -> None:
    """`last_replica_standing` with 72 partitions, and topics to lose and to move."""
    records = {SHORT_LIVED: 10, REBORN: 10, LEAVING: 10, MOVING: MOVED_RECORDS}
    for topic, count in records.items():
        assignment = [[3]] if topic == MOVING else [[1, 2, 4, 3]]
        create_topic(cluster.connection(), topic, assignment)
        produce_many(cluster.connection(), topic, {0: range(count)})
        wait_until_replicated(cluster.connection(), topic, {0: count})
    _standing(cluster, 72)


def few(cluster: KafkaCluster) -> None:
    """`last_replica_standing` with 24 partitions, and nothing else."""
    _standing(cluster, 24)


def _standing(cluster: KafkaCluster, partitions: int) -> None:
    more = ON_3 - ON_4
    recipes.last_replica_standing(cluster, partitions=partitions, first=ON_4, more=more)
