"""Read all good batches of one window of a segment, in loops as fast as Python allows.

The loops accept exactly what `parse_header`, `check_crc` and the order of offsets allow. They stop
at the first batch that is not plainly good, or not wholly in the window, without saying why.
Reading batch by batch takes half as long again as run by run, and runs are enough to know how far a
log goes.
"""

from __future__ import annotations

import struct
import zlib

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.segments import batches as b

# This is a V2 header without its times and its producer, which no reader needs here.
_V2_NEEDED = struct.Struct(">qiibIhi30xi")
_LEGACY_LEAST = (b.LEAST_LENGTH[0], b.LEAST_LENGTH[1])

Batch = tuple[int, int, int | None, int, int | None, int, int | None]
"""A batch is (position, whole length in bytes, base offset, last offset (inclusive), leader epoch,
attributes, record count): a BatchHeader without its rarely needed fields, with None as there."""


Run = tuple[int | None, int, int | None, int | None, int | None, int]
"""A run is batches of one leader epoch without a gap: (first offset, last offset (inclusive),
leader epoch, first offset of the last batch, record count, number of batches). A number is None
where a compressed message of the old formats does not tell it."""


def run_of(batch: Batch) -> Run:
    """Return the run that consists of one batch."""
    return batch[2], batch[3], batch[4], batch[2], batch[6], 1


def compact(position: int, header: b.BatchHeader) -> Batch:
    return (
        position,
        header.length,
        header.base_offset,
        header.last_offset,
        header.leader_epoch,
        header.attributes,
        header.record_count,
    )


def take(
    window: memoryview, origin: int, last: int, ceiling: int, check_crc: bool
) -> tuple[list[Batch], int, int]:
    """Return (batches, their length in bytes, the last offset) from the window's beginning, which
    is byte `origin` of the segment. Offsets must lie above `last` and up to `ceiling`,
    inclusive."""
    run: list[Batch] = []
    used, before = 0, -1
    while used != before:
        before = used
        used, last = _take_v2(run, window, used, origin, last, ceiling, check_crc)
        used, last = _take_legacy(run, window, used, origin, last, ceiling, check_crc)
    return run, used, last


def take_runs(
    window: memoryview, origin: int, last: int, ceiling: int, check_crc: bool
) -> tuple[list[Run], int, int]:
    """Return the same as `take`, in runs."""
    runs: list[Run] = []
    used, before = 0, -1
    while used != before:
        before = used
        used, last = _take_v2_runs(runs, window, used, last, ceiling, check_crc)
        legacy: list[Batch] = []
        used, last = _take_legacy(legacy, window, used, origin, last, ceiling, check_crc)
        runs += map(run_of, legacy)
    return runs, used, last


def _take_v2_runs(
    runs: list[Run], window: memoryview, at: int, last: int, ceiling: int, check_crc: bool
) -> tuple[int, int]:
    unpack, skip = _V2_NEEDED.unpack_from, b.V2_CRC_FROM
    filled = len(window)
    final = filled - b.V2.size
    first = start = records = batches = 0
    # None equals no epoch, not even -2 of a damaged header: the first batch always begins a run.
    run_epoch: int | None = None
    while at <= final:
        base, length, epoch, magic, crc, _, delta, count = unpack(window, at)
        stop = at + 12 + length
        end = base + delta
        if (
            magic != 2
            or length < 49
            or stop > filled
            or not last < base <= end <= ceiling
            or count < 0
            or (check_crc and crc32c(window[at + skip : stop]) != crc)
        ):
            break
        if epoch != run_epoch or base != last + 1:
            if batches:
                runs.append((first, last, run_epoch, start, records, batches))
            first, run_epoch, records, batches = base, epoch, 0, 0
        records += count
        batches += 1
        at, start, last = stop, base, end
    if batches:
        runs.append((first, last, run_epoch, start, records, batches))
    return at, last


def _take_v2(
    run: list[Batch],
    window: memoryview,
    at: int,
    origin: int,
    last: int,
    ceiling: int,
    check_crc: bool,
) -> tuple[int, int]:
    append, unpack, skip = run.append, _V2_NEEDED.unpack_from, b.V2_CRC_FROM
    filled = len(window)
    final = filled - b.V2.size
    while at <= final:
        base, length, epoch, magic, crc, attributes, delta, count = unpack(window, at)
        stop = at + 12 + length
        end = base + delta
        if (
            magic != 2
            or length < 49
            or stop > filled
            or not last < base <= end <= ceiling
            or count < 0
            or (check_crc and crc32c(window[at + skip : stop]) != crc)
        ):
            break
        append((origin + at, stop - at, base, end, epoch, attributes, count))
        at, last = stop, end
    return at, last


def _take_legacy(
    run: list[Batch],
    window: memoryview,
    at: int,
    origin: int,
    last: int,
    ceiling: int,
    check_crc: bool,
) -> tuple[int, int]:
    append, unpack, skip = run.append, b.LEGACY.unpack_from, b.LEGACY_CRC_FROM
    filled = len(window)
    final = filled - b.LEGACY.size
    while at <= final:
        offset, length, crc, magic, attributes = unpack(window, at)
        stop = at + 12 + length
        if (
            not 0 <= magic <= 1
            or length < _LEGACY_LEAST[magic]
            or stop > filled
            or not last < offset <= ceiling
            or (check_crc and zlib.crc32(window[at + skip : stop]) != crc)
        ):
            break
        base, count = (None, None) if attributes & 7 else (offset, 1)
        append((origin + at, stop - at, base, offset, None, attributes, count))
        at, last = stop, offset
    return at, last
