"""The tool is killed between reorder and restore: a later run puts the replica orders back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.records import consume_all
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate
from tests.real.trouble_recipe import ON_3
from tests.real.watching import Commands, journal_lines, make_older, open_orders, outcomes

# Requests of a dead run may be carried out for so long.
GHOST_SECONDS = 125
LEFT_SECONDS = 15


def _crash(
    troubled: Trouble, commands: Commands, partitions: Sequence[int], gate: Gate, *more: str
) -> None:
    """Send SIGKILL to an automated run when it reaches the gate; what is held never arrives."""
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    with troubled.tapped(3, gate) as address:
        arguments = ("--path-to-json-file", wanted, "--automated-recovery", *more)
        run = commands.start("--bootstrap-server", address, *arguments)
        gate.wait(lambda: run.stderr)
        run.kill()


def _resume(troubled: Trouble, commands: Commands, journal: Path) -> tuple[int, str]:
    servers = troubled.cluster.bootstrap_servers
    done = commands.run("--bootstrap-server", servers, "--resume", str(journal))
    return done.code, done.stderr


def test_the_next_run_puts_back_what_a_crash_before_the_election_left(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    _crash(troubled, commands, partitions, Gate(ELECT_LEADERS))
    assert troubled.leaders(partitions) == {-1}
    troubled.wait_for_first(partitions, (3, 4))
    (crashed,) = commands.journals()
    make_older(crashed, GHOST_SECONDS - LEFT_SECONDS)

    wanted = str(commands.partitions_file({TOPIC: partitions}))
    servers = troubled.cluster.bootstrap_servers
    arguments = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    run = commands.start("--bootstrap-server", servers, *arguments)
    done = run.finish(LEFT_SECONDS + 60)

    assert done.code == 0, done.stderr
    assert f"{crashed}: 2 replica orders are to be put back first" in done.stderr
    assert {outcome for outcome, _ in outcomes(done, TOPIC).values()} == {"elected"}
    troubled.wait_for_orders(before)
    troubled.wait_for_leader(partitions, 3)
    assert len(consume_all(troubled.cluster.connection(brokers=[3]), TOPIC, partitions[0])) == ON_3
    # The first thing it did, and only when nothing that the dead run sent could still happen.
    old, (_, new) = journal_lines(crashed), commands.journals()
    restored, reordered = old[-1], next(line for line in old if line["event"] == "reorder")
    assert restored["event"] == "restored"
    assert restored["at_ms"] - reordered["at_ms"] >= 1000 * GHOST_SECONDS
    assert restored["at_ms"] <= journal_lines(new)[0]["at_ms"]
    taken = next(line for line in journal_lines(new) if line["event"] == "reorder")
    assert {p["partition"]: tuple(p["original"]) for p in taken["partitions"]} == before


def test_resume_puts_back_what_a_crash_after_the_election_left(
    troubled: Trouble, commands: Commands
) -> None:
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    _crash(troubled, commands, partitions, Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2))
    troubled.wait_for_leader(partitions, 3)
    (journal,) = commands.journals()
    assert open_orders(journal) == set(partitions)

    servers = troubled.cluster.bootstrap_servers
    looking = commands.run(
        "--bootstrap-server", servers, "--all-offline-partitions", "--show-replica-info"
    )
    assert f"--resume {journal}" in looking.stderr
    assert troubled.orders(partitions) != before

    make_older(journal, 3600)
    code, said = _resume(troubled, commands, journal)
    assert (code, open_orders(journal)) == (0, set()), said
    assert "all put back" in said
    troubled.wait_for_orders(before)
    troubled.wait_for_leader(partitions, 3)
    code, said = _resume(troubled, commands, journal)
    assert code == 0
    assert "nothing is left to finish" in said


def test_a_journal_elsewhere_is_finished_by_the_next_run_too(
    troubled: Trouble, commands: Commands, tmp_path: Path
) -> None:
    partitions = troubled.take(1)
    before = troubled.orders(partitions)
    elsewhere = tmp_path / "elsewhere.jsonl"
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2)
    _crash(troubled, commands, partitions, gate, "--journal", str(elsewhere))
    make_older(elsewhere, 3600)

    nothing = commands.directory / "none.json"
    nothing.write_text(json.dumps({"partitions": [{"topic": TOPIC, "partition": partitions[0]}]}))
    servers = troubled.cluster.bootstrap_servers
    arguments = ("--path-to-json-file", str(nothing), "--automated-recovery")
    done = commands.run("--bootstrap-server", servers, *arguments)
    assert done.code == 0, done.stderr
    troubled.wait_for_orders(before)
    assert open_orders(elsewhere) == set()


def test_a_journal_of_another_cluster_is_not_resumed(
    troubled: Trouble, commands: Commands, tmp_path: Path
) -> None:
    journal = tmp_path / "foreign.jsonl"
    begin = {"v": 1, "at": "", "at_ms": 0, "event": "begin", "cluster_id": "another"}
    journal.write_text(json.dumps(begin) + "\n")
    code, said = _resume(troubled, commands, journal)
    assert code == 2
    assert "belongs to cluster another" in said
