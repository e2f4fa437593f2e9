"""A cluster of 3.x that runs on ZooKeeper: only the broker that is the controller takes elections,
and any other answers NOT_CONTROLLER. Metadata tells which broker that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_QUORUM
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli.in_process import RECOVERY, invoke

TOPIC = "orders"
TO_THE_CONTROLLER = ("ListPartitionReassignments", "AlterPartitionReassignments", "ElectLeaders")


@pytest.mark.parametrize("by", [2, 3, 4])
def test_the_controller_is_asked_whichever_broker_is_named(
    by: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    told = Connection.version_for

    def no_quorum(self: Connection, api: Any, at_most: int | None = None) -> int | None:
        return None if api is DESCRIBE_QUORUM else told(self, api, at_most)

    monkeypatch.setattr(Connection, "version_for", no_quorum)
    options = Options(release="3.9.1", settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        cluster.create_topic(TOPIC, assignment=[(1, 4, 3)])
        for records, victim in ((10, 4), (5, 3), (5, 1)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(3)
        cluster.start(4)
        controller = 2
        for api in TO_THE_CONTROLLER:
            for broker in {2, 3, 4} - {controller}:
                cluster.intercept(api, Fail(Errors.NOT_CONTROLLER), broker=broker, times=999)
        address = cluster.bootstrap_servers.split(",")[by - 1]
        doctor = invoke(RECOVERY, "doctor", "--bootstrap-server", address).stdout
        assert "runs on ZooKeeper" in doctor
        assert "bring controllers back" not in doctor
        assert "NOT_CONTROLLER" not in doctor
        which = ("--all-offline-partitions", "--automated-recovery", "--yes", "--accept-loss")
        done = invoke(RECOVERY, "--bootstrap-server", address, *which, "*:0")
        assert done.code == 0, done.stderr
        found = cluster.partition(TOPIC, 0)
        assert (found.leader, found.replicas) == (3, (1, 4, 3))
