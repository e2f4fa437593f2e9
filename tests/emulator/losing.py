"""An outage in which the only living replica is short."""

from __future__ import annotations

from kafka_unclean_recovery.emulator import Cluster


def lose_the_longer_log(cluster: Cluster, records: int, topic: str = "orders") -> None:
    """Leave partition 0 of the topic, on brokers 1 and 2, without a leader: 1 died with so many
    records that 2, which lives, lacks."""
    cluster.lag(2)
    cluster.produce(topic, 0, records, acks="1")
    for broker in (2, 1):
        cluster.kill(broker)
        cluster.fence(broker)
    cluster.start(2)
