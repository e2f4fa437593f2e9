"""The outage that chaos is let loose on: three controllers, brokers 1 and 2 dead, 3 and 4 back.

| topic | replicas | 1 | 2 | 3 | 4 | led last by |
|---|---|---|---|---|---|---|
| OLDER | orders of 1, 2, 3, 4 | 50 | 40 | 20 | 30 | 1, which was killed |
| NEWER | orders of 2, 3, 4 | | 40 | 30 | 20 | 2, which was stopped in good order |
| spare-N | 2, 4, 3 | | 40 | 30 | 20 | 2 |
| online-3, online-4 | 3; 4 | | | 10 | 10 | online while that broker lives |

The numbers are records: record n of a partition is the text n, on whatever replica it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice, permutations

from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce_many, wait_until_replicated
from tests.real.releases import ONE

OLDER = TOPIC
NEWER = "payments"
# A topic of one partition for whatever happens to a topic as a whole.
SPARES = tuple(f"spare-{number}" for number in range(12))
ONLINE = {"online-3": 3, "online-4": 4}
PARTITIONS = 48
SURVIVORS = (3, 4)

ON_OLDER: Mapping[int, int] = {1: 50, 2: 40, 3: 20, 4: 30}
ON_NEWER: Mapping[int, int] = {2: 40, 3: 30, 4: 20}
ON_ONLINE = 10
# The broker that led last: when it returns, the controller elects it by itself.
LED_LAST = {OLDER: 1, NEWER: 2, **dict.fromkeys(SPARES, 2)}
TIMEOUT = 120.0

Assignments = Mapping[str, Sequence[Sequence[int]]]


def chaos(version: str = ONE) -> Outage:
    return Outage(
        "chaos",
        version,
        SURVIVORS,
        _recipe,
        # Two indexes a replica would be 20 MiB of address space each.
        properties=(("log.index.size.max.bytes", "4096"),),
        controllers=3,
        sources=("../chaos/recipe.py",),
    )


def holdings(topic: str) -> Mapping[int, int]:
    """How many records of each partition a broker holds."""
    return ON_OLDER if topic == OLDER else ON_NEWER


def _recipe(cluster: KafkaCluster) -> None:
    older = {OLDER: _orders((1, 2, 3, 4))}
    _create(cluster, older)
    _write(cluster, older, range(20))
    _lose(cluster, older, 3, {1, 2, 4})
    _write(cluster, older, range(20, 30))
    _lose(cluster, older, 4, {1, 2})
    _write(cluster, older, range(30, 40))
    _lose(cluster, older, 2, {1})
    _write(cluster, older, range(40, 50))
    cluster.kill(1)
    cluster.start((2, 3, 4))

    newer: Assignments = {NEWER: _orders((2, 3, 4)), **{spare: [(2, 4, 3)] for spare in SPARES}}
    online: Assignments = {topic: [(broker,)] for topic, broker in ONLINE.items()}
    _create(cluster, {**newer, **online})
    _write(cluster, online, range(ON_ONLINE))
    _write(cluster, newer, range(20))
    _lose(cluster, newer, 4, {2, 3})
    _write(cluster, newer, range(20, 30))
    _lose(cluster, newer, 3, {2})
    _write(cluster, newer, range(30, 40))
    cluster.stop(2)


def _orders(brokers: Sequence[int]) -> list[tuple[int, ...]]:
    return list(islice(cycle(permutations(brokers)), PARTITIONS))


def _create(cluster: KafkaCluster, topics: Assignments) -> None:
    for topic, assignment in topics.items():
        create_topic(cluster.connection(), topic, assignment, {"min.insync.replicas": "1"})
        _agree(cluster, topic, set(assignment[0]))


def _write(cluster: KafkaCluster, topics: Assignments, numbers: range) -> None:
    for topic, assignment in topics.items():
        wanted = dict.fromkeys(range(len(assignment)), numbers)
        produce_many(cluster.connection(), topic, wanted, acks="1", timeout=TIMEOUT)
        ends = dict.fromkeys(wanted, numbers.stop)
        wait_until_replicated(cluster.connection(), topic, ends, TIMEOUT)


def _lose(cluster: KafkaCluster, topics: Assignments, broker: int, left: set[int]) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker}, TIMEOUT)
    for topic in topics:
        _agree(cluster, topic, left)


def _agree(cluster: KafkaCluster, topic: str, isr: set[int]) -> None:
    """Every live broker knows a leader for each partition, and the same in-sync replicas."""
    cluster.wait_until_partitions(topic, lambda p: not p.offline and set(p.isr) == isr, TIMEOUT)
