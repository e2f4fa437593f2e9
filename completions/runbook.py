"""The pages of docs/runbook, made of the entries that `explain` shows."""

from __future__ import annotations

from pathlib import Path

from kafka_unclean_recovery.runbook import entries, shown

RUNBOOK = Path(__file__).parent.parent / "docs" / "runbook"
_TITLES = (
    ("finding", "Findings of a plan"),
    ("label", "Labels of a plan"),
    ("check", "Checks of doctor"),
    ("word", "Words on the screen"),
)


def runbook_pages() -> dict[Path, str]:
    """Return the text of each page, and of the list of all."""
    pages = {RUNBOOK / f"{entry.code}.md": shown(entry) for entry in entries().values()}
    return pages | {RUNBOOK / "README.md": _list()}


def _list() -> str:
    lines = ["# Runbook", "", "`kafka-unclean-recovery explain CODE` shows each page offline."]
    for kind, title in _TITLES:
        lines += ["", f"## {title}", ""]
        lines += [
            f"- [`{entry.code}`]({entry.code}.md){f' ({entry.severity})' * bool(entry.severity)}"
            for entry in entries().values()
            if entry.kind == kind
        ]
    return "\n".join([*lines, ""])
