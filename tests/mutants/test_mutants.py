"""What the mutants are, on a text; and that the table names what there is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.__main__ import drawn
from tests.mutants.operators import mutants
from tests.mutants.table import HELD

_SOURCE = b'''"""A text."""
LIMIT = 3

def rise(a: int = 1, *, up: bool = True) -> int:
    """Another < text."""
    if up and not a < 2:
        a += 1
    return max(a, 0)

def other() -> None:
    print("x", 1 == 2)
'''


def test_each_change_is_small_and_can_be_compiled() -> None:
    found = mutants(_SOURCE, frozenset({"rise"}))
    texts = [mutant.of(_SOURCE).decode() for mutant in found]
    for text in texts:
        ast.parse(text)
    for line in (
        "def rise(a: int = (2), *, up: bool = True) -> int:",
        "def rise(a: int = 1, *, up: bool = (False)) -> int:",
        "    if (up or not a < 2):",
        "    if (up):",
        "    if up and (a < 2):",
        "    if up and not (a <= 2):",
        "    if (not (up and (not a < 2))):",
        "        a = 1",
        "        pass",
        "    return None",
        "    return (min(a, 0))",
    ):
        assert sum(line in text.splitlines() for text in texts) == 1, line
    untouched = ("LIMIT = 3", '    """Another < text."""', '    print("x", 1 == 2)')
    assert all(line in text.splitlines() for text in texts for line in untouched)


@pytest.mark.parametrize("module", sorted(HELD))
def test_a_module_has_mutants_and_its_tests_are_there(module: str) -> None:
    held = HELD[module]
    assert drawn(module, None, 40, 1)
    for test in (*held.quick, *held.slow):
        path = Path(test.split()[0].split("::")[0])
        assert (Path(__file__).parents[2] / path).is_file(), test
