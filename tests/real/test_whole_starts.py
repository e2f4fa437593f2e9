"""What before-start says of random disks is what starts of real brokers then do, on all brokers.

WHOLE_STARTS in the environment is how many brokers are started, of each release.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real.releases import TESTED
from tests.real.whole_starts import whole_starts

SEED = 1
STARTS = int(os.environ.get("WHOLE_STARTS", "2"))


@pytest.mark.parametrize("version", TESTED)
def test_what_was_said_of_random_starts_comes_true(version: str, tmp_path: Path) -> None:
    with whole_starts(tmp_path, version, SEED) as found:
        tally = found.tally
        while tally.starts < STARTS:
            found.round()
            assert tally.wrong == []
        print(tally)
        # Else nothing was said that could come true.
        told = tally.rows.total() - tally.rows["unknown"] - tally.rows["rests on a dead leader"]
        assert told > 5 * STARTS
