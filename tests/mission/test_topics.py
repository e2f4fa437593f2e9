"""--topics on the main command: only topics whose whole name matches are looked at and elected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.emulation import Settings
from tests.cli.in_process import RECOVERY, Done, invoke

TOPICS = ("orders", "orders.eu", "pay")
BROKERS = (1, 2)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster with a partition without a leader of each topic: broker 1 is down."""
    settings = Settings(session_timeout=0.3)
    with Cluster(Options(brokers=2, settings=settings)) as running:
        for topic in TOPICS:
            running.create_topic(topic, assignment=[BROKERS])
            running.produce(topic, 0, 10)
        running.kill(2)
        running.wait_until(lambda e: e.state.brokers[2].fenced)
        for topic in TOPICS:
            running.produce(topic, 0, 5)
        running.kill(1)
        running.wait_until(lambda e: e.state.brokers[1].fenced)
        running.start(2)
        running.wait_until(lambda e: e.state.active(2))
        yield running


def _run(cluster: Cluster, home: Path, *flags: str) -> Done:
    at = ("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions")
    return invoke(RECOVERY, *at, *flags, cwd=home, env={"XDG_STATE_HOME": str(home)})


def _topics(done: Done) -> dict[str, bool]:
    """Return the topics of a report, and whether each partition has a leader."""
    return {row["topic"]: row["leader"] != -1 for row in json.loads(done.stdout)["partitions"]}


def test_only_the_chosen_topics_are_looked_at_and_elected(cluster: Cluster, tmp_path: Path) -> None:
    look = ("--show-replica-info", "--format", "json")
    assert _topics(_run(cluster, tmp_path, *look)) == dict.fromkeys(TOPICS, False)
    done = _run(cluster, tmp_path, *look, "--topics", "orders.*")
    assert (done.code, _topics(done)) == (0, {"orders": False, "orders.eu": False})
    assert "--all-offline-partitions --topics 'orders.*' --automated-recovery" in done.stderr
    elect = ("--automated-recovery", "--yes", "--format", "json")
    done = _run(cluster, tmp_path, *elect, "--topics", "orders")
    assert (done.code, _topics(done)) == (0, {"orders": True})
    left = _run(cluster, tmp_path, *look)
    assert _topics(left) == {"orders.eu": False, "pay": False}


def test_a_name_that_no_topic_has_is_not_taken_for_a_healthy_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    for flags in (("--show-replica-info",), ("--automated-recovery", "--yes")):
        done = _run(cluster, tmp_path, *flags, "--topics", "order")
        assert done.code == 1
        assert "--topics order: no topic has such a name" in done.stdout


def test_a_pattern_does_not_go_with_a_file_and_has_to_be_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text('{"partitions": [{"topic": "pay", "partition": 0}]}')
    at = ("--bootstrap-server", cluster.bootstrap_servers, "--show-replica-info")
    done = invoke(RECOVERY, *at, "--path-to-json-file", "f", "--topics", "pay", cwd=tmp_path)
    assert (done.code, "give one of them" in done.stderr) == (2, True)
    done = _run(cluster, tmp_path, "--show-replica-info", "--topics", "(")
    assert (done.code, "no regular expression" in done.stderr) == (2, True)
