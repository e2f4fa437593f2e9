"""The scenarios that come with the emulator, by name. A name has no dot and no slash: ./NAME is
always a file of somebody's own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

_ENDING = ".scenario"


def scenarios() -> Mapping[str, str]:
    """Return the text of each scenario, by name."""
    below = (files(__package__) / "scenarios").iterdir()
    found = {e.name.removesuffix(_ENDING): e for e in below if e.name.endswith(_ENDING)}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def is_name(text: str) -> bool:
    """Tell whether this would be the name of a scenario, and not the path of a file."""
    return "." not in text and "/" not in text


def story_of(text: str) -> str:
    """Return what the comment at the head of a scenario tells, as one line."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    return " ".join(lines)
