"""Find partitions that have a leader in the metadata, but whose leader is fenced or dead; no I/O.

Kafka's controller takes the leader away as it fences a broker. A controller that is not Apache's
may not, and then nothing looks offline, though nobody serves the partition.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.wording import count_text

_NAMES_SHOWN = 5


def led_by_the_dead(state: PartitionState, cluster: Cluster) -> bool:
    return not state.offline and state.leader not in cluster.brokers


def dead_leader_text(state: PartitionState, cluster: Cluster) -> str:
    """Return text such as "broker 3, which is fenced"."""
    how = "is fenced" if state.leader in cluster.fenced else "is not live"
    return f"broker {state.leader}, which {how}"


def dead_leaders_text(dead: Mapping[TopicPartition, PartitionState], cluster: Cluster) -> str:
    """Return a sentence on the partitions whose leader is not live; there is at least one."""
    names = [
        f"{tp} by {dead_leader_text(state, cluster)}"
        for tp, state in sorted(dead.items())[:_NAMES_SHOWN]
    ]
    more = [f"and {len(dead) - _NAMES_SHOWN} more"] if len(dead) > _NAMES_SHOWN else []
    return (
        f"{count_text(len(dead), 'partition')} led by brokers that are not live:"
        f" {', '.join([*names, *more])}; nobody serves them, and nobody is elected while the"
        " cluster says that they are led"
    )
