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
    list_reassignments,
)
from kafka_unclean_recovery.cluster.requests.quorum_state import led_quorum
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from tests.real import trouble_recipe
from tests.real.cluster import KafkaCluster
from tests.real.metadata import PartitionView
from tests.real.outages import Outage
from tests.real.recipes import TOPIC
from tests.real.releases import ONE
from tests.real.sharing import SharedClusters
from tests.real.tap import Gate, tapped
from tests.real.tls import TlsEnds
from tests.real.waiting import wait_until

T = TypeVar("T")

_SOURCES = ("trouble_recipe.py",)
TIMEOUT = 20.0
_MOST_TAKEN = 6
# A controller that is there answers within milliseconds.
QUICKLY = 2.0
# A broker answers within this whatever happens, as cluster/controller.py knows.
_ANSWERED_SECONDS = 65.0


def trouble(version: str = ONE) -> Outage:
    """Return `last_replica_standing` with 72 partitions, and topics to lose and to move."""
    return Outage("trouble", version, (3, 4), trouble_recipe.trouble, sources=_SOURCES)


def three_controllers(version: str = ONE) -> Outage:
    """Return `last_replica_standing` with few records, and a quorum that can be lost."""
    return _few("three-controllers", version, controllers=3)


def secured(version: str = ONE) -> Outage:
    """Return `last_replica_standing` with few records, behind SASL_SSL, TLS and an authoriser."""
    return _few("secured", version, secured=True)


def _few(name: str, version: str, controllers: int = 1, secured: bool = False) -> Outage:
    return Outage(
        name,
        version,
        (3, 4),
        trouble_recipe.few,
        controllers=controllers,
        secured=secured,
        sources=_SOURCES,
    )


@dataclass(frozen=True, slots=True)
class Trouble:
    """The running outage. Leave brokers 3 and 4 alive, and what was recovered as it is."""

    cluster: KafkaCluster

    def tapped(
        self, first: int, *gates: Gate, tls: TlsEnds | None = None
    ) -> AbstractContextManager[str]:
        """Return a tap at each live broker, and the address of that at `first`."""
        others = [broker for broker in self.cluster.live_brokers if broker != first]
        brokers = [self.cluster.address(broker) for broker in (first, *others)]
        return tapped(brokers, *gates, tls=tls)

    def heal(self) -> None:
        """Heal whatever an earlier test left: the controllers and 3 and 4 live."""
        for node in filter(self.cluster.alive, self.cluster.node_ids):
            self.cluster.resume(node)
        self.cluster.restore_quorum()
        self.cluster.start((3, 4))
        self.cluster.wait_until_unfenced({3, 4})
        if len(self.cluster.spec.controller_ids) > 1 and not self.cluster.spec.secured:
            for broker in self.cluster.live_brokers:
                _forwards_to_who_leads(self.cluster, broker)

    def partitions(self, topic: str = TOPIC) -> Mapping[int, PartitionView]:
        return self.cluster.view(self.cluster.live_brokers[-1]).topics[topic]

    def take(self, count: int) -> list[int]:
        """Return partitions that nobody recovered yet, led by 4 if elected blindly."""
        wanted = self._left()
        assert len(wanted) >= count, f"only {wanted} are left"
        return wanted[:count]

    @property
    def used_up(self) -> bool:
        """Return True when a test might want more than are left."""
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
        """Wait until every live broker shows them; one may be behind another."""

        def there() -> bool:
            return all(seen[n].replicas == order for seen in views() for n, order in wanted.items())

        views = self._views
        wait_until(there, TIMEOUT, lambda: f"the orders {wanted}; seen: {views()}")

    def wait_for_first(self, partitions: Iterable[int], brokers: tuple[int, ...]) -> None:
        """Wait until every live broker shows these first in the orders; one may be behind."""

        def there() -> bool:
            first = len(brokers)
            return all(seen[n].replicas[:first] == brokers for seen in views() for n in partitions)

        views = self._views
        wait_until(there, TIMEOUT, lambda: f"{brokers} first; seen: {views()}")

    def wait_for_leader(self, partitions: Iterable[int], leader: int) -> None:
        """Wait for the leader as every live broker sees it."""

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


def healed(shared_clusters: SharedClusters, outage: Outage) -> Trouble:
    """Return an outage in which nothing comes or goes any more: which tests shared it before, and
    whether the machine stood still for longer than a session, is not known."""
    found = Trouble(shared_clusters.outage(outage))
    found.heal()
    return found


def with_partitions_left(shared_clusters: SharedClusters, outage: Outage) -> Trouble:
    """Return a healed outage with partitions left."""
    found = healed(shared_clusters, outage)
    return Trouble(shared_clusters.renew(outage)) if found.used_up else found


def reassign(cluster: KafkaCluster, topic: str, replicas: Sequence[int]) -> None:
    """Reassign partition 0 to other replicas, dead ones too, which Kafka's own script refuses."""
    wanted = TopicPartition(topic, 0)
    answer = _ask(cluster, lambda c, d: alter_replica_order(c, {wanted: replicas}, d, fewer=True))[
        wanted
    ]
    assert answer.error == 0, answer


def state_of(cluster: KafkaCluster, topic: str, partition: int) -> PartitionState:
    wanted = TopicPartition(topic, partition)
    return states_of(cluster, [wanted])[wanted]


def states_of(
    cluster: KafkaCluster, wanted: Sequence[TopicPartition]
) -> Mapping[TopicPartition, PartitionState]:
    """Return the states with what ordinary clients don't show: ELR and failed directories."""
    return _ask(cluster, lambda c, d: describe_partitions(c, wanted, d)).states


def quorum_answers(cluster: KafkaCluster) -> bool:
    """Return whether the quorum answers through a broker."""
    try:
        _ask(cluster, led_quorum, QUICKLY)
    except (ConnectionFailed, RequestFailed):
        return False
    return True


def _forwards_to_who_leads(cluster: KafkaCluster, broker: int) -> None:
    """Have a broker find the active controller: it learns that there is another one when it next
    hands something on, and what it was given 70 ms after that came 30 s late once (4.4.0)."""
    _ask(cluster, list_reassignments, _ANSWERED_SECONDS, broker)


def _ask(
    cluster: KafkaCluster,
    request: Callable[[Connection, Deadline], Awaitable[T]],
    timeout: float = TIMEOUT,
    broker: int | None = None,
) -> T:
    asked = cluster.live_brokers[-1] if broker is None else broker

    async def ask() -> T:
        host, _, port = cluster.address(asked).rpartition(":")
        deadline = Deadline.after(timeout)
        async with await Connection.open(host, int(port), ClientConfig(), deadline) as connection:
            return await request(connection, deadline)

    return asyncio.run(ask())
