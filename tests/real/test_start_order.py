"""The order of starting after a power cut comes true on real brokers.

POWER_CUTS in the environment is how many cuts there are, of each release.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real.power_cuts import power_cuts
from tests.real.releases import TESTED

# The first one with several steps, elections, and an order that loses records.
SEED = 3
CUTS = int(os.environ.get("POWER_CUTS", "1"))


@pytest.mark.parametrize("version", TESTED)
def test_who_leads_and_what_is_lost_after_a_power_cut_is_as_foretold(
    version: str, tmp_path: Path
) -> None:
    with power_cuts(tmp_path, version, SEED) as found:
        for _ in range(CUTS):
            # Of one alone the order that is named counts.
            found.round(blind=CUTS > 1)
            assert found.tally.wrong == []
    print(found.tally)
    # Else nothing was said that could come true.
    assert found.tally.came["elected"] + found.tally.came["by itself"] > 5 * CUTS
    assert CUTS < 5 or found.tally.came["blind and lost"]
