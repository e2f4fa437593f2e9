"""The records of a salvage as one table, by readers that know nothing of us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.layout import RECORDS, ReplicaPlace
from kafka_unclean_recovery.salvage.parquet import RecordsFile
from kafka_unclean_recovery.salvage.records import Record

TOPICS = ("orders", "a.b_c-d", "_hidden", "__consumer_offsets", ".dotted", "x" * 249)
NUMBERS = ("7", "007")

_arrow: Any = pyarrow
_dataset: Any = pyarrow.dataset


def saved(root: Path, *topics: str) -> None:
    """Write two replicas of each, a record of either."""
    for number, topic in enumerate(topics):
        for broker in (1, 3):
            partition = TopicPartition(topic, 5)
            path = root / ReplicaPlace(partition, broker).records
            path.parent.mkdir(parents=True, exist_ok=True)
            file = RecordsFile(path, partition, broker)
            file.add([(Record(number, 0, 1000, None, None, topic.encode()), None)])
            file.close()


def rows(table: Any) -> list[tuple[str, int, bytes]]:
    return sorted((row["topic"], row["broker"], row["value"]) for row in table.to_pylist())


def expected(*topics: str) -> list[tuple[str, int, bytes]]:
    return sorted((topic, broker, topic.encode()) for topic in topics for broker in (1, 3))


def test_every_topic_is_read_whatever_its_name(tmp_path: Path) -> None:
    saved(tmp_path, *TOPICS)
    table = _dataset.dataset(tmp_path / RECORDS, partitioning="hive").to_table()
    assert rows(table) == expected(*TOPICS)
    assert rows(pyarrow.parquet.read_table(tmp_path / RECORDS)) == expected(*TOPICS)


def test_one_topic_is_read_without_the_files_of_others(tmp_path: Path) -> None:
    saved(tmp_path, *TOPICS)
    for path in (tmp_path / RECORDS / "topic=orders").iterdir():
        path.write_bytes(b"damaged")
    records = _dataset.dataset(tmp_path / RECORDS, partitioning="hive")
    table = records.to_table(filter=_dataset.field("topic") == "a.b_c-d")
    assert rows(table) == expected("a.b_c-d")
    with pytest.raises(_arrow.ArrowInvalid):
        records.to_table(filter=_dataset.field("topic") == "orders")


def test_topics_named_like_numbers_are_read_when_told_to_be_text(tmp_path: Path) -> None:
    saved(tmp_path, *NUMBERS)
    text = _dataset.partitioning(_arrow.schema([("topic", _arrow.string())]), flavor="hive")
    table = _dataset.dataset(tmp_path / RECORDS, partitioning=text).to_table()
    assert rows(table) == expected(*NUMBERS)
