"""Names of directories and files: what is a replica, what is in use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.directory_names import (
    DirectoryKind,
    FileKind,
    FileState,
    PartitionDirectory,
    PartitionFile,
    parse_partition_directory,
    parse_partition_file,
    segment_base_offset,
)
from kafka_unclean_recovery.model import TopicPartition

UNIQUE = "0123456789abcdef0123456789abcdef"
TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=249).filter(lambda t: t not in (".", ".."))


@pytest.mark.parametrize(
    ("name", "topic", "partition", "kind"),
    [
        ("orders-0", "orders", 0, "live"),
        ("a.b-c_d-12", "a.b-c_d", 12, "live"),
        ("-0", None, 0, ""),
        ("--0", "-", 0, "live"),
        ("x-1-2", "x-1", 2, "live"),
        ("x-delete-0", "x-delete", 0, "live"),
        (f"x-0.{UNIQUE}-delete", "x", 0, "delete"),
        (f"a.b-c-7.{UNIQUE}-future", "a.b-c", 7, "future"),
        (f"x-0.y-1.{UNIQUE}-stray", "x-0.y", 1, "stray"),
        ("x-0.any-delete", "x", 0, "delete"),
        ("x-2147483647", "x", 2147483647, "live"),
        ("x-2147483648", None, 0, ""),
        ("x-00", "x", 0, "live"),
        ("x-+1", "x", 1, "live"),
        ("x-++1", None, 0, ""),
        ("x-\u0661", None, 0, ""),
        ("x-", None, 0, ""),
        ("x", None, 0, ""),
        ("x-delete", None, 0, ""),
        ("x-0.-delete", None, 0, ""),
        (f"x-0.{UNIQUE}", None, 0, ""),
        (f"x-0.{UNIQUE}-delete.bak", None, 0, ""),
        (f"x-0.{UNIQUE} -delete", None, 0, ""),
        ("..-0", None, 0, ""),
        ("x/y-0", None, 0, ""),
        ("x y-0", None, 0, ""),
        ("x-0\n", None, 0, ""),
        ("caf\udce9-0", None, 0, ""),
        ("x" * 250 + "-0", None, 0, ""),
        ("remote-log-index-cache", None, 0, ""),
        ("", None, 0, ""),
    ],
)
def test_directories(name: str, topic: str | None, partition: int, kind: str) -> None:
    expected = None
    if topic is not None:
        expected = PartitionDirectory(TopicPartition(topic, partition), DirectoryKind(kind))
    assert parse_partition_directory(name) == expected


@given(TOPICS, st.integers(0, 2**31 - 1), st.sampled_from(DirectoryKind))
def test_directories_round_trip(topic: str, partition: int, kind: DirectoryKind) -> None:
    """As LocalLog names them, topics cut so that a name has 255 characters at most."""
    suffix = f"-{partition}" + (f".{UNIQUE}-{kind}" if kind is not DirectoryKind.LIVE else "")
    cuts = kind in (DirectoryKind.DELETED, DirectoryKind.STRAY)
    kept = topic[: 255 - len(suffix)] if cuts else topic
    found = parse_partition_directory(kept + suffix)
    if kept in (".", ".."):
        return
    assert found is not None
    assert found.topic_partition == TopicPartition(kept, partition)
    assert found.kind is kind
    assert found.topic_cut or kept == topic


@pytest.mark.parametrize(
    ("length", "kind", "cut"),
    [(212, "delete", False), (213, "delete", True), (214, "stray", True), (213, "future", False)],
)
def test_a_topic_may_be_cut_where_the_name_is_as_long_as_can_be(
    length: int, kind: str, cut: bool
) -> None:
    found = parse_partition_directory(f"{'x' * length}-0.{UNIQUE}-{kind}")
    assert found is not None
    assert found.topic_cut is cut


def test_the_metadata_log_is_told_apart() -> None:
    metadata = parse_partition_directory("__cluster_metadata-0")
    orders = parse_partition_directory("orders-0")
    assert metadata is not None
    assert orders is not None
    assert metadata.is_cluster_metadata
    assert not orders.is_cluster_metadata


ZEROS = "0" * 20


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"{ZEROS}.log", PartitionFile(0, FileKind.SEGMENT)),
        ("00000000000000000042.index", PartitionFile(42, FileKind.OFFSET_INDEX)),
        ("00000000000000000042.timeindex", PartitionFile(42, FileKind.TIME_INDEX)),
        ("00000000000000000042.txnindex", PartitionFile(42, FileKind.TRANSACTION_INDEX)),
        ("00000000000000000042.snapshot", PartitionFile(42, FileKind.PRODUCER_SNAPSHOT)),
        (f"{ZEROS}.log.deleted", PartitionFile(0, FileKind.SEGMENT, FileState.DELETED)),
        (f"{ZEROS}.log.cleaned", PartitionFile(0, FileKind.SEGMENT, FileState.CLEANED)),
        (f"{ZEROS}.index.swap", PartitionFile(0, FileKind.OFFSET_INDEX, FileState.SWAP)),
        ("00000000000000000127-0000000003.checkpoint",
         PartitionFile(127, FileKind.METADATA_SNAPSHOT, FileState.LIVE, 3)),
        ("00000000000000000127-0000000003.checkpoint.deleted",
         PartitionFile(127, FileKind.METADATA_SNAPSHOT, FileState.DELETED, 3)),
        ("00000000000000000127-0000000003-8246.checkpoint.part",
         PartitionFile(127, FileKind.METADATA_SNAPSHOT, FileState.PARTIAL, 3)),
        ("00000000000000000127-0000000003-8246.checkpoint", None),
        ("00000000000000000127-3000000000.checkpoint", None),
        ("09223372036854775807.log", PartitionFile(2**63 - 1, FileKind.SEGMENT)),
        ("09223372036854775808.log", None),
        ("0.log", None),
        (f"{ZEROS}.log\n", None),
        (f"{ZEROS}.log.bak", None),
        (f"{ZEROS}-0000000003.log", None),
        (f"{ZEROS}.checkpoint", None),
        ("\u0660" * 20 + ".log", None),
        ("leader-epoch-checkpoint", None),
        ("bootstrap.checkpoint", None),
    ],
)  # fmt: skip
def test_files(name: str, expected: PartitionFile | None) -> None:
    assert parse_partition_file(name) == expected


@pytest.mark.parametrize(
    ("name", "offset"),
    [(f"{ZEROS[1:]}7.log", 7), (f"{ZEROS}.log.swap", None), (f"{ZEROS}.index", None), ("x", None)],
)
def test_only_segments_in_use_have_a_base_offset(name: str, offset: int | None) -> None:
    assert segment_base_offset(name) == offset


@given(st.text() | st.text(f"{ZEROS}12.-logindexcheckpointdelete"))
def test_any_name_gives_an_answer(name: str) -> None:
    parse_partition_directory(name)
    parse_partition_file(name)
