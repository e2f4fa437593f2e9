"""The table of docs/performance.md, and that `make bench` runs every benchmark there is."""

from __future__ import annotations

from pathlib import Path

from benchmarks.__main__ import ALL, BEGIN, END, with_table
from benchmarks.compared import at_least, at_most

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
# What others are made of, and what takes minutes to prove something and has no rival.
PARTS = {
    "__init__",
    "__main__",
    "compared",
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
