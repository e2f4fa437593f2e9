"""A partition with a reassignment in progress is left alone: electing on it destroys data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.real.cli import ELECTION
from tests.real.faults import Trouble, reassign
from tests.real.recipes import TOPIC
from tests.real.records import consume_all, numbered
from tests.real.trouble_recipe import LEAVING, MOVED_RECORDS, MOVING
from tests.real.watching import PROMPT, Commands, journal_lines, outcomes

TIMEOUT = 30.0


def _findings(row: dict[str, object]) -> set[str]:
    findings = row["findings"]
    assert isinstance(findings, list)
    return {finding["code"] for finding in findings}


@pytest.fixture
def moving_to_an_empty_replica(troubled: Trouble) -> Trouble:
    """Return a move [3] -> [3, 4] with 3 dead: broker 4 lives, is listed, and is empty."""
    cluster = troubled.cluster
    cluster.kill(3)
    cluster.wait_until_fenced({3})
    reassign(cluster, MOVING, [3, 4])
    cluster.wait_until_partitions(MOVING, lambda p: p.offline and set(p.replicas) == {3, 4})
    return troubled


def test_an_adding_replica_is_never_elected(
    moving_to_an_empty_replica: Trouble, commands: Commands, tmp_path: Path
) -> None:
    cluster = moving_to_an_empty_replica.cluster
    server = ("--bootstrap-server", cluster.address(4))
    wanted = str(commands.partitions_file({MOVING: [0]}))
    which = ("--path-to-json-file", wanted, "--format", "json")
    done = commands.run(*server, *which, "--automated-recovery", "--yes")
    assert done.code == 1
    (row,) = done.partitions(MOVING).values()
    assert row["outcome"] == "refused"
    assert "reassignment" in row["reason"]
    assert row["designated_leader"] is None
    assert "reassignment_in_progress" in _findings(row)

    by_hand = tmp_path / "by-hand.json"
    entry = {"topic": MOVING, "partition": 0, "designatedLeader": 4}
    by_hand.write_text(json.dumps({"partitions": [entry]}))
    how = ("--election-type", "designated", "--path-to-json-file", str(by_hand))
    elected = commands.run(*server, *how, command=ELECTION)
    assert elected.code == 1
    assert f"{MOVING}-0" in elected.stderr
    assert "reassignment" in elected.stderr

    sent = {line["event"] for path in commands.journals() for line in journal_lines(path)}
    assert not sent & {"reorder", "elect"}
    assert moving_to_an_empty_replica.leaders([0], MOVING) == {-1}
    # Nobody destroyed them: they are there when their broker returns.
    cluster.start_node(3)
    cluster.wait_until_partitions(MOVING, lambda p: p.leader == 3 and set(p.isr) == {3, 4})
    connection = cluster.connection(brokers=[3, 4])
    assert consume_all(connection, MOVING, 0) == [numbered(n) for n in range(MOVED_RECORDS)]


def test_a_reassignment_that_begins_at_the_prompt_is_noticed(
    troubled: Trouble, commands: Commands
) -> None:
    cluster = troubled.cluster
    others = troubled.take(1)
    wanted = str(commands.partitions_file({LEAVING: [0], TOPIC: others}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    server = ("--bootstrap-server", cluster.address(3))
    run = commands.start(*server, *which, terminal=True)
    run.wait_for(PROMPT)
    # Replicas 1 and 2 are to leave; an election would complete that, and drop them for good.
    reassign(cluster, LEAVING, [4, 3])
    cluster.wait_until_partitions(LEAVING, lambda p: p.replicas == (4, 3, 1, 2))
    run.agree()
    done = run.finish()
    assert done.code == 1
    assert outcomes(done, LEAVING) == {0: ("refused", "a reassignment has begun")}
    assert outcomes(done, TOPIC) == dict.fromkeys(others, ("elected", None))

    again = commands.run(*server, *which)
    assert again.code == 1
    assert "reassignment_in_progress" in _findings(again.partitions(LEAVING)[0])
    assert outcomes(again, TOPIC) == dict.fromkeys(others, ("already_online", None))
    assert troubled.orders([0], LEAVING) == {0: (4, 3, 1, 2)}
    assert troubled.leaders([0], LEAVING) == {-1}
