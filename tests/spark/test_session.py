"""The one session of the tests, and what it has executors run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tarfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

import kafka_unclean_recovery
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.spark.failures import sentence
from kafka_unclean_recovery.spark.preflight import (
    check_java,
    check_reachable,
    check_release,
    check_yarn,
)
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


def fails(_: dict[str, int], __: Iterator[Any]) -> Iterator[Any]:
    raise OSError(28, "No space left on device")


def test_the_error_of_a_task_ends_with_its_host() -> None:
    work = on_executors("tests.spark.test_session:fails")
    with pytest.raises(OSError, match="No space left") as raised:
        list(work(iter(())))
    text = "".join(traceback.format_exception(raised.value))
    said = f"on {os.uname().nodename}: OSError: [Errno 28] No space left on device"
    assert sentence(text, lambda _: ()) == said


def test_a_session_that_is_there_is_not_stopped(spark: SparkSession) -> None:
    with session("local[2]", {}) as again:
        assert again.range(1).count() == 1
    assert spark.range(1).count() == 1


def test_a_session_that_another_thread_began_is_not_stopped(spark: SparkSession) -> None:
    """As a command does that is run where a session is: it begins its own in a thread."""
    again = session("local[2]", {})
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(again.__enter__).result().range(1).count() == 1
    again.__exit__(None, None, None)
    assert spark.range(1).count() == 1


def test_the_archive_holds_the_package_and_the_c_extension(tmp_path: Path) -> None:
    with tarfile.open(build_archive(tmp_path)) as tar:
        names = tar.getnames()
    assert "kafka_unclean_recovery/log_dir/scan.py" in names
    assert any(name.startswith("crc32c/_crc32c.") for name in names)
    assert any(name.startswith("msgspec/_core.") for name in names)
    assert any(name.endswith(".dist-info/METADATA") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_archive_is_the_same_where_the_package_is_imported_from_a_zip(tmp_path: Path) -> None:
    """As the driver does under spark-submit --py-files."""
    with tarfile.open(build_archive(tmp_path)) as tar:
        names = {entry.name for entry in tar if entry.isfile()}
    package = Path(kafka_unclean_recovery.__file__).parent
    zipped = shutil.make_archive(str(tmp_path / "ours"), "zip", package.parent, package.name)
    (from_zip := tmp_path / "from zip").mkdir()
    script = (
        "import sys; from pathlib import Path; import kafka_unclean_recovery as ours;"
        " from kafka_unclean_recovery.spark.shipping import build_archive;"
        " print(ours.__file__, build_archive(Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(from_zip)],
        env={**os.environ, "PYTHONPATH": zipped},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.startswith(f"{zipped}/"), done.stderr
    (archive,) = from_zip.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        assert {entry.name for entry in tar if entry.isfile()} == names


@pytest.mark.parametrize(
    ("master", "said"),
    [
        ("sc://127.0.0.1:1", "sc://127.0.0.1:1: 127.0.0.1:1: Connection refused"),
        ("sc://127.0.0.1:1/;token=secret", "sc://127.0.0.1:1: 127.0.0.1:1: Connection refused"),
        ("spark://127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1: Connection refused; 127.0.0.1:2: Conn"),
        ("spark://127.0.0.1:1234567", "Port out of range"),
        ("sc:///", "it names no host"),
    ],
)
def test_a_server_or_master_that_is_not_there_is_named_at_once(master: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        check_reachable(master, {})
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)


def test_one_master_of_several_is_enough_and_other_kinds_are_not_tried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{server.getsockname()[1]}", {})
    for master in ("local[2]", "yarn", "k8s://https://127.0.0.1:1"):
        check_reachable(master, {})
    # Whether a proxy reaches the server only the proxy knows.
    check_reachable("sc://127.0.0.1:1", {"https_proxy": "http://proxy:3128"})


@pytest.mark.parametrize("version", ["3.5.7", "2.4", "", "dev"])
def test_a_release_that_is_too_old_is_refused(version: str) -> None:
    with pytest.raises(InputError, match=rf"PySpark is {version}, and 4.0 or newer is needed"):
        check_release("PySpark", version)
    for good in (pyspark.__version__, "4.0.0", "4.1.0-amzn-1", "10.2.0.dev0"):
        check_release("PySpark", good)


def test_no_session_begins_with_an_old_pyspark_or_goes_on_with_an_old_spark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pyspark, "__version__", "3.5.7")
        with pytest.raises(InputError, match=r"PySpark is 3\.5\.7"), session("local[2]", {}):
            pass
    with monkeypatch.context() as patch:
        patch.setattr(spark, "version", "3.5.7")
        with pytest.raises(InputError, match=r"Spark of this session is"), session("local[2]", {}):
            pass
    assert spark.range(1).count() == 1


@pytest.mark.parametrize(
    "environment", [{"PATH": "/nowhere"}, {"JAVA_HOME": "/nowhere", "PATH": os.environ["PATH"]}]
)
def test_without_java_what_is_missing_is_named(environment: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"Spark needs Java .*JAVA_HOME"):
        check_java(environment)
    check_java(dict(os.environ))


def test_yarn_without_the_files_of_its_cluster_is_refused_before_a_jvm_begins() -> None:
    with pytest.raises(InputError, match="set HADOOP_CONF_DIR or YARN_CONF_DIR to the directory"):
        check_yarn("yarn", {"HADOOP_CONF_DIR": ""})
    check_yarn("yarn", {"YARN_CONF_DIR": "/etc/hadoop"})
    # Its spark-env.sh may set the other.
    check_yarn("yarn", {"SPARK_HOME": "/opt/spark"})
    check_yarn("local[2]", {})
