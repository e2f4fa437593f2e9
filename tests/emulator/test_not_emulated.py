"""NOT_EMULATED and the tests that show its lines, one for each."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kafka_unclean_recovery.emulator.apis.supported import NOT_EMULATED

TESTS = Path(__file__).parent.parent
MARK = "pytest.mark.not_emulated"


def _shown(module: Path) -> Iterator[str]:
    """Yield the lines that the tests of a module are marked with."""
    content = module.read_text()
    # Few modules have any, and parsing them all takes a second.
    for node in ast.parse(content).body if MARK in content else ():
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == MARK:
                    yield ast.literal_eval(mark.args[0])


def test_each_line_is_shown_by_one_test() -> None:
    shown = Counter(line for module in TESTS.rglob("test_*.py") for line in _shown(module))
    assert shown == Counter(NOT_EMULATED.keys())
