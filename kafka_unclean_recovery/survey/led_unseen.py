"""Partitions that look as if nobody led them, and are led by a broker that is not listed.

Only Metadata tells them from those without a leader, by an error (LISTENER_NOT_FOUND).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_unclean_recovery.model import Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.reading import Reader

LED_UNSEEN = "its leader is not on the listener that this command came in by"


async def led_unseen(
    reader: Reader,
    cluster: Cluster,
    states: Iterable[PartitionState],
    doubts: Mapping[int, str],
) -> dict[TopicPartition, str]:
    """Return, for those of the partitions that only look offline, a clause on who leads: a leader
    is always in the ISR, so only partitions with a broker there that is not listed are asked for.
    doubts: as liveness.doubts tells. Raises what Reader.hidden_leaders raises."""
    known = cluster.brokers.keys() | set(cluster.fenced)
    suspected = {
        state.topic_partition: state
        for state in states
        if state.offline and not known >= set(state.isr)
    }
    if not suspected:
        return {}
    hidden = await reader.hidden_leaders(sorted({state.topic for state in suspected.values()}))
    return {tp: unseen_text(suspected[tp], doubts) for tp in sorted(hidden & suspected.keys())}


def unseen_text(state: PartitionState, doubts: Mapping[int, str]) -> str:
    """Return a clause on who leads the partition, as far as it is known."""
    unlisted = [broker for broker in state.isr if broker in doubts]
    whom = f": broker {unlisted[0]} {doubts[unlisted[0]]}" if unlisted else ""
    return f"{LED_UNSEEN}{whom}"
