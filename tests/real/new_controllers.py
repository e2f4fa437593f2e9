"""Controllers that come after the lost ones, beside a running cluster."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from tests.real import jvm
from tests.real.cluster import KafkaCluster
from tests.real.ports import PortLease, answers
from tests.real.processes import NodeProcesses, output
from tests.real.properties import (
    node_directory,
    read_settings,
    server_properties,
    write_settings,
)
from tests.real.quorum_view import QuorumView, quorum_view, wait_for_quorum, wait_until_followed
from tests.real.storage import format_command
from tests.real.waiting import wait_until

VOTERS = "controller.quorum.voters"
SERVERS = "controller.quorum.bootstrap.servers"
# What a combined node says of the broker that it is.
OF_BROKERS = ("inter.broker.listener.name",)
TIMEOUT = 60.0


class NewControllers:
    """Each has an id, an address, and a log directory of its own under `directory`."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self.cluster = cluster
        self.directory = cluster.directory / "new"
        self._processes = NodeProcesses(cluster.spec, cluster.ports, self.directory)
        self._lease = PortLease.of(2)
        self._addresses: dict[int, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.kill_all()
        self._lease.release()

    @property
    def fresh_addresses(self) -> list[str]:
        """Return addresses where no controller ever listened."""
        return [f"{self.cluster.spec.host}:{port}" for port in self._lease.ports]

    def address(self, node: int) -> str:
        return self._addresses[node]

    def output(self, node: int) -> Path:
        return output(self.directory, node)

    def log_dir(self, node: int) -> Path:
        return node_directory(self.directory, node) / "data"

    def alive(self, node: int) -> bool:
        return self._processes.alive(node)

    def configure(self, node: int, address: str, quorum: Mapping[str, str]) -> Path:
        """Write its server.properties: as the lost ones had them, but for its own."""
        lost = min(self.cluster.spec.controller_ids)
        settings = read_settings(server_properties(self.cluster.directory, lost))
        for key in (VOTERS, SERVERS, *OF_BROKERS):
            settings.pop(key, None)
        path = server_properties(self.directory, node)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = {
            "process.roles": "controller",
            "node.id": str(node),
            "log.dirs": str(self.log_dir(node)),
            "listeners": f"CONTROLLER://{address}",
        }
        write_settings(path, {**settings, **own, **quorum})
        self._addresses[node] = address
        return path

    def format(self, node: int, *arguments: str) -> None:
        """Format it fresh, with nothing in its log."""
        path = server_properties(self.directory, node)
        command = format_command(self.cluster.spec, path, *arguments)
        done = jvm.run(command, TIMEOUT)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self, node: int) -> None:
        """Start it; it is up when this returns, and whether it leads is another matter."""
        self._processes.spawn(node)
        port = int(self.address(node).rpartition(":")[2])
        wait_until(
            lambda: not self.alive(node) or answers(port),
            TIMEOUT,
            lambda: f"controller {node}\n{jvm.tail(self.output(node))}",
        )
        assert self.alive(node), jvm.tail(self.output(node))

    def kill(self, node: int) -> None:
        self._processes.kill(node)

    def wait_until_followed(self, node: int, followers: Iterable[int]) -> QuorumView:
        """Wait until this one leads, and the others hold what it has."""
        return wait_until_followed(self.address(node), followers)

    def wait_for_voters(self, node: int, voters: Iterable[int]) -> QuorumView:
        """Wait until this one leads exactly these."""
        wanted = frozenset(voters)
        return wait_for_quorum(
            self.address(node), lambda v: v.voters.keys() == wanted, f"the voters {set(wanted)}"
        )

    def add_voter(self, node: int, address: str, leader: int) -> None:
        """Add a fresh controller to the voters, as the operator of a dynamic quorum does."""
        servers = ",".join((self.address(leader), address))
        path = self.configure(node, address, {SERVERS: servers})
        self.format(node, "--no-initial-controllers")
        self.start(node)
        before = self.wait_until_followed(leader, {node})
        at = ("--bootstrap-controller", self.address(leader), "--command-config", str(path))
        self.cluster.script("kafka-metadata-quorum", *at, "add-controller")
        self.wait_for_voters(leader, {*before.voters, node})

    def vote(self, voters: Sequence[int]) -> None:
        """Have a static quorum of these, of which the last may be new: all are started again with
        the same list, each at the address of the lost one whose id it has."""
        at = {node: self.cluster.controller_address(node) for node in voters}
        listed = {VOTERS: ",".join(f"{node}@{address}" for node, address in at.items())}
        for node, address in at.items():
            if self.alive(node):
                self.kill(node)
            self.configure(node, address, listed)
            if not self.log_dir(node).exists():
                self.format(node)
        for node in voters:
            self.start(node)
        self.wait_until_followed(self.leader_of(voters), voters)

    def leader_of(self, nodes: Sequence[int]) -> int:
        """Return the one of these that leads, once one does."""
        found: list[int] = []

        def led() -> bool:
            views = {node: quorum_view(self.address(node)) for node in nodes}
            found[:] = [node for node, view in views.items() if view and view.high_watermark >= 0]
            return bool(found)

        wait_until(led, TIMEOUT, lambda: f"a leader among {nodes}")
        return found[0]


def lose(cluster: KafkaCluster, controllers: Iterable[int], keep: Path | None = None) -> None:
    """Send SIGKILL, and remove their disks; `keep` gets a copy of each, by node id."""
    lost = tuple(controllers)
    for node in filter(cluster.alive, lost):
        cluster.kill(node)
    for node in lost:
        if keep is not None:
            _copy(cluster.log_dir(node), keep / str(node))
        shutil.rmtree(cluster.log_dir(node))


def bring_back(cluster: KafkaCluster, controllers: Iterable[int], kept: Path) -> None:
    """Start them where and as they were, on their old disks."""
    back = tuple(controllers)
    for node in back:
        _copy(kept / str(node), cluster.log_dir(node))
    cluster.start(back)


def make_patient(cluster: KafkaCluster, controllers: Iterable[int]) -> None:
    """Have them elect nobody for ten minutes. Those that truncate still know the old voters, and
    would lead as soon as this machine stands still for two seconds."""
    for node in controllers:
        path = server_properties(cluster.directory, node)
        settings = read_settings(path)
        write_settings(path, {**settings, "controller.quorum.fetch.timeout.ms": "600000"})


def _copy(log_dir: Path, target: Path) -> None:
    """Copy without the indexes, 10 MiB of holes each, which a node makes again."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(log_dir, target, ignore=shutil.ignore_patterns("*.index", "*.timeindex"))
