"""`ok-to-stop` on an emulated cluster: answers, exit codes, files, and that nothing is changed."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Close,
    Delay,
    Fail,
    LeaveOut,
    NoAnswer,
    Rewrite,
    Throttle,
)
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.cli.run import RECOVERY as MODULE
from tests.cli.run import command_line
from tests.cli.test_bad_input import CHANGING
from tests.ok_to_stop.silence import let_the_controllers_miss

NAME = "ok-to-stop"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(Options(brokers=4)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2, 3)], configs={"min.insync.replicas": "2"})
        yield cluster


def _ask(cluster: Cluster, *flags: str, env: dict[str, str] | None = None) -> Done:
    return invoke(RECOVERY, NAME, "--bootstrap-server", cluster.bootstrap_servers, *flags, env=env)


def test_it_answers_and_changes_nothing(cluster: Cluster) -> None:
    rules = [cluster.intercept(api, Delay(0.0), times=10**6) for api in CHANGING]
    yes, no = _ask(cluster, "--brokers", "1"), _ask(cluster, "--brokers", "1,2")
    assert (yes.code, no.code) == (0, 1)
    assert "at_the_floor, by a stop:\n- orders-0: ISR 1,2,3 becomes 2,3" in yes.stdout
    assert no.stdout.endswith("\nno\n")
    assert sum(len(rule.requests) for rule in rules) == 0


def test_what_was_saved_is_answered_alike_without_the_cluster(
    cluster: Cluster, tmp_path: Path
) -> None:
    seen = str(tmp_path / "seen.json")
    live = _ask(cluster, "--brokers", "1", "--save", seen)
    # A server in the environment is not asked.
    env = {"KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER": "127.0.0.1:1"}
    saved = invoke(RECOVERY, NAME, "--what-if", seen, "--brokers", "1", env=env)
    assert (saved.code, saved.stdout) == (0, live.stdout)
    other = invoke(RECOVERY, NAME, "--what-if", seen, "--brokers", "2,3")
    assert other.code == 1


def test_whether_a_topic_may_be_led_uncleanly_is_saved(cluster: Cluster, tmp_path: Path) -> None:
    flag = {"unclean.leader.election.enable": "true"}
    cluster.create_topic("clicks", assignment=[(1, 2)], configs=flag)
    seen = tmp_path / "seen.json"
    _ask(cluster, "--brokers", "3", "--save", str(seen))
    topics = json.loads(seen.read_text())["topics"]
    assert {each["name"]: each["unclean"] for each in topics} == {"clicks": True, "orders": False}


def test_a_config_that_is_refused_is_named_with_the_error(cluster: Cluster) -> None:
    refused = Fail(Errors.TOPIC_AUTHORIZATION_FAILED)
    cluster.intercept("DescribeConfigs", refused, times=10**6)
    done = _ask(cluster, "--brokers", "1")
    assert done.code != 0
    assert "min.insync.replicas is not known (TOPIC_AUTHORIZATION_FAILED); grant" in done.stdout


def test_a_config_that_the_answer_lacks_is_not_known_and_no_error_is_named(
    cluster: Cluster,
) -> None:
    def without_values(answer: dict[str, Any]) -> dict[str, Any]:
        return answer | {"results": [each | {"configs": []} for each in answer["results"]]}

    cluster.intercept("DescribeConfigs", Rewrite(without_values), times=10**6)
    done = _ask(cluster, "--brokers", "1")
    assert done.code != 0
    assert "min.insync.replicas is not known; grant" in done.stdout


def test_a_file_that_was_saved_is_read_whoever_is_left_in_an_elr(
    cluster: Cluster, tmp_path: Path
) -> None:
    """A controller of 4.3.1 leaves there whom a reassignment took off."""
    seen = tmp_path / "seen.json"
    _ask(cluster, "--brokers", "1", "--save", str(seen))
    saved: Any = json.loads(seen.read_text())
    (partition,) = saved["topics"][0]["partitions"]
    partition["elr"], partition["last_known_elr"] = [4], [4]
    seen.write_text(json.dumps(saved))
    done = invoke(RECOVERY, NAME, "--what-if", str(seen), "--brokers", "1")
    assert done.code == 0, done


def test_it_waits_until_the_answer_is_yes(cluster: Cluster) -> None:
    cluster.kill(2)
    cluster.wait_until(lambda e: e.state.brokers[2].fenced)
    assert _ask(cluster, "--brokers", "1").code == 1
    back = Timer(1.0, cluster.start, [2])
    back.start()
    done = _ask(cluster, "--brokers", "1", "--wait-ms", "60000")
    back.join()
    assert done.code == 0, done


def test_it_waits_no_longer_than_it_may(cluster: Cluster) -> None:
    done = _ask(cluster, "--brokers", "1,2", "--wait-ms", "100")
    assert done.code == 1


def test_ctrl_c_ends_a_wait(cluster: Cluster) -> None:
    flags = ("--bootstrap-server", cluster.bootstrap_servers, "--brokers", "1,2")
    process = subprocess.Popen(
        command_line(MODULE, NAME, *flags, "--wait-ms", "600000", "--log-format", "json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    asked = cluster.intercept("DescribeTopicPartitions", Delay(0.0), times=10**6)
    cluster.wait_until(lambda _: len(asked.requests) > 1, 60.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")


def test_after_the_start_it_says_what_is_not_back(cluster: Cluster) -> None:
    cluster.kill(2)
    cluster.wait_until(lambda e: e.state.brokers[2].fenced)
    down = _ask(cluster, "--brokers", "2", "--after")
    assert down.code == 1
    assert "- orders-0 on 2: broker down" in down.stdout
    cluster.start(2)
    done = _ask(cluster, "--brokers", "2", "--after", "--wait-ms", "60000")
    assert done.code == 0, done


def test_the_metrics_are_written_though_the_answer_is_no(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "metrics.prom"
    assert _ask(cluster, "--brokers", "1,2", "--metrics-file", str(file)).code == 1
    text = file.read_text()
    assert (
        'stop_partitions{command="kafka-unclean-recovery ok-to-stop",class="writes_blocked"} 1'
        in text
    )
    assert 'verdict{command="kafka-unclean-recovery ok-to-stop",verdict="no"} 1' in text


def _let_hang(cluster: Cluster, broker: int) -> None:
    cluster.intercept("ApiVersions", NoAnswer(carried_out=False), broker=broker, times=10**6)


def test_a_broker_that_hangs_makes_it_unknown(cluster: Cluster) -> None:
    _let_hang(cluster, 3)
    let_the_controllers_miss(cluster, 3)
    done = _ask(cluster, "--brokers", "1", "--format", "json")
    told: Any = json.loads(done.stdout)
    assert (done.code, told["verdict"]) == (4, "unknown")
    assert [row["why"] for row in told["not_known"]] == [
        "broker 3 is in its ISR or ELR and does not answer: it may be down"
    ]


def test_a_broker_that_only_the_controllers_reach_is_named(cluster: Cluster) -> None:
    _let_hang(cluster, 3)
    done = _ask(cluster, "--brokers", "1", "--format", "json")
    told: Any = json.loads(done.stdout)
    (row,) = told["not_known"]
    assert done.code == 4
    assert "does not answer, though it fetched the metadata log" in row["why"]
    assert cluster.bootstrap_servers.split(",")[2] in row["why"]


@pytest.mark.parametrize(("asked", "code"), [("1", 0), ("3", 4)])
def test_a_side_question_that_is_held_back_makes_no_broker_dead(
    cluster: Cluster, asked: str, code: int
) -> None:
    """Topics that this user can't see matter only where they would be stopped."""
    cluster.intercept("DescribeLogDirs", NoAnswer(carried_out=False), broker=3, times=10**6)
    done = _ask(cluster, "--brokers", asked, "--format", "json")
    told: Any = json.loads(done.stdout)
    assert (done.code, told["not_known"]) == (code, [])
    hidden = [p for p in told["problems"] if "topics of broker 3 are hidden is not known" in p]
    assert len(hidden) == (asked == "3")


