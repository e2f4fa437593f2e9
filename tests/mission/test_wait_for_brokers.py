"""Waiting for brokers, on the emulator with what Kafka of today has, and every way that it ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mission.conftest import PROBES, Means
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble
from tests.real.outages import Outage, last_replica_standing
from tests.real.recipes import TOPIC
from tests.real.records import create_topic
from tests.real.test_wait_for_brokers import (  # noqa: F401
    EITHER,
    test_what_comes_back_cleanly_needs_no_election_and_the_rest_gets_one,
)
from tests.real.trouble_recipe import ON_3, ON_4
from tests.real.watching import Commands, Watched, journal_lines, outcomes, steps_noted


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


def _wait(
    commands: Commands,
    cluster: KafkaCluster,
    which: str,
    *flags: str,
    ms: int = 60_000,
    terminal: bool = False,
) -> Watched:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    long = ("--recovery-duration-ms", str(ms))
    wait = ("--wait-for-brokers", which, *long, "--format", "json")
    return commands.start(*servers, *flags, *wait, "--automated-recovery", terminal=terminal)


def _chosen(commands: Commands, partitions: list[int]) -> tuple[str, str]:
    return "--path-to-json-file", str(commands.partitions_file({TOPIC: partitions}))


def test_the_plan_is_of_what_came_back_and_ends_once_nothing_is_offline(
    restored: Callable[[Outage], KafkaCluster], commands: Commands
) -> None:
    """Broker 2 is no member of the ELR: it is waited for, and elected. Broker 1 gives the rest its
    leader back, and nobody waits for 4 any longer."""
    cluster = restored(last_replica_standing())
    run = _wait(commands, cluster, "2", *_chosen(commands, [0]))
    run.wait_for("waiting for broker 2: what that would bring is not known\n")
    cluster.start_node(2)
    done = run.finish()
    assert done.code == 0, done.stderr
    assert outcomes(done, TOPIC) == {0: ("elected", None)}
    (row,) = done.partitions(TOPIC).values()
    assert (row["leader"], row["designated_leader"]) == (2, 2)

    cluster.kill(4)
    cluster.wait_until_fenced({4})
    run = _wait(commands, cluster, "all", "--all-offline-partitions")
    run.wait_for("waiting for broker 1: could make 23 partitions lossless, if its log is whole\n")
    run.wait_for("waiting for broker 4: what that would bring is not known\n")
    cluster.start_node(1)
    done = run.finish()
    assert done.code == 0, done.stderr
    assert outcomes(done, TOPIC) == dict.fromkeys(range(1, 24), EITHER)
    assert "without an election here; 0 left\n" in done.stderr


def test_when_time_is_up_the_best_that_lives_is_elected(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(1)
    done = _wait(commands, troubled.cluster, "1", *_chosen(commands, partitions), ms=1000).finish()
    assert done.code == 0, done.stderr
    assert outcomes(done, TOPIC) == {partitions[0]: ("elected", None)}
    (row,) = done.partitions(TOPIC).values()
    assert row["leader"] == 3
    assert {w["broker"]: w["effect"] for w in row["waiting"]}[1] == "lossless"


def test_a_broker_that_died_while_another_was_waited_for_is_not_elected(
    troubled: Trouble, commands: Commands
) -> None:
    """What it had answered before is no ground for a plan any more."""
    cluster = troubled.cluster
    partitions = troubled.take(1)
    which = _chosen(commands, partitions)
    run = _wait(commands, cluster, "1", *which, "--yes", ms=6000, terminal=True)
    run.has_read_all_but(1)
    cluster.kill(3)
    cluster.wait_until_fenced({3})
    done = run.finish()
    # Its disk still holds what the elected one lacks.
    assert done.code == 1, done.stderr
    (row,) = done.partitions(TOPIC).values()
    assert (row["outcome"], row["leader"]) == ("elected", 4)
    assert f"{ON_3 - ON_4} records that brokers told of in this run are not in" in row["reason"]
    ends = {log["broker"]: log["log_end_offset"] for log in row["replica_logs"]}
    assert (ends[3], ends[4]) == (None, ON_4)


def test_a_signal_while_waiting_tells_what_is_known_and_elects_nothing(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(1)
    run = _wait(commands, troubled.cluster, "1", *_chosen(commands, partitions), terminal=True)
    run.wait_for("waiting for broker 1: could make 1 partition lossless,")
    run.has_read_all_but(1)
    run.signal(signal.SIGINT)
    done = run.finish()
    assert done.code == 130
    (row,) = done.partitions(TOPIC).values()
    ends = {log["broker"]: log["log_end_offset"] for log in row["replica_logs"]}
    assert (ends[3], ends[4]) == (ON_3, ON_4)
    assert row["outcome"] == "failed"
    (journal,) = commands.journals()
    assert steps_noted(journal_lines(journal)) == ["begin", "end"]


def test_disks_tell_by_how_much_waiting_is_better(
    restored: Callable[[Outage], KafkaCluster], commands: Commands, tmp_path: Path
) -> None:
    """What the return of 2 would save is known from its disk."""
    cluster = restored(last_replica_standing())
    disks = ("--log-dirs", str(cluster.log_dir(2)))
    run = _wait(commands, cluster, "2", *_chosen(commands, [0, 1]), *disks)
    run.wait_for("waiting for broker 2: would make 2 partitions better by 1000 records\n")
    cluster.start_node(2)
    assert run.finish().code == 0


def test_a_wait_that_ran_out_leaves_nothing_of_ours_on_stderr(
    troubled: Trouble, commands: Commands
) -> None:
    """Python tells of a look that was never begun."""
    partitions = troubled.take(1)
    for ms in (300, 700):
        look = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
        wait = ("--wait-for-brokers", "1", "--recovery-duration-ms", str(ms))
        servers = ("--bootstrap-server", troubled.cluster.bootstrap_servers)
        done = commands.run(*servers, *look, *wait, "--show-replica-info")
        assert done.code == 0
        assert "waiting for broker 1" in done.stderr
        assert "never awaited" not in done.stderr


def test_nobody_is_waited_for_whom_nobody_knows(troubled: Trouble, commands: Commands) -> None:
    partitions = troubled.take(1)
    done = _wait(commands, troubled.cluster, "3,99,98", *_chosen(commands, partitions)).finish()
    assert (done.code, done.stdout) == (2, "")
    assert "--wait-for-brokers: there is no broker 98, 99: none is registered" in done.stderr
    assert troubled.leaders(partitions) == {-1}
    assert commands.journals() == []


def test_that_a_broker_is_not_waited_for_is_said_once(
    restored: Callable[[Outage], KafkaCluster], commands: Commands
) -> None:
    """It is down, and holds a replica of nothing that is offline."""
    cluster = restored(last_replica_standing())
    create_topic(cluster.connection(), "elsewhere", [[4]])
    cluster.start_node(2)
    cluster.kill(2)
    cluster.wait_until_fenced({2})
    servers = ("--bootstrap-server", cluster.address(3), "--show-replica-info")
    path = commands.partitions_file({"elsewhere": [0]})
    cluster.kill(4)
    cluster.wait_until_fenced({4})
    wait = ("--wait-for-brokers", "2", "--recovery-duration-ms", "5000")
    done = commands.run(*servers, "--path-to-json-file", str(path), *wait)
    said = "broker 2 hosts no replica of an offline partition, so it is not waited for"
    assert done.stderr.count(said) == 1, done.stderr
