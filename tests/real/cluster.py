"""A real Kafka cluster: one JVM per node on loopback ports, in one directory.

Start it from the main thread: the JVMs die with the thread that started them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Self

from tests.real import properties as props
from tests.real import security
from tests.real.controller_log import fenced_brokers, last_led
from tests.real.formatting import format_nodes
from tests.real.jvm import tail
from tests.real.metadata import ClusterView, PartitionView, broker_view
from tests.real.metadata_request import answered_view
from tests.real.ports import PortLease, answers
from tests.real.processes import NodeProcesses, Nodes, output
from tests.real.properties import ClusterPorts, ClusterSpec
from tests.real.releases import ONE
from tests.real.tools import run_tool
from tests.real.waiting import wait_until

# A broker with thousands of replicas to truncate took 50 s; one that ends is noticed at once.
START_TIMEOUT = 180.0
FENCE_TIMEOUT = 30.0


Run = Callable[[ClusterSpec, ClusterPorts, Path], Nodes]


class KafkaCluster:
    """Nodes on disk, and the processes that run some of them.

    Brokers are 1, 2, 3 ...; controllers 101, 102 ...
    """

    def __init__(self, directory: Path, run: Run = NodeProcesses) -> None:
        """Take over a formatted cluster, wherever it came from, on ports of our own."""
        self.directory = directory
        self.spec = ClusterSpec.load(directory)
        self._lease = PortLease.of(self.spec.ports_needed)
        self.ports = ClusterPorts.assign(self.spec, self._lease.ports)
        for node in self.node_ids:
            props.write_server_properties(self.spec, self.ports, directory, node)
        self._processes = run(self.spec, self.ports, directory)

    @classmethod
    def create(
        cls,
        directory: Path,
        version: str = ONE,
        brokers: int = 4,
        controllers: int = 1,
        properties: Mapping[str, str] = {},
        *,
        secured: bool = False,
        log_dirs_per_broker: int = 1,
        heap_mb: int = 384,
        dynamic_quorum: bool = False,
        combined: bool = False,
    ) -> KafkaCluster:
        """Format a new cluster; nothing runs until `start`, and `with` ends what ran."""
        spec = ClusterSpec(
            version=version,
            cluster_id=props.new_uuid(),
            brokers=brokers,
            controllers=controllers,
            log_dirs_per_broker=log_dirs_per_broker,
            secured=secured,
            heap_mb=heap_mb,
            properties=dict(properties),
            dynamic_quorum=dynamic_quorum,
            combined=combined,
        )
        directory.mkdir(parents=True, exist_ok=True)
        spec.save(directory)
        if secured:
            security.write_certificates(directory)
        cluster = cls(directory)
        try:
            format_nodes(spec, cluster.ports, directory)
        except BaseException:
            cluster.close()
            raise
        return cluster

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def node_ids(self) -> tuple[int, ...]:
        return self.spec.node_ids

    @property
    def live_brokers(self) -> tuple[int, ...]:
        """Return the brokers whose process runs, paused ones left out."""
        return tuple(filter(self._processes.responsive, self.spec.broker_ids))

    @property
    def bootstrap_servers(self) -> str:
        """Return every broker, dead or alive: what an operator would type."""
        return ",".join(map(self.address, self.spec.broker_ids))

    def address(self, node: int) -> str:
        return f"{self.spec.host}:{self.ports.listener[node]}"

    def controller_address(self, node: int) -> str:
        """Return where its peers and the brokers find it."""
        return f"{self.spec.host}:{self.ports.controller[node]}"

    def mtls_address(self, node: int) -> str:
        return f"{self.spec.host}:{self.ports.mtls[node]}"

    def log_dir(self, node: int) -> Path:
        return self.log_dirs(node)[0]

    def log_dirs(self, node: int) -> tuple[Path, ...]:
        return props.log_dirs(self.spec, self.directory, node)

    def lose_log_dir(self, node: int, index: int) -> None:
        """Lose the disk: what is there can't be written to, by root neither."""
        directory = self.log_dirs(node)[index]
        directory.rename(directory.with_name("gone"))
        directory.write_text("")

    def output(self, node: int) -> Path:
        """Return what the node printed, over all its starts."""
        return output(self.directory, node)

    def connection(
        self, user: str = security.SUPER_USER, brokers: Iterable[int] | None = None
    ) -> dict[str, str]:
        """Return settings for confluent-kafka; it begins at the live brokers unless told others."""
        chosen = self.live_brokers if brokers is None else brokers
        servers = {"bootstrap.servers": ",".join(map(self.address, chosen))}
        if not self.spec.secured:
            return servers
        return servers | security.librdkafka_settings(self.directory, user)

    def client_properties(self, user: str, login: security.Login = "SCRAM-SHA-512") -> Path:
        """Return a file for `--command-config`; "MTLS" goes with `mtls_address`."""
        settings = security.client_properties(self.directory, user, login)
        path = self.directory / f"client-{user}-{login.lower()}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return path

    def start(self, nodes: Iterable[int] | None = None) -> None:
        """Start nodes (default: all); brokers among them are unfenced on return."""
        wanted = self.node_ids if nodes is None else nodes
        chosen = [node for node in wanted if not self.alive(node)]
        rivals = self._start_rivals(chosen)
        for node in chosen:
            if node not in rivals:
                self._processes.spawn(node)
        for node in chosen:
            self._wait_until_it_answers(node)
        if brokers := set(chosen) & set(self.spec.broker_ids):
            self.wait_until_unfenced(brokers)

    def _start_rivals(self, chosen: Iterable[int]) -> set[int]:
        """Start controllers that may dispute who leads before brokers: a broker that begins to
        register with a leader of a moment may ask this one alone until it gives up, after 60 s."""
        rivals = set(chosen) & set(self.spec.controller_ids) - set(self.spec.broker_ids)
        majority = len(self.spec.controller_ids) // 2 + 1
        if rivals == set(chosen) or len(rivals) < max(2, majority):
            return set()
        led = {node: last_led(self.output(node)) for node in rivals}
        for node in rivals:
            self._processes.spawn(node)
        wait_until(
            lambda: any(not self.alive(n) or last_led(self.output(n)) > led[n] for n in rivals),
            START_TIMEOUT,
            lambda: f"a leader among the controllers {sorted(rivals)}",
        )
        return rivals

    def start_node(self, node: int, *, wait: bool = True) -> None:
        """Start one; without waiting, it may still die or be refused."""
        if wait:
            self.start([node])
        else:
            self._processes.spawn(node)

    def alive(self, node: int) -> bool:
        """Return True while its process runs; a paused one does too."""
        return self._processes.alive(node)

    def kill(self, node: int) -> None:
        """Send SIGKILL: the unclean shutdown."""
        self._processes.kill(node)

    def kill_all(self) -> None:
        """Send SIGKILL to every node at once; the cluster can be started again."""
        self._processes.kill_all()

    def stop(self, node: int) -> None:
        """Send SIGTERM: the controlled shutdown."""
        self._processes.stop(node)

    def pause(self, node: int) -> None:
        """Send SIGSTOP: connections stay open and nobody answers."""
        self._processes.pause(node)

    def resume(self, node: int) -> None:
        self._processes.resume(node)

    def lose_quorum(self, *, active_survives: bool = False) -> None:
        """Send SIGKILL to all but one controller: the active one stays, or a standby."""
        terms = {node: last_led(self.output(node)) for node in self.spec.controller_ids}
        by_age = sorted(terms, key=terms.__getitem__)
        for controller in by_age[:-1] if active_survives else by_age[1:]:
            self.kill(controller)

    def restore_quorum(self) -> None:
        """Start the controllers that are dead."""
        self.start(self.spec.controller_ids)

    def close(self) -> None:
        """Kill what runs and give the ports back; the directory stays."""
        self._processes.kill_all()
        self._lease.release()

    def script(
        self, name: str, *arguments: str, timeout: float = 60.0, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run one of Kafka's scripts, named without its .sh."""
        return run_tool(self.spec.version, name, *arguments, timeout=timeout, check=check)

    def view(self, broker: int) -> ClusterView:
        """Return the cluster as this broker describes it."""
        if self.spec.secured:
            return broker_view(broker, self.connection(brokers=[broker]))
        return answered_view(self.address(broker))

    def wait_until_unfenced(self, brokers: Iterable[int], timeout: float = START_TIMEOUT) -> None:
        """Wait until every live broker lists these."""
        wanted = frozenset(brokers)
        self._wait_for_views(lambda view: wanted <= view.brokers, timeout, f"{wanted} unfenced")

    def wait_until_fenced(self, brokers: Iterable[int], timeout: float = FENCE_TIMEOUT) -> None:
        """Wait until live brokers know that these are gone; else controllers say so."""
        gone = frozenset(brokers)
        if not self.live_brokers:
            wait_until(
                lambda: gone <= self._fenced_by_controllers(),
                timeout,
                lambda: f"{gone} fenced; by controllers: {self._fenced_by_controllers()}",
            )
            return

        def absent(view: ClusterView) -> bool:
            return bool(view.brokers) and not gone & view.brokers

        self._wait_for_views(absent, timeout, f"{gone} fenced")

    def wait_until_partitions(
        self,
        topic: str,
        condition: Callable[[PartitionView], bool],
        timeout: float = FENCE_TIMEOUT,
    ) -> None:
        """Wait until live brokers describe all partitions as `condition` wants."""

        def holds(view: ClusterView) -> bool:
            partitions = view.topics.get(topic, {})
            return bool(partitions) and all(map(condition, partitions.values()))

        self._wait_for_views(holds, timeout, f"the partitions of {topic} as wanted")

    def _wait_until_it_answers(self, node: int) -> None:
        def gone() -> str:
            return f"node {node} of Kafka {self.spec.version}\n{tail(self.output(node))}"

        port = self.ports.listener[node]
        wait_until(lambda: not self.alive(node) or answers(port), START_TIMEOUT, gone)
        if not self.alive(node):
            status = self._processes.exit_status(node)
            raise RuntimeError(f"ended with {status} at its start: {gone()}")

    def _wait_for_views(
        self, condition: Callable[[ClusterView], bool], timeout: float, wanted: str
    ) -> None:
        wait_until(
            lambda: all(condition(self.view(broker)) for broker in self.live_brokers),
            timeout,
            lambda: f"{wanted}; seen: { {b: self.view(b) for b in self.live_brokers} }",
        )

    def _fenced_by_controllers(self) -> set[int]:
        return fenced_brokers(map(self.output, self.spec.controller_ids))
