"""`--releases`: leaves out what a run with it does not have (tests/runs.py), and says how much."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.runs import ALL, EACH, ONE_RELEASE, REST, Test, release_in, runs

TESTS = Path(__file__).parent
OPTION = "--releases"
_COUNT = "left_out_by_releases"
COLLECTED = pytest.StashKey[Mapping[str, Test]]()
"""The tests by id, in a session that collected all of them."""


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION,
        choices=(EACH, REST, ONE_RELEASE, ALL),
        default=ALL,
        help="each: everything once, on one release of Kafka, and the shortest stories on the"
        " others; rest: what that leaves out; one: those that name no release; all (default)."
        " See tests/runs.py",
    )


class Selecting:
    """A plugin. Workers of xdist leave out, each the same, and the main process tells."""

    def __init__(self, config: pytest.Config) -> None:
        self._releases: str = config.getoption(OPTION)
        self._left_out = 0

    # Last: the conftest of tests/real marks its tests in the same hook.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        tests = {item: as_test(item) for item in items}
        if _of_all(config):
            config.stash[COLLECTED] = {item.nodeid: test for item, test in tests.items()}
        left_out = {item for item, test in tests.items() if not runs(test, self._releases)}
        self._left_out = len(left_out)
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_COUNT] = self._left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._left_out = getattr(node, "workeroutput", {}).get(_COUNT, self._left_out)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left_out:
            terminalreporter.write_line(
                f"{OPTION} {self._releases} left out {self._left_out} tests;"
                " tests/runs.py says which, `make test-all` runs them"
            )


def _of_all(config: pytest.Config) -> bool:
    chosen = config.getoption("keyword") or config.getoption("markexpr")
    deselected = config.getoption("deselect") or config.getoption("ignore")
    places = [config.invocation_params.dir / place for place in config.args]
    return not chosen and not deselected and places == [TESTS]


def as_test(item: pytest.Item) -> Test:
    path = item.path.relative_to(TESTS).as_posix() if TESTS in item.path.parents else ""
    function = getattr(item, "originalname", None) or item.name
    parameters = item.name.removeprefix(function)
    if item.get_closest_marker("real") is None:
        return Test(path, function, parameters, real=False)
    params = getattr(getattr(item, "callspec", None), "params", {})
    named = release_in((parameters, *map(repr, params.values())))
    return Test(path, function, parameters, real=True, named=named)
