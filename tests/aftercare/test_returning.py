"""A disk that holds more than the leader: told before its broker returns, and after, when it is too
late. On the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from tests.real.cli import Cli, Finished

HELD, MORE = 10, 5


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 2 leads with 10 records and 3 new ones; the disk of 1 has 15."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[[1, 2]])
        cluster.produce("orders", 0, HELD)
        _lose(cluster, 2)
        cluster.produce("orders", 0, MORE)
        _lose(cluster, 1)
        cluster.start(2)
        cluster.elect_leaders("unclean", "orders", 0)
        cluster.produce("orders", 0, 3)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _aftercare(cluster: Cluster, home: Path, *flags: str) -> tuple[list[dict[str, Any]], Finished]:
    servers = ("--bootstrap-server", cluster.bootstrap_servers, "--topics", "orders")
    done = Cli(home).offline("aftercare", *servers, *flags, "--format", "json")
    (row,) = done.json["partitions"]
    # While a replica is out of the ISR, that and nothing else keeps it from being over.
    assert done.code == (0 if len(row["isr"]) == 2 else 1), done.stderr
    found: list[dict[str, Any]] = row["returning"]
    return found, done


def test_a_disk_that_holds_more_is_told_before_and_after_it_is_too_late(
    cluster: Cluster, tmp_path: Path
) -> None:
    (found,), done = _aftercare(cluster, tmp_path)
    assert (found["broker"], found["back"], found["records"]) == (1, False, None)
    assert "broker 1 may hold more of 1 partition than the leader" in done.stderr

    disk, scan = str(cluster.log_directory(1)), str(tmp_path / "disks.json")
    (found,), done = _aftercare(cluster, tmp_path, "--log-dirs", disk)
    assert found == {
        "broker": 1,
        "back": False,
        "records": MORE,
        "offset": HELD,
        "directory": str(cluster.log_directory(1) / "orders-0"),
        "why": "its disk holds what the leader lacks, and loses it when it starts",
    }
    assert "broker 1 deletes 5 records of 1 partition when it starts" in done.stderr
    assert Cli(tmp_path).offline("scan-log-dirs", disk, "--output", scan).code == 0

    cluster.start(1)
    cluster.wait_until(lambda emulation: set(_isr(emulation)) == {1, 2})
    (found,), done = _aftercare(cluster, tmp_path, "--replica-info-file", scan)
    assert (found["back"], found["records"], found["offset"]) == (True, MORE, HELD)
    assert "broker 1 is back, too late for 5 records of 1 partition" in done.stderr
    assert _aftercare(cluster, tmp_path)[0] == []

    cluster.delete_topic("orders")
    cluster.create_topic("orders", assignment=[[2, 1]])
    _lose(cluster, 1)
    (found,), _ = _aftercare(cluster, tmp_path, "--replica-info-file", scan)
    assert (found["back"], found["records"]) == (False, None)
    assert "another topic of that name" in found["why"]


def _isr(emulation: Any) -> tuple[int, ...]:
    topic = emulation.state.topic("orders")
    isr: tuple[int, ...] = topic.partitions[0].isr
    return isr


def test_disks_of_another_cluster_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    with Cluster(Options(brokers=1)) as other:
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        disk = ("--log-dirs", str(other.log_directory(1)))
        done = Cli(tmp_path).offline("aftercare", *servers, *disk)
    assert (done.code, done.stdout) == (2, "")
    assert "the disks are of cluster" in done.stderr
