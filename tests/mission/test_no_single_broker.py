"""What one broker says, or does not say, is not what the cluster says."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.faults import CONTROLLER
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Action,
    Fail,
    LeaveOut,
    NoAnswer,
    Rewrite,
    Seen,
)
from tests.cli.run import ELECTION, RECOVERY, run

TOPIC = "orders"
BEST, SHORTER = 3, 4
PARTITIONS = 2
NOBODY, UNKNOWN_SERVER_ERROR, UNKNOWN_TOPIC_OR_PARTITION = -1, -1, 3
EVERY = 10_000
SILENCE = NoAnswer(carried_out=False)
ELECT = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
DOCTOR = ("doctor", "--format", "json")

# How long an answer is waited for, then until nothing can happen any more, and for that in all.
SOONER = """
from functools import partial
from kafka_unclean_recovery.cli import session
from kafka_unclean_recovery.cli.entry import main
session.Patience = partial(session.Patience, ghost=1.0, settle=10.0)
main("kafka-unclean-recovery")
"""


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def without_best() -> Iterator[Cluster]:
    """Yield an outage: brokers 4, 3, 2, 1 died in this order with writes between, and 4 is back:
    whoever goes by the order of replicas, or does not see 3, elects it. Nobody is fenced for being
    silent."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, settings=settings)) as cluster:
        cluster.create_topic(
            TOPIC,
            assignment=[(4, 3, 2, 1)] * PARTITIONS,
            configs={"min.insync.replicas": "1"},
        )
        for number, victim in enumerate((SHORTER, BEST, 2, 1)):
            for partition in range(PARTITIONS):
                cluster.produce(TOPIC, partition, 1000 if number == 0 else 500, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(SHORTER)
        yield cluster


@pytest.fixture
def outage(without_best: Cluster) -> Cluster:
    """Return the outage of `without_best` with 3 back too, which has 500 records more than 4."""
    without_best.start(BEST)
    return without_best


def _address(cluster: Cluster, broker: int) -> str:
    return cluster.bootstrap_servers.split(",")[broker - 1]


def _through(cluster: Cluster, *brokers: int) -> tuple[str, str]:
    return "--bootstrap-server", ",".join(_address(cluster, broker) for broker in brokers)


def _leaders(cluster: Cluster) -> list[int]:
    return [cluster.partition(TOPIC, number).leader for number in range(PARTITIONS)]


def _orders(cluster: Cluster) -> list[list[int]]:
    return [list(cluster.partition(TOPIC, number).replicas) for number in range(PARTITIONS)]


def _only_api_versions(cluster: Cluster, broker: int) -> None:
    for api in (
        "DescribeCluster",
        "DescribeTopicPartitions",
        "ListPartitionReassignments",
        "DescribeQuorum",
        "AlterPartitionReassignments",
        "ElectLeaders",
    ):
        cluster.intercept(api, SILENCE, broker=broker, times=EVERY)


@pytest.mark.parametrize("cut_off", [BEST, SHORTER])
def test_a_broker_cut_off_from_the_controller_does_not_stop_a_recovery_through_another(
    outage: Cluster, cut_off: int
) -> None:
    """The designated one too: the controller has it elected, which it hears of later."""
    outage.drop_link(cut_off, CONTROLLER)
    done = run(RECOVERY, *_through(outage, cut_off), *ELECT)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr
    assert _orders(outage) == [[4, 3, 2, 1]] * PARTITIONS


def test_a_broker_that_answers_nothing_but_api_versions_does_not_stop_a_recovery(
    outage: Cluster,
) -> None:
    _only_api_versions(outage, SHORTER)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr


def test_a_list_of_topics_that_a_broker_failed_to_make_is_no_nothing_offline(
    outage: Cluster,
) -> None:
    """There is no error code in an answer about no topic."""
    outage.intercept("DescribeTopicPartitions", Fail(UNKNOWN_SERVER_ERROR), times=EVERY)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert done.returncode == 1
    assert "DescribeTopicPartitions: UNKNOWN (it lists no topic, and Metadata lists 1)" in (
        done.stderr
    )
    assert _leaders(outage) == [NOBODY] * PARTITIONS
    outage.clear_intercepts()
    outage.intercept("DescribeTopicPartitions", Fail(UNKNOWN_SERVER_ERROR))
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr


def test_a_topic_that_is_not_listed_at_first_is_no_nothing_offline(outage: Cluster) -> None:
    outage.create_topic("other", assignment=[(BEST,)])
    lacking = LeaveOut(frozenset({TOPIC}))
    outage.intercept("DescribeTopicPartitions", lacking)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert done.returncode == 1
    assert "topics orders were not listed at first, and have partitions that are" in done.stderr
    assert _leaders(outage) == [NOBODY] * PARTITIONS


def test_a_topic_that_could_not_be_described_is_no_nothing_offline(outage: Cluster) -> None:
    failing = Fail(UNKNOWN_SERVER_ERROR, of=frozenset({TOPIC}))
    outage.intercept("DescribeTopicPartitions", failing, times=EVERY)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert done.returncode == 1
    assert "topics orders could not be described (UNKNOWN)" in done.stderr
    assert _leaders(outage) == [NOBODY] * PARTITIONS
    outage.clear_intercepts()
    outage.intercept("DescribeTopicPartitions", failing, times=2)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr


def _call_the_second_unknown(answer: dict[str, Any]) -> dict[str, Any]:
    for topic in answer["topics"]:
        for partition in topic["partitions"]:
            if partition["partition_index"] == 1:
                partition["error_code"] = UNKNOWN_TOPIC_OR_PARTITION
    return answer


def test_a_partition_that_is_listed_and_called_unknown_is_no_nothing_offline(
    outage: Cluster,
) -> None:
    outage.intercept("DescribeTopicPartitions", Rewrite(_call_the_second_unknown), times=EVERY)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert done.returncode == 1
    assert "orders-1 could not be described (UNKNOWN_TOPIC_OR_PARTITION)" in done.stderr


def test_a_partition_that_is_called_unknown_before_its_election_is_not_taken_for_deleted(
    outage: Cluster,
) -> None:
    def lie(seen: Seen) -> Action | None:
        return Rewrite(_call_the_second_unknown) if seen.request.topics else None

    outage.intercept("DescribeTopicPartitions", lie, times=EVERY)
    done = run(RECOVERY, *_through(outage, SHORTER, BEST), *ELECT)
    assert done.returncode == 1
    assert _leaders(outage) == [BEST, NOBODY]
    rows = {row["partition"]: row for row in json.loads(done.stdout)["partitions"]}
    assert "UNKNOWN_TOPIC_OR_PARTITION" in rows[1]["reason"]


def test_an_election_by_the_controllers_choice_goes_past_a_broker_that_answers_nothing(
    outage: Cluster,
) -> None:
    _only_api_versions(outage, SHORTER)
    unclean = ("--election-type", "unclean", "--all-topic-partitions")
    done = run(ELECTION, *_through(outage, SHORTER, BEST), *unclean)
    assert done.returncode == 0, done.stderr


def test_an_order_given_up_at_one_broker_is_settled_and_given_again_through_another(
    outage: Cluster, tmp_path: Path
) -> None:
    """The broker is cut off in the middle: it was the one that answered until then."""
    orders = outage.intercept("AlterPartitionReassignments", SILENCE, broker=BEST, times=EVERY)

    def cut_off(_: Seen) -> Action | None:
        return SILENCE if orders.requests else None

    outage.intercept("DescribeQuorum", cut_off, broker=BEST, times=EVERY)
    config = tmp_path / "impatient.properties"
    config.write_text("request.timeout.ms=3000\n")
    command = [sys.executable, "-c", SOONER, *_through(outage, BEST), *ELECT]
    command += ["--command-config", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr
    assert _orders(outage) == [[4, 3, 2, 1]] * PARTITIONS
    assert orders.requests


def test_a_better_replica_that_a_broker_behind_the_others_does_not_know_of_is_elected(
    without_best: Cluster,
) -> None:
    without_best.lag_metadata(SHORTER)
    without_best.start(BEST)
    done = run(RECOVERY, *_through(without_best, SHORTER, BEST), *ELECT)
    assert (done.returncode, _leaders(without_best)) == (0, [BEST] * PARTITIONS), done.stderr


@pytest.mark.parametrize("number", [1, 2], ids=["at first", "before the election"])
def test_a_broker_a_record_behind_is_read_once_it_is_not_though_only_a_silent_one_was_level(
    outage: Cluster, number: int
) -> None:
    """A controller writes two records a second, and a broker has each some milliseconds later."""
    outage.pause(BEST)
    looks = itertools.count(1)

    def a_record_behind(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        for observer in partition["observers"]:
            if observer["replica_id"] == SHORTER:
                observer["log_end_offset"] = partition["high_watermark"] - 1
        # The cluster stands still for as long: waiting for the silent one takes the rest.
        time.sleep(1.0)
        return answer

    def once(_: Seen) -> Action | None:
        return Rewrite(a_record_behind) if next(looks) == number else None

    outage.intercept("DescribeQuorum", once, times=EVERY)
    losing = ("--accept-loss", "*", "--recovery-duration-ms", "3000")
    done = run(RECOVERY, *_through(outage, SHORTER), *ELECT, *losing)
    assert (done.returncode, _leaders(outage)) == (0, [SHORTER] * PARTITIONS), done.stderr
    assert next(looks) > number


def test_nobody_is_elected_on_the_word_of_a_broker_that_is_behind_the_controller(
    without_best: Cluster,
) -> None:
    """The only one that is known: it does not know that another is back."""
    without_best.lag_metadata(SHORTER)
    without_best.start(BEST)
    done = run(RECOVERY, *_through(without_best, SHORTER), *ELECT)
    assert (done.returncode, _leaders(without_best)) == (1, [-1] * PARTITIONS), done.stderr
    assert "no broker that could be read has all of the controller's metadata" in done.stderr


def test_who_only_looks_is_told_that_what_was_seen_may_be_old(without_best: Cluster) -> None:
    without_best.lag_metadata(SHORTER)
    without_best.start(BEST)
    shown = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
    done = run(RECOVERY, *_through(without_best, SHORTER), *shown)
    (problem,) = json.loads(done.stdout)["problems"]
    assert done.returncode == 1
    assert problem.startswith("what was seen may be old: no broker that could be read")


def test_leaders_are_not_read_back_from_a_broker_that_fell_behind_meanwhile(
    outage: Cluster,
) -> None:
    """It hears nothing of the election, and would say that nobody leads."""
    emulation = outage.look(lambda emulation: emulation)

    def lag(_: Seen) -> Action | None:
        emulation.lose_sight(emulation.brokers[SHORTER])
        return None

    outage.intercept("ElectLeaders", lag)
    done = run(RECOVERY, *_through(outage, SHORTER), *ELECT)
    assert (done.returncode, _leaders(outage)) == (0, [BEST] * PARTITIONS), done.stderr
    assert _orders(outage) == [[4, 3, 2, 1]] * PARTITIONS


@pytest.mark.parametrize("first", [BEST, SHORTER])
def test_doctor_does_not_take_a_broker_that_is_cut_off_for_the_cluster(
    outage: Cluster, first: int
) -> None:
    outage.drop_link(first, CONTROLLER)
    done = run(RECOVERY, *DOCTOR[:1], *_through(outage, first), *DOCTOR[1:])
    checks = {c["code"]: c["status"] for c in json.loads(done.stdout)["checks"]}
    assert (checks["quorum"], checks["right_cluster_alter"]) == ("ok", "ok"), done.stdout


def test_bootstrap_servers_of_two_clusters_are_refused_and_both_are_named(
    outage: Cluster,
) -> None:
    with Cluster(Options(brokers=1)) as other:
        mixed = f"{_address(outage, SHORTER)},{_address(other, 1)}"
        done = run(RECOVERY, "--bootstrap-server", mixed, *ELECT)
        shown = run(RECOVERY, *DOCTOR[:1], "--bootstrap-server", mixed, *DOCTOR[1:])
        ids = {each.look(lambda emulation: emulation.cluster_id) for each in (outage, other)}
    assert (done.returncode, _leaders(outage)) == (2, [-1] * PARTITIONS), done.stderr
    assert "names brokers of two clusters" in done.stderr
    assert all(found in done.stderr for found in ids)
    (check,) = [
        check
        for check in json.loads(shown.stdout)["checks"]
        if check["code"] == "bootstrap_of_another_cluster"
    ]
    assert (shown.returncode, check["status"]) == (1, "failure")
    assert all(found in check["what"] for found in ids)
