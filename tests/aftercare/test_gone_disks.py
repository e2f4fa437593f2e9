"""A broker whose disks are lost for good is not waited for, and how to end that is told. On the
emulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.aftercare.gone_disks import GoneDisks, advice, gone_disks
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from tests.cli.run import NOWHERE
from tests.real.cli import Cli, Finished

HELD, MORE = 10, 5
EMPTY = "no empty disks under its id yet"
FOLLOWS = "start a broker with empty disks under its id, which follows their leaders as long as"
A_STRANGER = "--gone: there is no broker 9: none is registered by that id"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster without a leader: broker 1 had 5 records more than 2, and has died."""
    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic("orders", assignment=[[1, 2]])
        cluster.create_topic("more", assignment=[[1, 3]])
        cluster.produce("orders", 0, HELD)
        _lose(cluster, 2)
        cluster.produce("orders", 0, MORE)
        _lose(cluster, 1)
        cluster.start(2)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _run(cluster: Cluster, home: Path, *words: str) -> Finished:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    return Cli(home).offline(*words, *servers)


def _aftercare(cluster: Cluster, home: Path, *flags: str) -> Finished:
    return _run(cluster, home, "aftercare", *flags, "--format", "json")


def _recover(cluster: Cluster, home: Path, *flags: str) -> Finished:
    return _run(cluster, home, "--all-offline-partitions", *flags)


def _rows(done: Finished) -> dict[str, Any]:
    return {row["topic"]: row for row in done.json["partitions"]}


def test_nobody_waits_for_it_and_empty_disks_are_told_of_when_they_are_safe(
    cluster: Cluster, tmp_path: Path
) -> None:
    disk, scan = str(cluster.log_directory(1)), tmp_path / "disks.json"
    assert Cli(tmp_path).offline("scan-log-dirs", disk, "--output", str(scan)).code == 0
    early = _aftercare(cluster, tmp_path, "--gone", "1")
    assert early.code == 1
    assert EMPTY in early.stderr
    assert early.json["gone"] == [
        {
            "broker": 1,
            "partitions": 2,
            "leaderless": [{"topic": "orders", "partition": 0}],
            "lives": None,
        }
    ]

    # "all" does not wait for who never comes.
    elect = ("--automated-recovery", "--yes", "--replica-info-file", str(scan))
    journal = str(tmp_path / "journal")
    waits = ("--wait-for-brokers", "all", "--journal", journal)
    done = _recover(cluster, tmp_path, *elect, *waits, "--gone", "1")
    assert done.code == 0, done.stderr
    assert "waiting for broker" not in done.stderr
    assert "if broker 1 returns" not in done.stdout + done.stderr

    assert _aftercare(cluster, tmp_path).code == 1
    after = _aftercare(cluster, tmp_path, "--gone", "1", "--replica-info-file", str(scan))
    assert after.code == 0, after.stderr
    assert FOLLOWS in after.stderr
    assert f"the lost disk of broker 1 held {MORE} records of 1 partition" in after.stderr
    assert "when it starts" not in after.stderr
    assert [row["gone"] for row in _rows(after).values()] == [[1], [1]]
    (lost,) = _rows(after)["orders"]["returning"]
    assert (lost["gone"], lost["back"], lost["records"]) == (True, False, MORE)

    told = Cli(tmp_path).offline("report", journal).stdout
    assert "disks of broker 1 are lost for good" in told
    assert "broker 1 may hold more" not in told
    stranger = Cli(tmp_path).offline("report", journal, "--gone", "7")
    assert (stranger.code, stranger.stdout) == (2, "")
    assert "--gone: the journal has no replica on broker 7; brokers: 1, 2" in stranger.stderr
    without = [line for line in Path(journal).read_text().splitlines() if '"gone"' in line]
    assert without, "the journal does not tell of it"


def test_who_is_live_again_is_waited_for_like_any_other(cluster: Cluster, tmp_path: Path) -> None:
    assert _recover(cluster, tmp_path, "--automated-recovery", "--yes", "--gone", "1").code == 0
    cluster.exchange_disk(1)
    cluster.start(1)
    found = _aftercare(cluster, tmp_path, "--gone", "1", "--watch")
    assert found.code == 0, found.stderr
    assert "broker 1 is in --gone, but it is live" in found.stderr
    assert all(1 in row["isr"] for row in _rows(found).values())


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--gone", "2"), "--gone: broker 2 is live; leave it out"),
        (("--gone", "9"), A_STRANGER),
        (("--gone", "x"), "--gone x: give broker ids as in 1,2"),
        (
            ("--gone", "1", "--wait-for-brokers", "1"),
            "broker 1 is named in --gone and in --wait-for-brokers; name it once",
        ),
    ],
)
def test_who_can_not_be_gone_is_named(
    cluster: Cluster, tmp_path: Path, flags: tuple[str, ...], why: str
) -> None:
    done = _recover(cluster, tmp_path, "--automated-recovery", "--yes", *flags)
    assert (done.code, why in done.stderr) == (2, True), done.stderr
    assert cluster.partition("orders", 0).leader == -1


