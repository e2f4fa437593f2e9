"""Where something can't be asked: unknown, never over."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.listener.intercepts import Close, Fail
from tests.cli.run import RECOVERY, command_line, run
from tests.post_mortem.journals import harmless, planned, write_journal


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        cluster.create_topic("orders", assignment=[[1, 2], [2, 1]])
        cluster.create_topic("other", assignment=[[3]])
        yield cluster


def look(cluster: Cluster, *flags: str, over: bool = False) -> Any:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    done = run(RECOVERY, "aftercare", *servers, "--format", "json", *flags)
    assert done.returncode == (0 if over else 1), done.stderr
    return json.loads(done.stdout)


@contextmanager
def _producers_untold(cluster: Cluster) -> Iterator[None]:
    cluster.intercept("DescribeProducers", Fail(13), times=1000)
    try:
        yield
    finally:
        cluster.clear_intercepts()


def test_it_is_over_where_nothing_is_left_to_do(cluster: Cluster) -> None:
    document = look(cluster, "--topics", "orders", over=True)
    rows = document["partitions"]
    assert [(row["topic"], row["partition"], row["over"]) for row in rows] == [
        ("orders", 0, True),
        ("orders", 1, True),
    ]
    assert [row["log_end_offset"] for row in rows] == [0, 0]
    assert all(row["problems"] == [] for row in rows)


def test_a_leader_that_tells_of_no_transactions_tells_its_log_end_all_the_same(
    cluster: Cluster,
) -> None:
    cluster.produce("orders", 0, 7)
    cluster.intercept("DescribeProducers", Close(carried_out=False), broker=1, times=9)
    try:
        rows = look(cluster, "--topics", "orders")["partitions"]
    finally:
        cluster.clear_intercepts()
    assert [(row["over"], row["log_end_offset"]) for row in rows] == [(False, 7), (True, 0)]
    (problem,) = rows[0]["problems"]
    assert problem.startswith("broker 1 does not tell its open transactions: ")
    assert rows[0]["producers"] is None
    # Nobody says that these lost anything.
    assert {str(row["producers"]) for row in look(cluster, over=True)["partitions"]} == {"[]"}


def test_a_leader_that_does_not_tell_its_log_end_tells_of_transactions_all_the_same(
    cluster: Cluster,
) -> None:
    cluster.intercept("ListOffsets", Fail(13), broker=2, times=9)
    try:
        rows = look(cluster, "--topics", "orders")["partitions"]
    finally:
        cluster.clear_intercepts()
    assert rows[1]["problems"] == ["broker 2 does not tell its log end: NETWORK_EXCEPTION"]
    assert (rows[1]["log_end_offset"], rows[1]["producers"]) == (None, [])


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
    seen = look(cluster, "--topics", "orders", over=True)
    text = path.read_text().replace("cluster-1", seen["cluster_id"])
    path.write_text(text.replace("id-orders", seen["partitions"][0]["topic_id"]))
    with _producers_untold(cluster):
        rows = look(cluster, "--journal", str(path))["partitions"]
    assert [row["producers"] for row in rows] == [[], None]


def test_a_signal_ends_the_watch_with_what_was_seen(cluster: Cluster) -> None:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    words = command_line(RECOVERY, "aftercare", *servers, "--topics", "orders", "--watch")
    with (
        _producers_untold(cluster),
        subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as watching,
    ):
        assert watching.stderr is not None
        assert "it is not over" in watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        stdout, _ = watching.communicate(timeout=60)
    assert watching.returncode == 130
    assert "it is not over\n" in stdout
