"""Every event that is written is in the table by which journals are read, in the docs of the
journal, and has a sentence in the timeline."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import kafka_unclean_recovery
from kafka_unclean_recovery.documents.journal import AS_THEY_STAND, EVENTS
from kafka_unclean_recovery.documents.journal_lines import Event
from kafka_unclean_recovery.files import journal
from kafka_unclean_recovery.post_mortem.timeline import TEXTS, UNTOLD
from tests.structure import modules_below

NAMED = frozenset(get_args(Event))
WRITING = {"note", "write", "tell"}
# They go with the election that they are for, as one announcement.
ANNOUNCED = {"reorder", "move"}


def _written() -> Iterator[str]:
    """Yield the names that are given to a journal, also where its method is passed on."""
    for module in modules_below(Path(kafka_unclean_recovery.__file__).parent):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call):
                yield from _given([node.func, *node.args])


def _given(parts: list[ast.expr]) -> Iterator[str]:
    for method, name in pairwise(parts):
        if (
            isinstance(method, ast.Attribute)
            and method.attr in WRITING
            and ast.unparse(method.value).endswith(("journal", "self"))
            and isinstance(name, ast.Constant)
        ):
            yield str(name.value)


def test_what_is_written_is_an_event_with_a_name() -> None:
    assert set(_written()) | ANNOUNCED == NAMED


def test_an_event_is_read_by_its_type_or_as_it_stands() -> None:
    assert EVENTS.keys() & AS_THEY_STAND == set()
    assert EVENTS.keys() | AS_THEY_STAND == NAMED


def test_an_event_has_a_sentence() -> None:
    # Decisions in a row have one sentence together.
    assert TEXTS.keys() | UNTOLD | {"decision"} == NAMED


def test_an_event_is_in_the_docs_of_the_journal() -> None:
    told = re.findall(r"^ {4}([a-z]+) +\w", journal.__doc__ or "", re.MULTILINE)
    assert sorted(told) == sorted(NAMED)
