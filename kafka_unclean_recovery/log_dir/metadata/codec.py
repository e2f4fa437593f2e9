"""Read the numbers of Kafka's flexible encoding from bytes one after the other; no I/O.

    unsigned varint   7 bits a byte, lowest first, 0x80 on every byte but the last; 32 bits at most
    varint, varlong   zigzag of the same: 0, -1, 1, -2 ... are 0, 1, 2, 3 ...

A value that is short, or longer than the bytes that are left, raises BadFormat.
"""

from __future__ import annotations

from kafka_unclean_recovery.log_dir.errors import BadFormat

_VARINT_BYTES = 5
_VARLONG_BYTES = 10


class Reader:
    """Bytes and a position in them."""

    __slots__ = ("_data", "_what", "position")

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._what = what
        self.position = 0

    @property
    def remaining(self) -> int:
        return len(self._data) - self.position

    def bad(self, detail: str) -> BadFormat:
        return BadFormat(self._what, f"{detail} at byte {self.position} of {len(self._data)}")

    def take(self, length: int) -> bytes:
        start = self.position
        end = start + length
        if not start <= end <= len(self._data):
            raise self.bad(f"{length} bytes wanted, {self.remaining} left")
        self.position = end
        return self._data[start:end]

    def unsigned_varint(self) -> int:
        # Nearly all have one byte or two, and a metadata log has tens of millions of them.
        position = self.position
        if position < len(self._data) and (byte := self._data[position]) < 0x80:
            self.position = position + 1
            return byte
        if position + 1 < len(self._data) and (high := self._data[position + 1]) < 0x80:
            self.position = position + 2
            return high << 7 | byte & 0x7F
        value = self._base_128(_VARINT_BYTES)
        if value >> 32:
            raise self.bad("a varint of more than 32 bits")
        return value

    def varint(self) -> int:
        value = self.unsigned_varint()
        return (value >> 1) ^ -(value & 1)

    def varlong(self) -> int:
        position = self.position
        if position < len(self._data) and (value := self._data[position]) < 0x80:
            self.position = position + 1
        else:
            value = self._base_128(_VARLONG_BYTES)
            if value >> 64:
                raise self.bad("a varint of more than 64 bits")
        return (value >> 1) ^ -(value & 1)

    def _base_128(self, limit: int) -> int:
        data, position = self._data, self.position
        value = 0
        for index, byte in enumerate(data[position : position + limit]):
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                self.position = position + index + 1
                return value
        raise self.bad("a varint without end")
