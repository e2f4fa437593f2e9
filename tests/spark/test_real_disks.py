"""Spark and one process on the disks of real brokers that were killed or stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.scan.job import Home
from kafka_unclean_recovery.spark.scan.scan_disks import scan
from tests.real.disks_recipe import disks_at_rest
from tests.real.releases import TESTED
from tests.spark.scans import asked, in_one_process, info_in

pytestmark = pytest.mark.real

# Two disks a broker, all codecs, transactions, a compacted topic, segments large and many.
SHARE = 4096


@pytest.fixture(scope="module", params=TESTED)
def disks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return list(disks_at_rest(request.param, tmp_path_factory.mktemp(request.param)).disks)


@pytest.mark.parametrize("mode", ScanMode)
def test_found_alike(
    spark: SparkSession, disks: list[Path], tmp_path: Path, mode: ScanMode
) -> None:
    done = scan(spark, asked(disks, mode, share=SHARE), Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    assert info == in_one_process(disks, info, mode)
    assert done
    assert (done.head.metadata_end_offset or 0) > 0
    assert done.summary.replicas > 30
    doubts = done.summary.doubts
    assert (doubts.suspect.count, doubts.unusable.count) == (0, 0)
