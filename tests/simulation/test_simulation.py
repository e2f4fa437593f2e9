"""A sample of the simulation; `make simulation` has the rest. In a process whose clock is its own.

The seeds are those of the day it was written: whoever changes what a seed means, tries many.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNS = {"100 runs": range(1, 101), "400 more": range(101, 501)}
"""Of two or three faults each, mostly: their seeds."""


def simulate(*flags: str) -> tuple[dict[str, object], str]:
    """The summary, and all that was said."""
    command = [sys.executable, "-m", "tests.simulation", "--workers", "1", *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2300)
    said = done.stdout + done.stderr
    assert done.stdout.strip(), said
    summary: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return summary, said


@pytest.mark.timeout(2400)
@pytest.mark.parametrize("seeds", RUNS.values(), ids=RUNS)
def test_whatever_happens_at_once_no_loss_and_no_claim_is_beyond_what_was_said(
    seeds: range,
) -> None:
    summary, said = simulate("--runs", str(len(seeds)), "--seed", str(seeds.start))
    assert summary["violations"] == {}, said
    assert summary["broken"] == [], said
    assert summary["runs"] == len(seeds)
    faults = summary["faults"]
    assert isinstance(faults, dict)
    assert len(faults) >= 28, f"faults that never happened are no test: {faults}"


def test_a_seed_is_the_same_run_whatever_ran_before_it() -> None:
    of_all = simulate("--runs", "5", "--seed", "3", "--verbose")[1]
    alone = simulate("--runs", "1", "--seed", "7", "--verbose")[1]
    told = alone[alone.index("seed 7,") : alone.index('{"runs"')]
    assert "elections" in told
    assert told in of_all
