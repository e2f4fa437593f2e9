"""Brokers that the controllers have stopped to hear from."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.listener.intercepts import Rewrite


def let_the_controllers_miss(cluster: Cluster, broker: int) -> None:
    """Have the controllers miss the broker for 5 s, its session not having ended yet."""

    def missed(answer: dict[str, Any]) -> dict[str, Any]:
        for partition in (p for topic in answer["topics"] for p in topic["partitions"]):
            for observer in partition["observers"]:
                if observer["replica_id"] == broker:
                    observer["last_fetch_timestamp"] -= 5_000
        return answer

    cluster.intercept("DescribeQuorum", Rewrite(missed), times=10**6)
