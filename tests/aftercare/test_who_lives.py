"""A broker lives, or leads, whatever one listener, one address and one moment say of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.kafka_names import Errors
from tests.real.cli import Cli, Finished

LEADER, LATE, OTHER = 1, 2, 3
HELD, MORE = 10, 5


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 1 leads, and the disk of 2, which is dead, has 5 records more."""
    with Cluster(Options(brokers=3, release="4.3.1")) as cluster:
        cluster.create_topic("orders", assignment=[[LEADER, LATE]])
        cluster.produce("orders", 0, HELD)
        _lose(cluster, LEADER)
        cluster.produce("orders", 0, MORE)
        _lose(cluster, LATE)
        cluster.start(LEADER)
        cluster.elect_leaders("unclean", "orders", 0)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _aftercare(cluster: Cluster, home: Path, *flags: str, by: int = OTHER) -> Finished:
    servers = ("--bootstrap-server", cluster.bootstrap_servers.split(",")[by - 1])
    done = Cli(home).offline("aftercare", *servers, *flags, "--format", "json")
    assert done.stdout, done.stderr
    return done


def _row(done: Finished) -> dict[str, Any]:
    (row,) = json.loads(done.stdout)["partitions"]
    found: dict[str, Any] = row
    return found


def test_a_partition_that_is_led_by_a_broker_without_our_listener_is_not_without_a_leader(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.unlist(LEADER)
    done = _aftercare(cluster, tmp_path, "--topics", "orders")
    row = _row(done)
    assert (done.code, row["over"], row["leader"], row["log_end_offset"]) == (1, False, None, None)
    (problem,) = row["problems"]
    assert problem.startswith("its leader is not on the listener that this command came in by")
    assert f"broker {LEADER} " in problem
    assert "elect it" not in done.stderr


def test_a_broker_without_our_listener_is_not_said_to_delete_when_it_starts(
    cluster: Cluster, tmp_path: Path
) -> None:
    disk, scan = str(cluster.log_directory(LATE)), str(tmp_path / "disks.json")
    assert Cli(tmp_path).offline("scan-log-dirs", disk, "--output", scan).code == 0
    cluster.start(LATE)
    cluster.wait_until(lambda emulation: set(_isr(emulation)) == {LEADER, LATE})
    cluster.unlist(LATE)
    done = _aftercare(cluster, tmp_path, "--topics", "orders")
    assert (done.code, _row(done)["returning"]) == (0, []), done.stderr
    done = _aftercare(cluster, tmp_path, "--topics", "orders", "--replica-info-file", scan)
    row = _row(done)
    assert (done.code, row["returning"], row["over"]) == (1, [], False)
    (problem,) = row["problems"]
    assert problem.startswith(f"whether broker {LATE} has what its disk held is unknown: it is in")
    assert "when it starts" not in done.stderr


def _isr(emulation: Any) -> tuple[int, ...]:
    isr: tuple[int, ...] = emulation.state.topic("orders").partitions[0].isr
    return isr


def test_of_a_partition_without_a_leader_a_replica_that_is_not_listed_may_hold_transactions(
    cluster: Cluster, tmp_path: Path
) -> None:
    _lose(cluster, LEADER)
    cluster.start(LATE)
    cluster.unlist(LATE)
    row = _row(_aftercare(cluster, tmp_path, "--topics", "orders"))
    (problem,) = row["problems"]
    assert problem.startswith(f"broker {LATE} can't be asked: it fetched the metadata log ")


def test_what_a_broker_says_that_may_be_another_one_is_not_over(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start(LATE)
    cluster.wait_until(lambda emulation: set(_isr(emulation)) == {LEADER, LATE})
    assert _aftercare(cluster, tmp_path, "--topics", "orders").code == 0
    cluster.lead_astray(LEADER, LATE)
    done = _aftercare(cluster, tmp_path, "--topics", "orders")
    assert done.code == 1
    assert any(f"not broker {LEADER}" in problem for problem in _row(done)["problems"])


def test_what_nothing_proves_of_who_answered_is_not_over(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start(LATE)
    cluster.wait_until(lambda emulation: set(_isr(emulation)) == {LEADER, LATE})
    cluster.intercept(
        "DescribeConfigs", Fail(Errors.CLUSTER_AUTHORIZATION_FAILED), broker=LEADER, times=9
    )
    done = _aftercare(cluster, tmp_path, "--topics", "orders")
    (sentence,) = json.loads(done.stdout)["unknown"]
    assert sentence.startswith(f"nothing proves that broker {LEADER} answered")
    assert (done.code, _row(done)["over"]) == (1, True)
