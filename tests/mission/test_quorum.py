"""The controller is lost around an election and comes back, on the emulator: what was given up is
carried out after all. The tool of the ghosts waits seconds where it waits a minute.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from tests.mission.conftest import PROBES, Means
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, ELECT_LEADERS, Gate
from tests.real.test_faults_quorum import (  # noqa: F401
    test_a_quorum_that_returns_answers_the_call_that_waited,
)
from tests.real.watching import (
    Commands,
    Watched,
    journal_lines,
    open_orders,
    outcomes,
    waiting_for_ghosts,
)

# How long an answer is waited for, and from the request on until nothing can happen any more.
PATIENCE_SECONDS, GHOST_SECONDS = 1.0, 4.0
NOT_CERTAIN = "not certain what the controller did"


def _gates(means: Means) -> Mapping[str, Gate]:
    """Return the requests that are given up, by the step that each makes."""
    if means is not PROBES:
        return {"elect": Gate(ELECT_LEADERS)}
    return {
        "reorder": Gate(ALTER_PARTITION_REASSIGNMENTS),
        "elect": Gate(ELECT_LEADERS),
        "restore": Gate(ALTER_PARTITION_REASSIGNMENTS, nth=2),
    }


def _impatient(commands: Commands, server: str, partitions: list[int], user: str) -> Watched:
    """Start the recovery command, which waits for answers shortly."""
    config = commands.directory / "impatient.properties"
    config.write_text(f"request.timeout.ms={1000 * PATIENCE_SECONDS:.0f}\n")
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    arguments = (
        *("--bootstrap-server", server, "--command-config", str(config)),
        *("--path-to-json-file", wanted, "--automated-recovery", "--format", "json"),
        *commands.mechanism.flags,
    )
    sooner = waiting_for_ghosts(GHOST_SECONDS)
    return commands.start(*sooner, *arguments, command="python", user=user)


@pytest.fixture
def governed(troubled: Trouble) -> Trouble:
    return troubled


def test_a_ghost_is_waited_out_and_read_back(
    troubled: Trouble, commands: Commands, means: Means
) -> None:
    gates = _gates(means)
    taken = troubled.take(2 * len(gates))
    partitions = {step: taken[2 * n : 2 * n + 2] for n, step in enumerate(gates)}
    before = troubled.orders(taken)
    with ExitStack() as stack:
        runs = {}
        for step, gate in gates.items():
            address = stack.enter_context(troubled.tapped(3, gate))
            runs[step] = _impatient(commands, address, partitions[step], step)
        for gate in gates.values():
            gate.wait()
        troubled.cluster.lose_quorum()
        for gate in gates.values():
            gate.open()
        for run in runs.values():
            run.wait_for(NOT_CERTAIN)
        troubled.cluster.restore_quorum()
        finished = {step: run.finish() for step, run in runs.items()}
    for step, done in finished.items():
        # No answer tells who lived when the held election was carried out.
        unweighed = [broker for broker in (1, 2) if f"broker {broker} came back, or" in done.stderr]
        expected = (1, [1, 2]) if step == "elect" else (0, [])
        assert (done.code, unweighed) == expected, (step, done.stderr)
        assert outcomes(done, TOPIC) == dict.fromkeys(partitions[step], ("elected", None))
        (journal,) = commands.journals(step)
        assert open_orders(journal) == set()
        lines = {line["event"]: line for line in journal_lines(journal)}
        first, last = (lines[event] for event in (means.mechanism.steps[0], "outcome"))
        assert last["at_ms"] - first["at_ms"] >= 1000 * GHOST_SECONDS
    troubled.wait_for_leader(taken, 3)
    troubled.wait_for_orders(before)
