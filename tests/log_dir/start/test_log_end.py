"""Where a log ends once its broker has started: states whose ends Kafka's own classes gave, 4.3.1
and 4.4.0 alike."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from crc32c import crc32c

from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.start.fate import EndsBroker, ends_over
from kafka_unclean_recovery.log_dir.start.next_offset import Head, Next, must_unwrap, next_offset
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaLog, TopicPartition
from tests.log_dir.memory_folder import MemoryFolder
from tests.log_dir.segments import checkpoint, index, reader, v2
from tests.salvage.batches import old

FAST, RECOVER, DEEP = ScanMode
FAR = (1 << 31) + 100
NO_PRODUCERS = struct.pack(">hIi", 1, crc32c(bytes(4)), 0)


def name(base: int, kind: str = "log") -> str:
    return f"{base:020d}.{kind}"


def epoch(offset: int) -> int:
    return 0 if offset < 1000 else 2 if offset < 2200 else 5


def batches(start: int, stop: int) -> list[bytes]:
    return [v2(at, 10, epoch=epoch(at), body=bytes(900)) for at in range(start, stop, 10)]


SIZE = len(batches(0, 10)[0])


def at(offset: int, base: int) -> int:
    """Return where the batch lies."""
    return (offset - base) // 10 * SIZE


@dataclass
class Disk:
    """3000 records in three segments, as a broker leaves them that stopped in order."""

    files: dict[str, bytes] = field(default_factory=dict)
    recovery_point: int = 0
    clean: bool = False

    def __post_init__(self) -> None:
        for base in (0, 1000, 2000):
            self.files[name(base)] = b"".join(batches(base, base + 1000))
            entries = ((n * 10 + 9, n * SIZE) for n in range(5, 100, 5))
            self.files[name(base, "index")] = index(*entries)
            if base:
                self.files[name(base, "snapshot")] = NO_PRODUCERS
        self.files[name(3000, "snapshot")] = NO_PRODUCERS
        self.files["leader-epoch-checkpoint"] = checkpoint("0 0", "2 1000", "5 2200")

    def scan(self, mode: ScanMode) -> ReplicaLog:
        replica = Replica(
            1,
            TopicPartition("t", 0),
            "/d/t-0",
            recovery_point=3000 if self.clean else self.recovery_point,
            stopped_clean=self.clean,
        )
        return scan_replica(MemoryFolder(self.files), replica, mode, Unmetered())


Fault = Callable[[Disk], object]


def put(offset: int, base: int, place: int, new: bytes) -> Fault:
    def change(disk: Disk) -> None:
        begin = at(offset, base) + place
        data = disk.files[name(base)]
        disk.files[name(base)] = data[:begin] + new + data[begin + len(new) :]

    return change


def magic(offset: int, base: int) -> Fault:
    return put(offset, base, 16, b"\x03")


def bad(offset: int, base: int) -> Fault:
    return put(offset, base, 200, b"\x01")


def torn(offset: int, base: int) -> Fault:
    return lambda disk: disk.files.update(
        {name(base): disk.files[name(base)][: at(offset, base) + 30]}
    )


def zeros(base: int, count: int) -> Fault:
    return lambda disk: disk.files.update({name(base): disk.files[name(base)] + bytes(count)})


def counted_again(first: int, base: int, to: int) -> Fault:
    """Let the batches of a segment from offset `first` on count from `to` on."""

    def change(disk: Disk) -> None:
        for offset in range(first, base + 1000, 10):
            put(offset, base, 0, struct.pack(">q", offset - first + to))(disk)

    return change


def with_file(file: str, content: bytes) -> Fault:
    return lambda disk: disk.files.update({file: content})


def without(*files: str) -> Fault:
    return lambda disk: [disk.files.pop(file) for file in files]


KILLED: dict[str, tuple[Fault, int]] = {
    "whole": (lambda _: None, 3000),
    "torn": (torn(2500, 2000), 2500),
    "a bad batch": (bad(2540, 2000), 2540),
    "magic byte 3": (magic(2500, 2000), 3000),
    "magic byte 3, last batch": (magic(2990, 2000), 3000),
    "magic byte 3, older segment": (magic(1500, 1000), 3000),
    "a dip to the segment's start": (counted_again(2500, 2000, 2000), 2000),
    "a dip by 50": (counted_again(2500, 2000, 2450), 2000),
    "a dip by 1, and a magic byte of -1": (
        lambda disk: (
            counted_again(2500, 2000, 2499)(disk),
            put(2600, 2000, 16, b"\xff")(disk),
        ),
        2599,
    ),
    "a dip in an older segment": (counted_again(1500, 1000, 1000), 1000),
    "overlaps the next segment": (counted_again(1500, 1000, 1900), 3000),
    "zeros behind an older segment": (zeros(1000, 4096), 2000),
    "no index, and a bad batch": (
        lambda disk: (bad(1540, 1000)(disk), without(name(1000, "index"))(disk)),
        3000,
    ),
}


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
@pytest.mark.parametrize("state", KILLED)
def test_a_killed_brokers_log_ends_where_kafka_lets_it_end(state: str, mode: ScanMode) -> None:
    fault, end = KILLED[state]
    disk = Disk()
    fault(disk)
    log = disk.scan(mode)
    assert (log.problem, log.log_start_offset, log.log_end_offset) == (None, 0, end)
    if state != "whole":
        assert log.suspect or (log.scanned and log.scanned.damage)


CLEAN: dict[str, tuple[Fault, int]] = {
    "whole": (lambda _: None, 3000),
    "garbage in the last index": (with_file(name(2000, "index"), b"\x7f" * 192), 2000),
    "garbage in an older index": (with_file(name(1000, "index"), b"\x7f" * 192), 3000),
    "an index of zeros": (with_file(name(2000, "index"), bytes(800)), 3000),
    "torn": (torn(2500, 2000), 2000),
    "a bad batch": (bad(2500, 2000), 3000),
    "nothing but a few zeros": (with_file(name(2000), bytes(4096)), 2000),
}


@pytest.mark.parametrize("mode", ScanMode)
@pytest.mark.parametrize("state", CLEAN)
def test_after_a_stop_in_order_the_end_is_read_from_the_last_index_entry_on(
    state: str, mode: ScanMode
) -> None:
    fault, end = CLEAN[state]
    disk = Disk(clean=True)
    fault(disk)
    log = disk.scan(mode)
    assert (log.problem, log.log_start_offset, log.log_end_offset) == (None, 0, end)
    if end == 2000:
        assert log.last_written_leader_epoch == 2


def unsnapshotted(disk: Disk) -> None:
    zeros(1000, 4096)(disk)
    without(name(2000, "snapshot"))(disk)
    disk.recovery_point = 2500


def compressed_at_the_snapshot(disk: Disk) -> None:
    """Flip a magic byte: it makes a compressed message of a batch, which is none."""
    put(2000, 2000, 16, b"\x00\x01")(disk)
    without(name(3000, "snapshot"))(disk)


ENDS: dict[str, tuple[Fault, bool, str]] = {
    "zeros after a clean stop": (zeros(2000, 4096), True, "a batch of 0 bytes is announced"),
    "a last segment of zeros": (with_file(name(2000), bytes(100 * SIZE)), True, "of 0 bytes"),
    "offsets below their segment": (counted_again(2500, 2000, 500), False, "segment's name, 2000"),
    "a split over a magic byte that is none": (
        lambda disk: (counted_again(2500, 2000, 2500 + FAR)(disk), magic(2400, 2000)(disk)),
        False,
        "has a magic byte that is none",
    ),
    "a dip without an index": (
        lambda disk: (counted_again(1500, 1000, 1000)(disk), without(name(1000, "index"))(disk)),
        False,
        "has no offset index, and none can be built",
    ),
    "a dip without an index, behind what is cut off": (
        lambda disk: (
            counted_again(2500, 2000, 2000)(disk),
            without(name(2000, "index"))(disk),
            bad(1540, 1000)(disk),
        ),
        False,
        "has no offset index, and none can be built",
    ),
    "producers to be read over zeros while a segment without an index is loaded": (
        lambda disk: (
            zeros(1000, 4096)(disk),
            without(name(2000, "index"), name(2000, "snapshot"), name(3000, "snapshot"))(disk),
        ),
        False,
        "a batch of 0 bytes is announced",
    ),
    "producers to be read from a position that is none any more": (
        lambda disk: (
            with_file(
                name(1000),
                v2(1000, 10, epoch=2, body=bytes(100)) + b"".join(batches(1010, 2000)),
            )(disk),
            # The log ends at 1900.
            counted_again(2500, 2000, 1400)(disk),
            with_file(name(2000, "index"), b"")(disk),
            without(name(1000, "snapshot"))(disk),
        ),
        True,
        "a batch of 0 bytes is announced",
    ),
    "producers to be read over zeros": (unsnapshotted, False, "a batch of 0 bytes is announced"),
    "producers to be read from a message that is none": (
        compressed_at_the_snapshot,
        True,
        "can't decompress the message at byte 0",
    ),
    "a transaction index of another version": (
        with_file(name(2000, "txnindex"), b"\x01" * 34),
        False,
        "a version that is not known",
    ),
}


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
@pytest.mark.parametrize("state", ENDS)
def test_a_log_over_which_the_broker_ends_has_no_end(state: str, mode: ScanMode) -> None:
    fault, clean, why = ENDS[state]
    disk = Disk(clean=clean)
    fault(disk)
    log = disk.scan(mode)
    assert log.log_end_offset is None
    assert why in (ends_over(log.problem) or "")


@pytest.mark.parametrize("mode", ScanMode)
def test_a_recovery_point_that_is_the_largest_offset_has_no_segment_recovered(
    mode: ScanMode,
) -> None:
    disk = Disk(recovery_point=(1 << 63) - 1)
    bad(2540, 2000)(disk)
    assert disk.scan(mode).log_end_offset == 3000
    disk.recovery_point -= 1
    assert disk.scan(mode).log_end_offset == (3000 if mode is FAST else 2540)


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
def test_producers_are_read_up_to_a_segment_that_begins_within_the_one_before(
    mode: ScanMode,
) -> None:
    disk = Disk(recovery_point=3000)
    put(2500, 2000, 0, bytes(4096))(disk)
    with_file(name(2005), b"")(disk)
    assert (disk.scan(mode).problem, disk.scan(mode).log_end_offset) == (None, 2005)
    # With an index the segment is recovered after all were loaded.
    with_file(name(2005, "index"), b"")(disk)
    assert ends_over(disk.scan(mode).problem) is not None


def test_a_compressed_message_begins_below_its_offset_and_is_read_by_the_sizes_within() -> None:
    """Of format 0 and 1 the offset is the last one; the first one decides where a broker of 4.0 or
    later looks for an offset."""
    wrapped = old(1, "gzip", 20, [(3000, None, b"x" * 50) for _ in range(4)])
    later = Head(len(wrapped), 100, 5, 5, None, 1)
    own = Head(0, len(wrapped), 23, 23, None, None, wraps=True)
    assert next_offset([own, later], 23, 0) == Next(0, (), 6)
    assert next_offset([own], 23, 0).end == 24
    must_unwrap([own], reader(wrapped), 23)
    # Bytes behind the value are no part of it: its length alone is wrong.
    must_unwrap([replace(own, size=own.size + 4)], reader(wrapped + b"more"), 23)
    # Nobody checks the CRC who decompresses.
    must_unwrap([own], reader(wrapped[:15] + bytes([wrapped[15] ^ 0x41]) + wrapped[16:]), 23)
    flipped = wrapped[:60] + bytes([wrapped[60] ^ 1]) + wrapped[61:]
    for damaged in (flipped, wrapped[:-3]):
        with pytest.raises(EndsBroker, match="can't decompress the message at byte 0"):
            must_unwrap([own], reader(damaged), 23)


def test_zeros_below_the_recovery_point_are_not_looked_at() -> None:
    disk = Disk(recovery_point=2500)
    zeros(1000, 4096)(disk)
    log = disk.scan(RECOVER)
    assert (log.log_end_offset, log.suspect) == (3000, None)


ONE, TWO = batches(0, 500), [v2(o, 10, body=bytes(900)) for o in range(FAR, FAR + 500, 10)]
FIRST, SECOND = b"".join(ONE), b"".join(TWO)
SPLITS = {
    "not begun": {name(0): FIRST + SECOND},
    "half cleaned": {
        name(0): FIRST + SECOND,
        name(0, "log.cleaned"): FIRST,
        name(FAR, "log.cleaned"): SECOND[: 20 * SIZE],
    },
    "one renamed": {
        name(0): FIRST + SECOND,
        name(0, "log.cleaned"): FIRST,
        name(FAR, "log.swap"): SECOND,
    },
    "both renamed": {
        name(0): FIRST + SECOND,
        name(0, "log.swap"): FIRST,
        name(FAR, "log.swap"): SECOND,
    },
    "old deleted": {
        name(0, "log.deleted"): FIRST + SECOND,
        name(0, "log.swap"): FIRST,
        name(FAR, "log.swap"): SECOND,
    },
    "one done": {name(0, "log.swap"): FIRST, name(FAR): SECOND},
}


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
@pytest.mark.parametrize("step", SPLITS)
def test_a_segment_with_offsets_too_far_is_split_however_far_kafka_came(
    step: str, mode: ScanMode
) -> None:
    """KAFKA-6264."""
    disk = Disk()
    disk.files = {**SPLITS[step], "leader-epoch-checkpoint": checkpoint("0 0")}
    log = disk.scan(mode)
    assert (log.problem, log.log_start_offset, log.log_end_offset) == (None, 0, FAR + 500)


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
def test_where_a_log_ends_is_unknown_after_a_split_beyond_later_segments(mode: ScanMode) -> None:
    disk = Disk(clean=True)
    counted_again(1500, 1000, 1000 + FAR)(disk)
    without(name(1000, "index"))(disk)
    log = disk.scan(mode)
    assert "splits it beyond later segments" in (log.problem or "")
    assert log.log_end_offset is None


@pytest.mark.parametrize("mode", [RECOVER, DEEP])
def test_a_segment_that_begins_too_far_with_a_compressed_message_is_split_once(
    mode: ScanMode,
) -> None:
    """Where its first offset lies within that message, another segment begins there."""
    rows = [(3000, None, b"x" * 50) for _ in range(4)]
    disk = Disk()
    disk.files = {name(0): b"".join(old(1, "gzip", FAR + at, rows) for at in range(0, 40, 4))}
    log = disk.scan(mode)
    assert (log.problem, log.log_end_offset) == (None, FAR + 40)


def test_a_fall_behind_the_last_index_entry_ends_elsewhere_before_4_0() -> None:
    """The entry is of 2959, and a broker of 4.0 or later finds nothing from there on."""
    disk = Disk()
    counted_again(2960, 2000, 2900)(disk)
    log = disk.scan(RECOVER)
    assert log.log_end_offset == 2000
    assert log.suspect is not None
    assert "brokers before 4.0 let the log end at 2940" in log.suspect