def test_what_start_order_takes_for_gone_is_not_live(cluster: Cluster, tmp_path: Path) -> None:
    for flag in ("--gone", "--later"):
        done = _run(cluster, tmp_path, "start-order", flag, "2")
        assert (done.code, f"{flag}: broker 2 is live; leave it out" in done.stderr) == (2, True)


def test_it_does_not_go_with_resume(tmp_path: Path) -> None:
    (tmp_path / "journal").touch()
    flags = ("--resume", str(tmp_path / "journal"), "--gone", "1")
    done = Cli(tmp_path).offline(*NOWHERE, *flags)
    assert (done.code, "--resume stands alone" in done.stderr) == (2, True)


LED = PartitionState("orders", "an id", 0, 2, 2, (1, 2), isr=(2,), offline_replicas=(1,))
LEFT = PartitionState("orders", "an id", 1, -1, 2, (1, 2), offline_replicas=(1, 2))
BY_IT = PartitionState("orders", "an id", 2, 1, 2, (1, 2), isr=(1, 2))
BY_THE_DEAD = PartitionState("orders", "an id", 3, 3, 2, (1, 3), isr=(3,))
IN_SYNC = PartitionState("orders", "an id", 4, 2, 2, (1, 2), isr=(2, 1))


@pytest.mark.parametrize(
    ("states", "found", "says"),
    [
        ((LED,), GoneDisks(1, 1), FOLLOWS),
        ((LED, LEFT), GoneDisks(1, 2, (TopicPartition("orders", 1),)), EMPTY),
        # A leader that is gone is none, though nobody has fenced it yet.
        ((LED, BY_IT), GoneDisks(1, 2, (TopicPartition("orders", 2),)), EMPTY),
        ((LED, BY_THE_DEAD), GoneDisks(1, 2, (TopicPartition("orders", 3),)), EMPTY),
        ((LED, IN_SYNC), GoneDisks(1, 2, (TopicPartition("orders", 4),)), EMPTY),
        ((), GoneDisks(1, 0), "no partition that could be seen is on it"),
    ],
)
def test_empty_disks_are_safe_where_somebody_else_leads(
    states: tuple[PartitionState, ...], found: GoneDisks, says: str
) -> None:
    assert gone_disks({1}, states, {2}, {}) == (found,)
    (sentence,) = advice([found])
    assert says in sentence


@pytest.mark.parametrize(
    ("live", "unseen", "why"),
    [((1, 2), (), "it is live"), ((2,), (1,), "it lives, though it is not listed")],
)
def test_who_lives_is_not_gone(live: tuple[int, ...], unseen: tuple[int, ...], why: str) -> None:
    (found,) = gone_disks({1}, (LED,), live, unseen)
    assert found.lives == why
    assert "waited for like any other" in next(advice([found]))


@pytest.fixture
def too_few() -> Iterator[Cluster]:
    """Yield a cluster whose partition has a leader, and needs 2 replicas in the ISR; 1 is dead."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[[2, 1]], configs={"min.insync.replicas": "2"})
        _lose(cluster, 1)
        yield cluster


def test_it_is_not_over_while_acks_all_is_refused_whoever_is_gone(
    too_few: Cluster, tmp_path: Path
) -> None:
    found = _aftercare(too_few, tmp_path, "--gone", "1")
    assert found.code == 1
    row = _rows(found)["orders"]
    assert (row["over"], row["min_isr"], row["refuses_acks_all"]) == (False, 2, True)
    assert (
        "1 partition, orders-0 (ISR 2, min.insync.replicas 2), refuses what is written with"
        " acks=all, and who asks for the end may get OFFSET_NOT_AVAILABLE, until more replicas are"
        " in the ISR: reassign those on brokers that are gone, or start such a broker with empty"
        " disks" in found.stderr
    )
    assert "reassign those" not in _aftercare(too_few, tmp_path).stderr
    too_few.exchange_disk(1)
    too_few.start(1)
    found = _aftercare(too_few, tmp_path, "--watch")
    assert (found.code, "refuses_acks_all" in _rows(found)["orders"]) == (0, False)


@pytest.mark.parametrize("error", [29, 42])
def test_what_is_not_told_of_acks_all_is_not_over_where_nobody_comes_back(
    too_few: Cluster, tmp_path: Path, error: int
) -> None:
    too_few.intercept("DescribeConfigs", Fail(error, of=frozenset({"orders"})), times=1000)
    row = _rows(_aftercare(too_few, tmp_path, "--gone", "1"))["orders"]
    (problem,) = row["problems"]
    assert problem.startswith("whether it takes acks=all is unknown: ")
    assert ("grant Topic(orders):DESCRIBE_CONFIGS" in problem) == (error == 29)
    assert (row["over"], "min_isr" in row, "refuses_acks_all" in row) == (False, False, False)
    # A replica that is waited for keeps it from being over anyhow.
    assert _rows(_aftercare(too_few, tmp_path))["orders"]["problems"] == []
