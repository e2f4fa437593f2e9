"""The controller quorum is lost around an election: no error and no silence proves "not done"."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from tests.real.faults import (
    Trouble,
    quorum_answers,
    three_controllers,
    with_partitions_left,
)
from tests.real.recipes import TOPIC
from tests.real.sharing import SharedClusters
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate
from tests.real.waiting import wait_until
from tests.real.watching import (
    Commands,
    Watched,
    journal_lines,
    open_orders,
    outcomes,
    waiting_for_ghosts,
)

# A broker that waits for the quorum looks for it again within this.
REPLAYED_SECONDS = 30.0
# How long the tool waits for what it gave up. Sooner is still long enough: it gives up after 5 s,
# the quorum is back within 5 more, and then brokers replay.
GHOST_SECONDS, SOONER_SECONDS = 125, 50
NOT_CERTAIN = "not certain what the controller did"


@pytest.fixture
def governed(shared_clusters: SharedClusters) -> Trouble:
    """Return the outage under three controllers, all alive."""
    return with_partitions_left(shared_clusters, three_controllers())


def _start(commands: Commands, server: str, partitions: list[int], *more: str) -> Watched:
    return commands.start(*_arguments(commands, server, partitions), *more)


def _arguments(commands: Commands, server: str, partitions: list[int]) -> tuple[str, ...]:
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--format", "json")
    return ("--bootstrap-server", server, *which)


def _impatient(
    commands: Commands, server: str, partitions: list[int], user: str, ghost_seconds: int
) -> Watched:
    config = commands.directory / "impatient.properties"
    config.write_text("request.timeout.ms=5000\n")
    arguments = _arguments(commands, server, partitions)
    arguments += ("--command-config", str(config))
    if ghost_seconds == GHOST_SECONDS:
        return commands.start(*arguments, user=user)
    sooner = waiting_for_ghosts(ghost_seconds)
    return commands.start(*sooner, *arguments, command="python", user=user)


@pytest.mark.parametrize("active_survives", [False, True], ids=["standby left", "active left"])
def test_without_a_quorum_one_can_look_and_not_elect(
    governed: Trouble, commands: Commands, active_survives: bool
) -> None:
    governed.cluster.lose_quorum(active_survives=active_survives)
    assert seconds_to_look_and_not_elect(governed, commands) < 20


def seconds_to_look_and_not_elect(governed: Trouble, commands: Commands, *more: str) -> float:
    """Return the seconds of the slower of two runs side by side, once the quorum is lost."""
    partitions = governed.take(2)
    servers = governed.cluster.bootstrap_servers
    wait_until(lambda: not quorum_answers(governed.cluster), 30, lambda: "the quorum lost")
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    look = ("--path-to-json-file", wanted, "--show-replica-info", "--format", "json")
    looking = commands.start("--bootstrap-server", servers, *look, *more, user="looking")
    electing = _start(commands, servers, partitions, *more)

    looked = looking.finish()
    # The controller that is left may answer, or the broker may look for another in vain.
    unknown = "reassignments in progress are not known" in looked.stderr
    assert looked.code == (1 if unknown else 0)
    for row in looked.partitions(TOPIC).values():
        ends = {log["broker"]: log["log_end_offset"] for log in row["replica_logs"] if log["live"]}
        assert ends == {3: 30, 4: 20}
        assert row["designated_leader"] == 3
    elected = electing.finish()
    assert elected.code == 1
    assert "nothing can be elected until the quorum answers" in elected.stderr
    (journal,) = commands.journals()
    assert not {"reorder", "elect"} & {line["event"] for line in journal_lines(journal)}
    return max(looking.seconds, electing.seconds)


def test_a_quorum_that_returns_answers_the_call_that_waited(
    governed: Trouble, commands: Commands
) -> None:
    partitions = governed.take(2)
    before = governed.orders(partitions)
    gate = Gate(ELECT_LEADERS)
    with governed.tapped(3, gate) as address:
        run = _start(commands, address, partitions)
        gate.wait(lambda: run.stderr)
        governed.cluster.lose_quorum()
        gate.open()
        governed.cluster.restore_quorum()
        done = run.finish()
    assert done.code == 0, done.stderr
    assert NOT_CERTAIN not in done.stderr
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
    governed.wait_for_leader(partitions, 3)
    governed.wait_for_orders(before)
    assert open_orders(commands.journals()[0]) == set()


@pytest.mark.parametrize("ghost_seconds", [SOONER_SECONDS, GHOST_SECONDS])
def test_a_ghost_is_waited_out_and_read_back(
    governed: Trouble, commands: Commands, ghost_seconds: int
) -> None:
    """Three impatient users give up on requests that the broker keeps and sends on later: a new
    order, an election, a restored order."""
    taken = governed.take(6)
    partitions = {"reorder": taken[0:2], "elect": taken[2:4], "restore": taken[4:6]}
    before = {user: governed.orders(own) for user, own in partitions.items()}
    gates = {
        "reorder": Gate(ALTER_PARTITION_REASSIGNMENTS),
        "elect": Gate(ELECT_LEADERS),
        "restore": Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2),
    }
    with ExitStack() as stack:
        runs = {}
        for user, gate in gates.items():
            address = stack.enter_context(governed.tapped(3, gate))
            runs[user] = _impatient(commands, address, partitions[user], user, ghost_seconds)
        for gate in gates.values():
            gate.wait()
        governed.cluster.lose_quorum()
        for gate in gates.values():
            gate.open()
        for run in runs.values():
            run.wait_for(NOT_CERTAIN)
        assert governed.leaders([*partitions["reorder"], *partitions["elect"]]) == {-1}
        governed.cluster.restore_quorum()

        def replayed() -> bool:
            first = {order[:2] for order in governed.orders(partitions["reorder"]).values()}
            restored = governed.orders(partitions["restore"]) == before["restore"]
            return first == {(3, 4)} and governed.leaders(partitions["elect"]) == {3} and restored

        wait_until(replayed, REPLAYED_SECONDS, lambda: f"the ghosts; {governed.partitions()}")
        assert all(run.process.poll() is None for run in runs.values())
        finished = {user: run.finish(ghost_seconds + 60) for user, run in runs.items()}
    for user, done in finished.items():
        # No answer tells who lived when the held election was carried out.
        unweighed = [broker for broker in (1, 2) if f"broker {broker} came back, or" in done.stderr]
        expected = (1, [1, 2]) if user == "elect" else (0, [])
        assert (done.code, unweighed) == expected, (user, done.stderr)
        assert outcomes(done, TOPIC) == dict.fromkeys(partitions[user], ("elected", None)), user
        governed.wait_for_leader(partitions[user], 3)
        governed.wait_for_orders(before[user])
        (journal,) = commands.journals(user)
        lines = {line["event"]: line for line in journal_lines(journal)}
        assert open_orders(journal) == set(), user
        waited = lines["restored"]["at_ms"] - lines["reorder"]["at_ms"]
        assert waited >= 1000 * ghost_seconds, user