def test_a_throttled_side_question_holds_up_no_other(cluster: Cluster) -> None:
    # Each broker is asked for its own min.insync.replicas where a topic has none.
    cluster.create_topic("more", assignment=[(1, 2, 3)])
    cluster.intercept("DescribeLogDirs", Throttle(30.0), times=10**6)
    own = cluster.intercept("DescribeConfigs", Delay(0.0), broker=3, times=10**6)
    began = time.monotonic()
    assert _ask(cluster, "--brokers", "1").code == 0
    assert time.monotonic() - began < 5
    assert own.requests


@pytest.mark.parametrize("asked", ["3", "1"])
def test_a_leader_that_is_not_listed_is_neither_dead_nor_known(
    cluster: Cluster, asked: str
) -> None:
    cluster.create_topic("fine", assignment=[(3, 1)], configs={"min.insync.replicas": "1"})
    cluster.unlist(3)
    done = _ask(cluster, "--brokers", asked, "--format", "json")
    told: Any = json.loads(done.stdout)
    assert (done.code, told["verdict"], told["already"]) == (4, "unknown", [])
    why = {row["topic"]: row["why"] for row in told["not_known"]}
    assert why.keys() == {"fine", "orders"}
    assert all("broker 3" in text and "has no listener" in text for text in why.values())


