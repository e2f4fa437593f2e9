"""Controllers of a dynamic quorum that listen elsewhere: what Kafka makes of it, and what `quorum
inspect` says where the quorum is stuck, and not lost.

The tests stand in the order in which they leave the cluster changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.ports import PortLease
from tests.real.properties import read_settings, server_properties, write_settings
from tests.real.quorum_view import quorum_view
from tests.real.waiting import wait_until

CONTROLLERS = (101, 102, 103)
TIMEOUT = 60.0
# What a controller says that has asked for votes.
ASKED = "Completed transition to ProspectiveState"


@dataclass(frozen=True, slots=True)
class Moving:
    """Three controllers, a broker that is not started, and an address for each to move to."""

    cluster: KafkaCluster
    cli: Cli
    there: Mapping[int, str]

    @property
    def here(self) -> dict[int, str]:
        return {node: self.cluster.controller_address(node) for node in CONTROLLERS}

    def start_at(self, addresses: Mapping[int, str]) -> None:
        """Start these, killed if they run, where they are to listen."""
        for node in filter(self.cluster.alive, addresses):
            self.cluster.kill(node)
        for node, address in addresses.items():
            path = server_properties(self.cluster.directory, node)
            settings = {**read_settings(path), "listeners": f"CONTROLLER://{address}"}
            write_settings(path, settings)
            self.cluster.start_node(node, wait=False)

    def inspect(self) -> Any:
        disks = (str(self.cluster.log_dir(node)) for node in CONTROLLERS)
        return self.cli.offline("quorum", "inspect", *disks, "--format", "json").json

    def known(self) -> dict[int, str]:
        """Return where the best copy has its voters."""
        listeners = {v["id"]: v["listeners"][0] for v in self.inspect()["copies"][0]["voters"]}
        return {id_: f"{found['host']}:{found['port']}" for id_, found in listeners.items()}

    def leads(self, addresses: Mapping[int, str]) -> bool:
        views = map(quorum_view, addresses.values())
        return any(view.high_watermark >= 0 for view in views if view is not None)

    def wait_for_leader(self, addresses: Mapping[int, str]) -> None:
        wait_until(lambda: self.leads(addresses), TIMEOUT, lambda: f"a leader at {addresses}")

    def asked_for_votes(self) -> dict[int, int]:
        said = {node: self.cluster.output(node).read_text(errors="replace") for node in CONTROLLERS}
        return {node: text.count(ASKED) for node, text in said.items()}


@pytest.fixture(scope="module")
def moving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moving]:
    home = tmp_path_factory.mktemp("moving")
    made = KafkaCluster.create(home / "cluster", brokers=1, controllers=3, dynamic_quorum=True)
    lease = PortLease.of(3)
    with made as cluster:
        ports = dict(zip(CONTROLLERS, lease.ports, strict=True))
        there = {node: f"{cluster.spec.host}:{port}" for node, port in ports.items()}
        found = Moving(cluster, Cli(home), there)
        cluster.start(CONTROLLERS)
        found.wait_for_leader(found.here)
        yield found
    lease.release()


def test_kafka_writes_the_new_address_of_a_voter_itself_while_a_leader_lives(
    moving: Moving,
) -> None:
    """So what inspect says of a voter registered at another address is seen in between alone."""
    moving.start_at({103: moving.there[103]})
    wanted = {**moving.here, 103: moving.there[103]}
    wait_until(lambda: moving.known() == wanted, TIMEOUT, lambda: f"{wanted}; {moving.known()}")
    wait_until(lambda: moving.inspect()["stuck"] == [], TIMEOUT, lambda: "nobody stuck")
    moving.start_at({103: moving.here[103]})
    wait_until(lambda: moving.known() == moving.here, TIMEOUT, lambda: f"{moving.known()}")


def test_voters_that_all_moved_are_stuck_until_they_are_back(moving: Moving) -> None:
    before = moving.asked_for_votes()
    moving.start_at(moving.there)

    def asked_again() -> bool:
        now = moving.asked_for_votes()
        return all(now[node] >= before[node] + 3 for node in CONTROLLERS)

    wait_until(asked_again, TIMEOUT, lambda: f"votes asked for; {moving.asked_for_votes()}")
    assert not moving.leads(moving.there)
    # The log does not tell where they are now: it tells where they are to be.
    assert moving.known() == moving.here
    moving.start_at(moving.here)
    moving.wait_for_leader(moving.here)
