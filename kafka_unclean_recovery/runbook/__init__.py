"""What stands behind each finding and label of a plan and each check of doctor, for a person in an
incident.

The texts are in entries.toml, by code; they need no network and no document.
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
}


@dataclass(frozen=True, slots=True)
class Entry:
    """`kind` is "finding", "label" or "check"; `severity` is that of a finding, else ""."""

    code: str
    kind: str
    meaning: str
    impact: str
    look_at: str
    to_do: str
    severity: str = ""


def entries() -> Mapping[str, Entry]:
    """Return all entries by code: findings, labels, checks."""
    told = tomllib.loads(files(__name__).joinpath("entries.toml").read_text("utf-8"))
    return {
        code: Entry(code, kind, **fields)
        for kind in ("finding", "label", "check")
        for code, fields in told[kind].items()
    }


def shown(entry: Entry) -> str:
    """Return the entry as Markdown, which reads well on a terminal too."""
    of = f"{_KINDS[entry.kind]} ({entry.severity})" if entry.severity else _KINDS[entry.kind]
    parts = [f"# {entry.code}", f"{of}."]
    for title, field in _SECTIONS:
        parts += [f"## {title}", getattr(entry, field).strip()]
    return "\n\n".join(parts) + "\n"
