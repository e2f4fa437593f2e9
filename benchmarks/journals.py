"""Recovering 2,000 offline partitions where earlier runs left 100 journals of 8,000 partitions,
against the same without a journal; real clusters of the same saved outages.

    python -m benchmarks.journals [RUNS]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.compared import at_most
from benchmarks.election import recovered
from benchmarks.installed import told_of_processes
from benchmarks.measure import Cost, summary

RUNS = 5
PARTITIONS, EARLIER_PARTITIONS = 2000, 8000
JOURNALS = 100
AIM = 1.05


def main(arguments: list[str]) -> None:
    runs = int(arguments[0]) if arguments else RUNS
    with tempfile.TemporaryDirectory() as scratch:
        earlier = _journal_of(Path(scratch) / "earlier", EARLIER_PARTITIONS)
        # The outage is the same cluster every time, and so is the directory of its journals.
        home = Path(scratch) / "home"
        own = _journal_of(home, PARTITIONS)
        for number in range(JOURNALS):
            os.link(earlier, own.with_name(f"{number:03}.jsonl"))
        left, none = [], []
        for _ in range(runs):
            left.append(recovered(PARTITIONS, home).cost)
            none.append(recovered(PARTITIONS).cost)
        size = earlier.stat().st_size
    print(json.dumps(_row(left, none, size)))


def _journal_of(home: Path, partitions: int) -> Path:
    recovered(partitions, home)
    (journal,) = home.rglob("*.jsonl")
    return journal


def _row(left: list[Cost], none: list[Cost], size: int) -> dict[str, object]:
    with_them, without = (median(cost.wall_s for cost in costs) for costs in (left, none))
    return {
        "benchmark": "journals",
        **told_of_processes(),
        "journals": JOURNALS,
        "mib_each": round(size / (1 << 20), 1),
        "with": summary(left),
        "without": summary(none),
        "compared": [
            at_most(
                AIM,
                f"{PARTITIONS:,} partitions elected, {JOURNALS} journals of"
                f" {EARLIER_PARTITIONS:,} there",
                "no journal",
                with_them,
                without,
            )
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
