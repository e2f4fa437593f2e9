"""A journal goes with the operator to the hosts of brokers, and each copy comes back with what was
learnt there: the lines of all of them are one journal again. Pure."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from itertools import takewhile

from kafka_unclean_recovery.documents.journal_lines import untorn
from kafka_unclean_recovery.errors import InputError


def joined(text: str, copies: Iterable[tuple[str, str]]) -> str:
    """Return the journal with the lines that its copies have beyond it, by the time of each.

    copies: the text of each, and its name in errors. Lines that a journal and a copy begin with
    alike keep their order, and a torn last line of a copy is left out. Raises InputError for what
    is a copy of another journal.
    """
    for copy, name in copies:
        text = _with(text, copy, name)
    return text


def _with(text: str, copy: str, name: str) -> str:
    ours, rest = _lines(text)
    theirs, _ = _lines(copy)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    )
    if not same:
        raise InputError(f"{name}: is no copy of the journal: it begins with another line")
    known = set(ours)
    more = [line for line in theirs[same:] if line not in known]
    merged = heapq.merge(ours[same:], more, key=lambda line: _at_ms(line, name))
    return "".join((*ours[:same], *merged, rest))


def _lines(text: str) -> tuple[Sequence[str], str]:
    """Return the whole lines of a journal, and what follows the last one."""
    end = text.rfind("\n") + 1
    return untorn(text[:end]).splitlines(keepends=True), text[end:]


def _at_ms(line: str, name: str) -> int:
    try:
        at_ms = json.loads(line)["at_ms"]
    except (ValueError, RecursionError, LookupError, TypeError):
        at_ms = None
    if not isinstance(at_ms, int):
        raise InputError(f"{name}: a line is not one of a journal; restore the file")
    return at_ms
