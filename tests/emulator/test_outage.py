"""The last replica standing, on the emulator: made by an independent client, recovered by our
command, and what the stock way would have lost.

Replicas 1, 2, 4, 3; brokers 4, 3, 2, 1 die in this order with writes between; then 3 (1500
records) and 4 (1000) come back.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from tests.cli.run import RECOVERY, command_line
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.records import consume_all, create_topic, numbered, produce_many
from tests.real.waiting import wait_until

TOPIC = "orders"
PARTITIONS = range(3)
# In the last one 3 comes before 4, so that the blind election is right by chance.
ORDERS = ((1, 2, 4, 3), (2, 4, 1, 3), (1, 3, 2, 4))
RECOVER = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
RELEASES = ("4.4.0", "4.3.1", "3.9.1", "kip-966")


@pytest.fixture
def outage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    release = getattr(request, "param", "4.3.1")
    with Cluster(Options(release=release, data_dir=tmp_path / "cluster")) as cluster:
        _make(cluster)
        yield cluster


def _make(cluster: Cluster) -> None:
    create_topic(cluster.bootstrap_servers, TOPIC, ORDERS, {"min.insync.replicas": "1"})
    _write(cluster, range(1000))
    for victim, numbers in ((4, range(1000, 1500)), (3, range(1500, 2000)), (2, range(2000, 2500))):
        _lose(cluster, victim)
        _write(cluster, numbers)
    _lose(cluster, 1)
    cluster.start(3)
    cluster.start(4)
    assert _leaders(cluster) == [-1, -1, -1]


def _lose(cluster: Cluster, broker: int) -> None:
    """Kill the broker, whose session ends by itself."""
    cluster.kill(broker)
    wait_until(lambda: cluster.look(lambda e: e.state.brokers[broker].fenced), 10, lambda: "fenced")


def _write(cluster: Cluster, numbers: range) -> None:
    produce_many(cluster.bootstrap_servers, TOPIC, dict.fromkeys(PARTITIONS, numbers))


def _leaders(cluster: Cluster) -> list[int]:
    def ask(emulation: Emulation) -> list[int]:
        topic = emulation.state.topic(TOPIC)
        assert topic is not None
        return [topic.partitions[number].leader for number in PARTITIONS]

    return cluster.look(ask)


def _run(tmp_path: Path, *arguments: str) -> Any:
    done = subprocess.run(
        command_line(RECOVERY, *arguments),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def _records(cluster: Cluster, partition: int) -> list[bytes]:
    return consume_all(cluster.bootstrap_servers, TOPIC, partition)


@pytest.mark.parametrize("outage", RELEASES, indirect=True)
def test_broker_3_is_designated_and_elected_and_no_record_of_it_is_lost(
    outage: Cluster, tmp_path: Path
) -> None:
    report = _run(tmp_path, "--bootstrap-server", outage.bootstrap_servers, *RECOVER)
    rows = {row["partition"]: row for row in report["partitions"]}
    assert {n: (row["outcome"], row["leader"]) for n, row in rows.items()} == dict.fromkeys(
        PARTITIONS, ("elected", 3)
    )
    assert _leaders(outage) == [3, 3, 3]
    everything = list(map(numbered, range(1500)))
    assert [_records(outage, number) for number in PARTITIONS] == [everything] * 3
    orders = outage.look(
        lambda e: [p.replicas for t in e.state.topics.values() for p in t.partitions.values()]
    )
    assert tuple(orders) == ORDERS


@pytest.mark.parametrize("outage", RELEASES, indirect=True)
def test_a_blind_unclean_election_takes_4_wherever_it_comes_before_3_and_loses_500_records(
    outage: Cluster,
) -> None:
    """As kafka-leader-election.sh does on a real cluster."""
    host, _, port = outage.bootstrap_servers.split(",")[2].rpartition(":")
    with Wire(host, int(port)) as wire:
        wire.ask(build(ElectLeadersRequest, {"election_type": 1, "topic_partitions": None}), 2)
    assert _leaders(outage) == [4, 4, 3]
    assert _records(outage, 0) == list(map(numbered, range(1000)))


def test_a_scan_of_the_log_directories_tells_how_far_each_replica_goes(
    outage: Cluster, tmp_path: Path
) -> None:
    directories = [str(outage.log_directory(broker)) for broker in (1, 2, 3, 4)]
    info = _run(tmp_path, "scan-log-dirs", *directories, "--format", "json", "--mode", "deep")
    logs = {row["partition"]: row["replica_logs"] for row in info["partitions"]}
    assert set(logs) == set(PARTITIONS)
    ends = {log["broker"]: log["log_end_offset"] for log in logs[0]}
    assert ends == {1: 2500, 2: 2000, 3: 1500, 4: 1000}
    assert {log["last_written_leader_epoch"] for log in logs[0]} == {0}
    assert [log for of in logs.values() for log in of if log["suspect"] or log["problem"]] == []


def test_the_outage_is_still_there_after_a_restart_from_the_data_directory(
    tmp_path: Path,
) -> None:
    options = Options(data_dir=tmp_path / "cluster", running=(3, 4))
    with ExitStack() as stack:
        _make(stack.enter_context(Cluster(Options(data_dir=tmp_path / "cluster"))))
    with Cluster(options) as again:
        assert _leaders(again) == [-1, -1, -1]
        _run(tmp_path, "--bootstrap-server", again.bootstrap_servers, *RECOVER)
        assert _leaders(again) == [3, 3, 3]
        assert _records(again, 0) == list(map(numbered, range(1500)))
        # Who held more is cut back to what the leader has.
        again.start(1)
        assert again.look(
            lambda e: {r.log.end_offset for b in e.brokers.values() for r in b.replicas.values()}
        ) == {1500}


def test_temporary_directories_are_gone_with_the_cluster() -> None:
    with Cluster() as cluster:
        directory = cluster.log_directory(1)
        assert directory.is_dir()
    assert not directory.exists()
