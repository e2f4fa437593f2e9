"""Replicas of a bucket, listed and read by Spark's own processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.notebook.data_source import FORMAT, register
from kafka_unclean_recovery.spark.tables import replica_log
from tests.log_dir import replica_directories as disks
from tests.stores.conftest import KEY_ID, REGION, SECRET, Upload, bucket, options, upload
from tests.stores.conftest import _proxy as _proxy
from tests.stores.conftest import proxy as proxy
from tests.stores.conftest import s3_port as s3_port
from tests.stores.faulty_proxy import DENIED, Asked, Instead, Proxy, xml

__all__ = ["bucket", "options", "upload"]

LOGS = (disks.plain_log(), disks.upgraded_log())


@pytest.fixture
def with_credentials(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set credentials for Spark's processes too, whose environment began without."""
    for name, value in (("AWS_ACCESS_KEY_ID", KEY_ID), ("AWS_SECRET_ACCESS_KEY", SECRET)):
        monkeypatch.setitem(spark.sparkContext.environment, name, value)


@pytest.mark.usefixtures("with_credentials")
def test_a_bucket_is_a_data_frame(
    spark: SparkSession, tmp_path: Path, upload: Upload, proxy: Proxy
) -> None:
    disks.write_log_directory(tmp_path / "broker-1", 1, LOGS)
    location = upload(tmp_path, "by-spark")

    def left_out(asked: Asked) -> bool:
        return f"/{LOGS[1].directory}/" in asked.key

    # What the filter leaves out would be refused.
    proxy.fault = Instead(left_out, xml(403, DENIED))
    register(spark)
    frame = (
        spark.read.format(FORMAT)
        .option("endpoint", proxy.endpoint)
        .option("region", REGION)
        .option("mode", "deep")
        .load(location.uri)
    )
    (row,) = frame.where("topic = 'orders'").collect()
    (info,) = scan_log_directories([LocalLocation(tmp_path)], ScanMode.DEEP).partitions[:1]
    (log,) = info.replica_logs
    found = row.asDict(recursive=True)
    assert found.pop("directory") == f"{location}/broker-1/orders-0"
    assert found["log_directory"] == f"{location}/broker-1"
    assert log.scanned is not None
    assert replica_log({**found, "directory": log.scanned.directory}) == log
    refused = {r.topic: r.reason for r in frame.where("trust = 'unusable'").collect()}
    assert list(refused) == ["upgraded"]
    assert "ACCESS_DENIED" in refused["upgraded"]
    assert SECRET not in str(refused)
