"""What ok-to-stop saved of a cluster, read back. Pure."""

from __future__ import annotations

from kafka_unclean_recovery.documents.ok_to_stop import (
    ObservationJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.documents.reading.codec import decode, load_kind
from kafka_unclean_recovery.documents.reading.json_text import Place

KIND = "cluster-observation"


def read_observation(text: str, source: str) -> ObservationJson:
    """Return the observation. Raises InputError, which names `source`."""
    give = "give a file that `ok-to-stop --save` wrote"
    document = load_kind(text, source, KIND, give, "use the version of this tool that wrote it")
    found = decode(document, ObservationJson, Place(source))
    for number, topic in enumerate(found.topics):
        _check(topic, Place(source).at("topics").item(number))
    return found


def _check(topic: ObservedTopicJson, place: Place) -> None:
    """Refuse what no cluster has: the controller's rules are made for what one can have."""
    if topic.problem is None and (topic.min_isr is None or topic.unclean is None):
        raise place.error("min_isr or unclean is null, and no problem says why")
    seen = set()
    for number, partition in enumerate(topic.partitions):
        there = place.at("partitions").item(number)
        if partition.partition in seen:
            raise there.error(f"partition {partition.partition} comes twice")
        seen.add(partition.partition)
        if topic.problem is None:
            _check_replicas(partition, there)


def _check_replicas(partition: ObservedPartitionJson, place: Place) -> None:
    replicas = set(partition.replicas)
    if not replicas or len(replicas) < len(partition.replicas):
        raise place.at("replicas").error("is empty, or names a broker twice")
    # A controller of 4.3.1 leaves in ELR and last known ELR whom a reassignment took off.
    for name in ("isr", "offline_replicas"):
        others = sorted(set(getattr(partition, name)) - replicas)
        if others:
            raise place.at(name).error(f"broker {others[0]} is not one of the replicas")
