"""start-order as a user runs it: from scans, and beside brokers that run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.control.commands import parse_scenario
from kafka_unclean_recovery.emulator.control.executing import run
from tests.cli.disks import info, partition, replica_log, write_info
from tests.cli.in_process import RECOVERY, invoke
from tests.cli.run import NOWHERE

NOBODY = "127.0.0.1:1"

# Broker 2 is the last known leader and has the least; 1 and 3 are back.
CUT = """
create-topic orders replica-assignment=1:2:3 min.insync.replicas=2
produce orders-0 100
kill 2
produce orders-0 200
kill 1 3
"""


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """Return a scan after a cut: broker 1 has less than 2, and leads as soon as it is up."""
    rows = partition(0, replica_log(1, 5), replica_log(2, 7), leader=-1, isr=(1,))
    return write_info(tmp_path / "info.json", info(rows, unclean_topics=()))


def _told(*flags: object, code: int) -> dict[str, Any]:
    done = invoke(RECOVERY, "start-order", *map(str, flags), "--format", "json")
    assert done.code == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_partitions_of_the_first_election_are_a_file_that_the_election_takes(
    tmp_path: Path, scan: Path
) -> None:
    chosen = tmp_path / "first.json"
    flags = ("--replica-info-file", str(scan), "--elections-file", str(chosen))
    done = invoke(RECOVERY, "start-order", *flags)
    assert done.code == 1, done.stderr
    assert json.loads(chosen.read_text()) == {
        "partitions": [{"topic": "orders", "partitions": [0]}]
    }
    command = (
        "   kafka-unclean-recovery --bootstrap-server HOST:PORT --all-offline-partitions"
        f" --automated-recovery --replica-info-file {scan}"
    )
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "1. start broker 2: no partition has a leader yet",
        "2. elect orders-0:",
        command,
        "3. start broker 1",
    ]
    assert "too early, broker 1 would lead by itself orders-0 at 5" in done.stdout


def test_where_others_wait_for_a_broker_the_election_takes_the_file(tmp_path: Path) -> None:
    first = partition(0, replica_log(1, 5), replica_log(2, 7), leader=-1, isr=(1,))
    waits = partition(1, replica_log(1, 9), replica_log(2, 7), leader=-1, isr=(1,))
    scan = write_info(tmp_path / "info.json", info(first, waits, unclean_topics=()))
    chosen = tmp_path / "first.json"
    flags = ("--replica-info-file", str(scan), "--elections-file", str(chosen))
    done = invoke(RECOVERY, "start-order", *flags)
    assert f" --path-to-json-file {chosen} --automated-recovery " in done.stdout
    assert json.loads(chosen.read_text())["partitions"] == [{"topic": "orders", "partitions": [0]}]
    assert "3. start broker 1: the controller leads 1 partition again by itself" in done.stdout


def test_a_scan_by_an_older_version_leaves_unclean_elections_unknown(tmp_path: Path) -> None:
    rows = partition(0, replica_log(1, 9), replica_log(2, 7), leader=-1, isr=(1,))
    scan = write_info(tmp_path / "info.json", info(rows))
    told = _told("--replica-info-file", scan, code=4)
    (unknown,) = told["unknown"]
    assert "unclean.leader.election.enable" in unknown


def test_a_partition_that_the_metadata_log_still_has_led_is_not_known(tmp_path: Path) -> None:
    rows = partition(0, replica_log(1, 9), replica_log(2, 7), leader=2, isr=(1, 2))
    scan = write_info(tmp_path / "info.json", info(rows, unclean_topics=()))
    told = _told("--replica-info-file", scan, code=4)
    assert told["partitions"] == []
    assert "once the controllers run they fence the brokers" in told["unknown"][0]


def test_who_finds_no_broker_is_told_of_the_order_to_start_them() -> None:
    done = invoke(RECOVERY, *NOWHERE, "--all-offline-partitions", "--show-replica-info")
    assert done.code == 3
    assert "where every broker is down, start-order tells which to start first" in done.stderr


@pytest.fixture
def cut() -> Iterator[Cluster]:
    """Yield a cluster of which no broker runs."""
    with Cluster(Options(brokers=3)) as cluster:
        run(cluster, parse_scenario(CUT, "scenario"))
        yield cluster


def test_brokers_that_run_are_asked_and_a_disk_that_nobody_read_is_named(cut: Cluster) -> None:
    run(cut, parse_scenario("wait-until orders-0 leader=none\nstart 3\n", "scenario"))
    wrong = invoke(
        *(RECOVERY, "start-order", "--bootstrap-server", cut.bootstrap_servers, "--gone", "9")
    )
    assert (wrong.code, wrong.stdout) == (2, "")
    assert "--gone: no partition is on broker 9; brokers: 1, 2, 3" in wrong.stderr
    told = _told("--bootstrap-server", cut.bootstrap_servers, code=1)
    assert told["rests_on"] is None
    assert sorted(start["broker"] for start in told["starts"]) == [1, 2]
    assert any("the log of broker 1 was not read by anybody" in each for each in told["unknown"])


def test_without_an_active_controller_it_is_said_who_was_asked(tmp_path: Path, scan: Path) -> None:
    asked = ("start-order", "--bootstrap-controller", NOBODY, "--replica-info-file", str(scan))
    done = invoke(RECOVERY, *asked, cwd=tmp_path)
    assert (done.code, done.stdout) == (3, "")
    assert "--bootstrap-controller: no active controller tells who may lead: " in done.stderr
    assert NOBODY in done.stderr


def test_a_brokers_address_is_no_controllers(kafka_cluster: Cluster, scan: Path) -> None:
    asked = ("start-order", "--bootstrap-controller", kafka_cluster.bootstrap_servers)
    done = invoke(RECOVERY, *asked, "--replica-info-file", str(scan))
    assert (done.code, done.stdout) == (3, "")
    assert "a broker's address goes with --bootstrap-server" in done.stderr


def test_brokers_and_controllers_are_not_asked_both() -> None:
    both = ("--bootstrap-server", NOBODY, "--bootstrap-controller", NOBODY)
    done = invoke(RECOVERY, "start-order", *both)
    assert (done.code, done.stdout) == (2, "")
    assert "give either --bootstrap-server or --bootstrap-controller" in done.stderr
