"""`python -m tests.collecting [DIRECTORY ...]`: what pytest collects of each of these alone, as
JSON; without one, of all directories together and of each alone.

Each collection has a process of its own, in which no module of ours was imported before. It is
forked from one that has imported what takes longest and is not ours.
"""

from __future__ import annotations

import importlib
import io
import json
import multiprocessing
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
WHOLE = "."
_THEIRS = (
    *("confluent_kafka", "hypothesis", "jsonschema", "kafka", "msgspec", "pandas", "pyarrow"),
    *("pyspark.sql", "testcontainers.core.container", "typer.testing"),
)
# Without --assert=plain pytest complains of what was imported before it.
_FLAGS = ("--collect-only", "-q", "-p", "no:cacheprovider", "--assert=plain")


class _Collected:
    """A plugin."""

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.found: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        from tests.selecting import COLLECTED, as_test

        tests = {item.nodeid: as_test(item) for item in session.items}
        # A session that collected all tests keeps them, and no other does.
        assert session.config.stash.get(COLLECTED, None) == (tests if self.whole else None)
        for nodeid, test in tests.items():
            self.found[nodeid] = {name: getattr(test, name) for name in test.__slots__}


def directories() -> list[str]:
    """Return the directories with tests in them, and the files that are in none."""
    inside = (path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py"))
    return sorted(set(inside))


def collected(where: str) -> dict[str, dict[str, Any]]:
    plugin = _Collected(whole=where == WHOLE)
    with redirect_stdout(io.StringIO()) as said:
        code = pytest.main([str(TESTS / where), *_FLAGS], plugins=[plugin])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"{where}: {said.getvalue()}")
    return plugin.found


def main() -> None:
    for name in _THEIRS:
        importlib.import_module(name)
    places = sys.argv[1:] or [WHOLE, *directories()]
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        found = pool.map(collected, places, chunksize=1)
    json.dump(dict(zip(places, found, strict=True)), sys.stdout)


if __name__ == "__main__":
    main()
