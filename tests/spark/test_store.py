"""Log directories in an object store, scanned by Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.scan.job import Home, ScanOptions
from kafka_unclean_recovery.spark.scan.scan_disks import scan
from kafka_unclean_recovery.stores.location import location_of
from kafka_unclean_recovery.stores.store_options import StoreOptions
from tests.spark.scans import in_one_process, info_in
from tests.stores.conftest import REGION
from tests.stores.trees import write_damaged


def test_a_bucket(
    spark: SparkSession, s3_port: int, bucket: Callable[[str, bytes], None], tmp_path: Path
) -> None:
    for broker in (1, 2):
        disk = write_damaged(tmp_path / f"b{broker}", broker, range(6 * broker, 6 * broker + 6))
        for file in filter(Path.is_file, disk.rglob("*")):
            bucket(f"site/b{broker}/{file.relative_to(disk)}", file.read_bytes())
    endpoint = f"http://127.0.0.1:{s3_port}"
    store = (("endpoint", endpoint), ("region", REGION))
    roots = ("s3://disks/site/b1", "s3://disks/site/b2", "s3://disks/nothing")
    # Small, so that segments in the store are read in pieces.
    asked = ScanOptions(roots, ScanMode.DEEP, share=700, store=store)
    scan(spark, asked, Home(tmp_path / "out"))
    info = info_in(tmp_path / "out")
    options = StoreOptions(endpoint, REGION)
    alone = in_one_process([location_of(root, options) for root in roots[:2]], info, ScanMode.DEEP)
    assert info.partitions == alone.partitions
    assert len(info.partitions) == 12
    (problem,) = info.problems
    assert problem.startswith("s3://disks/nothing: no log directory here")
