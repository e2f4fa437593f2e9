"""What is asked before electing, what is refused, and who signed: on a terminal, as an operator."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.approval import approval_json, parse_approval
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from tests.real.cli import ELECTION
from tests.real.tap import ELECT_LEADERS, Gate, tapped
from tests.real.watching import Commands, Watched, journal_lines, outcomes

EQUAL, ORDERS, OFFSETS, LONE = "Equal", "Orders", "__consumer_offsets", "Alone"
BEST, SHORTER, OTHER = 2, 3, 4
INTERRUPTED = ("failed", "interrupted before its election began")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster whose broker 1 is dead. It alone is eligible everywhere; broker 2 has all
    that it had, broker 3 lacks 5 records of Orders."""
    with Cluster(Options(settings=Settings(session_timeout=60.0))) as running:
        running.create_topic(EQUAL, assignment=[[1, 2]])
        running.create_topic(ORDERS, assignment=[[1, 2, 3]] * 4)
        running.create_topic(OFFSETS, assignment=[[1, 2]] * 2)
        running.create_topic(LONE, assignment=[[1, 4]])
        _produce(running, 10)
        for broker, more in ((SHORTER, 5), (BEST, 0), (OTHER, 0), (1, 0)):
            running.kill(broker)
            running.fence(broker)
            if more:
                _produce(running, more)
        for broker in (BEST, SHORTER, OTHER):
            running.start(broker)
        yield running


def _produce(running: Cluster, records: int) -> None:
    for topic, partitions in ((EQUAL, 1), (ORDERS, 4), (LONE, 1)):
        for partition in range(partitions):
            running.produce(topic, partition, records)


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    started = Commands(tmp_path)
    yield started
    started.close()


def _flags(cluster: Cluster, commands: Commands, *topics: str, server: str = "") -> list[str]:
    every = {EQUAL: [0], ORDERS: [0, 1, 2, 3], OFFSETS: [0, 1], LONE: [0]}
    wanted = commands.partitions_file({topic: every[topic] for topic in topics})
    server = server or cluster.bootstrap_servers
    return ["--bootstrap-server", server, "--path-to-json-file", str(wanted), "--format", "json"]


ELECT = "--automated-recovery"


def _events(commands: Commands, event: str) -> list[dict[str, Any]]:
    lines = [line for path in commands.journals() for line in journal_lines(path)]
    return [line for line in lines if line["event"] == event]


def _leader(cluster: Cluster, topic: str, partition: int = 0) -> int:
    return cluster.partition(topic, partition).leader


def test_what_loses_nothing_takes_a_yes_and_what_may_lose_something_the_number(
    cluster: Cluster, commands: Commands
) -> None:
    flags = [*_flags(cluster, commands, EQUAL, ORDERS), ELECT]
    for answers in (["y\n", "\n"], ["y\n", "4\n"], ["\n"], ["\x04"]):
        run = commands.start(*flags, terminal=True)
        run.wait_for("records may be lost in 5 partitions: to elect these leaders, type the number")
        run.wait_for("of partitions, 5: ")
        run.type(answers[0])
        for answer in answers[1:]:
            run.wait_for("nothing is done yet: type 5 to elect, or Enter to leave: ")
            run.type(answer)
        assert run.finish().code == 1
        assert _leader(cluster, EQUAL) == -1

    # The disk of the dead broker says that there is nothing more on it.
    disk = ("--log-dirs", str(cluster.log_directory(1)))
    for answer, elected in (("yep\n", False), ("Yes\n", True)):
        run = commands.start(*_flags(cluster, commands, EQUAL), ELECT, *disk, terminal=True)
        run.wait_for(r"elect these leaders\? \[y/N\] ")
        run.type(answer)
        assert (run.finish().code == 0) is elected
        assert (_leader(cluster, EQUAL) == BEST) is elected

    run = commands.start(*flags, terminal=True)
    run.wait_for("of partitions, 4: ")
    run.type("yes\n")
    run.wait_for("nothing is done yet: ")
    run.type("4\n")
    assert run.finish().code == 0
    run = commands.start(*_flags(cluster, commands, LONE), ELECT, "--yes", terminal=True)
    assert run.finish().code == 0
    given = [(line["how"], line["partitions"]) for line in _events(commands, "consent")]
    assert given == [("y", 1), ("number typed", 4), ("--yes", 1)]


