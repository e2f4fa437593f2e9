"""The table of groups (runs.py): no test is in none, none is collected in one way only, and what
each run leaves out is named."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from tests import runs
from tests.collecting import WHOLE
from tests.night.parts import PARTS, Part
from tests.real.releases import NEWEST, ONE, READ_ONLY, TESTED
from tests.runs import ALL, EACH, GROUPS, ONE_RELEASE, REST, Test, groups_of, matches, table
from tests.selecting import COLLECTED

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "development.md"
BEGIN = "<!-- Groups of tests: made by pytest --rewrite, from tests/runs.py. -->\n"
END = "<!-- End of groups of tests. -->\n"
# Each has a story on each tested release in each run.
WINGS = (
    *("look and recover", "disks and salvage", "quorum", "ok-to-stop", "before-start"),
    *("aftercare", "our controller and real ones"),
)
# A second build takes a minute of a core.
_SAME_BYTES = (
    "the same source, built with the same Python, packages and libraries of the system, gives the"
    " same bytes, wherever and whenever it is built."
)
PROMISES_LEFT_TO_ALL = {_SAME_BYTES}
LATER = [pattern for group in GROUPS for pattern in group.later]
OLDER = [pattern for group in GROUPS for pattern in group.older]

Collected = Mapping[str, Mapping[str, Test]]


def collected(*places: str) -> Collected:
    """Return by place the tests by id."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.collecting", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {
        place: {nodeid: Test(**fields) for nodeid, fields in tests.items()}
        for place, tests in found.items()
    }


@pytest.fixture(scope="module")
def tests(pytestconfig: pytest.Config) -> Mapping[str, Test]:
    """Return all tests, as this session has collected them, or another one where it has not."""
    found = pytestconfig.stash.get(COLLECTED, None)
    return collected(WHOLE)[WHOLE] if found is None else found


def _in_each_run(tests: Iterable[Test]) -> list[Test]:
    return [test for test in tests if runs.runs(test, EACH)]


def test_together_the_same_tests_are_collected_as_of_each_directory_alone() -> None:
    found = collected()
    alone = {nodeid for place, tests in found.items() if place != WHOLE for nodeid in tests}
    assert len(alone) > 8000
    assert alone ^ found[WHOLE].keys() == set()


def test_each_test_is_in_one_group_and_no_group_is_empty(tests: Mapping[str, Test]) -> None:
    found = {nodeid: [group.name for group in groups_of(test)] for nodeid, test in tests.items()}
    assert {nodeid: names for nodeid, names in found.items() if len(names) != 1} == {}
    files = {test.path for test in tests.values()}
    idle = [glob for group in GROUPS for glob in group.files if not _any_is(glob, files)]
    assert idle == []


def _any_is(glob: str, files: Iterable[str]) -> bool:
    return any(runs.has(glob, path) for path in files)


@pytest.mark.parametrize("pattern", [*LATER, *OLDER])
def test_what_a_group_names_is_there_and_is_its_own(
    pattern: str, tests: Mapping[str, Test]
) -> None:
    found = [test for test in tests.values() if matches(pattern, test)]
    assert found
    (group,) = (group for group in GROUPS if pattern in (*group.later, *group.older))
    assert {owner.name for test in found for owner in groups_of(test)} == {group.name}


def test_each_function_on_real_kafka_is_in_each_run_or_is_named_with_a_reason(
    tests: Mapping[str, Test],
) -> None:
    real = [test for test in tests.values() if test.real]
    each = {test.whole_function for test in _in_each_run(real)}
    missing = {test.whole_function for test in real if test.whole_function not in each}
    named = {
        test.whole_function
        for test in real
        for pattern in LATER
        if matches(pattern, test) and _reason(pattern)
    }
    assert len(each) > 200
    assert missing - named == set()


def _reason(pattern: str) -> str:
    return next(group.later[pattern] for group in GROUPS if pattern in group.later)


def test_each_run_leaves_out_only_what_is_named_or_of_another_release(
    tests: Mapping[str, Test],
) -> None:
    left_out = [test for test in tests.values() if not runs.runs(test, EACH)]
    unnamed = [test for test in left_out if not any(matches(p, test) for p in LATER)]
    assert [test for test in unnamed if not test.real or test.release == ONE] == []


def test_each_wing_has_a_story_on_each_release_in_each_run(tests: Mapping[str, Test]) -> None:
    found = {
        (group.name, test.release)
        for test in _in_each_run(tests.values())
        for group in groups_of(test)
        if test.real
    }
    missing = {(wing, release) for wing in WINGS for release in TESTED} - found
    assert missing == set()
    assert {group.name for group in GROUPS if group.older} == set(WINGS)


def test_the_rest_is_what_each_run_leaves_out(tests: Mapping[str, Test]) -> None:
    assert all(runs.runs(test, REST) is not runs.runs(test, EACH) for test in tests.values())


def test_on_one_release_are_all_but_those_that_name_theirs(tests: Mapping[str, Test]) -> None:
    assert all(runs.runs(test, ALL) for test in tests.values())
    one = {nodeid for nodeid, test in tests.items() if runs.runs(test, ONE_RELEASE)}
    assert tests.keys() - one == {nodeid for nodeid, test in tests.items() if test.named}
    assert {tests[nodeid].release for nodeid in one} == {ONE}
    assert {test.release for test in tests.values() if test.named} == {*TESTED, READ_ONLY}


def test_the_parts_of_a_night_together_run_everything(tests: Mapping[str, Test]) -> None:
    parts = [part for part in PARTS if "--releases" in part.command]
    assert [nodeid for nodeid, test in tests.items() if not any(_has(p, test) for p in parts)] == []
    # What runs on one release runs on the newest, and on the one of most users.
    released = {part.environment.get("KAFKA_RELEASE", NEWEST) for part in parts}
    assert released == {NEWEST, "4.3.1"}


def _has(part: Part, test: Test) -> bool:
    """Return whether the part runs the test on this session's release."""
    told = dict(pairwise(part.command))
    marked = test.real if told["-m"] == "real" else told["-m"] == "pytest"
    ours = part.environment.get("KAFKA_RELEASE", NEWEST) == NEWEST
    return ours and marked and runs.runs(test, told["--releases"])


def test_each_promise_is_tried_in_each_run(tests: Mapping[str, Test]) -> None:
    """By a transcript, too, or else what the user is promised could break unseen for days."""
    each = {f"tests/{test.whole_function}" for test in _in_each_run(tests.values())}
    claims = tomllib.loads((ROOT / "tests" / "claims.toml").read_text())["claim"]
    untried = {
        claim["says"]
        for claim in claims
        if not any(test in each or "::" not in test for test in claim["tests"])
    }
    assert untried == PROMISES_LEFT_TO_ALL


def test_the_page_has_the_table(request: pytest.FixtureRequest) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    written = before + BEGIN + table() + END + rest.partition(END)[2]
    if request.config.getoption("--rewrite"):
        PAGE.write_text(written)
    assert PAGE.read_text() == written
