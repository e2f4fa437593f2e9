"""What a broker makes of a transaction index when it loads the segment.

Source: org.apache.kafka.storage.internals.log.TransactionIndex (sanityCheck), AbortedTxn.
"""

from __future__ import annotations

import struct
from enum import StrEnum

# An entry: version, producer id, first and last offset of the transaction, last stable offset.
_ENTRY = struct.Struct(">hqqqq")
_VERSION = 0
LEAST_SIZE = _ENTRY.size


class IndexVerdict(StrEnum):
    """SOUND: it is taken. CORRUPT: the broker recovers the segment, and builds it anew. UNKNOWN:
    the broker ends over it."""

    SOUND = "sound"
    CORRUPT = "corrupt"
    UNKNOWN = "unknown version"


def transaction_index(data: bytes, base_offset: int) -> IndexVerdict:
    """Judge a whole index of the segment that begins at `base_offset`."""
    for number in range(len(data) // _ENTRY.size):
        version, _, _, last, _ = _ENTRY.unpack_from(data, number * _ENTRY.size)
        if version > _VERSION:
            return IndexVerdict.UNKNOWN
        if last < base_offset:
            return IndexVerdict.CORRUPT
    return IndexVerdict.SOUND
