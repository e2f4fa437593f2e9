"""A broker that stops answering while the others are asked: named, and waited for by nobody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.real.cli import Cli, Finished
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import LIST_OFFSETS, LIST_PARTITION_REASSIGNMENTS, Gate
from tests.real.trouble_recipe import ON_3, ON_4
from tests.real.watching import Commands, Watched, outcomes

DURATION_MS = 2000
# For the interpreter to start and the report to be printed, on a loaded machine; less than the
# 30 s of --recovery-duration-ms by default.
OVERHEAD_SECONDS = 20.0


@pytest.mark.parametrize("first", [3, 4], ids=["another", "the bootstrap broker"])
@pytest.mark.parametrize("all_offline", [False, True], ids=["chosen", "all"])
def test_a_broker_stopped_while_gathering_is_named_and_holds_nobody_up(
    troubled: Trouble, commands: Commands, first: int, all_offline: bool
) -> None:
    asked = Gate(LIST_OFFSETS, broker=troubled.cluster.address(4))
    seconds = seconds_with_a_broker_stopped(
        troubled, commands, first, asked, all_offline=all_offline
    )
    assert seconds < DURATION_MS / 1000 + OVERHEAD_SECONDS


def test_a_broker_stopped_before_the_others_are_asked_takes_none_of_their_time(
    troubled: Trouble, commands: Commands
) -> None:
    """It may be fenced by then."""
    before = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    wanted = commands.partitions_file({TOPIC: troubled.take(2)})
    how = ("--path-to-json-file", str(wanted))
    done, _ = _looked_with_4_stopped(troubled, commands, before, 4, *how)
    for row in done.partitions(TOPIC).values():
        logs = {log["broker"]: log for log in row["replica_logs"]}
        assert (logs[3]["log_end_offset"], logs[3]["problem"]) == (ON_3, None)
        assert logs[4]["log_end_offset"] is None


def seconds_with_a_broker_stopped(
    troubled: Trouble, commands: Commands, first: int, gate: Gate, *, all_offline: bool
) -> float:
    """Return how long a run takes that asks `first` and finds 4 stopped; it says so."""
    partitions = troubled.take(2)
    chosen = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    which = ("--all-offline-partitions",) if all_offline else chosen
    done, seconds = _looked_with_4_stopped(troubled, commands, gate, first, *which)
    assert re.search(r"broker 4 gave no replica info: .*answer in time", done.stderr)
    rows = done.partitions(TOPIC)
    assert rows.keys() >= set(partitions)
    for row in map(rows.__getitem__, partitions):
        logs = {log["broker"]: log for log in row["replica_logs"]}
        assert (logs[3]["log_end_offset"], logs[3]["problem"]) == (ON_3, None)
        assert logs[4]["log_end_offset"] is None
        assert "answer in time" in logs[4]["problem"]
        assert row["designated_leader"] == 3
        assert "replica_did_not_answer" in {finding["code"] for finding in row["findings"]}
    return seconds


def _looked_with_4_stopped(
    troubled: Trouble, commands: Commands, gate: Gate, first: int, *which: str
) -> tuple[Finished, float]:
    limit = ("--recovery-duration-ms", str(DURATION_MS))
    with troubled.tapped(first, gate) as address:
        look = ("--show-replica-info", "--format", "json", *limit)
        run = commands.start("--bootstrap-server", address, *which, *look)
        gate.wait(lambda: run.stderr)
        troubled.cluster.pause(4)
        gate.open()
        done = run.finish()
    return done, run.seconds


def test_the_best_replica_is_waited_for_until_it_answers(
    troubled: Trouble, commands: Commands
) -> None:
    cluster = troubled.cluster
    partitions = troubled.take(1)
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--yes", "--format", "json")
    gate = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(4, gate) as address:
        run = commands.start("--bootstrap-server", address, *which, terminal=True)
        gate.wait(lambda: run.stderr)
        cluster.pause(3)
        gate.open()
        run.wait_for("no answer yet from broker 3")
        cluster.resume(3)
        done = run.finish()
    assert done.code == 0, done.stderr
    (row,) = done.partitions(TOPIC).values()
    assert {log["broker"]: log["log_end_offset"] for log in row["replica_logs"] if log["live"]} == {
        3: ON_3,
        4: ON_4,
    }
    assert row["leader"] == 3


def test_a_loss_limit_elects_nobody_while_a_live_broker_is_silent(
    troubled: Trouble, commands: Commands
) -> None:
    """Broker 3 lives for the controller, and holds more than 4: nobody knows how much."""
    partitions = troubled.take(2)
    done = _with_broker_3_stopped(troubled, commands, partitions, "--accept-loss", "*:0")
    assert done.code == 1
    for outcome, reason in outcomes(done, TOPIC).values():
        assert (outcome, str(reason).partition(",")[0]) == (
            "refused",
            "its certain loss is unknown",
        )
    assert troubled.leaders(partitions) == {-1}


def test_what_a_silent_live_broker_loses_is_said_to_be_unknown_everywhere(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(1)
    metrics = commands.directory / "elected.prom"
    how = ("--accept-loss", "*", "--metrics-file", str(metrics))
    done = _with_broker_3_stopped(troubled, commands, partitions, *how)
    assert done.code == 0
    (row,) = done.partitions(TOPIC).values()
    assert (row["outcome"], row["leader"]) == ("elected", 4)
    assert (row["loss"]["certain"], row["loss"]["possible"]) == (None, None)
    assert done.report["summary"]["certain_loss"] is None
    told = metrics.read_text()
    assert re.search(r"^kafka_unclean_recovery_certain_loss_unknown_partitions\S* 1$", told, re.M)
    assert not re.search(r"^kafka_unclean_recovery_certain_loss_records", told, re.M)
    (journal,) = commands.journals()
    story = Cli(commands.directory).offline("report", str(journal)).stdout
    assert re.search(r"certain loss:? unknown", story, re.IGNORECASE)
    assert not re.search(r"certain loss:? 0", story, re.IGNORECASE)


def test_who_is_asked_is_told_that_a_silent_live_broker_may_lose_records(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(1)
    with _broker_3_stopped(troubled, commands, partitions, terminal=True) as run:
        run.wait_for("records may be lost in 1 partition: to elect these leaders, type the number")
        assert "elect broker 4; certain loss unknown, possible loss unknown" in run.stderr
        run.type("y\n")
        run.wait_for("nothing is done yet: type 1 to elect, or Enter to leave: ")
        run.type("\n")
        assert run.finish().code == 1
    assert troubled.leaders(partitions) == {-1}


def _with_broker_3_stopped(
    troubled: Trouble, commands: Commands, partitions: list[int], *how: str
) -> Finished:
    with _broker_3_stopped(troubled, commands, partitions, "--format", "json", *how) as run:
        return run.finish()


@contextmanager
def _broker_3_stopped(
    troubled: Trouble,
    commands: Commands,
    partitions: list[int],
    *how: str,
    terminal: bool = False,
) -> Iterator[Watched]:
    """Yield a run whose broker 3 stops while asked, for no longer than it counts as alive."""
    wanted = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
    flags = (*wanted, "--recovery-duration-ms", str(DURATION_MS), "--automated-recovery", *how)
    gate = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(4, gate) as address:
        run = commands.start("--bootstrap-server", address, *flags, terminal=terminal)
        gate.wait(lambda: run.stderr)
        troubled.cluster.pause(3)
        gate.open()
        try:
            yield run
        finally:
            troubled.cluster.resume(3)