def test_a_broker_that_is_not_listed_matters_to_its_own_partitions_only(cluster: Cluster) -> None:
    cluster.create_topic("others", assignment=[(4, 2)], configs={"min.insync.replicas": "1"})
    cluster.unlist(3)
    assert _ask(cluster, "--brokers", "4").code == 0


def test_a_broker_that_is_not_listed_is_back_all_the_same(cluster: Cluster) -> None:
    cluster.unlist(3)
    assert _ask(cluster, "--brokers", "3", "--after").code == 0


@pytest.fixture
def outage(cluster: Cluster) -> Cluster:
    """Return an outage: nobody leads `lost`: 3 holds 1500 of its records, 4 holds 1000, and 1,
    which had all, is dead."""
    cluster.create_topic("lost", assignment=[(1, 4, 3)], configs={"min.insync.replicas": "1"})
    for records, victim in ((1000, 4), (500, 3), (500, 1)):
        cluster.produce("lost", 0, records, acks="1")
        cluster.kill(victim)
        cluster.fence(victim)
    cluster.start(3)
    cluster.start(4)
    cluster.wait_until(lambda e: not (e.state.brokers[3].fenced or e.state.brokers[4].fenced))
    return cluster


@pytest.mark.parametrize(("asked", "survives"), [("3", True), ("3,4", True), ("4", False)])
def test_the_best_survivor_of_an_outage_is_not_stopped(
    outage: Cluster, asked: str, survives: bool
) -> None:
    outage.delete_topic("orders")
    done = _ask(outage, "--brokers", asked, "--format", "json")
    told: Any = json.loads(done.stdout)
    rows = {r["topic"]: r for how in ("stop", "kill") for r in told[how]["partitions"]}
    assert done.code == (1 if survives else 0), told
    assert ("lost" in rows) == survives
    if survives:
        assert rows["lost"]["classes"] == ["offline_survivor"]
        assert rows["lost"]["because"].endswith("would be stopped: that of 3")
    assert [row["topic"] for row in told["already"]] == ["lost"]


@pytest.mark.parametrize(("asked", "code"), [("4", 4), ("3,4", 1), ("2", 0)])
def test_a_survivor_that_can_not_be_read_may_be_the_best(
    outage: Cluster, asked: str, code: int, tmp_path: Path
) -> None:
    outage.delete_topic("orders")
    outage.intercept("ListOffsets", Fail(Errors.UNKNOWN_SERVER_ERROR), broker=3, times=10**6)
    seen = str(tmp_path / "seen.json")
    done = _ask(outage, "--brokers", asked, "--save", seen)
    assert done.code == code, done
    assert ("which live copy of it is the best is not known: broker 3" in done.stdout) == (
        asked == "4"
    )
    saved = invoke(RECOVERY, NAME, "--what-if", seen, "--brokers", asked)
    assert (saved.code, saved.stdout) == (code, done.stdout)


@pytest.mark.parametrize("flag", ["--max", "--margin"])
def test_more_is_asked_by_flags(cluster: Cluster, flag: str) -> None:
    done = _ask(cluster, "--brokers", "4", flag, "3", "--format", "json")
    told: Any = json.loads(done.stdout)
    assert told["largest"] == ([1, 4] if flag == "--max" else None)
    assert told["margin"] == (3 if flag == "--margin" else 0)


def test_an_error_is_not_taken_for_a_no(cluster: Cluster) -> None:
    cluster.intercept("DescribeTopicPartitions", Fail(Errors.UNKNOWN_SERVER_ERROR), times=10**6)
    done = _ask(cluster, "--brokers", "1")
    assert (done.code, done.stdout) == (4, ""), done
    assert "the cluster can't be looked at" in done.stderr


def test_a_look_that_fails_does_not_end_a_wait(cluster: Cluster) -> None:
    """As in a rolling restart, where a broker goes in the middle of an answer."""
    failing = cluster.intercept("DescribeTopicPartitions", Close(carried_out=False), times=12)
    done = _ask(cluster, "--brokers", "1", "--wait-ms", "60000")
    assert done.code == 0, done
    assert len(failing.requests) == 12


@pytest.mark.parametrize("lacks", ["orders", "more-0", "more-1"])
def test_an_answer_that_lacks_a_row_makes_it_unknown(cluster: Cluster, lacks: str) -> None:
    cluster.create_topic("more", assignment=[(1, 2, 3)] * 3)
    rule = LeaveOut(frozenset({lacks}))
    cluster.intercept("DescribeTopicPartitions", rule, times=10**6)
    done = _ask(cluster, "--brokers", "1", "--format", "json")
    told: Any = json.loads(done.stdout)
    assert (done.code, told["verdict"]) == (4, "unknown"), told