def test_a_loss_above_the_limit_of_its_topic_is_refused_and_the_others_go_on(
    cluster: Cluster, commands: Commands, tmp_path: Path
) -> None:
    limits = ("--accept-loss", "Alone:0", "--accept-loss", f"{OFFSETS}")
    done = commands.run(*_flags(cluster, commands, LONE, OFFSETS, ORDERS), ELECT, *limits)
    assert done.code == 1
    assert outcomes(done, LONE) == {0: ("elected", None)}
    assert outcomes(done, OFFSETS) == dict.fromkeys((0, 1), ("elected", None))
    for outcome, reason in outcomes(done, ORDERS).values():
        assert outcome == "refused"
        assert reason is not None
        assert "no --accept-loss names Orders" in reason
    (consent,) = _events(commands, "consent")
    assert (consent["how"], consent["partitions"]) == ("no terminal", 3)
    assert consent["accept_loss"] == ["Alone:0", OFFSETS]

    by_hand = tmp_path / "by-hand.json"
    rows = [{"topic": ORDERS, "partition": 0, "designatedLeader": SHORTER}]
    by_hand.write_text(json.dumps({"partitions": rows}))
    above = f"its certain loss is 5 records, and --accept-loss {ORDERS}:4 accepts 4 records"
    for limit, expected in (("4", ("refused", above)), ("5", ("elected", None))):
        which = ("--election-type", "designated", "--path-to-json-file", str(by_hand))
        how = ("--format", "json", "--accept-loss", f"{ORDERS}:{limit}")
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        done = commands.run(*servers, *which, *how, command=ELECTION)
        assert outcomes(done, ORDERS) == {0: expected}
    assert _leader(cluster, ORDERS) == SHORTER


def test_only_what_another_user_approved_is_elected_and_only_while_it_is_still_so(
    cluster: Cluster, commands: Commands, tmp_path: Path
) -> None:
    plan, mine, theirs = (tmp_path / name for name in ("plan.json", "mine", "theirs"))
    planned = _flags(cluster, commands, EQUAL, LONE)
    done = commands.run(*planned, "--show-replica-info", "--plan-output-file", str(plan))
    assert done.code == 0

    for answer, code in (("3\n", 1), ("\x03", 130), ("2\n", 0)):
        run = commands.start("approve", str(plan), "--output", str(mine), terminal=True)
        run.wait_for("Equal-0: elect broker 2; certain loss 0 records, possible loss unknown")
        run.wait_for("to approve electing these leaders, type the number of partitions, 2: ")
        assert not mine.exists()
        run.type(answer)
        assert run.finish().code == code
    done = commands.run("approve", str(plan), "--output", str(theirs))
    assert (done.code, theirs.exists()) == (2, False)
    assert "only a person can approve a plan: run approve on a terminal" in done.stderr
    assert [path.stat().st_mode & 0o777 for path in (plan, mine)] == [0o600, 0o600]
    approval = parse_approval(mine.read_text(), str(mine))
    assert approval.plan_digest == json.loads(plan.read_text())["digest"]

    wanted = [*_flags(cluster, commands, EQUAL, LONE, ORDERS), ELECT, "--plan", str(plan)]
    done = commands.run(*wanted, "--require-approval", str(mine))
    assert done.code == 2
    assert f"{approval.approved_by} approved it and runs it" in done.stderr

    theirs.write_text(approval_json(replace(approval, approved_by="somebody else")))
    cluster.kill(OTHER)
    cluster.wipe(OTHER)
    cluster.start(OTHER)
    done = commands.run(*wanted, "--require-approval", str(theirs))
    assert done.code == 1
    assert outcomes(done, EQUAL) == {0: ("elected", None)}
    assert {o for o, _ in outcomes(done, ORDERS).values()} == {"refused"}
    assert {r for _, r in outcomes(done, ORDERS).values()} == {"--plan has no such partition"}
    outcome, reason = outcomes(done, LONE)[0]
    assert outcome == "refused"
    assert reason is not None
    assert "not as in --plan: " in reason
    assert "log end offset 15), now (live, " in reason
    (consent,) = _events(commands, "consent")
    assert consent["plan_digest"] == approval.plan_digest
    assert consent["approval"]["approved_by"] == "somebody else"


