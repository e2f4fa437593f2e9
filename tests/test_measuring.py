"""What a benchmark's figures say of a process, and when its client sees the last leader."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import TimeoutError as NotInTime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from benchmarks import leaders
from benchmarks.election import watched
from benchmarks.leaders import Client, Seen, watching
from benchmarks.measure import run
from benchmarks.outage_process import SETTINGS, make
from kafka_unclean_recovery.emulator import Cluster, Options

TOPIC, PARTITIONS = "topic-000", 25
# Elects by librdkafka all but one partition, and then that one; writes when it did that; and ends
# when it is told to.
ELECT = """
import os, sys, time
from confluent_kafka import ElectionType, TopicPartition
from confluent_kafka.admin import AdminClient
servers, topic, count, last, told, until = sys.argv[1:]
client = AdminClient({"bootstrap.servers": servers, "broker.address.family": "v4"})
def elect(numbers):
    chosen = [TopicPartition(topic, number) for number in numbers]
    found = client.elect_leaders(ElectionType.UNCLEAN, chosen).result(30)
    assert all(error is None for error in found.values()), found
elect(set(range(int(count))) - {int(last)})
begun = time.perf_counter()
elect([int(last)])
with open(told, "w") as file:
    print(begun, time.perf_counter(), file=file)
give_up = time.monotonic() + 60
while not os.path.exists(until):
    assert time.monotonic() < give_up, "nobody saw it"
    time.sleep(0.01)
"""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: brokers 2 and 3 are up, and no partition has a leader."""
    with Cluster(Options(brokers=3, settings=SETTINGS)) as running:
        make(running, PARTITIONS)
        for broker in (2, 3):
            running.start(broker)
        running.wait_until(lambda e: all(map(e.state.active, (2, 3))))
        yield running


def _live(cluster: Cluster) -> str:
    return cluster.bootstrap_servers.split(",")[1]


@pytest.mark.parametrize("last", [0, 11, PARTITIONS - 1])
def test_the_last_leader_is_seen_when_it_is_there_and_not_when_the_process_ends(
    last: int, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, until = tmp_path / "told", tmp_path / "until"
    polls = []

    def polled(request: Any) -> None:
        if request.request.response_partition_limit == 1:
            polls.append(time.perf_counter())

    watch = leaders._watch

    def and_then_end(client: Client, offline_at: float, over: Event) -> Seen:
        seen = watch(client, offline_at, over)
        until.touch()
        return seen

    monkeypatch.setattr(leaders, "_watch", and_then_end)
    monkeypatch.setattr(leaders, "PAGE", 7)
    cluster.intercept("DescribeTopicPartitions", polled, times=100_000)
    address = _live(cluster)
    words = (address, TOPIC, str(PARTITIONS), str(last), str(told), str(until))
    found = watched([sys.executable, "-c", ELECT, *words], address, TOPIC)
    asked, answered = map(float, told.read_text().split())
    cost, seen = found.cost, found.seen
    assert cost.begun < asked < seen.at < cost.begun + cost.wall_s
    assert seen.offline_at < answered
    assert len([each for each in polls if each > answered]) <= 1
    assert 0 < found.uncertain_s < found.last_leader_s < cost.wall_s
    assert len(polls) < seen.requests
    assert {partition.leader for partition in cluster.status().partitions} <= {2, 3}


def test_what_leaves_a_partition_without_a_leader_has_no_figure(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaders, "TIMEOUT", 0.5)
    with pytest.raises(NotInTime):
        watched(["true"], _live(cluster), TOPIC)
    with pytest.raises(RuntimeError, match="false ended with 1"):
        watched(["false"], _live(cluster), TOPIC)


def test_who_has_leaders_already_is_not_watched(cluster: Cluster) -> None:
    cluster.elect_leaders("unclean")
    with (
        pytest.raises(RuntimeError, match=f"{TOPIC} has leaders already"),
        watching(_live(cluster), TOPIC),
    ):
        pass


def test_the_memory_of_who_starts_a_process_is_not_its_own() -> None:
    mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert run(["true"]).peak_mib < 15 < mine


def test_a_process_costs_what_it_takes(tmp_path: Path) -> None:
    spent = "import sys, time\nwhile time.process_time() < 0.3: pass\n"
    spent += "kept = bytes(range(256)) * (40 << 12); print('told'); sys.exit(3)"
    cost = run([sys.executable, "-c", spent], tmp_path / "output")
    assert cost.code == 3
    assert cost.cpu_s >= 0.3
    assert cost.wall_s > 0.25
    assert cost.peak_mib > 40
    assert (tmp_path / "output").read_text() == "told\n"
