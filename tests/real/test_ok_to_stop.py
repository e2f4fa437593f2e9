"""`ok-to-stop` on real clusters: what it said, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.records import create_topic
from tests.real.releases import TESTED
from tests.real.stopped_states import states

ROUNDS = 2
MIN_ISR = "min.insync.replicas"


@pytest.mark.parametrize("version", TESTED)
def test_what_was_said_of_random_states_comes_true(version: str, tmp_path: Path) -> None:
    with states(tmp_path, version, seed=ROUNDS) as found:
        for _ in range(ROUNDS):
            found.round()
        assert found.tally.wrong == []
        # Else nothing was said that could come true.
        assert found.tally.classes.total() > 5 * ROUNDS


@pytest.fixture(scope="module")
def combined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Yield three nodes that are brokers and controllers at once."""
    directory = tmp_path_factory.mktemp("cluster")
    rack = {"broker.rack": "r1"}
    with KafkaCluster.create(directory / "c", brokers=3, combined=True, properties=rack) as cluster:
        cluster.start()
        for name, assignment, config in (
            ("two-of-three", [[1, 2]], {MIN_ISR: "3"}),
            ("three", [[1, 2, 3]], {MIN_ISR: "2"}),
            ("one", [[3]], {MIN_ISR: "1"}),
        ):
            create_topic(cluster.connection(), name, assignment, config)
        yield cluster


def _told(cluster: KafkaCluster, home: Path, *flags: str, code: int) -> Any:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    done = Cli(home).offline("ok-to-stop", *where, *flags, "--format", "json")
    assert done.code == code, done
    return done.json


def test_nodes_that_are_controllers_too_count_for_the_quorum(
    combined: KafkaCluster, tmp_path: Path
) -> None:
    assert _told(combined, tmp_path, "--brokers", "3", code=0)["stop"]["quorum"] is None
    told = _told(combined, tmp_path, "--controllers", "1,2", code=1)
    assert told["stop"]["quorum"] == (
        "1 of 3 voters would be left that follow, and a majority is 2"
    )


def test_a_rack_is_all_its_brokers(combined: KafkaCluster, tmp_path: Path) -> None:
    told = _told(combined, tmp_path, "--rack", "r1", "--max", "9", code=1)
    assert told["brokers"] == [1, 2, 3]
    # Each of the others blocks a topic.
    assert told["largest"] == [3]


def test_what_kafka_topics_says_differs_as_the_page_says(
    combined: KafkaCluster, tmp_path: Path
) -> None:
    """Of the raw min.insync.replicas, of all partitions, and of now."""
    where = ("--bootstrap-server", combined.bootstrap_servers)
    listed = {
        flag: re.findall(
            r"Topic: (\S+)\s+Partition",
            combined.script("kafka-topics", *where, "--describe", flag).stdout,
        )
        for flag in ("--under-min-isr-partitions", "--at-min-isr-partitions")
    }
    assert listed["--under-min-isr-partitions"] == ["two-of-three"]
    assert listed["--at-min-isr-partitions"] == ["one"]
    # Broker 3 holds up nothing; each of the others blocks the topic of two replicas.
    told = _told(combined, tmp_path, "--brokers", "3", code=0)
    classes = {row["topic"]: row["classes"] for row in told["stop"]["partitions"]}
    assert classes == {"one": ["single_replica"], "three": ["at_the_floor"]}
    told = _told(combined, tmp_path, "--brokers", "1", code=1)
    classes = {row["topic"]: row["classes"] for row in told["stop"]["partitions"]}
    assert classes == {"two-of-three": ["writes_blocked"], "three": ["at_the_floor"]}


def test_a_broker_that_hangs_makes_it_unknown(combined: KafkaCluster, tmp_path: Path) -> None:
    """For as long as nobody has noticed; then the answer is no."""
    combined.pause(2)
    try:
        where = ("--bootstrap-server", combined.address(1), "--brokers", "1", "--format", "json")
        done = Cli(tmp_path).offline("ok-to-stop", *where)
        assert done.code in (1, 4), done
        assert done.json["verdict"] != "yes"
    finally:
        combined.resume(2)
        combined.wait_until_unfenced([2])
