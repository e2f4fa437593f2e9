"""The controller, one scenario a file in testdata/controller; its name is what it shows.

The input is in the language of `script`; the output repeats each line, and under it are the
answer, if it is not simply yes, and the partitions as they are then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator.controller.releases import RELEASES
from kafka_unclean_recovery.emulator.controller.state import ControllerFault, State
from tests.emulator.controller.invariants import check_invariants, check_step, partitions
from tests.emulator.controller.script import Script, show
from tests.transcript import check, scenarios


@pytest.mark.parametrize("path", scenarios("controller"), ids=lambda p: p.name)
def test_controller(path: Path, request: pytest.FixtureRequest) -> None:
    check(path, _run, rewrite=bool(request.config.getoption("--rewrite")))


def test_there_are_enough_scenarios() -> None:
    assert len(scenarios("controller")) >= 95


def _run(given: str) -> str:
    lines = [line for line in given.splitlines() if line and not line.startswith("#")]
    release = "4.3.1"
    if lines[0].startswith("release "):
        release = lines.pop(0).split()[1]
    script = Script(State(RELEASES[release]))
    return "\n".join(said for line in lines for said in _played(script, line))


def _played(script: Script, line: str) -> list[str]:
    before = partitions(script.state)
    try:
        answered = script.play(line)
    except ControllerFault as fault:
        return [line, f"  ControllerFault: {fault}"]
    check_invariants(script.state)
    check_step(script.state, before, line)
    return [
        line,
        *([f"  {answered}"] if answered else []),
        *(f"  {partition}" for partition in show(script.state)),
    ]
