"""A broker lives, or answers, whatever one listener, one address and one moment say of it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal import Event
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.faults import CONTROLLER, STOPPED
from kafka_unclean_recovery.emulator.listener.intercepts import (
    Delay,
    Fail,
    Hold,
    Rewrite,
    Seen,
    Throttle,
)
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.signals import stopping_signals
from tests.cli import in_process
from tests.cli.run import RECOVERY, run
from tests.emulator.holding import held_while

TOPIC = "orders"
WORSE, BETTER = 4, 3
NO_LEADER = -1
WITHOUT_LOSS = ("--automated-recovery", "--yes", "--accept-loss", "*:0")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@dataclass(frozen=True)
class Told:
    """What a run said of its only partition."""

    code: int
    row: dict[str, Any]
    stderr: str

    def log(self, broker: int) -> dict[str, Any]:
        logs: list[dict[str, Any]] = self.row["replica_logs"]
        return next(log for log in logs if log["broker"] == broker)

    @property
    def findings(self) -> set[str]:
        return {finding["code"] for finding in self.row["findings"]}


# DescribeConfigs proves who answers where ApiVersions does not name nodes.
@pytest.fixture(params=["4.4.0", "4.3.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield an outage: brokers 4, 3 and 1 died in this order with writes between; 3 (1500 records)
    and 4 (1000) are back, and the order of replicas has 4 first."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=request.param, settings=settings)) as cluster:
        cluster.create_topic(
            TOPIC, assignment=[(1, WORSE, BETTER)], configs={"min.insync.replicas": "1"}
        )
        for records, victim in ((1000, WORSE), (500, BETTER), (500, 1)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


def _address(cluster: Cluster, broker: int) -> str:
    return cluster.bootstrap_servers.split(",")[broker - 1]


def _recover(cluster: Cluster, *flags: str, by: int = 2) -> Told:
    done = run(
        RECOVERY,
        *("--bootstrap-server", _address(cluster, by), "--all-offline-partitions"),
        *("--format", "json", "--recovery-duration-ms", "3000"),
        *flags,
    )
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["partitions"]
    return Told(done.returncode, rows[0] if rows else {}, done.stderr)


def _nobody_was_elected(cluster: Cluster) -> bool:
    found = cluster.partition(TOPIC, 0)
    return found.leader == NO_LEADER and found.replicas == (1, WORSE, BETTER)


def test_without_any_of_it_the_better_one_is_elected(outage: Cluster) -> None:
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


@pytest.mark.parametrize(("astray", "to"), [(BETTER, WORSE), (WORSE, BETTER), (BETTER, 2)])
def test_an_address_that_leads_to_another_broker_is_no_answer(
    outage: Cluster, astray: int, to: int
) -> None:
    outage.lead_astray(astray, to)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    log = told.log(astray)
    assert log["log_end_offset"] is None
    assert f"not broker {astray}" in log["problem"]
    assert told.row["loss"]["certain"] is None


def test_a_broker_without_our_listener_lives(outage: Cluster) -> None:
    outage.unlist(BETTER)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "replica_lives_unseen" in told.findings
    log = told.log(BETTER)
    assert "listener" in log["unproven"]
    assert told.row["loss"]["certain"] is None


def test_who_consents_to_any_loss_may_elect_past_a_broker_without_our_listener(
    outage: Cluster,
) -> None:
    outage.unlist(BETTER)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == WORSE
    assert told.row["loss"]["certain"] is None


def test_what_a_broker_without_our_listener_would_lose_is_not_called_saved(
    outage: Cluster, tmp_path: Path
) -> None:
    outage.unlist(BETTER)
    saved = tmp_path / "saved"
    told = _recover(outage, "--automated-recovery", "--yes", "--salvage-dir", str(saved))
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert f"what broker {BETTER} would lose can't be told" in told.row["reason"]


def test_a_partition_that_is_led_by_a_broker_without_our_listener_is_left_alone(
    outage: Cluster,
) -> None:
    outage.elect_leaders("unclean", TOPIC)
    leader = outage.partition(TOPIC, 0).leader
    before = outage.partition(TOPIC, 0)
    outage.unlist(leader)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.row == {}
    assert "nothing is offline" in told.stderr
    assert outage.partition(TOPIC, 0) == before


def _silent_for(cluster: Cluster, broker: int, seconds: float) -> None:
    """Let the broker hang: it is not fenced yet, and fetches no metadata."""

    def hangs(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        for observer in partition["observers"]:
            if observer["replica_id"] == broker:
                observer["last_fetch_timestamp"] -= int(seconds * 1000)
        return answer

    cluster.pause(broker)
    cluster.intercept("DescribeQuorum", Rewrite(hangs), times=1000)


def test_a_broker_without_our_listener_that_hangs_for_some_seconds_is_not_dead(
    outage: Cluster,
) -> None:
    outage.unlist(BETTER)
    _silent_for(outage, BETTER, 5.0)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "replica_lives_unseen" in told.findings
    assert "is active, as the controllers tell" in told.log(BETTER)["unproven"]
    assert told.row["loss"]["certain"] is None


def test_a_broker_without_our_listener_that_is_silent_for_longer_than_a_session_is_dead(
    outage: Cluster,
) -> None:
    outage.unlist(BETTER)
    _silent_for(outage, BETTER, 60.0)
    told = _recover(outage, *WITHOUT_LOSS)
    assert (told.code, told.log(BETTER)["unproven"]) == (0, None)


def test_a_leader_without_our_listener_that_hangs_is_left_alone(outage: Cluster) -> None:
    outage.elect_leaders("unclean", TOPIC)
    before = outage.partition(TOPIC, 0)
    outage.unlist(before.leader)
    _silent_for(outage, before.leader, 60.0)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.row == {}
    assert "nothing is offline" in told.stderr
    assert outage.partition(TOPIC, 0) == before


def test_metadata_that_was_fetched_and_not_applied_is_old(outage: Cluster) -> None:
    outage.kill(BETTER)
    outage.fence(BETTER)
    outage.lag_metadata(WORSE, STOPPED, fetched=True)
    outage.start(BETTER)
    told = _recover(outage, *WITHOUT_LOSS, by=WORSE)
    # Another broker is asked instead, which knows that 3 lives.
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


@pytest.fixture
def without_better(outage: Cluster) -> Cluster:
    """Return the outage with 3 down still."""
    outage.kill(BETTER)
    outage.fence(BETTER)
    return outage


@pytest.fixture
def while_the_journal_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Callable[[], object]], None]]:
    """Yield what lets something happen while the journal writes what is to be elected."""
    handlers = {number: signal.getsignal(number) for number in stopping_signals()}

    def happens(act: Callable[[], object]) -> None:
        written = Journal.write

        def write(journal: Journal, event: Event, **fields: object) -> None:
            if event == "elect":
                act()
            written(journal, event, **fields)

        monkeypatch.setattr(Journal, "write", write)

    yield happens
    # A command that ends lets a signal end its process, which is pytest's here.
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _recover_in_process(cluster: Cluster, *flags: str) -> Told:
    done = in_process.invoke(
        in_process.RECOVERY,
        *("--bootstrap-server", _address(cluster, 2), "--all-offline-partitions"),
        *("--format", "json", "--recovery-duration-ms", "3000"),
        *flags,
    )
    assert done.stdout, done.stderr
    return Told(done.code, json.loads(done.stdout)["partitions"][0], done.stderr)


def test_who_came_back_while_the_journal_was_written_is_seen(
    without_better: Cluster,
    while_the_journal_is_written: Callable[[Callable[[], object]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 1.0)

    def comes_back() -> None:
        if without_better.status().brokers[BETTER - 1].process == "dead":
            without_better.start(BETTER)
            time.sleep(1.2)

    while_the_journal_is_written(comes_back)
    told = _recover_in_process(without_better, *WITHOUT_LOSS)
    assert told.code == 1
    assert f"broker {BETTER} has come back since" in told.row["reason"]
    assert _nobody_was_elected(without_better)


def test_who_comes_back_while_the_order_is_written_is_seen(without_better: Cluster) -> None:
    orders: list[Seen] = []

    def comes_back(seen: Seen) -> Hold | None:
        orders.append(seen)
        return held_while(lambda: without_better.start(BETTER)) if len(orders) == 1 else None

    without_better.intercept("AlterPartitionReassignments", comes_back, times=9)
    told = _recover(without_better, *WITHOUT_LOSS)
    assert told.code == 1
    assert f"broker {BETTER} has come back since" in told.row["reason"]
    assert _nobody_was_elected(without_better)


def test_a_signal_while_the_journal_is_written_has_nothing_sent(
    without_better: Cluster,
    while_the_journal_is_written: Callable[[Callable[[], object]], None],
) -> None:
    elected = without_better.intercept("ElectLeaders", Delay(0.0), times=100)
    ordered = without_better.intercept("AlterPartitionReassignments", Delay(0.0), times=100)

    def ask_to_stop() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

    while_the_journal_is_written(ask_to_stop)
    told = _recover_in_process(without_better, *WITHOUT_LOSS)
    assert told.code == 130
    assert "interrupted" in told.row["reason"]
    assert (elected.requests, ordered.requests) == ([], [])
    assert _nobody_was_elected(without_better)


def test_a_broker_that_is_being_stopped_is_not_elected_past(outage: Cluster) -> None:
    # It waits for a broker that does not hear of the leader that moved away from it.
    outage.create_topic("other", assignment=[(BETTER, WORSE)])
    outage.lag_metadata(2, STOPPED)
    outage.drain(BETTER)
    told = _recover(outage, *WITHOUT_LOSS, by=WORSE)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert f"the controllers elect broker {BETTER} for nothing now" in told.row["reason"]


def _cut_off(cluster: Cluster, broker: int) -> None:
    cluster.drop_link(broker, CONTROLLER)
    cluster.fence(broker)


def test_a_broker_that_only_the_controllers_do_not_hear_counts(outage: Cluster) -> None:
    _cut_off(outage, BETTER)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "replica_fenced" in told.findings
    assert (told.log(BETTER)["live"], told.log(BETTER)["log_end_offset"]) == (True, 1500)
    assert told.row["loss"]["certain"] == 500


def test_who_consents_to_the_loss_may_elect_past_a_fenced_broker(outage: Cluster) -> None:
    _cut_off(outage, BETTER)
    told = _recover(outage, "--automated-recovery", "--yes", "--accept-loss", "*:500")
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == WORSE


def test_a_fenced_broker_that_holds_less_keeps_nobody_from_leading(outage: Cluster) -> None:
    _cut_off(outage, WORSE)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


@pytest.mark.parametrize("how", ["hangs", "is slow"])
def test_a_fenced_broker_that_takes_connections_and_does_not_answer_is_not_dead(
    outage: Cluster, how: str
) -> None:
    _cut_off(outage, BETTER)
    if how == "hangs":
        outage.pause(BETTER)
    else:
        outage.intercept("ListOffsets", Delay(9.0), broker=BETTER, times=1000)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "replica_lives_unseen" in told.findings
    assert "takes connections without an answer" in told.log(BETTER)["unproven"]
    assert told.row["loss"]["certain"] is None


def test_a_fenced_broker_that_is_slow_is_waited_for(outage: Cluster) -> None:
    _cut_off(outage, BETTER)
    outage.intercept("ListOffsets", Delay(1.6), broker=BETTER, times=1)
    told = _recover(outage, *WITHOUT_LOSS, "--recovery-duration-ms", "9000")
    assert told.code == 1
    assert (told.log(BETTER)["live"], told.log(BETTER)["log_end_offset"]) == (True, 1500)
    assert told.row["loss"]["certain"] == 500


def test_who_consents_to_any_loss_may_elect_past_a_fenced_broker_that_hangs(
    outage: Cluster,
) -> None:
    _cut_off(outage, BETTER)
    outage.pause(BETTER)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == WORSE
    assert told.row["loss"]["certain"] is None


def test_a_quota_that_starves_the_epochs_is_named(outage: Cluster) -> None:
    for broker in (BETTER, WORSE):
        outage.intercept("Fetch", Throttle(1.0), broker=broker, times=1000)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    for said in (told.row["reason"], told.stderr):
        assert f"broker {BETTER}: " in said
        assert "quota" in said
    assert "1.0 s" in told.stderr


def test_a_quota_that_makes_each_look_too_old_is_named(
    outage: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kafka_unclean_recovery.transport.gate.GOOD_FOR_SECONDS", 0.2)
    monkeypatch.setattr("kafka_unclean_recovery.transport.electing._LATE_TRIES", 1)
    outage.intercept("DescribeTopicPartitions", Throttle(0.5), times=1000)
    told = _recover_in_process(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    for said in (told.row["reason"], told.stderr):
        assert "too old to elect by" in said
        assert "a client quota was used up there, for 0.5 s last" in said


def test_a_quota_is_waited_for_as_long_as_the_operator_allows(outage: Cluster) -> None:
    outage.intercept("Fetch", Throttle(1.0), broker=BETTER, times=4)
    told = _recover(outage, *WITHOUT_LOSS, "--recovery-duration-ms", "9000")
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


def test_without_the_right_to_ask_whether_a_broker_can_be_elected_that_is_said(
    outage: Cluster,
) -> None:
    outage.intercept("CreateTopics", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=9)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER
    (said,) = (line for line in told.stderr.splitlines() if "could be elected" in line)
    assert f"broker {BETTER}" in said
    assert "TOPIC_AUTHORIZATION_FAILED; grant Cluster:CREATE" in said


def test_a_policy_for_new_topics_does_not_make_a_broker_of_unknown_fate(outage: Cluster) -> None:
    """The controllers ask it only once they have found that the broker takes a partition."""
    outage.intercept("CreateTopics", Fail(Errors.POLICY_VIOLATION), times=9)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER
    assert "could be elected" not in told.stderr
