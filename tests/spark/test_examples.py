"""The script of examples/ on the tables of log directories, run as its reader would run it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.explore_log_dirs import main
from tests.cli.disks import log_directory


@pytest.mark.usefixtures("spark")
def test_the_script_shows_what_each_disk_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_directory(tmp_path / "disk1", 1, {"orders-0": 5, "orders-1": 7})
    log_directory(tmp_path / "disk2", 2, {"orders-0": 4})
    main([str(tmp_path / "disk1"), str(tmp_path / "disk2")])
    shown = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
        if "orders" in line
    ]
    # broker, topic, replicas, bytes, longest, not trusted
    assert [[row[0], row[1], row[2], row[4], row[5]] for row in shown] == [
        ["1", "orders", "2", "7", "0"],
        ["2", "orders", "1", "4", "0"],
    ]
    # It did not end the session of others.
    assert SparkSession.getActiveSession() is not None
