"""The controller, one scenario a file in testdata/controller; its name is what it shows.

The input is in the language of `script`; the output repeats each line, and under it are the
answer, if it is not simply yes, and the partitions as they are then.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from tests.kraft_rules.invariants import check_invariants, check_step, partitions
from tests.kraft_rules.script import Script, lines_of, scenario, show
from tests.transcript import check, scenarios


@pytest.mark.parametrize("path", scenarios("controller"), ids=lambda p: p.name)
def test_controller(path: Path, request: pytest.FixtureRequest) -> None:
    check(path, _run, rewrite=bool(request.config.getoption("--rewrite")))


def test_there_are_enough_scenarios() -> None:
    assert len(scenarios("controller")) >= 95


def test_the_analysis_holds_of_the_text_as_of_the_release() -> None:
    """Cases A to G and "How it works": who leads, ISR and ELR are the same in both modes."""
    names = [p.name for p in scenarios("controller") if p.name.startswith("case_")]
    assert [name.split("_")[1] for name in names] == list("abcdefg")
    for name in [*names, "how_elr_works_in_the_analysis"]:
        release, lines = scenario(name)
        assert release == "4.3.1"
        both = [Script(State(RELEASES[mode])) for mode in ("4.3.1", "kip-966")]
        for line in lines:
            for script in both:
                script.play(line)
            found = [
                [(now.leader, now.leader_epoch, now.isr, now.elr) for now in each.values()]
                for each in (partitions(script.state) for script in both)
            ]
            assert found[0] == found[1], f"{name}: {line}"


def _run(given: str) -> str:
    release, lines = lines_of(given)
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
