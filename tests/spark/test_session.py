"""The one session of the tests, and what it has executors run."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.spark.session import session
from kafka_unclean_recovery.spark.shipping import build_archive, on_executors


def doubled(settings: dict[str, int], batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow

    for batch in batches:
        values = [value * settings["by"] for value in batch["id"].to_pylist()]
        yield pyarrow.RecordBatch.from_pydict({"id": values})


def test_work_is_named_and_told_its_settings(spark: SparkSession) -> None:
    work = on_executors("tests.spark.test_session:doubled", {"by": 3})
    rows = spark.range(4).mapInArrow(work, "id long").collect()
    assert sorted(row.id for row in rows) == [0, 3, 6, 9]


def test_a_session_that_is_there_is_not_stopped(spark: SparkSession) -> None:
    with session("local[2]", {}) as again:
        assert again.range(1).count() == 1
    assert spark.range(1).count() == 1


def test_the_archive_holds_the_package_and_the_c_extension(tmp_path: Path) -> None:
    with tarfile.open(build_archive(tmp_path)) as tar:
        names = tar.getnames()
    assert "kafka_unclean_recovery/log_dir/scan.py" in names
    assert any(name.startswith("crc32c/_crc32c.") for name in names)
    assert any(name.endswith(".dist-info/METADATA") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_a_connect_server_that_is_not_there_is_named() -> None:
    nowhere = session("sc://127.0.0.1:1", {})
    with pytest.raises(InputError, match="no Spark session of --master sc://"), nowhere:
        pass
