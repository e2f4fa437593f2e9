"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine takes its time: that an example took long says nothing of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write what the code says now into tests/testdata, for review as a diff",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real Kafka first: its files are the longest, and two workers that begin with them end
    together. The order is otherwise as collected."""
    items.sort(key=lambda item: item.get_closest_marker("real") is None)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_together(item)))


def _together(item: pytest.Item) -> str:
    """A worker takes a file at a time; all of Spark, whose one session they share."""
    path = item.nodeid.partition("::")[0]
    return "spark" if path.startswith("tests/spark/") else path
