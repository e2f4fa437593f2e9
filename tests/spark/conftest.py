"""One local session for all tests of Spark: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.spark.session import session
from tests.stores.conftest import SECRET, bucket, s3_port

__all__ = ["bucket", "s3_port", "spark"]

# Without the optimizing compiler a JVM keeps 48 MB for compiled code. One that runs all tests of
# Spark fills them, and then stops its context.
_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
# Small data on two cores: few shuffle partitions, no optimizing compiler, no web server.
CONF = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": _JVM,
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    # For the object store of tests, which asks no further.
    "spark.executorEnv.AWS_ACCESS_KEY_ID": "AKIANOBODY",
    "spark.executorEnv.AWS_SECRET_ACCESS_KEY": SECRET,
    "spark.executorEnv.AWS_EC2_METADATA_DISABLED": "true",
}
CONF_FLAGS = [word for key, value in CONF.items() for word in ("--conf", f"{key}={value}")]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with session("local[2]", CONF) as spark:
        yield spark
