"""Faults around an election by the new RPCs: who is named is elected, or nobody is."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.mechanisms import Dialect
from tests.mission.conftest import RPCS, Means
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import ELECT_LEADERS, Gate
from tests.real.watching import (
    PROMPT,
    Commands,
    Watched,
    journal_lines,
    make_older,
    open_orders,
    outcomes,
)


@pytest.fixture(scope="session", params=[RPCS[Dialect.REVERTED]], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


def _start(
    commands: Commands, server: str, partitions: list[int], *, terminal: bool = False
) -> Watched:
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    return commands.start("--bootstrap-server", server, *which, terminal=terminal)


def test_a_designated_broker_that_dies_in_the_last_moment_leaves_the_partition_offline(
    troubled: Trouble, commands: Commands
) -> None:
    """Where a reorder lets the controller take the next one."""
    cluster = troubled.cluster
    partitions = troubled.take(2)
    gate = Gate(ELECT_LEADERS)
    with troubled.tapped(4, gate) as address:
        run = _start(commands, address, partitions)
        gate.wait()
        cluster.kill(3)
        cluster.wait_until_fenced({3})
        gate.open()
        done = run.finish()
    assert done.code == 1
    for outcome, reason in outcomes(done, TOPIC).values():
        assert outcome == "failed"
        assert "ELIGIBLE_LEADERS_NOT_AVAILABLE" in (reason or "")
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize("means", RPCS.values(), ids=lambda means: means.name, indirect=True)
def test_a_designated_broker_that_started_again_meanwhile_is_not_elected(
    troubled: Trouble, commands: Commands
) -> None:
    """Its log is as long as before, which after another death it need not be."""
    cluster = troubled.cluster
    partitions = troubled.take(2)
    run = _start(commands, cluster.address(4), partitions, terminal=True)
    run.wait_for(PROMPT)
    cluster.kill(3)
    cluster.start_node(3)
    run.agree()
    done = run.finish()
    assert done.code == 1
    for row in done.partitions(TOPIC).values():
        (planned,) = (log["broker_epoch"] for log in row["replica_logs"] if log["broker"] == 3)
        assert row["outcome"] == "refused"
        again = f"broker 3 has started again since (broker epoch {planned}, now "
        assert row["reason"].startswith(again)
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize("carried_out", [False, True])
def test_a_run_that_is_killed_while_it_elects_leaves_nothing_to_be_put_back(
    troubled: Trouble, commands: Commands, carried_out: bool
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    gate = Gate(ELECT_LEADERS, answer=carried_out)
    with troubled.tapped(3, gate) as address:
        run = _start(commands, address, partitions)
        gate.wait()
        run.kill()
    (journal,) = commands.journals()
    noted = [line["event"] for line in journal_lines(journal)]
    assert noted == ["begin", "observed", "decision", "decision", "consent", "elect", "sent"]
    assert open_orders(journal) == set()
    assert troubled.leaders(partitions) == {3 if carried_out else -1}
    assert troubled.orders(partitions) == before

    make_older(journal, 3600)
    again = _start(commands, troubled.cluster.bootstrap_servers, partitions).finish()
    outcome = ("already_online", None) if carried_out else ("elected", None)
    assert again.code == 0, again.stderr
    assert outcomes(again, TOPIC) == dict.fromkeys(partitions, outcome)
    troubled.wait_for_leader(partitions, 3)
    troubled.wait_for_orders(before)
