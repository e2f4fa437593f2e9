"""--format json of the spark commands against their schemas; see tests/cli/test_json_formats.py.

That of spark plan is in test_plan_command.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import RECOVERY, invoke
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text
from tests.schemas import checked_row, validated
from tests.spark.scans import rows


@pytest.mark.usefixtures("spark")
def test_scan_and_salvage(tmp_path: Path) -> None:
    disk(tmp_path / "disks", {0: numbered(0, 15)})
    (tmp_path / "plan.json").write_text(plan_text())

    def run(*words: str) -> Any:
        done = invoke(RECOVERY, "spark", *words, "--format", "json", cwd=tmp_path)
        assert done.code == 0, done.stderr
        return validated(done.stdout)

    for _ in range(2):
        scanned = run("scan", str(tmp_path / "disks"), "--output", "scan")
        assert (scanned["kind"], scanned["brokers"]) == ("spark-scan", [1])
    for table in ("replicas", "partitions"):
        found = list(rows(tmp_path / "scan" / table))
        assert found
        for row in found:
            checked_row(table, row)
    saved = run(
        *("salvage", "--summaries", "scan", "--plan", "plan.json"),
        *("--output", str(tmp_path / "saved")),
    )
    assert (saved["kind"], saved["with_more"], saved["records"]) == ("spark-salvage", 1, 5)
