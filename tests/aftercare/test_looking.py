"""Where something can't be asked: unknown, never over. The emulator speaks no transactions."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster
from tests.cli.run import RECOVERY, command_line, run
from tests.post_mortem.journals import harmless, planned, write_journal


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        cluster.create_topic("orders", assignment=[[1, 2], [2, 1]])
        cluster.create_topic("other", assignment=[[3]])
        yield cluster


def look(cluster: Cluster, *flags: str) -> Any:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    done = run(RECOVERY, "aftercare", *servers, "--format", "json", *flags)
    assert done.returncode == 1, done.stderr
    return json.loads(done.stdout)


def test_a_leader_that_tells_of_no_transactions_is_unknown(cluster: Cluster) -> None:
    document = look(cluster, "--topics", "orders")
    rows = document["partitions"]
    assert [(row["topic"], row["partition"], row["over"]) for row in rows] == [
        ("orders", 0, False),
        ("orders", 1, False),
    ]
    for row in rows:
        (problem,) = row["problems"]
        assert f"broker {row['leader']} can't be asked" in problem
        assert "does not speak DescribeProducers" in problem
        assert row["producers"] is None
    # Nobody says that these lost anything.
    assert {str(row["producers"]) for row in look(cluster)["partitions"]} == {"[]"}


def test_a_partition_that_is_not_there_is_unknown(cluster: Cluster, tmp_path: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"partitions": [{"topic": "gone", "partition": 0}]}')
    document = look(cluster, "--path-to-json-file", str(path))
    assert document["partitions"] == []
    (sentence,) = document["unknown"]
    assert sentence.startswith("gone-0 does not exist, or may not be described")


def test_a_pattern_that_no_topic_has_is_not_over(cluster: Cluster) -> None:
    document = look(cluster, "--topics", "oders")
    assert document["partitions"] == []
    assert document["unknown"] == ["no partition is among those asked for: see --topics"]


def test_the_journal_of_another_cluster_is_refused(cluster: Cluster, tmp_path: Any) -> None:
    path = tmp_path / "journal.jsonl"
    partitions = [{"topic": "orders", "partition": 0, "designated_leader": 1}]
    lines = [
        {"v": 1, "at_ms": 0, "event": "begin", "cluster_id": "another"},
        {"v": 1, "at_ms": 0, "event": "elect", "partitions": partitions},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    done = run(RECOVERY, "aftercare", *servers, "--journal", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--journal is of cluster another, not of" in done.stderr


def test_nothing_is_said_of_producers_where_nothing_was_lost(
    cluster: Cluster, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    write_journal(path, [harmless(0), planned(1)])
    cluster_id = look(cluster, "--topics", "orders")["cluster_id"]
    path.write_text(path.read_text().replace("cluster-1", cluster_id))
    rows = look(cluster, "--journal", str(path))["partitions"]
    assert [row["producers"] for row in rows] == [[], None]


def test_a_signal_ends_the_watch_with_what_was_seen(cluster: Cluster) -> None:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    words = command_line(RECOVERY, "aftercare", *servers, "--topics", "orders", "--watch")
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stderr is not None
        assert "it is not over" in watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        stdout, _ = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert "it is not over\n" in stdout
