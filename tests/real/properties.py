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
    # The voters are in the metadata log (kraft.version 1), and not in server.properties.
    dynamic_quorum: bool = False
    # Each node is a broker and a controller; `controllers` counts for nothing then.
    combined: bool = False

    @property
    def broker_ids(self) -> tuple[int, ...]:
        return tuple(range(1, self.brokers + 1))

    @property
    def controller_ids(self) -> tuple[int, ...]:
        if self.combined:
            return self.broker_ids
        return tuple(range(FIRST_CONTROLLER, FIRST_CONTROLLER + self.controllers))

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Controllers first, and each node once."""
        return tuple(dict.fromkeys((*self.controller_ids, *self.broker_ids)))

    @property
    def host(self) -> str:
        """Certificates are checked against a name; without them nothing needs resolving."""
        return "localhost" if self.secured else LOOPBACK

    @property
    def ports_needed(self) -> int:
        return len(self.node_ids) + self.brokers * (self.secured + self.combined)

    def save(self, directory: Path) -> None:
        (directory / "cluster.json").write_text(json.dumps(asdict(self), indent=2))

    @classmethod
    def load(cls, directory: Path) -> ClusterSpec:
        return cls(**json.loads((directory / "cluster.json").read_text()))


@dataclass(frozen=True, slots=True)
class ClusterPorts:
    """Port by node id; `mtls` is empty unless the cluster is secured.

    `listener` is where clients of brokers and peers of controllers come to a node; a combined node
    has another port for its peers, in `controller`.
    """

    listener: Mapping[int, int]
    mtls: Mapping[int, int]
    controller: Mapping[int, int]

    @classmethod
    def assign(cls, spec: ClusterSpec, ports: tuple[int, ...]) -> ClusterPorts:
        nodes = spec.node_ids
        listener = dict(zip(nodes, ports, strict=False))
        second = dict(zip(spec.broker_ids, ports[len(nodes) :], strict=False))
        if spec.combined:
            return cls(listener, {}, second)
        return cls(listener, second, {node: listener[node] for node in spec.controller_ids})


def new_uuid() -> str:
    """A Kafka uuid; argument parsers mistake one that begins with a dash for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def node_directory(directory: Path, node: int) -> Path:
    return directory / f"node-{node}"


def server_properties(directory: Path, node: int) -> Path:
    return node_directory(directory, node) / "server.properties"


def read_settings(path: Path) -> dict[str, str]:
    """As `write_settings` wrote them."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def write_settings(path: Path, settings: Mapping[str, str]) -> None:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))


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
    settings |= _role(spec, ports, node)
    if spec.secured:
        settings |= security.server_properties(directory, broker=node in spec.broker_ids)
    settings |= spec.properties
    path = server_properties(directory, node)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_settings(path, settings)
    return path


def _common(spec: ClusterSpec, ports: ClusterPorts) -> dict[str, str]:
    internal_replicas = str(min(3, spec.brokers))
    protocols = ("CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT")
    return dict(DEFAULTS) | {
        "controller.listener.names": "CONTROLLER",
        **_quorum(spec, ports),
        "listener.security.protocol.map": ",".join(
            security.LISTENER_PROTOCOLS if spec.secured else protocols
        ),
        "default.replication.factor": internal_replicas,
        "offsets.topic.replication.factor": internal_replicas,
        "transaction.state.log.replication.factor": internal_replicas,
    }


def _quorum(spec: ClusterSpec, ports: ClusterPorts) -> dict[str, str]:
    """Where the controllers are."""
    addresses = {id_: f"{spec.host}:{ports.controller[id_]}" for id_ in spec.controller_ids}
    if spec.dynamic_quorum:
        return {"controller.quorum.bootstrap.servers": ",".join(addresses.values())}
    voters = (f"{id_}@{address}" for id_, address in addresses.items())
    return {"controller.quorum.voters": ",".join(voters)}


def _role(spec: ClusterSpec, ports: ClusterPorts, node: int) -> dict[str, str]:
    if not spec.combined:
        return (_broker if node in spec.broker_ids else _controller)(spec, ports, node)
    as_broker = _broker(spec, ports, node)
    both = {k: f"{as_broker[k]},{v}" for k, v in _controller(spec, ports, node).items()}
    return as_broker | both


def _controller(spec: ClusterSpec, ports: ClusterPorts, node: int) -> dict[str, str]:
    return {
        "process.roles": "controller",
        "listeners": f"CONTROLLER://{spec.host}:{ports.controller[node]}",
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
