"""A cluster whose links can be cut: a tap between the tool and each broker, and one between each
broker and each controller. Brokers talk to each other, and the judges to them, past the taps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.chaos.recipe import NEWER, OLDER, SURVIVORS, chaos
from tests.real.archive import unpack
from tests.real.cluster import KafkaCluster
from tests.real.controller_log import last_led
from tests.real.faults import quorum_answers
from tests.real.outages import OFFLINE_TIMEOUT
from tests.real.ports import PortLease
from tests.real.properties import node_directory
from tests.real.tap import Gate, Tap
from tests.real.waiting import wait_until

QUORUM_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class TappedCluster:
    """`clients` by broker; `controls` by broker, one for each controller."""

    cluster: KafkaCluster
    clients: Mapping[int, Tap]
    controls: Mapping[int, tuple[Tap, ...]]
    _lease: PortLease

    def lead_astray(self, broker: int, to: int) -> None:
        """Let the address that clients have of the one lead to the other, for new connections."""
        ports = dict(zip(self.cluster.spec.broker_ids, self._lease.ports, strict=True))
        self.clients[broker].lead_to(f"{self.cluster.spec.host}:{ports[to]}")

    def unlist(self, broker: int) -> None:
        """Start it again without the listener by which the tool comes."""
        self.cluster.stop(broker)
        _listen(self.cluster, broker, {"PLAINTEXT": (self.cluster.address(broker),) * 2})
        self.cluster.start({broker})
        self.cluster.wait_until_unfenced({broker})

    def list_again(self, broker: int) -> None:
        """Start it again with the listener by which the tool comes."""
        ports = dict(zip(self.cluster.spec.broker_ids, self._lease.ports, strict=True))
        self.cluster.stop(broker)
        _listen(self.cluster, broker, _both(self.cluster, broker, ports[broker], self.clients))
        self.cluster.start({broker})
        self.cluster.wait_until_unfenced({broker})

    @classmethod
    def start(cls, directory: Path) -> Self:
        """Return the outage, running. Close it when done."""
        unpack(chaos().saved.archive(), directory)
        cluster = KafkaCluster(directory)
        brokers = cluster.spec.broker_ids
        lease = PortLease.of(len(brokers))
        clients, controls = {}, {}
        for broker, port in zip(brokers, lease.ports, strict=True):
            clients[broker] = Tap(f"{cluster.spec.host}:{port}")
            controls[broker] = tuple(map(Tap, map(cluster.address, cluster.spec.controller_ids)))
            _lead_through(cluster, broker, port, clients[broker], controls[broker])
        tapped = cls(cluster, clients, controls, lease)
        try:
            cluster.start((*cluster.spec.controller_ids, *SURVIVORS))
            for topic in (OLDER, NEWER):
                cluster.wait_until_partitions(topic, lambda p: p.offline, OFFLINE_TIMEOUT)
        except BaseException:
            tapped.close()
            raise
        return tapped

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.cluster.close()
        for tap in self._taps:
            tap.close()
        self._lease.release()

    @property
    def bootstrap_servers(self) -> str:
        """Return addresses through the taps; brokers tell who comes this way no others."""
        return ",".join(tap.address for tap in self.clients.values())

    def watch(self, *gates: Gate) -> None:
        """Hold what any broker is asked."""
        for tap in self.clients.values():
            tap.watch(*gates)

    @property
    def active_controller(self) -> int:
        """Return the live one that became it last."""
        live = filter(self.cluster.alive, self.cluster.spec.controller_ids)
        return max(live, key=lambda node: last_led(self.cluster.output(node)))

    def heal(self) -> None:
        """Let links carry, and what was stopped go on; the quorum is whole afterwards."""
        for tap in self._taps:
            tap.mend()
        for node in filter(self.cluster.alive, self.cluster.node_ids):
            self.cluster.resume(node)
        self.cluster.restore_quorum()
        wait_until(
            lambda: quorum_answers(self.cluster), QUORUM_TIMEOUT, lambda: "the quorum answers"
        )
        self.cluster.wait_until_unfenced(self.cluster.live_brokers)

    @property
    def _taps(self) -> tuple[Tap, ...]:
        return (*self.clients.values(), *(tap for of_it in self.controls.values() for tap in of_it))


def _lead_through(
    cluster: KafkaCluster, broker: int, port: int, client: Tap, controls: tuple[Tap, ...]
) -> None:
    """Give the broker a listener for the tool, and the taps as the controllers' addresses."""
    voters = zip(cluster.spec.controller_ids, controls, strict=True)
    names = ("CONTROLLER", "PLAINTEXT", "TAPPED")
    settings = {
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
        "controller.quorum.voters": ",".join(f"{node}@{tap.address}" for node, tap in voters),
    }
    _set(cluster, broker, settings)
    _listen(cluster, broker, _both(cluster, broker, port, {broker: client}))


Listeners = Mapping[str, tuple[str, str]]
"""By the name of a listener: where the broker listens, and what it tells clients."""


def _both(cluster: KafkaCluster, broker: int, port: int, clients: Mapping[int, Tap]) -> Listeners:
    own = cluster.address(broker)
    return {
        "PLAINTEXT": (own, own),
        "TAPPED": (f"{cluster.spec.host}:{port}", clients[broker].address),
    }


def _listen(cluster: KafkaCluster, broker: int, listeners: Listeners) -> None:
    settings = {
        "listeners": ",".join(f"{name}://{own}" for name, (own, _) in listeners.items()),
        "advertised.listeners": ",".join(f"{n}://{told}" for n, (_, told) in listeners.items()),
    }
    _set(cluster, broker, settings)


def _set(cluster: KafkaCluster, broker: int, settings: Mapping[str, str]) -> None:
    """Set properties of a broker: of one that is given twice the later counts."""
    with (node_directory(cluster.directory, broker) / "server.properties").open("a") as file:
        file.writelines(f"{key}={value}\n" for key, value in settings.items())
