"""An emulated cluster with the surface of tests.real.cluster.KafkaCluster, as far as recipes,
witnesses and the tests of trouble use it: what was written for real clusters runs on it unchanged.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, cast

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.broker.broker import Broker, Process
from tests.mission import scripts
from tests.real.cluster import KafkaCluster
from tests.real.metadata import ClusterView, PartitionView
from tests.real.metadata_request import answered_view
from tests.real.waiting import wait_until

TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Spec:
    """The controller is no node here."""

    broker_ids: tuple[int, ...]
    controller_ids: tuple[int, ...] = ()


class EmulatedCluster:
    """Started with the brokers that its options name; `close` ends it.

    Its controller elects nobody by itself, as in tests.real.properties: a cluster that tests share
    for five minutes gave a partition to its preferred leader while a test looked who leads.
    """

    def __init__(self, options: Options) -> None:
        self._stack = ExitStack()
        settings = replace(options.settings, election_interval=math.inf)
        self.running = self._stack.enter_context(Cluster(replace(options, settings=settings)))
        self.spec = Spec(tuple(options.broker_ids))
        addresses = self.running.bootstrap_servers.split(",")
        self._addresses = dict(zip(self.spec.broker_ids, addresses, strict=True))

    @classmethod
    def as_real(cls, options: Options) -> KafkaCluster:
        """Return it as who wants a KafkaCluster takes it. That class has no protocol: the recipes
        are part of what saved outages are known by, and a change of them makes all of those
        anew."""
        return cast(KafkaCluster, cls(options))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stack.close()

    @property
    def node_ids(self) -> tuple[int, ...]:
        return self.spec.broker_ids

    @property
    def live_brokers(self) -> tuple[int, ...]:
        return tuple(id_ for id_ in self.node_ids if self._process(id_) is Process.RUNNING)

    @property
    def bootstrap_servers(self) -> str:
        return self.running.bootstrap_servers

    def address(self, node: int) -> str:
        return self._addresses[node]

    def connection(self, brokers: Iterable[int] | None = None) -> Mapping[str, str]:
        chosen = self.live_brokers if brokers is None else brokers
        return {"bootstrap.servers": ",".join(map(self.address, chosen))}

    def log_dir(self, node: int) -> Path:
        return self.running.log_directory(node)

    def log_dirs(self, node: int) -> tuple[Path, ...]:
        return tuple(self.running.log_directories(node))

    def lose_log_dir(self, node: int, index: int) -> None:
        self.running.lose_disk(node, index)

    def start(self, nodes: Iterable[int] | None = None) -> None:
        for node in self.node_ids if nodes is None else nodes:
            if not self.alive(node):
                self.running.start(node)

    def start_node(self, node: int, *, wait: bool = True) -> None:
        """Start one. Without waiting it is left as a real one is in its first second: registered,
        and fenced until it has read its log directory."""
        if not wait:
            self.running.look(lambda emulation: _ask_for_fencing(emulation.brokers[node]))
        self.start([node])

    def alive(self, node: int) -> bool:
        return self._process(node) is not Process.DEAD

    def kill(self, node: int) -> None:
        self.running.kill(node)

    def kill_all(self) -> None:
        """Kill all, after a checkpoint, so that the files say what was shown just before."""
        self.running.look(lambda emulation: emulation.checkpoint())
        for node in filter(self.alive, self.node_ids):
            self.kill(node)

    def stop(self, node: int) -> None:
        self.running.stop(node)

    def pause(self, node: int) -> None:
        self.running.pause(node)

    def resume(self, node: int) -> None:
        if self._process(node) is Process.PAUSED:
            self.running.resume(node)

    def lose_quorum(self, *, active_survives: bool = False) -> None:
        """Have the one controller hang: there is none to survive."""
        assert not active_survives
        self.running.pause_controller()

    def restore_quorum(self) -> None:
        self.running.resume_controller()

    def script(
        self, name: str, *arguments: str, timeout: float = TIMEOUT, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run one of Kafka's scripts in Python, for they need Java: see scripts.py."""
        return scripts.run(name, arguments)

    def view(self, broker: int) -> ClusterView:
        return answered_view(self.address(broker))

    def wait_until_unfenced(self, brokers: Iterable[int], timeout: float = TIMEOUT) -> None:
        wanted = frozenset(brokers)
        self._wait_for_views(lambda view: wanted <= view.brokers, timeout, f"{wanted} unfenced")

    def wait_until_fenced(self, brokers: Iterable[int], timeout: float = TIMEOUT) -> None:
        """End their sessions now, instead of waiting for that."""
        for broker in brokers:
            self.running.fence(broker)

    def wait_until_partitions(
        self, topic: str, condition: Callable[[PartitionView], bool], timeout: float = TIMEOUT
    ) -> None:
        def holds(view: ClusterView) -> bool:
            partitions = view.topics.get(topic, {})
            return bool(partitions) and all(map(condition, partitions.values()))

        self._wait_for_views(holds, timeout, f"the partitions of {topic} as wanted")

    def _wait_for_views(
        self, condition: Callable[[ClusterView], bool], timeout: float, wanted: str
    ) -> None:
        """Wait for the views. One broker speaks for all: metadata reaches them at once."""
        wait_until(
            lambda: not self.live_brokers or condition(self.view(self.live_brokers[0])),
            timeout,
            lambda: f"{wanted}; seen: {self.view(self.live_brokers[0])}",
        )

    def _process(self, node: int) -> Process:
        return self.running.look(lambda emulation: emulation.brokers[node].process)


def _ask_for_fencing(broker: Broker) -> None:
    broker.want_fence = True
