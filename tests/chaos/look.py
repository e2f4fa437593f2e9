"""The cluster as the judges see it, by a client that is not ours, past the taps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tests.chaos.oracle import Look, Partition
from tests.chaos.recipe import NEWER, OLDER, ONLINE, SPARES
from tests.real.cluster import KafkaCluster
from tests.real.controller_log import FENCED
from tests.real.metadata import PartitionView
from tests.real.waiting import wait_until
from tests.real.witnesses import leader_epochs, read_records

# In seconds: many sessions of the clusters here.
_SESSIONS = 60.0


def look(cluster: KafkaCluster, read: Iterable[Partition]) -> Look:
    """Look at all, with the records of those to be read that are online."""
    seen = _settled(cluster)
    online = {partition for partition, view in seen.items() if not view.offline}
    epochs = {}
    for topic, numbers in by_topic(online).items():
        found = leader_epochs(cluster, topic, numbers)
        epochs.update({(topic, number): epoch for number, epoch in found.items()})
    wanted = online.intersection(read)
    return Look(seen, epochs, read_records(cluster, wanted) if wanted else {})


def _settled(cluster: KafkaCluster) -> dict[Partition, PartitionView]:
    """Return the partitions once no dead broker leads: a heartbeat that lay in a link to the
    controllers arrives once that is healed, and its sender leads again until its session ends."""
    seen: dict[Partition, PartitionView] = {}

    def no_dead_broker_leads() -> bool:
        nonlocal seen
        seen = partitions_of(cluster)
        led = {view.leader for view in seen.values() if not view.offline}
        return led <= set(cluster.live_brokers)

    wait_until(no_dead_broker_leads, _SESSIONS, lambda: f"dead brokers lead: {seen}")
    return seen


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        numbers.setdefault(topic, []).append(number)
    return numbers


def partitions_of(cluster: KafkaCluster) -> dict[Partition, PartitionView]:
    """Return the partitions as the last live broker describes them."""
    topics = cluster.view(cluster.live_brokers[-1]).topics
    return {
        (topic, number): view
        for topic, of_it in topics.items()
        if topic in (OLDER, NEWER, *SPARES, *ONLINE)
        for number, view in of_it.items()
    }


def offline(seen: Mapping[Partition, PartitionView]) -> list[Partition]:
    return [partition for partition, view in seen.items() if view.offline]


def fencings(cluster: KafkaCluster) -> Counter[str]:
    """Return how often the controllers have fenced each broker."""
    outputs = map(cluster.output, cluster.spec.controller_ids)
    return Counter(broker for path in outputs for broker in FENCED.findall(path.read_text()))
