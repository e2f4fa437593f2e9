"""A broker lives on with one of its log directories gone: its replicas there are no candidates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.cluster import KafkaCluster
from tests.real.faults import state_of
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce_many, wait_until_replicated
from tests.real.waiting import wait_until
from tests.real.watching import PROMPT, Commands, outcomes

PARTITIONS = range(6)
ON_3, ON_2 = 20, 30
TIMEOUT = 30.0


@pytest.fixture
def two_directories(tmp_path: Path) -> Iterator[KafkaCluster]:
    # A broker notices a lost directory when it next writes there.
    often = {"replica.high.watermark.checkpoint.interval.ms": "500"}
    made = KafkaCluster.create(
        tmp_path / "cluster", brokers=3, log_dirs_per_broker=2, properties=often
    )
    with made as cluster:
        cluster.start()
        two_are_back(cluster)
        yield cluster


def two_are_back(cluster: KafkaCluster) -> None:
    """Make replicas 1, 2, 3 of which 1 is dead, 2 holds more than 3, and neither is in sync."""
    create_topic(cluster.connection(), TOPIC, [[1, 2, 3]] * len(PARTITIONS))
    end = 0
    for broker, records in ((3, ON_3), (2, ON_2), (1, ON_2 + 10)):
        produce_many(cluster.connection(), TOPIC, dict.fromkeys(PARTITIONS, range(end, records)))
        ends = dict.fromkeys(PARTITIONS, records)
        wait_until_replicated(cluster.connection(), TOPIC, ends)
        end = records
        cluster.kill(broker)
        cluster.wait_until_fenced({broker})
    cluster.start((2, 3))
    cluster.wait_until_partitions(TOPIC, lambda p: p.offline)


def test_replicas_in_a_failed_log_directory_are_not_candidates(
    two_directories: KafkaCluster, commands: Commands
) -> None:
    cluster = two_directories
    failing = cluster.log_dirs(2)[1]
    lost = {n for n in PARTITIONS if (failing / f"{TOPIC}-{n}").is_dir()}
    kept = set(PARTITIONS) - lost
    assert lost
    assert kept
    server = ("--bootstrap-server", cluster.address(3))
    which = ("--all-offline-partitions", "--format", "json")
    run = commands.start(*server, *which, "--automated-recovery", terminal=True)
    run.wait_for(PROMPT)
    cluster.lose_log_dir(2, 1)
    wait_until(
        lambda: all(2 in state_of(cluster, TOPIC, n).offline_replicas for n in lost),
        TIMEOUT,
        lambda: "the failed log directory noticed",
    )
    assert cluster.alive(2)
    run.agree()
    done = run.finish()
    assert done.code == 1
    gone = "broker 2 is dead or fenced, or its log directory failed"
    assert outcomes(done, TOPIC) == {
        n: ("refused", gone) if n in lost else ("elected", None) for n in PARTITIONS
    }
    seen = cluster.view(3).topics[TOPIC]
    assert {n: seen[n].leader for n in PARTITIONS} == {
        n: -1 if n in lost else 2 for n in PARTITIONS
    }

    looked = commands.run(*server, *which, "--show-replica-info")
    rows = looked.partitions(TOPIC)
    assert rows.keys() == lost
    for row in rows.values():
        logs = {log["broker"]: log for log in row["replica_logs"]}
        assert row["designated_leader"] == 3
        assert "KAFKA_STORAGE_ERROR" in logs[2]["problem"]
        assert logs[2]["log_end_offset"] is None
        about_2 = [f for f in row["findings"] if "broker 2" in f["message"]]
        assert any("KAFKA_STORAGE_ERROR" in finding["message"] for finding in about_2)
