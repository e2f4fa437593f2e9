"""What a salvage's directory says, and what is not one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.replay.parquet import read_records
from kafka_unclean_recovery.salvage.replay.saved import Salvage, read_saved
from tests.salvage.batches import numbered
from tests.salvage.replay.saved import salvaged

_parquet: Any = pyarrow.parquet


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return salvaged(tmp_path, {1: numbered(0, 10) + numbered(10, 5)})


def change(saved: Path, how: Callable[[Any], object]) -> None:
    manifest = saved / "manifest.json"
    document = json.loads(manifest.read_text())
    how(document)
    manifest.write_text(json.dumps(document))


def everything(saved: Path) -> Salvage:
    return read_saved(saved, lambda _: True)


def test_the_files_of_each_partition_are_found(saved: Path) -> None:
    (partition,) = everything(saved).partitions
    assert partition.topic_partition == TopicPartition("orders", 0)
    (file,) = partition.files
    assert (file.broker, file.log_end_offset, file.suspect) == (1, 15, False)
    assert [record.offset for record in read_records(file)] == [*range(10, 15)]
    assert read_saved(saved, lambda _: False).partitions == ()


def test_a_salvage_without_parquet_or_in_doubt_says_so(saved: Path) -> None:
    change(saved, lambda d: d["replicas"][0].update(records_file=None, problems=["torn"]))
    found = everything(saved)
    assert found.partitions[0].files == ()
    who = "orders-0 of broker 1"
    only = "its records are in segment files only; salvage it without --raw-only"
    assert found.problems == (f"{who}: torn", f"{who}: {only}")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (lambda d: d.update(kind="plan"), 'kind: must be one of "salvage"'),
        (lambda d: d.update(format_version=2), "is not of format 1"),
        (
            lambda d: d["replicas"][0].update(records_file="a/../../etc"),
            "leads out of the directory",
        ),
        (lambda d: d["replicas"][0].update(records_file="/etc"), "leads out of the directory"),
        (lambda d: d["replicas"][0].pop("topic_id"), 'has no "topic_id"'),
    ],
)
def test_what_is_no_manifest_is_refused(
    saved: Path, how: Callable[[Any], object], why: str
) -> None:
    change(saved, how)
    with pytest.raises(InputError, match=why):
        everything(saved)


def test_records_that_are_damaged_or_of_others_are_refused(saved: Path, tmp_path: Path) -> None:
    (file,) = everything(saved).partitions[0].files
    content = bytearray(file.path.read_bytes())
    middle = len(content) // 4
    for damaged in (content[:-5], b"", content[:4] + bytes(middle) + content[4 + middle :]):
        other = tmp_path / "damaged.parquet"
        other.write_bytes(damaged)
        with pytest.raises(InputError, match=r"damaged\.parquet: can't be read as Parquet"):
            list(read_records(replace(file, path=other, directory=tmp_path)))
    _parquet.write_table(pyarrow.table({"offset": [1]}), file.path)
    with pytest.raises(InputError, match="not as salvage wrote it"):
        list(read_records(file))


def named(name: str, document: Any) -> None:
    document["replicas"][0]["records_file"] = name


def test_only_plain_files_of_the_directory_are_read(saved: Path, tmp_path: Path) -> None:
    """Nothing hangs, and nothing is read from where a link leads."""
    (file,) = everything(saved).partitions[0].files
    outside = tmp_path / "outside.parquet"
    outside.write_bytes(file.path.read_bytes())
    (saved / "link.parquet").symlink_to(outside)
    (saved / "way").symlink_to(tmp_path)
    os.mkfifo(saved / "pipe.parquet")
    for name, why in (
        ("link.parquet", "a link, and none is followed there"),
        ("way/outside.parquet", "Not a directory"),
        ("pipe.parquet", "not a plain file"),
        ("records", "can't be read as Parquet"),
        ("", "not a file name"),
        ("a\0b", "not a file name"),
        ("x\x1b[2J\nkafka-unclean-recovery: all is well", "No such file"),
    ):
        change(saved, partial(named, name))
        (found,) = everything(saved).partitions[0].files
        with pytest.raises(InputError, match=why):
            list(read_records(found))


def test_a_manifest_that_is_no_plain_file_is_refused(saved: Path) -> None:
    manifest = saved / "manifest.json"
    manifest.rename(saved / "kept")
    manifest.symlink_to(saved / "kept")
    with pytest.raises(InputError, match="a link, and none is followed"):
        everything(saved)
    manifest.unlink()
    os.mkfifo(manifest)
    with pytest.raises(InputError, match="not a plain file"):
        everything(saved)
