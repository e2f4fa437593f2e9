"""The cluster as the judges see it, by a client that is not ours, past the taps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tests.chaos.oracle import Look, Partition
from tests.chaos.recipe import NEWER, OLDER, ONLINE, SPARES
from tests.real.cluster import KafkaCluster
from tests.real.controller_log import FENCED
from tests.real.metadata import PartitionView
from tests.real.witnesses import leader_epochs, read_records


def look(cluster: KafkaCluster, read: Iterable[Partition]) -> Look:
    """With the records of those to be read that are online."""
    seen = partitions_of(cluster)
    online = {partition for partition, view in seen.items() if not view.offline}
    epochs = {}
    for topic, numbers in by_topic(online).items():
        found = leader_epochs(cluster, topic, numbers)
        epochs.update({(topic, number): epoch for number, epoch in found.items()})
    wanted = online.intersection(read)
    return Look(seen, epochs, read_records(cluster, wanted) if wanted else {})


def by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        numbers.setdefault(topic, []).append(number)
    return numbers


def partitions_of(cluster: KafkaCluster) -> dict[Partition, PartitionView]:
    """As the last live broker describes them."""
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
    """How often the controllers have fenced each broker."""
    outputs = map(cluster.output, cluster.spec.controller_ids)
    return Counter(broker for path in outputs for broker in FENCED.findall(path.read_text()))
