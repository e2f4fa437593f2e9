"""The table of what questions may cost has no row that nobody keeps to."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.budgets import Budget

PRODUCT = Path(budgets.__file__).parent.parent
ROWS = sorted(name for name, row in vars(budgets).items() if isinstance(row, Budget))


@pytest.fixture(scope="module")
def product() -> str:
    return "".join(path.read_text() for path in PRODUCT.rglob("*.py"))


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_kept_to(name: str, product: str) -> None:
    assert f"budgets.{name}" in product


@pytest.mark.parametrize("name", ROWS)
def test_who_is_asked_first_has_not_all_the_time(name: str) -> None:
    row: Budget = getattr(budgets, name)
    assert 0 <= row.alone < row.seconds
