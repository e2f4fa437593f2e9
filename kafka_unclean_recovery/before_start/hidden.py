"""Topics that this user may not describe, of which the broker may have to begin replicas empty.

Brokers leave such topics out of a list of all, without an error; a replica of one that is gone from
the disk would be passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from kafka_unclean_recovery.before_start.replica import OwnDisk
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.model import Broker
from kafka_unclean_recovery.survey.answer import answered
from kafka_unclean_recovery.survey.hidden_topics import Hidden, hidden_topics, some_topics
from kafka_unclean_recovery.survey.reading import Reader

_UNTOLD = "whether the broker should have replicas of topics that are hidden from this user"


async def hidden_replicas(
    nodes: Nodes,
    reader: Reader,
    brokers: Mapping[int, Broker],
    disk: OwnDisk,
    visible: AbstractSet[str],
) -> list[str]:
    """Return sentences on topics that are hidden, and that concern this disk. visible: the topics
    that this user may describe."""
    known = visible | _known(disk)
    looked = await answered(hidden_topics(nodes, reader, list(brokers.values()), known))
    if looked.value is None:
        return [f"{_UNTOLD} is unknown: {looked.problem}"]
    return list(_sentences(looked.value, brokers))


def _known(disk: OwnDisk) -> frozenset[str]:
    """Return the topics of which the disk tells what is to be told: those that it has, which are
    asked for by name, and those that its own metadata log puts on other brokers alone."""
    there = {each.topic_partition for each in disk.replicas}
    lacking = {tp.topic for tp in disk.layout.assigned if tp not in there}
    return (disk.layout.topics | {tp.topic for tp in there}) - lacking


def _sentences(found: Hidden, brokers: Mapping[int, Broker]) -> Iterator[str]:
    if found.names:
        yield (
            f"this user may not describe {some_topics(found.names)}: whether the broker should have"
            " replicas of them, and begins them empty, is unknown; grant Topic:DESCRIBE"
        )
    if found.refused is not None:
        yield f"{_UNTOLD} is unknown ({found.refused}); grant Cluster:DESCRIBE"
    if brokers and len(found.silent) == len(brokers):
        first = min(found.silent)
        yield f"{_UNTOLD} is unknown: broker {first}: {found.silent[first]}"
