"""A salvage for people: what is nothing, what is unknown, and how much is said."""

from __future__ import annotations

from kafka_unclean_recovery.log_dir.replica_scan import Replica
from kafka_unclean_recovery.model import EpochSpan, ReplicaLog, TopicPartition
from kafka_unclean_recovery.salvage.designated import Designated
from kafka_unclean_recovery.salvage.manifest import Manifest
from kafka_unclean_recovery.salvage.ranges import Lost
from kafka_unclean_recovery.salvage.raw_segments import RawSegment
from kafka_unclean_recovery.salvage.replica import Salvaged
from kafka_unclean_recovery.salvage.salvage_table import render_salvage
from kafka_unclean_recovery.salvage.transactions import Ending

ORDERS = TopicPartition("orders", 0)
LEADER = Designated(ORDERS, "t-1", ReplicaLog(2, live=True))


def _row(designated: Designated = LEADER) -> Salvaged:
    return Salvaged(Replica(1, ORDERS, "/mnt/orders-0"), designated)


def _cells(row: Salvaged) -> list[str]:
    text = render_salvage(Manifest("c1", "2026-01-02T03:04:05+00:00", [row]))
    (line,) = [line for line in text.splitlines() if line.startswith("orders ")]
    return line.split()


def test_what_was_salvaged_is_counted() -> None:
    row = _row()
    row.lost = Lost((EpochSpan(3, 10, 15),))
    row.segments = [RawSegment("a.log", 10, 13, size=70), RawSegment("b.log", 13, 15, size=30)]
    row.records = 4
    row.transactions = {Ending.COMMITTED: 2, Ending.OPEN: 1}
    assert _cells(row) == ["orders", "0", "1", "2", "3:[10,15)", "100", "4", "2,", "0,", "1"]


def test_a_replica_without_more_holds_nothing() -> None:
    row = _row()
    row.lost = Lost(())
    assert _cells(row) == ["orders", "0", "1", "2", "nothing", "0", "0", "0,", "0,", "0"]


def test_what_could_not_be_told_is_unknown() -> None:
    row = _row(Designated(ORDERS, "t-1", None, "why"))
    row.problem("no\nleader")
    cells = _cells(row)
    assert cells[3:7] == ["none", "unknown", "0", "unknown"]
    text = render_salvage(Manifest("c1", "2026-01-02T03:04:05+00:00", [row], ["a disk"]))
    assert "doubt: orders-0 of broker 1: no leader\nproblem: a disk\n" in text
    assert text.endswith("0 replicas of 1 held more: 0 bytes\n")


def test_problems_beyond_a_hundred_are_summed_up() -> None:
    row = _row()
    for number in range(250):
        row.problem(str(number))
    assert row.problems == [*map(str, range(100)), "and more"]


def test_on_a_terminal_what_is_not_known_comes_first_and_then_who_held_most() -> None:
    rows = []
    for number, size in enumerate((0, 30, None, 100)):
        where = TopicPartition("orders", number)
        row = Salvaged(Replica(1, where, "/mnt/orders"), Designated(where, "t-1", None))
        if size is not None:
            row.lost = Lost((EpochSpan(3, 10, 15),) if size else ())
            row.segments = [RawSegment("a.log", 10, 15, size=size)] if size else []
        rows.append(row)
    manifest = Manifest("c1", "2026-01-02T03:04:05+00:00", rows)
    for width, order in ((None, "0123"), (200, "2310")):
        lines = [line.split() for line in render_salvage(manifest, width).splitlines()]
        table = [line for line in lines if line[2:4] == ["1", "none"] or line[1:3] == ["1", "none"]]
        assert "".join(line[1] if line[0] == "orders" else line[0] for line in table) == order
