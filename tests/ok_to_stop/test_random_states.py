"""What was predicted in random states of controllers, held against what they then did.

`python -m tests.ok_to_stop` does the same for longer.
"""

from __future__ import annotations

import pytest

from tests.fidelity.real_side import real_side
from tests.ok_to_stop.comparing import Compared, compare
from tests.ok_to_stop.controllers import OurController
from tests.real.conftest import real_kafka as real_kafka
from tests.real.releases import TESTED

SEED = 1
OURS, REAL = 150, 60
BLOCKING = {"goes_offline", "last_clean_copy", "unclean_election", "writes_blocked"}
SAID = {"at_the_floor", "single_replica"}


@pytest.mark.parametrize("release", TESTED)
def test_ours_does_what_was_predicted(release: str) -> None:
    _all_came_true(compare(OurController(release), release, SEED, OURS))


@pytest.mark.real
@pytest.mark.parametrize("release", TESTED)
def test_a_real_controller_does_what_was_predicted(release: str) -> None:
    """Its brokers are requests of ours, as a controller knows no others."""
    with real_side(release) as real:
        _all_came_true(compare(real, release, SEED, REAL))


def _all_came_true(found: Compared) -> None:
    assert found.wrong == []
    # Else nothing was tried.
    assert found.classes.keys() >= BLOCKING | SAID
    assert min(found.verdicts["yes"], found.verdicts["no"]) > 5
