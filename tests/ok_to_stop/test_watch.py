"""`watch` on an emulated cluster: lines on change, its metrics, what it asks, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.describe_configs import TOPIC
from kafka_unclean_recovery.emulator.apis.supported import MODULES
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Close,
    Delay,
    Fail,
    Interception,
    NoAnswer,
    Seen,
)
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli.in_process import RECOVERY, invoke
from tests.cli.run import RECOVERY as MODULE
from tests.cli.run import command_line
from tests.cli.test_bad_input import CHANGING
from tests.ok_to_stop.silence import let_the_controllers_miss
from tests.schemas import validated

# ApiVersions: the reads of brokers and of partitions each hear what the broker has applied, and
# reassignments are asked over a connection of their own.
IDLE_LOOK = {
    "ApiVersions": 3,
    "DescribeCluster": 1,
    "DescribeQuorum": 1,
    "DescribeTopicPartitions": 1,
    "ListPartitionReassignments": 1,
}
ASKED_ONCE = ("DescribeConfigs", "DescribeLogDirs")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2, 3)], configs={"min.insync.replicas": "2"})
        yield cluster


@contextmanager
def _watching(cluster: Cluster, *flags: str) -> Iterator[subprocess.Popen[str]]:
    where = ("--bootstrap-server", cluster.bootstrap_servers, "--interval-ms", "100")
    process = subprocess.Popen(
        command_line(MODULE, "watch", *where, *flags),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _looks(cluster: Cluster) -> Interception:
    return cluster.intercept("DescribeTopicPartitions", Delay(0.0), times=10**6)


def _wait_for_looks(cluster: Cluster, looks: Interception, more: int) -> None:
    wanted = len(looks.requests) + more
    cluster.wait_until(lambda _: len(looks.requests) >= wanted, 60.0)


def test_a_change_is_a_line_and_nothing_else_is(cluster: Cluster, tmp_path: Path) -> None:
    looks, metrics = _looks(cluster), tmp_path / "watch.prom"
    with _watching(cluster, "--format", "json", "--metrics-file", str(metrics)) as process:
        assert process.stdout is not None
        first: Any = validated(process.stdout.readline())
        assert first["changes"] == []
        _wait_for_looks(cluster, looks, 5)
        cluster.kill(3)
        cluster.wait_until(lambda e: e.state.brokers[3].fenced)
        told = [validated(process.stdout.readline())]
        while not told[-1]["changes"]:
            told.append(validated(process.stdout.readline()))
        (change,) = told[-1]["changes"]
        assert (change["topic"], change["was"], change["stands"]) == ("orders", 1, 0)
        _wait_for_looks(cluster, looks, 3)
        assert 'before="blocked",failures="0"} 1' in metrics.read_text()
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
        assert process.returncode == 143
    # The broker's end may be seen in two steps; but not in as many as there were looks.
    assert len(told) + len(rest.splitlines()) <= 3


def test_what_seldom_changes_is_asked_seldom(cluster: Cluster) -> None:
    looks = _looks(cluster)
    seldom = {api: cluster.intercept(api, Delay(0.0), times=10**6) for api in ASKED_ONCE}
    changing = [cluster.intercept(api, Delay(0.0), times=10**6) for api in CHANGING]
    with _watching(cluster):
        _wait_for_looks(cluster, looks, 3)
        before = {api: len(rule.requests) for api, rule in seldom.items()}
        _wait_for_looks(cluster, looks, 10)
        assert {api: len(rule.requests) for api, rule in seldom.items()} == before
        # A topic more: its configs are asked.
        cluster.create_topic("more", assignment=[(1, 2, 3)])
        asked = seldom["DescribeConfigs"]
        cluster.wait_until(lambda _: len(asked.requests) > before["DescribeConfigs"], 60.0)
    assert sum(len(rule.requests) for rule in changing) == 0


def test_a_topic_made_anew_is_another_one(cluster: Cluster) -> None:
    with _watching(cluster, "--format", "json", "--interval-ms", "2000") as process:
        assert process.stdout is not None
        validated(process.stdout.readline())
        looks = _looks(cluster)
        cluster.delete_topic("orders")
        cluster.create_topic("orders", assignment=[(1, 2, 3)], configs={"min.insync.replicas": "1"})
        told: Any = validated(process.stdout.readline())
        (change,) = told["changes"]
        assert (change["topic"], change["was"], change["stands"]) == ("orders", 1, 2)
        assert len(looks.requests) < 10


def test_an_idle_look_sends_seven_requests(cluster: Cluster) -> None:
    """However many brokers and topics there are; each 2,000 partitions more are one page more."""
    cluster.create_topic("wide", assignment=[(1, 2, 3)] * 50)
    keys = [module.API.request.API_KEY for module in MODULES]
    rules = [cluster.intercept(key, Delay(0.0), times=10**6) for key in keys]
    (looks,) = (rule for rule in rules if rule.api == "DescribeTopicPartitions")
    with _watching(cluster):
        _wait_for_looks(cluster, looks, 3)
        before = [len(rule.requests) for rule in rules]
        _wait_for_looks(cluster, looks, 20)
        sent = {r.api: len(r.requests) - b for r, b in zip(rules, before, strict=True)}
    # The looks at both ends are in the middle of asking.
    per_look = {api: round(number / 20) for api, number in sent.items() if number > 2}
    assert per_look == IDLE_LOOK


def _known(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return validated(process.stdout.readline())


def test_a_config_that_was_not_told_is_asked_again_at_once(cluster: Cluster) -> None:
    def of_topics(seen: Seen) -> Fail | None:
        """Return a failure for configs of topics; those of brokers prove who answers."""
        topics = all(resource.resource_type == TOPIC for resource in seen.request.resources)
        return Fail(Errors.UNKNOWN_SERVER_ERROR) if topics else None

    failed = cluster.intercept("DescribeConfigs", of_topics, times=2)
    with _watching(cluster, "--format", "json") as process:
        assert _known(process)["not_known"] == 1
        looks = _looks(cluster)
        assert _known(process)["not_known"] == 0
        assert len(failed.requests) == 2
        assert len(looks.requests) < 10


def test_a_leader_that_is_not_listed_leads_all_the_same(cluster: Cluster, tmp_path: Path) -> None:
    cluster.create_topic("fine", assignment=[(3, 1)], configs={"min.insync.replicas": "1"})
    cluster.unlist(3)
    metrics = tmp_path / "watch.prom"
    flags = ("--bootstrap-server", cluster.bootstrap_servers, "--metrics-file", str(metrics))
    done = invoke(RECOVERY, "watch", *flags, "--duration-ms", "1", "--format", "json")
    told: Any = validated(done.stdout)
    assert {(row["before"], row["failures"]) for row in told["stands"]} == {
        *{("blocked", 1), ("offline", 1), ("offline", 2)}
    }
    assert told["down"] == []
    (problem,) = told["problems"]
    assert problem.startswith("broker 3 is not listed here, and lives: it has no listener")
    assert 'failures="-1"' not in metrics.read_text()


def test_each_look_asks_a_broker_that_the_controllers_do_not_hear(cluster: Cluster) -> None:
    looks = _looks(cluster)
    with _watching(cluster, "--format", "json") as process:
        _known(process)
        _wait_for_looks(cluster, looks, 2)
        cluster.intercept("ApiVersions", NoAnswer(carried_out=False), broker=3, times=10**6)
        let_the_controllers_miss(cluster, 3)
        assert _known(process)["down"] == [3]


def test_a_look_that_fails_is_said_once_and_does_not_end_it(cluster: Cluster) -> None:
    failing = cluster.intercept("DescribeTopicPartitions", Close(carried_out=False), times=40)
    with _watching(cluster) as process:
        cluster.wait_until(lambda _: len(failing.requests) == 40, 60.0)
        _wait_for_looks(cluster, _looks(cluster), 2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert said.count("looks fail, and go on") == 1
    assert said.count("looks succeed again") == 1


def test_it_ends_when_its_time_is_over(cluster: Cluster) -> None:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    done = invoke(RECOVERY, "watch", *where, "--duration-ms", "1", "--format", "json")
    assert done.code == 0
    assert json.loads(done.stdout)["known"] == 1


def _wait_for(cluster: Cluster, path: Path, words: str) -> str:
    """Return the metrics once they have these words."""

    def told(_: object) -> str | None:
        text = path.read_text() if path.exists() else ""
        return text if words in text else None

    found = cluster.wait_until(told, 60.0)
    assert found is not None
    return found


def test_without_a_quorum_no_margin_is_claimed(cluster: Cluster, tmp_path: Path) -> None:
    """Nobody would be elected. It is said while the look still waits for answers."""
    metrics = tmp_path / "watch.prom"
    with _watching(cluster, "--format", "json", "--metrics-file", str(metrics)) as process:
        first = _known(process)
        assert (first["known"], first["quorum"]["state"]) == (1, "up")
        assert (first["quorum"]["voters"], first["quorum"]["failures"]) == (1, 0)
        cluster.pause_controller()
        try:
            told = _known(process)
            assert (told["known"], told["not_known"], told["stands"]) == (0, 1, [])
            assert told["quorum"]["state"] == "silent"
            text = _wait_for(cluster, metrics, 'quorum{command="kafka-unclean-recovery watch"')
            assert 'state="silent"} 1' in text
            assert "margin_partitions{" not in text
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
        finally:
            cluster.resume_controller()
    assert "margin_partitions{" not in metrics.read_text()


def test_looks_that_fail_are_counted_and_take_back_what_was_told(
    cluster: Cluster, tmp_path: Path
) -> None:
    metrics = tmp_path / "watch.prom"
    with _watching(cluster, "--metrics-file", str(metrics)) as process:
        _wait_for(cluster, metrics, "margin_partitions{")
        for broker in (1, 2, 3):
            cluster.kill(broker)
        text = _wait_for(cluster, metrics, 'failed_looks{command="kafka-unclean-recovery watch"} 1')
        assert "margin_partitions{" not in text
        assert 'partitions_unknown{command="kafka-unclean-recovery watch"} 1' in text
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=60)
    assert "margin_partitions{" not in metrics.read_text()
    assert "not known of 1 partition" in said


def test_what_is_known_again_is_told_whole(cluster: Cluster) -> None:
    with _watching(cluster) as process:
        assert process.stdout is not None
        whole = [process.stdout.readline() for _ in range(4)]
        failing = cluster.intercept("DescribeTopicPartitions", Close(carried_out=False), times=40)
        cluster.wait_until(lambda _: len(failing.requests) == 40, 60.0)
        _wait_for_looks(cluster, _looks(cluster), 3)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert "not known of 1 partition" in rest
    text = "".join(line.partition(" ")[2] for line in rest.splitlines(keepends=True))
    assert "".join(line.partition(" ")[2] for line in whole) in text
