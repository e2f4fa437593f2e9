"""Results of spark scan in an object store, and plans of them: as with a directory that driver and
executors share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands import spark_plan, spark_salvage, spark_scan
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.spark.new_files import count_rows
from kafka_unclean_recovery.spark.plan.merging import read_scans
from kafka_unclean_recovery.spark.result_paths import result_path
from kafka_unclean_recovery.spark.scan import scan_disks
from kafka_unclean_recovery.stores.store_path import StorePath
from tests.log_dir.test_scan import log_directory
from tests.spark.scans import info_in
from tests.stores.conftest import REGION
from tests.stores.trees import write_damaged

Bucket = Callable[[str, bytes], None]


@pytest.fixture
def disks(tmp_path: Path) -> list[str]:
    return [
        str(write_damaged(tmp_path / f"b{broker}", broker, range(6 * broker, 6 * broker + 12)))
        for broker in (1, 2)
    ]


@pytest.fixture
def store(s3_port: int, bucket: Bucket) -> dict[str, str]:
    """Return the options of a store that has the bucket `disks`."""
    return {"endpoint": f"http://127.0.0.1:{s3_port}", "region": REGION}


@pytest.fixture(autouse=True)
def in_this_session(monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    @contextmanager
    def session_for(*_: object) -> Iterator[SparkSession]:
        yield spark

    for command in (spark_scan, spark_plan, spark_salvage):
        monkeypatch.setattr(command, "session_for", session_for)


def scanned(output: str, disks: list[str], store: dict[str, str], **more: Any) -> int:
    options = spark_scan.Options(
        output=output,
        roots=disks,
        mode=ScanMode.DEEP,
        store_endpoint=store["endpoint"],
        store_region=store["region"],
        **more,
    )
    return carry_out(spark_scan.scan, options)


def planned(summaries: list[str], leaders: Path, store: dict[str, str]) -> int:
    options = spark_plan.Options(
        summaries=summaries,
        manual_recovery_output_file=leaders,
        store_endpoint=store["endpoint"],
        store_region=store["region"],
    )
    return carry_out(spark_plan.plan, options)


def at(uri: str, store: dict[str, str]) -> StorePath:
    path = result_path(uri, store)
    assert isinstance(path, StorePath)
    return path


def fetched(path: StorePath, directory: Path) -> Path:
    for name in path.names(recursive=True):
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((path / name).read_bytes())
    return directory


def test_the_same_rows_and_leaders_as_in_a_directory(
    tmp_path: Path,
    disks: list[str],
    store: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    there, here = f"s3a://disks/{tmp_path.name}/scan", str(tmp_path / "scan")
    code = scanned(there, disks, store)
    said = capsys.readouterr().err
    assert f"--store-endpoint {store['endpoint']} --store-region {REGION}" in said
    assert scanned(here, disks, {"endpoint": None, "region": None}) == code  # type: ignore[dict-item]
    found = fetched(at(there, store), tmp_path / "fetched")
    assert not (found / "work").exists()
    of_store, of_directory = info_in(found), info_in(Path(here))
    assert replace(of_store, scanned_at="") == replace(of_directory, scanned_at="")
    leaders = [tmp_path / name for name in ("there.json", "here.json", "both.json")]
    assert planned([there], leaders[0], store) == planned([here], leaders[1], store)
    assert leaders[0].read_text() == leaders[1].read_text() != ""
    assert planned([there, here], leaders[2], store) in (0, 1)
    assert leaders[2].read_text() == leaders[1].read_text()
    capsys.readouterr()
    assert scanned(there, disks, store) == code
    assert "this scan has ended before" in capsys.readouterr().err


def test_what_was_done_is_gone_on_with_after_a_run_that_ended_early(
    tmp_path: Path,
    disks: list[str],
    store: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = f"s3://disks/{tmp_path.name}/scan"
    gather = scan_disks._gather

    def interrupted(*_: object) -> None:
        raise OSError(5, "the store is full", there)

    monkeypatch.setattr(scan_disks, "_gather", interrupted)
    assert scanned(there, disks, store) == 1
    assert "the store is full; what is done is kept" in capsys.readouterr().err
    home = at(there, store)
    assert not (home / "scan.json").exists()
    kept = (home / "work").names(recursive=True)
    assert "plan.json" in kept
    with pytest.raises(InputError, match="has not ended; run that again"):
        read_scans([home])
    monkeypatch.setattr(scan_disks, "_gather", gather)
    # Nothing is listed or read again.
    for disk in disks:
        Path(disk).rename(f"{disk}-away")
    scanned(there, disks, store)
    assert json.loads((home / "scan.json").read_text())["rows"]["replicas"] == 24
    assert home.names() == ["job.json", "partitions", "replicas", "scan.json", "summary.json"]


def test_what_is_not_ours_is_left_alone(
    tmp_path: Path,
    disks: list[str],
    store: dict[str, str],
    bucket: Bucket,
    capsys: pytest.CaptureFixture[str],
) -> None:
    bucket(f"{tmp_path.name}/theirs/thesis", b"years of work")
    theirs = f"s3://disks/{tmp_path.name}/theirs"
    for output, said in (
        (theirs, f"{theirs}: it is not empty, and not what a spark scan left"),
        ("s3://disks", "name a path in the bucket, such as s3://disks/scan-1"),
        ("ftp://disks/a", "no store that is known here"),
        ("s3://key:secret@disks/a", "credentials don't belong there"),
    ):
        assert scanned(output, disks, store) == 2
        assert said in capsys.readouterr().err
    assert at(theirs, store).names() == ["thesis"]
    assert scanned("s3://no-such-bucket/scan", disks, store) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("kafka-unclean-recovery: s3://no-such-bucket/scan: ")
    assert "NO_SUCH_BUCKET" in sentence


def test_disks_of_another_cluster_are_left_out_and_a_scan_is_read_again(
    tmp_path: Path, store: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    ours = [str(log_directory(tmp_path / f"b{n}", n, {"a-0": n})) for n in (1, 2)]
    theirs = str(log_directory(tmp_path / "b3", 3, {"a-0": 3}, cluster="other"))
    there = f"s3://disks/{tmp_path.name}/scan"
    assert scanned(there, [*ours, theirs], store) == 2
    said = capsys.readouterr().err
    assert f"look at {there}/leave-out.csv" in said
    assert "--leave-out leave-out.csv, a copy of it" in said
    copy = tmp_path / "leave-out.csv"
    copy.write_bytes(at(f"{there}/leave-out.csv", store).read_bytes())
    assert scanned(there, [*ours, theirs], store, leave_out=copy) == 0
    head = at(f"{there}/scan.json", store)
    first = json.loads(head.read_text())
    assert first["brokers"] == [1, 2]
    assert scanned(there, [*ours, theirs], store, leave_out=copy, rescan=True) == 0
    again = json.loads(head.read_text())
    assert again | {"scanned_at": ""} == first | {"scanned_at": ""}


def test_a_table_that_lacks_a_file_is_refused(
    tmp_path: Path, disks: list[str], store: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    there = f"s3://disks/{tmp_path.name}/scan"
    scanned(there, disks, store)
    replicas = at(f"{there}/replicas", store)
    parts = (replicas / name for name in replicas.names())
    max(parts, key=lambda part: len(part.read_bytes())).unlink()
    capsys.readouterr()
    assert planned([there], tmp_path / "leaders.json", store) == 2
    said = capsys.readouterr().err
    assert re.search(rf"{there}/replicas: \d+ rows?, where the scan wrote 24", said), said


def test_of_a_large_file_the_end_is_read_that_tells_how_many_rows_it_has(
    tmp_path: Path, store: dict[str, str], bucket: Bucket
) -> None:
    wide = pyarrow.table({f"column-{n:05}": [n, n] for n in range(2_000)})
    pyarrow.parquet.write_table(wide, tmp_path / "wide")
    content = (tmp_path / "wide").read_bytes()
    bucket(f"{tmp_path.name}/wide/part-0.parquet", content)
    assert int.from_bytes(content[-8:-4], "little") > 64 << 10
    assert count_rows(at(f"s3://disks/{tmp_path.name}/wide", store)) == 2
    bucket(f"{tmp_path.name}/wide/part-1.parquet", content[:-1])
    with pytest.raises(InputError, match=r"part-1\.parquet: can't be read as Parquet"):
        count_rows(at(f"s3://disks/{tmp_path.name}/wide", store))


def test_a_table_that_may_not_be_listed_is_named(
    store: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: StorePath, **_: object) -> list[str]:
        raise OSError(5, "ACCESS_DENIED", path.uri)

    monkeypatch.setattr(StorePath, "names", denied)
    with pytest.raises(
        InputError, match=r"^s3://disks/scan/replicas: can't be listed: ACCESS_DENIED"
    ):
        count_rows(at("s3://disks/scan/replicas", store))