def test_kafkas_own_topics_go_first_and_writers_afterwards(
    cluster: Cluster, commands: Commands
) -> None:
    done = commands.run(*_flags(cluster, commands, ORDERS, OFFSETS), ELECT)
    assert done.code == 0
    elections = [
        [(row["topic"], row["partition"]) for row in line["partitions"]]
        for line in _events(commands, "elect")
    ]
    assert elections == [[(OFFSETS, 0), (OFFSETS, 1)], [(ORDERS, n) for n in range(4)]]


@contextmanager
def _held_in_wave(
    wave: int, cluster: Cluster, commands: Commands, topics: Sequence[str], *more: str
) -> Iterator[Watched]:
    """Yield the run while the answer to the election of that wave is held."""
    gate = Gate(ELECT_LEADERS, nth=wave, answer=True)
    servers = cluster.bootstrap_servers.split(",")
    with tapped([servers.pop(BEST - 1), *servers], gate) as address:
        flags = _flags(cluster, commands, *topics, server=address)
        run = commands.start(*flags, ELECT, *more)
        gate.wait()
        yield run
        gate.open()
        run.finish()


def test_a_surprise_stops_all_that_follows(cluster: Cluster, commands: Commands) -> None:
    with _held_in_wave(2, cluster, commands, (LONE, ORDERS), "--wave-size", "2") as run:
        cluster.kill(OTHER)
        cluster.fence(OTHER)
    done = run.finish()
    why = "stopped after wave 2 of 3 by Alone-0: after its wave it has no leader again"
    assert done.code == 1
    assert "wave 1 of 3: 2 partitions verified" in done.stderr
    assert outcomes(done, LONE) == {0: ("failed", "after its wave it has no leader again")}
    assert outcomes(done, ORDERS) == {
        **dict.fromkeys((0, 1, 2), ("elected", None)),
        3: ("failed", f"its election was not begun: {why}"),
    }
    assert _leader(cluster, ORDERS, 3) == -1
    assert [line["partitions"] for line in _events(commands, "wave")] == [2, 2]
    assert [line["reason"] for line in _events(commands, "surprise")] == [why]

    pace = ("--canary", "1", "--wave-size", "1")
    with _held_in_wave(1, cluster, commands, (EQUAL, OFFSETS, ORDERS), *pace) as run:
        cluster.delete_topic(EQUAL)
    done = run.finish()
    assert outcomes(done, OFFSETS) == dict.fromkeys((0, 1), ("elected", None))
    assert outcomes(done, EQUAL) == {0: ("refused", "it no longer exists")}
    why = "stopped after wave 3 of 4 by Equal-0: it no longer exists"
    assert outcomes(done, ORDERS)[3] == ("failed", f"its election was not begun: {why}")


def test_a_signal_between_waves_lets_the_wave_in_hand_finish(
    cluster: Cluster, commands: Commands
) -> None:
    with _held_in_wave(1, cluster, commands, (ORDERS,), "--canary", "1") as run:
        run.signal(signal.SIGINT)
        run.wait_for("stopping")
    done = run.finish()
    assert done.code == 130
    found = outcomes(done, ORDERS)
    assert found == {0: ("elected", None)} | dict.fromkeys((1, 2, 3), INTERRUPTED)
    assert len(_events(commands, "wave")) == 1
