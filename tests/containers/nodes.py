"""The nodes of a cluster as containers: one each, on a network of their own.

What a node has is in the directory that tests.real gives it, mounted where it is on the host. So a
container is thrown away when it is killed, and the next one goes on.
"""

from __future__ import annotations

import ipaddress
import os
import shlex
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import docker
from docker.models.containers import Container
from docker.types import EndpointConfig, IPAMConfig, IPAMPool
from testcontainers.core.container import DockerContainer
from testcontainers.core.labels import create_labels

from tests.containers.listeners import host_name, overrides
from tests.real import security
from tests.real.jvm import JVM_OPTIONS, NODE_LOGGING
from tests.real.ports import LOOPBACK
from tests.real.processes import output
from tests.real.properties import ClusterPorts, ClusterSpec, log_dirs, node_directory

STOP_TIMEOUT = 60
# The published image has them there too.
CLASS_PATH = "/opt/kafka/libs/*"
# Published images log by log4j2 (4.0 and newer) or reload4j, and next to nothing unless told.
LOG4J = """\
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
PUBLISH_ON = "com.docker.network.bridge.host_binding_ipv4"


@dataclass(frozen=True, slots=True)
class OwnNetwork:
    name: str
    subnet: str

    def addresses(self, nodes: Iterable[int]) -> dict[str, str]:
        """Return the addresses by host name. The first address is the host's.

        They are known ahead, and whether a node lives or not: a name server answers for the living
        only, and keeps whoever asks for the dead waiting.
        """
        free = ipaddress.ip_network(self.subnet).hosts()
        next(free)
        return {host_name(node): str(address) for node, address in zip(nodes, free, strict=False)}


@contextmanager
def own_network() -> Iterator[OwnNetwork]:
    """Yield a network whose ports are published on the loopback, and whose addresses we assign.

    The engine chooses the subnet: it knows which are free.
    """
    client = docker.from_env()
    name = f"kafka-unclean-recovery-{uuid.uuid4()}"
    labels = create_labels("", {})
    try:
        chosen = client.networks.create(name, labels=labels)
        chosen.reload()
        subnet: str = chosen.attrs["IPAM"]["Config"][0]["Subnet"]
        chosen.remove()
        # Guests get theirs of the upper half: that of a node is free while the node is dead.
        _, upper = ipaddress.ip_network(subnet).subnets()
        addresses = IPAMConfig(pool_configs=[IPAMPool(subnet=subnet, iprange=str(upper))])
        options = {PUBLISH_ON: LOOPBACK}
        ours = client.networks.create(name, options=options, ipam=addresses, labels=labels)
        try:
            yield OwnNetwork(name, subnet)
        finally:
            ours.remove()
    finally:
        client.close()


@dataclass(slots=True)
class NodeContainers:
    """By node id."""

    spec: ClusterSpec
    ports: ClusterPorts
    directory: Path
    image: str
    network: str
    addresses: Mapping[str, str]
    _running: dict[int, DockerContainer] = field(default_factory=dict)

    @classmethod
    def on(
        cls,
        network: OwnNetwork,
        image: str,
        spec: ClusterSpec,
        ports: ClusterPorts,
        directory: Path,
    ) -> NodeContainers:
        """Return the nodes, each with its network in its server.properties."""
        nodes = (*spec.controller_ids, *spec.broker_ids)
        (directory / "log4j.properties").write_text(LOG4J)
        for node in nodes:
            more = overrides(spec, ports, directory, node)
            with (node_directory(directory, node) / "server.properties").open("a") as properties:
                properties.writelines(f"{key}={value}\n" for key, value in more.items())
        return cls(spec, ports, directory, image, network.name, network.addresses(nodes))

    def spawn(self, node: int) -> None:
        if self.alive(node):
            raise ValueError(f"node {node} runs already")
        if node in self._running:
            self.kill(node)  # It ended by itself.
        here = str(self.directory)
        container = DockerContainer(self.image, volumes=[(here, here, "rw")]).with_kwargs(
            entrypoint=["sh", "-c"],
            hostname=host_name(node),
            user=f"{os.getuid()}:{os.getgid()}",
            extra_hosts=dict(self.addresses),
            network=self.network,
            networking_config={self.network: _endpoint(self.addresses[host_name(node)])},
        )
        container.with_command(self._command(node))
        for port in self._published(node):
            container.with_bind_ports(port, port)
        try:
            container.start()
        except BaseException:
            container.stop()
            raise
        self._running[node] = container

    def alive(self, node: int) -> bool:
        """Return True until it has ended; a paused one is alive."""
        return self._status(node) in ("created", "running", "paused")

    def responsive(self, node: int) -> bool:
        return self._status(node) == "running"

    def exit_status(self, node: int) -> int | None:
        if self.alive(node):
            return None
        status: int = self._container(node).attrs["State"]["ExitCode"]
        return status

    def kill(self, node: int) -> None:
        self._signal(node, "SIGKILL")
        self._running.pop(node).stop()

    def kill_all(self) -> None:
        """Kill one right after the other, and only then throw them away."""
        for node in self._running:
            self._signal(node, "SIGKILL")
        for node in tuple(self._running):
            self._running.pop(node).stop()

    def stop(self, node: int) -> None:
        self._container(node).stop(timeout=STOP_TIMEOUT)
        self._running.pop(node).stop()

    def pause(self, node: int) -> None:
        self._container(node).pause()

    def resume(self, node: int) -> None:
        if self._status(node) == "paused":
            self._container(node).unpause()

    def _container(self, node: int) -> Container:
        return self._running[node].get_wrapped_container()

    def _status(self, node: int) -> str | None:
        if node not in self._running:
            return None
        container = self._container(node)
        container.reload()
        status: str = container.status
        return status

    def _signal(self, node: int, name: str) -> None:
        if self.alive(node):
            self._container(node).kill(name)

    def _published(self, node: int) -> tuple[int, ...]:
        mtls = self.ports.mtls.get(node)
        return (self.ports.listener[node], *(() if mtls is None else (mtls,)))

    def _command(self, node: int) -> list[str]:
        """Return the command for a shell, which formats what is new, and then becomes the node."""
        log4j = f"-Dlog4j.configuration=file:{self.directory}/log4j.properties"
        logging = ("-Dlog4j2.level=INFO", log4j, *NODE_LOGGING)
        java = ["java", f"-Xmx{self.spec.heap_mb}m", *JVM_OPTIONS, *logging, "-cp", CLASS_PATH]
        properties = str(node_directory(self.directory, node) / "server.properties")
        users = security.format_arguments() if self.spec.secured else ()
        tool = ("kafka.tools.StorageTool", "format", "-t", self.spec.cluster_id, "-c", properties)
        formatted = shlex.quote(str(log_dirs(self.spec, self.directory, node)[0]))
        format_ = shlex.join((*java, *tool, *users))
        more = security.node_options(self.directory) if self.spec.secured else ()
        run = shlex.join((*java, *more, "kafka.Kafka", properties))
        log = shlex.quote(str(output(self.directory, node)))
        return [f"exec >>{log} 2>&1; [ -e {formatted} ] || {format_} && exec {run}"]


def _endpoint(address: str) -> EndpointConfig:
    return EndpointConfig("1.41", ipv4_address=address)
