"""Every event that is written is in the table by which journals are read, and has a sentence in the
timeline."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import fields

import kafka_unclean_recovery
from kafka_unclean_recovery.documents.journal import EVENTS, Event
from kafka_unclean_recovery.documents.plan import PartitionJson
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


def test_each_event_has_its_row_in_the_order_of_their_names() -> None:
    assert tuple(EVENTS) == get_args(Event)


@pytest.mark.parametrize("event", EVENTS)
def test_whatever_is_read_of_a_line_is_told_to_stand_in_it(event: str) -> None:
    row = EVENTS[event]
    # A decision has its keys from a schema.
    read = () if row.read_by in (None, PartitionJson) else fields(row.read_by)
    assert [key.name for key in read if not re.search(rf"\b{key.name}\b", row.keys)] == []


def test_an_event_has_a_sentence() -> None:
    # Decisions in a row have one sentence together.
    assert TEXTS.keys() | UNTOLD | {"decision"} == NAMED
