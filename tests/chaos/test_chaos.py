"""A sample of the chaos; `make chaos` has the rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chaos.runs import Runs
from tests.real.conftest import real_kafka as real_kafka

pytestmark = pytest.mark.real
# None of them waits for minutes until a request given up is gone; the last uses the cluster up.
SEEDS = (758, 702, 112, 463, 816, 824, 825, 2)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with Runs(tmp_path_factory.mktemp("chaos")) as runs:
        yield runs


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_the_best_replica_leads_in_the_end(runs: Runs, seed: int) -> None:
    result = runs.run(seed)
    assert result.violations == (), result
    assert result.reached, result
