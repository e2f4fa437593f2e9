"""The tree of errors in errors.py is the one that the classes are, with the exit codes that
commands end with."""

from __future__ import annotations

import ast
import asyncio
import importlib
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from kafka_unclean_recovery import errors
from kafka_unclean_recovery.cli.session import _guarded

PACKAGE = Path(errors.__file__).parent
Row = tuple[str, str, str]
"""The name of a class, the name of its base, and its file."""


def _told() -> dict[Row, str]:
    """Return the rows of the tree, and the code of each."""
    assert errors.__doc__ is not None
    rows: dict[Row, str] = {}
    above: list[tuple[str, str]] = []
    for line in errors.__doc__.splitlines():
        if not line.startswith("    "):
            continue
        name, *rest = line.split()
        del above[(len(line) - len(line.lstrip())) // 2 - 2 :]
        base, code = above[-1] if above else ("", "")
        code = next((word for word in rest if word.isdecimal()), code)
        file = next((word for word in rest if word.endswith(".py")), "errors.py")
        above.append((name, code))
        if base:
            rows[name, base, file] = code
    return rows


def _classes() -> set[Row]:
    """Return all errors of the package that are no private matter of a module."""
    found = {
        (node.name, ast.unparse(node.bases[0]), str(path.relative_to(PACKAGE)))
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and node.bases
    }
    names = {"Exception", "ValueError"}
    while more := {name for name, base, _ in found if base in names} - names:
        names |= more
    return {row for row in found if row[1] in names and not row[0].startswith("_")}


TOLD = _told()


def test_the_tree_has_all_errors_and_no_other() -> None:
    assert set(TOLD) == _classes()


def _error(name: str, file: str) -> BaseException:
    module = ".".join(("kafka_unclean_recovery", *Path(file).with_suffix("").parts))
    kind: Any = getattr(importlib.import_module(module), name)
    error: BaseException = kind.__new__(kind)
    error.__dict__.update(
        failures=(), reason="", address="", sentence="", code=2, group="", kind=""
    )
    return error


@pytest.mark.parametrize("row", [row for row, code in TOLD.items() if code], ids=lambda row: row[0])
def test_a_command_ends_with_the_code_that_the_tree_tells(row: Row) -> None:
    name, _, file = row

    async def work() -> int:
        raise _error(name, file)

    sent = Mock(has_sent=False)
    assert asyncio.run(_guarded(work(), Mock(), sent)) == int(TOLD[row])
