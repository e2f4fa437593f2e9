"""What a run waited for, in ms from the start of its process: its journal tells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

MS = 1000.0


def timeline(home: Path, begun_s: float) -> list[tuple[int, str]]:
    """Return (ms since the start, what was done by then) of the journal below `home`; nothing where
    there is none. begun_s: seconds since 1970."""
    journals = home.rglob("*.jsonl")
    lines = [json.loads(line) for path in journals for line in path.read_text().splitlines()]
    return told(lines, begun_s * MS)


def told(lines: Iterable[Mapping[str, Any]], begun_ms: float) -> list[tuple[int, str]]:
    """Return each line's moment and name; of lines of one name in a row, the last."""
    named = ((round(line["at_ms"] - begun_ms), name) for line, name in _named(lines))
    return [list(of_one)[-1] for _, of_one in groupby(named, key=lambda each: each[1])]


def _named(lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the lines with what they say was done. Requests of one kind have one name."""
    sent: dict[int, str] = {}
    for line in lines:
        name = line["event"]
        if name in ("sent", "answered"):
            request = sent.setdefault(line["number"], line.get("request", ""))
            name = f"{request} {name}"
        yield line, name
