"""A sample of the simulation; `make simulation` has the rest. In a process whose clock is its own.

The seeds are those of the day it was written: whoever changes what a seed means, tries many.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOUND_BUGS = ROOT / "docs" / "found-bugs.md"
SEEDS = range(1, 41)
"""Of two or three faults each, mostly. `make test-all` has more, in parts of its own."""


def simulate(*flags: str) -> tuple[dict[str, object], str]:
    """Return the summary, and all that was said."""
    command = [sys.executable, "-m", "tests.simulation", "--workers", "1", *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2300)
    said = done.stdout + done.stderr
    assert done.stdout.strip(), said
    summary: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return summary, said


@pytest.mark.timeout(2400)
def test_whatever_happens_at_once_no_loss_and_no_claim_is_beyond_what_was_said() -> None:
    summary, said = simulate("--runs", str(len(SEEDS)), "--seed", str(SEEDS.start))
    assert summary["violations"] == {}, said
    assert summary["broken"] == [], said
    assert summary["runs"] == len(SEEDS)
    faults = summary["faults"]
    assert isinstance(faults, dict)
    assert len(faults) >= 28, f"faults that never happened are no test: {faults}"


def _found_before() -> dict[str, list[str]]:
    """Return the seeds of docs/found-bugs.md at which the code of before failed, by fault."""
    mended = FOUND_BUGS.read_text().partition("## Earlier")[0]
    found: dict[str, list[str]] = {}
    for fault, seed in re.findall(r"`([a-z ']+)` (\d+)", mended):
        found.setdefault(fault, []).append(seed)
    return found


@pytest.mark.parametrize(("fault", "seeds"), _found_before().items(), ids=_found_before())
def test_what_was_found_on_the_code_of_before_does_no_harm_any_more(
    fault: str, seeds: list[str]
) -> None:
    for seed in seeds:
        summary, said = simulate("--fault", fault, "--runs", "1", "--seed", seed)
        assert summary["violations"] == {}, said
        assert summary["broken"] == [], said
        assert summary["faults"], "the fault never happened"


def test_a_broker_that_comes_back_slowly_with_another_disk_does_no_harm() -> None:
    summary, said = simulate("--fault", "a broker comes back slowly", "--runs", "25", "--seed", "1")
    assert summary["violations"] == {}, said
    assert summary["broken"] == [], said
    assert summary["faults"], "the fault never happened"


def test_a_seed_is_the_same_run_whatever_ran_before_it() -> None:
    of_all = simulate("--runs", "5", "--seed", "3", "--verbose")[1]
    alone = simulate("--runs", "1", "--seed", "7", "--verbose")[1]
    told = alone[alone.index("seed 7,") : alone.index('{"runs"')]
    assert "elections" in told
    assert told in of_all
