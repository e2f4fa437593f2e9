"""Batches that lie and whose CRC is right all the same: as a broker with a fault wrote them, or a
memory with one."""

from __future__ import annotations

import random
import struct
import zlib

from crc32c import crc32c

from tests.fidelity.disk.faults import Fault, segment, starts_of
from tests.fidelity.disk.logs import Bytes

_LARGE, _HUGE = (1 << 31) - 1, 1 << 62
# (position, format, values): fields of format 2 that the CRC covers.
_FIELDS: tuple[tuple[int, str, tuple[int, ...]], ...] = (
    (23, ">i", (-1, 0, 1, 2, 7, 1 << 20, _LARGE)),
    (27, ">q", (-1, 0, -5, _HUGE)),
    (35, ">q", (-1, 0, -5, 4_000_000_000_000, _HUGE)),
    (43, ">q", (-2, 5)),
    (51, ">h", (-1, 0, 9)),
    (53, ">i", (-1, 0, 1_000, _LARGE)),
    (57, ">i", (0, 1, 9, 1_000, _LARGE)),
)
# The same of format 1; format 0 has none.
_OLD_FIELDS = ((18, ">q", (-1, 0, 4_000_000_000_000, _HUGE)),)


def forged(files: Bytes, g: random.Random) -> str:
    """Change one field, and make the CRC fit it."""
    name = segment(files, g)
    data = bytearray(files[name])
    begins = starts_of(data)
    place = g.randrange(len(begins) - 1)
    begin, end = begins[place], begins[place + 1]
    new = data[begin + 16] >= 2
    if data[begin + 16] == 0:
        raise ValueError("format 0 has no such field")
    position, format_, values = g.choice(_FIELDS if new else _OLD_FIELDS)
    value = g.choice(values)
    struct.pack_into(format_, data, begin + position, value)
    if new:
        struct.pack_into(">I", data, begin + 17, crc32c(bytes(data[begin + 21 : end])))
    else:
        struct.pack_into(">I", data, begin + 12, zlib.crc32(data[begin + 16 : end]))
    files[name] = bytes(data)
    return f"{name} has {value} at byte {position} of the batch at {begin}, its CRC right"


def other_epoch(files: Bytes, g: random.Random) -> str:
    """Change the leader epoch, which the CRC does not cover, of one batch or of all from one on."""
    name = segment(files, g)
    data = bytearray(files[name])
    begins = [at for at in starts_of(data)[:-1] if data[at + 16] >= 2]
    place = g.randrange(len(begins))
    epoch = g.choice((-1, -2, 0, 1, 3, 6, 9, _LARGE))
    last = place + 1 if g.random() < 0.5 else len(begins)
    for at in begins[place:last]:
        struct.pack_into(">i", data, at + 12, epoch)
    files[name] = bytes(data)
    return f"{name} leader epoch {epoch} in {last - place} batches from byte {begins[place]} on"


FAULTS: tuple[Fault, ...] = (forged, forged, other_epoch)
