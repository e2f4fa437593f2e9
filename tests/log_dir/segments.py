"""Bytes as Kafka writes them: batches, indexes, checkpoints; encoders for tests alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.errors import BadFormat


def v2(
    base: int = 0,
    count: int = 1,
    *,
    epoch: int = 0,
    attributes: int = 0,
    body: bytes = b"records",
    delta: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
) -> bytes:
    """Return one batch of format 2, its CRC right."""
    delta = count - 1 if delta is None else delta
    producer = (producer_id, producer_epoch, sequence)
    covered = struct.pack(">hiqqqhii", attributes, delta, 1000, 2000, *producer, count)
    covered += body
    head = struct.pack(">qiibI", base, 9 + len(covered), epoch, 2, crc32c(covered))
    return head + covered


def legacy(offset: int = 0, *, magic: int = 1, attributes: int = 0, value: bytes = b"v") -> bytes:
    """Return one message of format 0 or 1 without a key, its CRC right."""
    covered = struct.pack(">bb", magic, attributes)
    covered += struct.pack(">q", 3000) if magic else b""
    covered += struct.pack(">ii", -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def index(*entries: tuple[int, int], zeros: int = 0) -> bytes:
    """Return an index of (relative offset, position) entries and so many zero ones."""
    return b"".join(struct.pack(">ii", *entry) for entry in entries) + bytes(8 * zeros)


def checkpoint(*lines: str, count: int | None = None) -> bytes:
    """Return any of the checkpoint files."""
    announced = len(lines) if count is None else count
    return "".join(f"{line}\n" for line in ("0", str(announced), *lines)).encode()


def outcome(parse: Callable[[], object]) -> str:
    """Return what BadFormat says, "" for a value; any other exception goes through."""
    try:
        parse()
    except BadFormat as error:
        return str(error)
    return ""


def reader(data: bytes, largest: list[int] | None = None) -> Callable[[int, int], bytes]:
    """Return `read_at` of these bytes; `largest` collects how much was asked for at once."""

    def read_at(position: int, length: int) -> bytes:
        assert position >= 0
        assert length >= 0
        if largest is not None:
            largest.append(length)
        return data[position : position + length]

    return read_at
