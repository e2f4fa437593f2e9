"""The controllers are asked whether a broker is active of which nothing else tells."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Rewrite
from kafka_unclean_recovery.kafka_names import Errors
from tests.cli import in_process
from tests.mission.test_who_lives import (
    BETTER,
    TOPIC,
    WITHOUT_LOSS,
    WORSE,
    _address,
    _nobody_was_elected,
    _recover,
    _state,  # noqa: F401
)

DEAD = 1


@pytest.fixture(params=["3.9.1", "4.3.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """As in test_who_lives; in 3.9.1 fenced brokers are not listed."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=request.param, settings=settings)) as cluster:
        cluster.create_topic(
            TOPIC, assignment=[(DEAD, WORSE, BETTER)], configs={"min.insync.replicas": "1"}
        )
        for records, victim in ((1000, WORSE), (500, BETTER), (500, DEAD)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


def _heard(cluster: Cluster, seconds: float | None, broker: int = BETTER) -> None:
    """Let the controllers have heard from the broker so long ago, or tell no times at all."""

    def late(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        for node in (*partition["observers"], *partition["current_voters"]):
            if seconds is None:
                node["last_fetch_timestamp"] = -1
            elif node["replica_id"] == broker:
                node["last_fetch_timestamp"] = int((time.time() - seconds) * 1000)
        return answer

    cluster.intercept("DescribeQuorum", Rewrite(late), times=10**6)


@pytest.mark.parametrize("seconds", [5.0, None])
def test_one_without_our_listener_lives_as_long_as_the_controllers_hear_it(
    outage: Cluster, seconds: float | None
) -> None:
    outage.unlist(BETTER)
    _heard(outage, seconds)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "is active, as the controllers tell" in told.log(BETTER)["unproven"]
    assert told.row["loss"]["certain"] is None


@pytest.mark.parametrize("seconds", [5.0, None])
def test_one_that_is_fenced_is_dead(outage: Cluster, seconds: float | None) -> None:
    _heard(outage, seconds, DEAD)
    told = _recover(outage, *WITHOUT_LOSS)
    assert (told.code, told.log(DEAD)["unproven"]) == (0, None), told
    assert outage.partition(TOPIC, 0).leader == BETTER


def test_without_the_right_to_ask_it_is_unknown(outage: Cluster) -> None:
    outage.unlist(BETTER)
    _heard(outage, None)
    outage.intercept("CreateTopics", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=10**6)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "grant Cluster:CREATE" in told.log(BETTER)["unproven"]
    assert told.row["loss"]["certain"] is None
    consents = _recover(outage, "--automated-recovery", "--yes")
    assert consents.code == 0
    assert outage.partition(TOPIC, 0).leader == WORSE


def test_where_times_are_told_no_right_to_ask_is_needed(outage: Cluster) -> None:
    _heard(outage, 60.0, DEAD)
    outage.intercept("CreateTopics", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=10**6)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


def test_one_request_asks_about_all(outage: Cluster) -> None:
    outage.unlist(BETTER)
    _heard(outage, None)
    asked = outage.intercept("CreateTopics", Rewrite(lambda answer: answer), times=10**6)
    _recover(outage, "--show-replica-info")
    assert len(asked.requests) == 1
    placed = {t.assignments[0].broker_ids[0] for t in asked.requests[0].request.topics}
    assert BETTER in placed
    assert asked.requests[0].request.validate_only
    assert [topic.name for topic in outage.look(lambda e: list(e.state.topics.values()))] == [TOPIC]


def test_who_may_not_ask_for_the_quorum_hears_by_it_too(outage: Cluster) -> None:
    outage.unlist(BETTER)
    outage.intercept("DescribeQuorum", Fail(Errors.CLUSTER_AUTHORIZATION_FAILED), times=10**6)
    done = in_process.invoke(
        in_process.RECOVERY,
        *("doctor", "--bootstrap-server", _address(outage, WORSE)),
    )
    assert "is active, as the controllers tell" in done.stdout


def test_the_other_commands_hear_by_it(outage: Cluster, tmp_path: Path) -> None:
    outage.unlist(BETTER)
    _heard(outage, None)
    done = in_process.invoke(
        in_process.RECOVERY,
        *("ok-to-stop", "--bootstrap-server", _address(outage, 2), "--brokers", str(WORSE)),
        *("--save", str(tmp_path / "seen.json")),
    )
    assert "is active, as the controllers tell" in (tmp_path / "seen.json").read_text(), done
    done = in_process.invoke(
        in_process.RECOVERY,
        *("before-start", "--log-dirs", str(outage.log_directory(BETTER))),
        *("--bootstrap-server", _address(outage, 2)),
    )
    assert "is active, as the controllers tell" in done.stdout + done.stderr, done
