"""What stands behind each finding and label of a plan, each check of doctor and each word on the
screen, for a person in an incident.

The texts are in entries.toml and words.toml, by code; they need no network and no document.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_SECTIONS = (
    ("What it means", "meaning"),
    ("What it does", "impact"),
    ("What to look at", "look_at"),
    ("What to do", "to_do"),
)

_KINDS = {
    "finding": "A finding of a plan",
    "label": "A label of a plan",
    "check": "A check of doctor",
    "word": "A word for what waiting brings, or for what became of an election",
}
_FILES = ("entries.toml", "words.toml")


@dataclass(frozen=True, slots=True)
class Entry:
    """`kind` is "finding", "label", "check" or "word"; `severity` is that of a finding, else ""."""

    code: str
    kind: str
    meaning: str
    impact: str
    look_at: str
    to_do: str
    severity: str = ""


def entries() -> Mapping[str, Entry]:
    """Return all entries by code: findings, labels, checks, words."""
    told: dict[str, Mapping[str, Mapping[str, str]]] = {}
    for name in _FILES:
        told |= tomllib.loads(files(__name__).joinpath(name).read_text("utf-8"))
    return {
        code: Entry(code, kind, **fields) for kind in _KINDS for code, fields in told[kind].items()
    }


def found(code: str) -> Entry | None:
    """Return the entry of a code, or of a word as it stands on the screen ("no better")."""
    return entries().get(code.strip().lower().replace(" ", "_").replace("-", "_"))


def in_a_line(entry: Entry) -> str:
    """Return the first sentence of what the entry means."""
    meaning = " ".join(entry.meaning.split())
    first, dot, _ = meaning.partition(". ")
    return f"{first}." if dot else meaning


def shown(entry: Entry) -> str:
    """Return the entry as Markdown, which reads well on a terminal too."""
    of = f"{_KINDS[entry.kind]} ({entry.severity})" if entry.severity else _KINDS[entry.kind]
    parts = [f"# {entry.code}", f"{of}."]
    for title, field in _SECTIONS:
        parts += [f"## {title}", getattr(entry, field).strip()]
    return "\n\n".join(parts) + "\n"
