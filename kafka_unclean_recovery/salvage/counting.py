"""Count what a batch unfolds to before anything is made of it: a record of seven bytes takes some
three hundred as an object, a header of two some eighty."""

from __future__ import annotations

from kafka_unclean_recovery.log_dir.errors import BadFormat

MOST = 1_000_000
"""So many records and headers of one batch are decoded. The largest batch that brokers take by
default has room for some 150,000."""

# To count takes as long as to decode, and what is shorter can't hold too many.
_FROM_BYTES = 1 << 20


def check_count(records: int) -> None:
    """Raise BadFormat for more records than are decoded."""
    if records > MOST:
        raise BadFormat("records", f"{records} in one batch, and at most {MOST} are decoded")


def check_values(body: bytes) -> None:
    """Raise BadFormat for more records and headers than are decoded, IndexError for what are no
    records of format 2."""
    if len(body) <= _FROM_BYTES:
        return
    at = values = 0
    while at < len(body):
        length, at = _varint(body, at)
        if length <= 0:
            raise BadFormat("records", f"a record of {length} bytes")
        values += 1 + _headers(body, at)
        if values > MOST:
            raise BadFormat(
                "records", f"more than {MOST} records and headers in one batch, which are not held"
            )
        at += length


def _headers(body: bytes, at: int) -> int:
    """Return how many headers the record at this position says that it has."""
    at += 1
    for _ in range(2):  # the time and the offset
        _, at = _varint(body, at)
    for _ in range(2):  # the key and the value
        length, at = _varint(body, at)
        at += max(length, 0)
    count, _ = _varint(body, at)
    return max(count, 0)


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """Return (the number at this position, the position behind it)."""
    value = shift = 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise BadFormat("records", "a varint of more than ten bytes")
