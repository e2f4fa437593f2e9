"""Opening the report of a recovery as a page, in a headless Chromium: from the navigation until the
first frame after the load event.

Against an empty page of as many bytes, one comment, and against the same page laid out at once to
its end. And what noting the decisions costs the run that makes them: time of the processor.

    python -m benchmarks.report_page [RUNS] [PARTITIONS]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.installed import told_of_this_process
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Wishes
from kafka_unclean_recovery.post_mortem.page import render_page
from kafka_unclean_recovery.post_mortem.reading import read_post_mortem
from kafka_unclean_recovery.recovery.journal_evidence import note_decisions
from tests.browser import Browser, browser
from tests.post_mortem.journals import WANTED, planned, seen, write_journal

RUNS = 7
PARTITIONS = 5000
AIM_MS = 2000
_LAZY = "content-visibility:auto"


def main(arguments: list[str]) -> None:
    runs = int(arguments[0]) if arguments else RUNS
    partitions = int(arguments[1]) if len(arguments) > 1 else PARTITIONS
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        page = directory / "page.html"
        begun = time.process_time()
        html = _page(directory, partitions)
        rendered = time.process_time() - begun
        size = page.write_text(html)
        empty, at_once = directory / "empty.html", directory / "at-once.html"
        empty.write_text(f"<!DOCTYPE html><title>empty</title><!--{'x' * size}-->")
        assert _LAZY in html
        at_once.write_text(html.replace(_LAZY, ""))
        costs: dict[Path, list[float]] = {path: [] for path in (page, empty, at_once)}
        with browser() as running:
            running.show(1280, "light")
            # In turn, so that a slow moment of the machine falls on all.
            for _ in range(runs):
                for path, cost in costs.items():
                    cost.append(_opened(running, path))
        ours = median(costs[page])
        figures = {
            "benchmark": "report_page",
            **told_of_this_process(),
            "partitions": partitions,
            "bytes": size,
            "page": _summary(costs[page]),
            "empty": _summary(costs[empty]),
            "laid_out_at_once": _summary(costs[at_once]),
            "ratio_to_empty": round(ours / median(costs[empty]), 1),
            "ratio_to_laid_out_at_once": round(ours / median(costs[at_once]), 2),
            "aim_ms": AIM_MS,
            "rendered_cpu_s": round(rendered, 2),
            **_noting(directory, partitions),
        }
    print(json.dumps(figures))


def _page(directory: Path, partitions: int) -> str:
    journal = directory / "journal.jsonl"
    write_journal(journal, [planned(number) for number in range(partitions)])
    return render_page(read_post_mortem(journal.read_text(), str(journal)))


def _opened(running: Browser, path: Path) -> float:
    opened = running.open(path)
    assert opened.complaints == [], opened.complaints[:3]
    return opened.ms


def _noting(directory: Path, partitions: int) -> dict[str, float]:
    """Return what the evidence of so many decisions costs: seconds of the processor, and MB."""
    plans = [planned(number) for number in range(partitions)]
    observation, path = seen(plans), directory / "noted.jsonl"
    with Journal.open(path) as journal:
        begun = time.process_time()
        note_decisions(journal, WANTED, Wishes(), observation, plans)
        cost = time.process_time() - begun
    return {"noted_cpu_s": round(cost, 3), "noted_mb": round(path.stat().st_size / 1e6, 1)}


def _summary(found: list[float]) -> dict[str, float]:
    return {
        "runs": len(found),
        "ms": round(median(found)),
        "min_ms": round(min(found)),
        "max_ms": round(max(found)),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
