"""Whoever leads at the end of a run is compared with every log that the run has seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Settings
from kafka_unclean_recovery.emulator.faults import CONTROLLER
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, Fail, Hold, Seen
from kafka_unclean_recovery.kafka_names import Errors
from tests.mission.conftest import PROBES, Means
from tests.real.releases import ONE
from tests.real.waiting import wait_until
from tests.real.watching import TIMEOUT, Commands, Watched

TOPIC = "orders"
LAST, SPARE, BETTER, WORSE = 1, 2, 3, 4
ON_LAST, ON_BETTER, ON_WORSE = 2000, 1500, 1000
NO_LEADER = -1
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


@pytest.fixture
def outage(means: Means) -> Iterator[Cluster]:
    """Yield an outage: brokers 4, 3 and 1 died in this order with writes between; 3 (1500 records)
    and 4 (1000) are back, and the order of replicas has 4 before 3. Broker 2 hosts nothing, and
    lives."""
    yield from _outage(means, ONE)


@pytest.fixture
def without_elr(means: Means) -> Iterator[Cluster]:
    """Yield that outage where the last leader stays in the ISR, whatever it comes back with."""
    yield from _outage(means, "3.9.1")


def _outage(means: Means, release: str) -> Iterator[Cluster]:
    options = replace(means.options(release), settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        cluster.create_topic(
            TOPIC, assignment=[(LAST, WORSE, BETTER)], configs={"min.insync.replicas": "1"}
        )
        for records, victim in ((ON_WORSE, WORSE), (500, BETTER), (500, LAST)):
            cluster.produce(TOPIC, 0, records, acks="1")
            _lose(cluster, victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _run(commands: Commands, cluster: Cluster, *flags: str, terminal: bool = False) -> Watched:
    address = cluster.bootstrap_servers.split(",")[SPARE - 1]
    return commands.start(
        *("--bootstrap-server", address, "--all-offline-partitions", "--automated-recovery"),
        *("--accept-loss", "*:0", "--format", "json", *flags),
        terminal=terminal,
    )


def _waiting(commands: Commands, cluster: Cluster, *flags: str, ms: int = 60_000) -> Watched:
    """Return a run that has read both live logs, and waits for broker 1."""
    wait = ("--wait-for-brokers", str(LAST), "--recovery-duration-ms", str(ms))
    run = _run(commands, cluster, "--yes", *wait, *flags, terminal=True)
    run.has_read_all_but(LAST)
    return run


@dataclass(frozen=True)
class Told:
    """What a run said of its only partition."""

    code: int
    row: dict[str, Any]
    stderr: str
    problems: list[str]

    @property
    def reason(self) -> str:
        return str(self.row["reason"])


def _end(run: Watched) -> Told:
    done = run.finish()
    (row,) = done.partitions(TOPIC).values()
    # A terminal breaks sentences between words.
    return Told(done.code, row, " ".join(done.stderr.split()), done.report["problems"])


def _lost(told: Told, records: int, leader: int) -> None:
    assert told.code == 1, told.stderr
    assert (told.row["outcome"], told.row["leader"]) == ("failed", leader)
    assert f"{records} records that brokers told of in this run are not in the log" in told.reason
    assert told.row["loss"]["certain"] == records
    assert told.reason in told.stderr


def _kafka_elects(cluster: Cluster) -> None:
    """Let Kafka elect, as where somebody has changed the config, and a broker comes back."""
    cluster.alter_configs(TOPIC, {UNCLEAN: "true"})
    cluster.create_topic("another", assignment=[(SPARE,)])
    if cluster.partition(TOPIC, 0).leader == NO_LEADER:
        _lose(cluster, WORSE)
        cluster.start(WORSE)


def _a_colleague_elects(cluster: Cluster) -> None:
    cluster.elect_leaders("unclean", TOPIC)


def _a_new_disk(cluster: Cluster) -> None:
    cluster.wipe(LAST)
    cluster.start(LAST)


def _leads(cluster: Cluster, broker: int) -> None:
    wait_until(
        lambda: cluster.partition(TOPIC, 0).leader == broker,
        TIMEOUT,
        lambda: f"{cluster.partition(TOPIC, 0)}",
    )


def test_a_colleague_who_elects_the_worse_replica_while_we_wait_loses_what_the_better_one_told(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    _a_colleague_elects(outage)
    told = _end(run)
    _lost(told, ON_BETTER - ON_WORSE, WORSE)
    assert "save the disk of broker 1 before you start it" in told.reason
    assert f"somebody else elected it, for {UNCLEAN} is false" in told.reason
    # Nobody gave the topic a value: the controllers go by their own files.
    assert "a controller's own file counts, and is not shown" in told.reason


def test_who_only_looks_is_told_what_was_lost_meanwhile_too(
    outage: Cluster, commands: Commands
) -> None:
    address = outage.bootstrap_servers.split(",")[SPARE - 1]
    run = commands.start(
        *("--bootstrap-server", address, "--all-offline-partitions", "--show-replica-info"),
        *("--format", "json", "--wait-for-brokers", str(LAST), "--recovery-duration-ms", "60000"),
        terminal=True,
    )
    run.has_read_all_but(LAST)
    _a_colleague_elects(outage)
    told = _end(run)
    _lost(told, ON_BETTER - ON_WORSE, WORSE)
    assert "save the disk of broker 1 before you start it" in told.reason


def test_what_producers_wrote_since_does_not_hide_what_is_lost(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    outage.lag(BETTER)
    _a_colleague_elects(outage)
    outage.produce(TOPIC, 0, 3000, acks="1")
    _lost(_end(run), ON_BETTER - ON_WORSE, WORSE)


def test_a_topic_that_allows_unclean_elections_is_elected_by_kafka_and_not_by_somebody_else(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    _kafka_elects(outage)
    told = _end(run)
    leader = outage.partition(TOPIC, 0).leader
    assert leader == WORSE
    _lost(told, ON_BETTER - ON_WORSE, WORSE)
    assert f"{UNCLEAN} is true, so Kafka elects such leaders by itself" in told.reason
    assert "somebody else" not in told.stderr + told.reason


def test_who_elected_is_not_said_where_the_config_may_not_be_read(
    outage: Cluster, commands: Commands
) -> None:
    outage.intercept("DescribeConfigs", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), times=1000)
    run = _waiting(commands, outage)
    _a_colleague_elects(outage)
    told = _end(run)
    _lost(told, ON_BETTER - ON_WORSE, WORSE)
    assert "broker 4 was elected meanwhile, not by this run; 500 records" in told.reason


def test_what_only_a_fenced_broker_told_is_missed_in_whom_a_colleague_elects(
    outage: Cluster, commands: Commands
) -> None:
    """It lives, and only the controllers do not hear it."""
    outage.drop_link(BETTER, CONTROLLER)
    outage.fence(BETTER)
    outage.intercept("Fetch", Delay(1.0), broker=BETTER)
    run = _waiting(commands, outage)
    assert f"no answer yet from broker {BETTER}; broker {LAST} not live yet" in run.stderr
    _a_colleague_elects(outage)
    told = _end(run)
    _lost(told, ON_BETTER - ON_WORSE, WORSE)
    assert "that of broker 3 ended at 1500" in told.reason
    assert "save the disks of brokers 1,3 before you start them" in told.reason


def test_what_only_a_scanned_disk_told_is_missed_in_whom_a_colleague_elects(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage, "--log-dirs", str(outage.log_directory(LAST)))
    _a_colleague_elects(outage)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (1, "failed", WORSE)
    _lacks_what_the_disk_has(told, ON_LAST - ON_WORSE)
    assert "save the disk of broker 1 before you start it" in told.reason


def _lacks_what_the_disk_has(told: Told, records: int) -> None:
    said = f"{records} records that brokers or scanned disks told of in this run are not in the log"
    assert said in told.reason
    assert f"that of broker {LAST} ended at {ON_LAST}" in told.reason


def test_a_broker_that_is_back_with_a_new_disk_lacks_what_its_old_one_had(
    without_elr: Cluster, commands: Commands, tmp_path: Path
) -> None:
    disk = shutil.copytree(without_elr.log_directory(LAST), tmp_path / "saved")
    run = _waiting(commands, without_elr, "--log-dirs", str(disk))
    _lose(without_elr, BETTER)
    _lose(without_elr, WORSE)
    _a_new_disk(without_elr)
    told = _end(run)
    assert (told.code, told.row["leader"]) == (1, LAST)
    _lacks_what_the_disk_has(told, ON_LAST)


def test_a_scanned_disk_that_holds_what_the_leader_has_is_not_missed(
    outage: Cluster, commands: Commands, tmp_path: Path
) -> None:
    disk = shutil.copytree(outage.log_directory(LAST), tmp_path / "saved")
    run = _waiting(commands, outage, "--log-dirs", str(disk))
    outage.start(LAST)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (0, "already_online", LAST)


def test_a_member_of_the_isr_that_comes_back_with_a_new_disk_is_not_made_leader(
    without_elr: Cluster, commands: Commands
) -> None:
    """The controller elects it over any order, whomever we designate."""
    run = _waiting(commands, without_elr)
    _a_new_disk(without_elr)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (1, "refused", NO_LEADER)
    assert "its log lacks 1500 records of the designated one" in told.reason


def test_a_new_disk_leads_while_the_question_is_on_the_screen(
    without_elr: Cluster, commands: Commands
) -> None:
    run = _run(commands, without_elr, terminal=True)
    run.wait_for(r"elect these leaders")
    _a_new_disk(without_elr)
    without_elr.stop(LAST)
    without_elr.start(LAST)
    _leads(without_elr, LAST)
    run.agree()
    _lost(_end(run), ON_BETTER, LAST)


def test_a_colleague_elects_while_the_question_is_on_the_screen(
    outage: Cluster, commands: Commands
) -> None:
    run = _run(commands, outage, terminal=True)
    run.wait_for(r"elect these leaders")
    _a_colleague_elects(outage)
    run.agree()
    _lost(_end(run), ON_BETTER - ON_WORSE, WORSE)


def test_the_broker_that_we_wait_for_comes_back_with_its_disk(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    outage.start(LAST)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (0, "already_online", LAST)
    assert "came back by itself" in told.reason


def test_a_colleague_who_elects_the_better_replica_loses_nothing(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    _lose(outage, WORSE)
    _a_colleague_elects(outage)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (0, "already_online", BETTER)
    assert "was elected meanwhile, not by this run" in told.reason


def test_a_leader_that_does_not_tell_its_log_is_no_success(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    outage.intercept("Fetch", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), broker=WORSE, times=1000)
    _a_colleague_elects(outage)
    told = _end(run)
    assert (told.code, told.row["outcome"]) == (1, "failed")
    assert "whether records are lost is not known" in told.reason
    assert "TOPIC_AUTHORIZATION_FAILED" in told.reason
    assert told.row["loss"]["certain"] is None


def test_a_log_of_which_only_the_end_was_told_is_not_forgotten(
    outage: Cluster, commands: Commands
) -> None:
    """Its leader epochs take the right to read. Without them nobody knows whether what it has more
    was given up before, and so whether it is lost now."""
    outage.intercept("Fetch", Fail(Errors.TOPIC_AUTHORIZATION_FAILED), broker=BETTER, times=1000)
    run = _waiting(commands, outage)
    _a_colleague_elects(outage)
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (1, "failed", WORSE)
    assert f"a broker told of a log that ended at {ON_BETTER}" in told.reason
    assert f"that of broker {WORSE}, which leads, ends at {ON_WORSE}" in told.reason
    assert told.row["loss"]["certain"] is None


def test_a_broker_that_does_not_know_yet_that_it_leads_is_asked_again(
    outage: Cluster, commands: Commands
) -> None:
    run = _waiting(commands, outage)
    not_yet = outage.intercept("Fetch", Fail(Errors.OFFSET_OUT_OF_RANGE), broker=WORSE, times=2)
    _a_colleague_elects(outage)
    _lost(_end(run), ON_BETTER - ON_WORSE, WORSE)
    assert len(not_yet.requests) == 2


def test_what_a_broker_told_before_it_was_away_is_missed_in_whom_we_elect(
    outage: Cluster, commands: Commands
) -> None:
    outage.intercept("Fetch", Delay(1.0), broker=BETTER)
    run = _waiting(commands, outage, ms=8000)
    _lose(outage, BETTER)
    told = _end(run)
    assert told.code == 1, told.stderr
    assert (told.row["outcome"], told.row["leader"]) == ("elected", WORSE)
    assert "500 records that brokers told of in this run are not in the log" in told.reason
    assert "save the disks of brokers 1,3 before you start them" in told.reason
    assert any("the leader is as designated, and lacks records" in p for p in told.problems)


def test_whom_we_elect_is_asked_for_its_end_and_lacks_nothing(
    outage: Cluster, commands: Commands
) -> None:
    told = _end(_run(commands, outage, "--yes"))
    assert (told.code, told.row["outcome"], told.row["leader"]) == (0, "elected", BETTER)
    assert told.problems == []


def test_whom_we_elect_and_who_tells_its_end_no_more_is_a_problem(
    outage: Cluster, commands: Commands
) -> None:
    run = _run(commands, outage, terminal=True)
    run.wait_for(r"elect these leaders")
    elections: list[Seen] = []
    outage.intercept("ElectLeaders", elections.append, times=1000)
    refuse = Fail(Errors.TOPIC_AUTHORIZATION_FAILED)
    outage.intercept("Fetch", lambda _: refuse if elections else None, times=1000)
    run.agree()
    told = _end(run)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (1, "elected", BETTER)
    assert any("could not be read back" in problem for problem in told.problems)


def _elected_and_held(commands: Commands, cluster: Cluster, done: Event) -> Watched:
    """Return a run that has elected broker 3, and puts the order back once `done` is set."""
    run = _run(commands, cluster, terminal=True)
    run.wait_for(r"elect these leaders")
    orders: list[Seen] = []

    def hold(seen: Seen) -> Hold | None:
        orders.append(seen)
        return Hold(done.is_set) if len(orders) > 1 else None

    cluster.intercept("AlterPartitionReassignments", hold, times=1000)
    run.agree()
    _leads(cluster, BETTER)
    wait_until(lambda: len(orders) > 1, TIMEOUT, lambda: f"{len(orders)} orders")
    return run


def test_who_has_copied_the_elected_log_and_leads_in_turn_lacks_nothing(
    outage: Cluster, commands: Commands
) -> None:
    done = Event()
    run = _elected_and_held(commands, outage, done)
    wait_until(
        lambda: WORSE in outage.partition(TOPIC, 0).isr,
        TIMEOUT,
        lambda: f"{outage.partition(TOPIC, 0)}",
    )
    _lose(outage, BETTER)
    _leads(outage, WORSE)
    done.set()
    told = _end(run)
    assert (told.row["designated_leader"], told.row["leader"]) == (BETTER, WORSE)
    assert told.reason == f"broker {WORSE} leads instead of the designated {BETTER}"
    assert told.row["loss"]["certain"] == 0


def test_who_has_not_copied_the_elected_log_and_is_elected_in_turn_lacks_it(
    outage: Cluster, commands: Commands
) -> None:
    done = Event()
    outage.lag(WORSE)
    run = _elected_and_held(commands, outage, done)
    _lose(outage, BETTER)
    _a_colleague_elects(outage)
    _leads(outage, WORSE)
    done.set()
    _lost(_end(run), ON_BETTER - ON_WORSE, WORSE)
