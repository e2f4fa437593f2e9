"""The table of docs/performance.md, and that `make bench` runs every benchmark there is."""

from __future__ import annotations

from pathlib import Path

from benchmarks.__main__ import ALL, BEGIN, END, with_table
from benchmarks.compared import at_least, at_most
from benchmarks.timeline import told

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
# What others are made of, and what takes minutes to prove something and has no rival.
PARTS = {
    "__init__",
    "__main__",
    "compared",
    "election_limit",
    "emulated_cluster",
    "emulated_process",
    "emulator_partitions",
    "emulator_startup",
    "emulator_steps",
    "installed",
    "leaders",
    "measure",
    "model_check",
    "outage_process",
    "rack_process",
    "spark_sizes",
    "spark_summaries",
    "timeline",
    "whole_cluster",
}


def test_every_benchmark_is_run() -> None:
    assert {path.stem for path in (ROOT / "benchmarks").glob("*.py")} == PARTS | set(ALL)


def test_a_ratio_is_read_as_its_aim_says() -> None:
    slower = at_most(1.0, "work", "rival", 3.0, 2.0)
    assert (slower["ratio"], slower["aim"], slower["ours"]) == (1.5, "<= 1", "3 s")
    faster = at_least(5, "work", "rival", 2.0, 3.0, "ms")
    assert (faster["ratio"], faster["aim"], faster["theirs"]) == (1.5, ">= 5", "3 ms")


def test_the_table_is_put_in_place_of_the_one_before() -> None:
    page = PAGE.read_text()
    rows = [at_most(1.0, "work", "rival", 3.0, 2.0)]
    written = with_table(page, rows, "a machine")
    assert "| work | rival | 3 s | 2 s | 1.5 | <= 1 |\n" in written
    assert with_table(written, rows, "a machine") == written
    before, _, rest = page.partition(BEGIN)
    assert written.startswith(before + BEGIN)
    assert written.endswith(END + rest.partition(END)[2])


def test_a_timeline_has_the_last_of_each_kind_in_the_order_of_the_journal() -> None:
    lines = [
        {"at_ms": 1_100, "event": "begin"},
        {"at_ms": 1_200, "event": "decision"},
        {"at_ms": 1_210, "event": "decision"},
        {"at_ms": 1_300, "event": "sent", "number": 1, "request": "ElectLeaders"},
        {"at_ms": 1_400, "event": "answered", "number": 1},
    ]
    assert told(lines, 1_000.0) == [
        (100, "begin"),
        (210, "decision"),
        (300, "ElectLeaders sent"),
        (400, "ElectLeaders answered"),
    ]
    assert told([], 1_000.0) == []
