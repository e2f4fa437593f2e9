"""How the outages of kafka-facts.md come about, told by what happens to a running cluster.

A recipe gets a fresh cluster of four brokers and leaves all of them dead: the survivors have not
come back yet. Records are written only while every live broker agrees on leaders and in-sync
replicas, so that nothing is retried and each replica ends where the recipe says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice, permutations

from tests.real.cluster import KafkaCluster
from tests.real.records import (
    Value,
    create_topic,
    numbered,
    produce_many,
    wait_until_replicated,
)

TOPIC = "orders"
BROKERS = (1, 2, 3, 4)
# Generous: thousands of partitions take their time on two cores.
TIMEOUT = 180.0


def last_replica_standing(
    cluster: KafkaCluster,
    *,
    partitions: int = 24,
    min_isr: int = 1,
    first: int = 1000,
    more: int = 500,
) -> None:
    """Brokers 4, 3, 2, 1 die in this order with writes between.

    Broker 4 holds `first` records of each partition, and every broker that lived longer `more`
    than the one before it.
    """
    assignment = list(islice(cycle(permutations(BROKERS)), partitions))
    _create(cluster, assignment, {"min.insync.replicas": str(min_isr)})
    end = _write(cluster, range(partitions), range(first))
    for victim, left in ((4, {1, 2, 3}), (3, {1, 2}), (2, {1})):
        _lose(cluster, victim)
        _agree(cluster, left)
        numbers = range(end, end + more)
        end = _write(cluster, range(partitions), numbers, isr_suffices=len(left) >= min_isr)
    _lose(cluster, 1)


def stale_tail(cluster: KafkaCluster) -> None:
    """The longest log is the wrong one: replicas 1, 2, 4 and an unclean election between.

    Broker 1: 1200 records, all of epoch 0. Broker 4: 1100, the last hundred of epoch 2. Values
    say who led when they were written, as the same offset holds two records.
    """
    _create(cluster, [(1, 2, 4)], {"min.insync.replicas": "1"})
    _write(cluster, [0], range(1000), value=_led_by(1))
    _lose(cluster, 2, 4)
    _agree(cluster, {1})
    _write(cluster, [0], range(1000, 1200), value=_led_by(1))
    _lose(cluster, 1)
    cluster.start_node(2)
    elect_unclean(cluster)
    cluster.start_node(4)
    _agree(cluster, {2, 4})
    _write(cluster, [0], range(1000, 1100), value=_led_by(2))
    _lose(cluster, 4)
    _agree(cluster, {2})
    _write(cluster, [0], range(1100, 1150), value=_led_by(2))
    # Broker 3 holds nothing: it was there to be asked while the others came and went.
    _lose(cluster, 2, 3)


def _led_by(leader: int) -> Value:
    return lambda number: f"{number} led by {leader}".encode()


def elect_unclean(cluster: KafkaCluster) -> str:
    """Today's only remedy: every offline partition, led by whoever lives and comes first."""
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    which = ("--election-type", "unclean", "--all-topic-partitions")
    return cluster.script("kafka-leader-election", "--bootstrap-server", servers, *which).stdout


def _create(
    cluster: KafkaCluster, assignment: Sequence[Sequence[int]], config: Mapping[str, str]
) -> None:
    create_topic(cluster.connection(), TOPIC, assignment, config)
    _agree(cluster, {broker for replicas in assignment for broker in replicas})


def _write(
    cluster: KafkaCluster,
    partitions: Iterable[int],
    numbers: range,
    *,
    value: Value = numbered,
    isr_suffices: bool = True,
) -> int:
    """Every in-sync replica holds the records when this returns where they end.

    With fewer in sync than min.insync.replicas the leader still takes what asks for one
    acknowledgement, and the high watermark stays where it is.
    """
    wanted = dict.fromkeys(partitions, numbers)
    connection = cluster.connection()
    produce_many(connection, TOPIC, wanted, acks="1", value=value, timeout=TIMEOUT)
    if isr_suffices:
        wait_until_replicated(connection, TOPIC, dict.fromkeys(wanted, numbers.stop), TIMEOUT)
    return numbers.stop


def _lose(cluster: KafkaCluster, *brokers: int) -> None:
    for broker in brokers:
        cluster.kill(broker)
    cluster.wait_until_fenced(brokers, TIMEOUT)


def _agree(cluster: KafkaCluster, isr: set[int]) -> None:
    """Every live broker knows a leader for each partition, and the same in-sync replicas."""
    cluster.wait_until_partitions(TOPIC, lambda p: not p.offline and set(p.isr) == isr, TIMEOUT)
