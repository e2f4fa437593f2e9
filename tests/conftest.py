"""Options of the whole test suite."""

from __future__ import annotations

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling, Scheduling

_SPARK = "tests/spark/"

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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """A worker takes a file at a time; all of Spark, whose one session its tests share.

    Groups by marks (--dist loadgroup) come to nothing with pytest 9.
    """
    if config.getvalue("dist") != "loadfile":
        return None
    scheduling = LoadFileScheduling(config, log)
    file_of = scheduling._split_scope

    def together(nodeid: str) -> str:
        return _SPARK if nodeid.startswith(_SPARK) else file_of(nodeid)

    scheduling._split_scope = together
    return scheduling
