"""An outage that many tests of trouble share, each with offline partitions of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.controller_requests import alter_replica_order
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    describe_partitions,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import led_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from tests.real import recipes
from tests.real.cluster import KafkaCluster
from tests.real.metadata import PartitionView
from tests.real.outages import Outage
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce_many, wait_until_replicated
from tests.real.releases import ONE
from tests.real.tap import Gate, tapped
from tests.real.tls import TlsEnds
from tests.real.waiting import wait_until

T = TypeVar("T")

# Records in each partition of TOPIC.
ON_3, ON_4 = 30, 20
MOVED_RECORDS = 300
# Broker 3 and 4 hold the same of these, and they are offline too.
SHORT_LIVED, REBORN, LEAVING = "short-lived", "reborn", "leaving"
# Lives on broker 3 alone, and is online while that lives.
MOVING = "moving"
_EDITION = 2
TIMEOUT = 20.0
_MOST_TAKEN = 12
# A controller that is there answers within milliseconds.
QUICKLY = 2.0


def _recipe(cluster: KafkaCluster) -> None:
    records = {SHORT_LIVED: 10, REBORN: 10, LEAVING: 10, MOVING: MOVED_RECORDS}
    for topic, count in records.items():
        assignment = [[3]] if topic == MOVING else [[1, 2, 4, 3]]
        create_topic(cluster.connection(), topic, assignment)
        produce_many(cluster.connection(), topic, {0: range(count)})
        wait_until_replicated(cluster.connection(), topic, {0: count})
    recipes.last_replica_standing(cluster, partitions=72, first=ON_4, more=ON_3 - ON_4)


def trouble(version: str = ONE) -> Outage:
    """`last_replica_standing` with 72 partitions of few records, and topics to lose and to move."""
    parameters = (("edition", _EDITION),)
    return Outage("trouble", version, (3, 4), _recipe, parameters)


def three_controllers() -> Outage:
    """`last_replica_standing` with few records, and a quorum that can be lost."""
    return _few("three-controllers", controllers=3)


def secured() -> Outage:
    """`last_replica_standing` with few records, behind SASL_SSL, TLS and an authoriser."""
    return _few("secured", secured=True)


def _few(name: str, controllers: int = 1, secured: bool = False) -> Outage:
    return Outage(
        name,
        ONE,
        (3, 4),
        lambda cluster: recipes.last_replica_standing(
            cluster, partitions=24, first=ON_4, more=ON_3 - ON_4
        ),
        parameters=(("edition", _EDITION),),
        controllers=controllers,
        secured=secured,
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    """The running outage. Leave brokers 3 and 4 alive, and what was recovered as it is."""

    cluster: KafkaCluster

    def tapped(
        self, first: int, *gates: Gate, tls: TlsEnds | None = None
    ) -> AbstractContextManager[str]:
        """See tests.real.tap: a tap at each live broker, and the address of that at `first`."""
        others = [broker for broker in self.cluster.live_brokers if broker != first]
        brokers = [self.cluster.address(broker) for broker in (first, *others)]
        return tapped(brokers, *gates, tls=tls)

    def heal(self) -> None:
        """Whatever an earlier test left: the controllers and 3 and 4 live."""
        for node in filter(self.cluster.alive, self.cluster.node_ids):
            self.cluster.resume(node)
        self.cluster.restore_quorum()
        self.cluster.start((3, 4))
        self.cluster.wait_until_unfenced({3, 4})

    def partitions(self, topic: str = TOPIC) -> Mapping[int, PartitionView]:
        return self.cluster.view(self.cluster.live_brokers[-1]).topics[topic]

    def take(self, count: int) -> list[int]:
        """Partitions that nobody recovered yet, led by 4 if elected blindly."""
        wanted = self._left()
        assert len(wanted) >= count, f"only {wanted} are left"
        return wanted[:count]

    @property
    def used_up(self) -> bool:
        """A test might want more than are left."""
        return len(self._left()) < _MOST_TAKEN

    def _left(self) -> list[int]:
        return [
            number
            for number, found in self.partitions().items()
            if found.offline and found.replicas.index(4) < found.replicas.index(3)
        ]

    def orders(self, partitions: Sequence[int], topic: str = TOPIC) -> dict[int, tuple[int, ...]]:
        seen = self.partitions(topic)
        return {number: seen[number].replicas for number in partitions}

    def wait_for_orders(self, wanted: Mapping[int, tuple[int, ...]]) -> None:
        """Every live broker shows them; one may be seconds behind the one that the tool asked."""

        def there() -> bool:
            return all(seen[n].replicas == order for seen in views() for n, order in wanted.items())

        views = self._views
        wait_until(there, TIMEOUT, lambda: f"the orders {wanted}; seen: {views()}")

    def wait_for_leader(self, partitions: Iterable[int], leader: int) -> None:
        """As every live broker sees it."""

        def there() -> bool:
            return all(seen[n].leader == leader for seen in views() for n in partitions)

        views = self._views
        wait_until(there, TIMEOUT, lambda: f"{leader} leads {partitions}; seen: {views()}")

    def _views(self) -> list[Mapping[int, PartitionView]]:
        brokers = self.cluster.live_brokers
        return [self.cluster.view(broker).topics.get(TOPIC, {}) for broker in brokers]

    def leaders(self, partitions: Sequence[int], topic: str = TOPIC) -> set[int]:
        seen = self.partitions(topic)
        return {seen[number].leader for number in partitions}


def reassign(cluster: KafkaCluster, topic: str, replicas: Sequence[int]) -> None:
    """Partition 0 to other replicas, dead ones too, which Kafka's own script refuses."""
    wanted = TopicPartition(topic, 0)
    answer = _ask(cluster, lambda c, d: alter_replica_order(c, {wanted: replicas}, d))[wanted]
    assert answer.error == 0, answer


def state_of(cluster: KafkaCluster, topic: str, partition: int) -> PartitionState:
    wanted = TopicPartition(topic, partition)
    return states_of(cluster, [wanted])[wanted]


def states_of(
    cluster: KafkaCluster, wanted: Sequence[TopicPartition]
) -> Mapping[TopicPartition, PartitionState]:
    """With what an ordinary client does not show: the ELR, and replicas whose disk failed."""
    return _ask(cluster, lambda c, d: describe_partitions(c, wanted, d)).states


def quorum_answers(cluster: KafkaCluster) -> bool:
    """Through a broker."""
    try:
        _ask(cluster, led_quorum, QUICKLY)
    except (ConnectionFailed, RequestFailed):
        return False
    return True


def _ask(
    cluster: KafkaCluster,
    request: Callable[[Connection, Deadline], Awaitable[T]],
    timeout: float = TIMEOUT,
) -> T:
    async def ask() -> T:
        host, _, port = cluster.address(cluster.live_brokers[-1]).rpartition(":")
        deadline = Deadline.after(timeout)
        async with await Connection.open(host, int(port), ClientConfig(), deadline) as connection:
            return await request(connection, deadline)

    return asyncio.run(ask())
