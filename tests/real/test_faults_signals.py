"""A signal in each phase: no new election starts, the step in hand is finished, the report is
printed. A second signal stops at once, and leaves a journal to resume from.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence

import pytest

from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import (
    ALTER_PARTITION_REASSIGNMENTS,
    ELECT_LEADERS,
    LIST_PARTITION_REASSIGNMENTS,
    Gate,
)
from tests.real.watching import (
    PROMPT,
    Commands,
    Watched,
    journal_lines,
    make_older,
    open_orders,
    outcomes,
    steps_noted,
)

SIGNALS = [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
# Far less than the 30 s that replicas and brokers are waited for.
AT_ONCE = 15.0
STOPPING = "stopping: the step in hand is finished first"
NOT_BEGUN = "its election was not begun: interrupted"
NOBODY = "its election was not begun: the number of partitions was not typed"


def _start(
    commands: Commands, server: str, partitions: Sequence[int], *more: str, terminal: bool = False
) -> Watched:
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    return commands.start("--bootstrap-server", server, *which, *more, terminal=terminal)


def _events(commands: Commands) -> list[str]:
    (journal,) = commands.journals()
    return steps_noted(journal_lines(journal))


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_while_gathering_ends_it_with_the_report_so_far(
    troubled: Trouble, commands: Commands, number: signal.Signals, code: int
) -> None:
    partitions = troubled.take(2)
    gate = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(3, gate) as address:
        run = _start(commands, address, partitions, "--wait-for-brokers", "1", terminal=True)
        gate.wait(lambda: run.stderr)
        troubled.cluster.pause(4)
        gate.open()
        run.wait_for("no answer yet from broker 4; broker 1 not live yet")
        run.signal(number)
        done = run.finish(AT_ONCE)
    assert done.code == code
    assert STOPPING in done.stderr
    assert done.report["summary"]["interrupted"] is True
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("failed", NOT_BEGUN))
    assert "elect" not in _events(commands)
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_at_the_prompt_elects_nothing(
    troubled: Trouble, commands: Commands, number: signal.Signals, code: int
) -> None:
    partitions = troubled.take(2)
    run = _start(commands, troubled.cluster.address(3), partitions, terminal=True)
    run.wait_for(PROMPT)
    if number is signal.SIGINT:
        run.type("\x03")
    else:
        run.signal(number)
    done = run.finish(AT_ONCE)
    assert done.code == code
    assert done.report["summary"]["interrupted"] is True
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("failed", NOT_BEGUN))
    assert _events(commands) == ["begin", "end"]
    assert troubled.leaders(partitions) == {-1}


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_signal_during_an_election_lets_it_finish(
    troubled: Trouble, commands: Commands, number: signal.Signals, code: int
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    gate = Gate(ELECT_LEADERS, answer=True)
    with troubled.tapped(3, gate) as address:
        run = _start(commands, address, partitions)
        gate.wait(lambda: run.stderr)
        run.signal(number)
        run.wait_for(STOPPING)
        assert run.process.poll() is None
        gate.open()
        done = run.finish()
    assert done.code == code
    assert done.report["summary"]["interrupted"] is True
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    troubled.wait_for_leader(partitions, 3)
    troubled.wait_for_orders(before)
    assert _events(commands) == ["begin", "consent", *commands.mechanism.steps, "outcome", "end"]


def test_a_second_signal_stops_at_once_and_the_journal_can_be_resumed(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2)
    with troubled.tapped(3, gate) as address:
        run = _start(commands, address, partitions)
        gate.wait(lambda: run.stderr)
        run.signal(signal.SIGTERM)
        run.wait_for(STOPPING)
        # Of another kind, or it could be taken for the same one, which came twice.
        run.signal(signal.SIGINT)
        done = run.finish(AT_ONCE)
    assert done.code == 130
    assert "stopped at once; the journal tells what is left to finish" in done.stderr
    (journal,) = commands.journals()
    assert open_orders(journal) == set(partitions)
    assert troubled.orders(partitions) != before

    make_older(journal, 3600)
    servers = troubled.cluster.bootstrap_servers
    resumed = commands.run("--bootstrap-server", servers, "--resume", str(journal))
    assert resumed.code == 0, resumed.stderr
    troubled.wait_for_orders(before)
    assert open_orders(journal) == set()


@pytest.mark.parametrize("answer", ["\n", "y\n", "2\n", "\x04"])
def test_only_the_number_of_partitions_elects_what_may_lose_records(
    troubled: Trouble, commands: Commands, answer: str
) -> None:
    partitions = troubled.take(1)
    run = _start(commands, troubled.cluster.address(3), partitions, terminal=True)
    run.wait_for(PROMPT)
    run.type(answer)
    if answer in ("y\n", "2\n"):
        run.wait_for("nothing is done yet: type 1 to elect, or Enter to leave: ")
        run.type(answer)
    done = run.finish()
    assert done.code == 1
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("failed", NOBODY))
    assert f"{TOPIC}-{partitions[0]}: elect broker 3" in done.stderr
    assert troubled.leaders(partitions) == {-1}


def test_what_was_typed_before_the_question_is_no_answer(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(1)
    gate = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(3, gate) as address:
        run = _start(commands, address, partitions, terminal=True)
        gate.wait(lambda: run.stderr)
        run.type("1\n")
        gate.open()
        run.wait_for(PROMPT)
        run.type("\n")
        done = run.finish()
    assert done.code == 1
    assert troubled.leaders(partitions) == {-1}


def test_the_number_of_partitions_at_the_prompt_elects(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(2)
    run = _start(commands, troubled.cluster.address(3), partitions, terminal=True)
    run.wait_for("records may be lost in 2 partitions: to elect these leaders, type the number")
    run.type(" 2 \n")
    done = run.finish()
    assert done.code == 0
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
