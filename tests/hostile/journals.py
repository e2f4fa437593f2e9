"""Commands on journals that are changed in one place, or lack it; the places are those of a journal
with every kind of line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.files.journal import Journal
from tests.hostile.documents import NO_TEXT, NOBODY, NUMBERS
from tests.hostile.odd import TEXTS
from tests.post_mortem.journals import planned, write_journal

KEPT = Path(__file__).parent.parent / "testdata" / "formats" / "journal.jsonl"
COMMANDS = (
    ("report", "{}"),
    ("report", "{}", "--html"),
    ("report", "{}", "--json"),
    ("aftercare", *NOBODY, "--timeout-ms", "100", "--journal", "{}"),
)
_GONE = object()


def sample(directory: Path) -> list[dict[str, Any]]:
    """Return the lines of a journal that was kept, and of a run as it is today."""
    path = directory / "whole.jsonl"
    write_journal(path, [planned(0)], _meanwhile)
    lines = [*KEPT.read_text().splitlines(), *path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def _meanwhile(journal: Journal) -> None:
    journal.note("sent", number=1, broker="b3:9092", boot_id="a", boot_ms=5, what="ElectLeaders")
    journal.note("wave", number=1, of=2, partitions=1)
    journal.note("surprise", topic="orders", partition=0, reason="lost more")


def trials(
    lines: list[dict[str, Any]], texts: tuple[str, ...], numbers: tuple[str, ...] = tuple(NUMBERS)
) -> Iterator[tuple[str, str]]:
    """Yield (place and value, the text of the journal) for each."""
    for at, line in enumerate(lines):
        for way, value in _leaves(line, ()):
            named = {**{what: TEXTS[what] for what in texts}, **NO_TEXT}
            told = {what: NUMBERS[what] for what in numbers}
            odd = {**(named if isinstance(value, str) else told), "gone": _GONE, "a list": [[]]}
            for what, new in odd.items():
                changed = [*lines[:at], _with(line, way, new), *lines[at + 1 :]]
                place = ".".join(map(str, way))
                yield (
                    f"{line['event']}: {place}: {what}",
                    "\n".join(map(json.dumps, changed)) + "\n",
                )


def _leaves(value: Any, way: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield texts, numbers and what is empty, and of a list only the first that is like it."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _leaves(each, (*way, key))
    elif isinstance(value, list) and value:
        yield from _leaves(value[0], (*way, 0))
    else:
        yield way, value


def _with(value: Any, way: tuple[Any, ...], new: object) -> Any:
    step, *rest = way
    copy = value.copy()
    if not rest and new is _GONE:
        del copy[step]
    else:
        copy[step] = _with(value[step], tuple(rest), new) if rest else new
    return copy
