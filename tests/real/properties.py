"""What a cluster is made of, and the server.properties that says so to each node."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.real import security
from tests.real.ports import LOOPBACK

FIRST_CONTROLLER = 101

# Nothing happens by itself, dead brokers are noticed quickly, and threads and buffers are few.
DEFAULTS: Mapping[str, str] = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "background.threads": "2",
    # A broker that hangs for 3 s on a loaded machine is fenced.
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "group.initial.rebalance.delay.ms": "0",
    # Its default takes a third of the heap that these brokers have.
    "log.cleaner.dedupe.buffer.size": "2097152",
    "log.retention.ms": "-1",
    "num.io.threads": "4",
    "num.network.threads": "2",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "unclean.leader.election.enable": "false",
}


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """A cluster, apart from where it lives and on which ports."""

    version: str
    cluster_id: str
    brokers: int = 4
    controllers: int = 1
    log_dirs_per_broker: int = 1
    secured: bool = False
    heap_mb: int = 384
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def broker_ids(self) -> tuple[int, ...]:
        return tuple(range(1, self.brokers + 1))

    @property
    def controller_ids(self) -> tuple[int, ...]:
        return tuple(range(FIRST_CONTROLLER, FIRST_CONTROLLER + self.controllers))

    @property
    def host(self) -> str:
        """Certificates are checked against a name; without them nothing needs resolving."""
        return "localhost" if self.secured else LOOPBACK

    @property
    def ports_needed(self) -> int:
        return self.controllers + self.brokers * (2 if self.secured else 1)

    def save(self, directory: Path) -> None:
        (directory / "cluster.json").write_text(json.dumps(asdict(self), indent=2))

    @classmethod
    def load(cls, directory: Path) -> ClusterSpec:
        return cls(**json.loads((directory / "cluster.json").read_text()))


@dataclass(frozen=True, slots=True)
class ClusterPorts:
    """Port by node id; `mtls` is empty unless the cluster is secured."""

    listener: Mapping[int, int]
    mtls: Mapping[int, int]

    @classmethod
    def assign(cls, spec: ClusterSpec, ports: tuple[int, ...]) -> ClusterPorts:
        nodes = (*spec.controller_ids, *spec.broker_ids)
        listener = dict(zip(nodes, ports, strict=False))
        mtls = dict(zip(spec.broker_ids, ports[len(nodes) :], strict=False))
        return cls(listener, mtls)


def new_cluster_id() -> str:
    """A Kafka uuid; argument parsers mistake one that begins with a dash for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def node_directory(directory: Path, node: int) -> Path:
    return directory / f"node-{node}"


def log_dirs(spec: ClusterSpec, directory: Path, node: int) -> tuple[Path, ...]:
    count = spec.log_dirs_per_broker if node in spec.broker_ids else 1
    return tuple(node_directory(directory, node) / f"data-{index}" for index in range(count))


def write_server_properties(
    spec: ClusterSpec, ports: ClusterPorts, directory: Path, node: int
) -> Path:
    """Everything in it follows from the arguments: a moved cluster is written again, not edited."""
    settings = _common(spec, ports) | {
        "node.id": str(node),
        "log.dirs": ",".join(map(str, log_dirs(spec, directory, node))),
    }
    role = _broker if node in spec.broker_ids else _controller
    settings |= role(spec, ports, node)
    if spec.secured:
        settings |= security.server_properties(directory, broker=node in spec.broker_ids)
    settings |= spec.properties
    path = node_directory(directory, node) / "server.properties"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path


def _common(spec: ClusterSpec, ports: ClusterPorts) -> dict[str, str]:
    voters = (f"{node}@{spec.host}:{ports.listener[node]}" for node in spec.controller_ids)
    internal_replicas = str(min(3, spec.brokers))
    protocols = ("CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT")
    return dict(DEFAULTS) | {
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(voters),
        "listener.security.protocol.map": ",".join(
            security.LISTENER_PROTOCOLS if spec.secured else protocols
        ),
        "default.replication.factor": internal_replicas,
        "offsets.topic.replication.factor": internal_replicas,
        "transaction.state.log.replication.factor": internal_replicas,
    }


def _controller(spec: ClusterSpec, ports: ClusterPorts, node: int) -> dict[str, str]:
    return {
        "process.roles": "controller",
        "listeners": f"CONTROLLER://{spec.host}:{ports.listener[node]}",
    }


def _broker(spec: ClusterSpec, ports: ClusterPorts, node: int) -> dict[str, str]:
    name = "SASL_SSL" if spec.secured else "PLAINTEXT"
    listeners = [f"{name}://{spec.host}:{ports.listener[node]}"]
    if spec.secured:
        listeners.append(f"MTLS://{spec.host}:{ports.mtls[node]}")
    return {
        "process.roles": "broker",
        "listeners": ",".join(listeners),
        "inter.broker.listener.name": name,
    }
