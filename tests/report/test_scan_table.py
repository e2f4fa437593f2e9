"""The table of a scan."""

from __future__ import annotations

from hypothesis import given
from msgspec.structs import replace

from kafka_unclean_recovery.model import PartitionInfo, ReplicaInfo, TopicPartition
from kafka_unclean_recovery.report.scan_table import render_replica_info
from tests.documents.test_replica_info import INFO
from tests.infos import any_infos


def lines_of(info: ReplicaInfo) -> list[str]:
    """Return the lines without the widths of the columns."""
    return [" ".join(line.split()) for line in render_replica_info(info).splitlines()]


def test_a_scan_has_a_row_a_replica_then_findings_problems_and_totals() -> None:
    assert lines_of(INFO) == [
        "last written log high log end",
        ("topic partition replica mode leader epoch start watermark offset lineage bytes trust"),
        ("orders 0 1 deep 2 0 15 30 0:[0,10) 2:[10,30) 4096 ? suspect: a gap (certain to 10)"),
        "2 none unknown unknown unknown unknown unknown unknown ! Input/output error",
        "",
        "orders-0 stray_directory: put aside",
        "orders-0 damage: the log of broker 1 ends at 30: bad CRC",
        "",
        "problem: /data2: left out",
        "",
        (
            "2 partitions, 2 replicas, 1 suspect, 1 unreadable, 4096 bytes; no metadata log has"
            " 1 partition"
        ),
    ]


def test_a_log_without_a_fault_is_ok() -> None:
    part = INFO.partitions[0]
    good = replace(part.replica_logs[0], suspect=None)
    info = replace(INFO, partitions=(replace(part, replica_logs=(good,)),), interrupted=True)
    assert lines_of(info)[2].endswith(" 4096 ok")
    assert lines_of(info)[-1] == (
        "1 partition, 1 replica, 0 suspect, 0 unreadable, 4096 bytes;"
        " interrupted, so not all was scanned"
    )


def test_a_scan_of_nothing_has_its_totals() -> None:
    empty = PartitionInfo(TopicPartition("orders", 1), INFO.partitions[0].state, ())
    info = replace(INFO, partitions=(empty,), problems=())
    assert lines_of(info) == ["1 partition, 0 replicas, 0 suspect, 0 unreadable, 0 bytes"]


@given(any_infos())
def test_any_scan_prints_on_any_terminal(info: ReplicaInfo) -> None:
    text = render_replica_info(info)
    assert "\x1b" not in text
    text.encode("utf-8")


def test_on_a_terminal_what_cant_be_used_comes_first_and_then_what_is_suspect() -> None:
    suspect, unread = INFO.partitions[0].replica_logs
    good = replace(suspect, suspect=None)
    good = replace(good, scanned=good.scanned and replace(good.scanned, damage=None))
    parts = tuple(
        PartitionInfo(TopicPartition("orders", number), INFO.partitions[0].state, (log,))
        for number, log in enumerate((good, suspect, unread))
    )
    text = render_replica_info(replace(INFO, partitions=parts), 200)
    rows = [line.split() for line in text.splitlines() if line.endswith((" ok", "10)", "error"))]
    assert [row[-1] for row in rows] == ["error", "10)", "ok"]
    as_they_are = render_replica_info(replace(INFO, partitions=parts)).splitlines()[2:5]
    assert [line.split()[-1] for line in as_they_are] == ["ok", "10)", "error"]
