"""Read the batches of a file of the metadata log, or of a snapshot, one after the other.

KRaft writes message format 2 (segments/batches.py) without compression, in batches of up to 8 MiB,
and no offset is ever missing. A record in a batch is

    varint   length of the rest of the record
    int8     attributes, unused
    varlong  timestamp, less the batch's first
    varint   offset, less the batch's first
    varint   length of the key, -1 for null; the key
    varint   length of the value, -1 for null; the value
    varint   count of headers; each a key and a value with their lengths
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.codec import Reader
from kafka_unclean_recovery.log_dir.segments.batches import (
    CODEC_MASK,
    V2,
    BatchHeader,
    Reason,
    check_crc,
    parse_header,
)
from kafka_unclean_recovery.log_dir.tree import Unreadable

# The limit is twice what KafkaRaftClient.MAX_BATCH_SIZE_BYTES allows.
_LARGEST_BATCH = 16 << 20
_MAGIC = 2
_WINDOW = 256 << 10

ReadAt = Callable[[int, int], bytes]
"""Takes (position, length), returns bytes, fewer only where the file ends; raises Unreadable."""


@dataclass(frozen=True, slots=True)
class MetadataFile:
    """A file of a `__cluster_metadata-0` directory, which the reader of the directory opened."""

    name: str
    size: int
    read_at: ReadAt = field(repr=False)

    @classmethod
    def of(cls, name: str, content: bytes) -> MetadataFile:
        return cls(name, len(content), lambda start, length: content[start : start + length])


class KeyValue(NamedTuple):
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch whose CRC holds; its records are decoded only when they are asked for."""

    position: int
    base_offset: int
    leader_epoch: int
    control: bool
    max_timestamp: int
    count: int
    _records: bytes = field(repr=False)

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.count

    @property
    def size(self) -> int:
        """Return the bytes of the whole batch."""
        return V2.size + len(self._records)

    def same_as(self, other: Batch) -> bool:
        """Return True when both are the same batch of the log, wherever in its file each lies."""
        return replace(self, position=0) == replace(other, position=0)

    def records(self) -> list[KeyValue]:
        """Return the key and value of each record. Raises BadFormat."""
        reader = Reader(self._records, f"records of the batch at offset {self.base_offset}")
        found = [_record(reader, index) for index in range(self.count)]
        if reader.remaining:
            raise reader.bad("bytes behind the last record")
        return found


def read_batches(file: MetadataFile) -> Iterator[Batch]:
    """Yield every batch up to the end of the file. Raises BadFormat at bytes that are no batch."""
    window = _Window(file)
    position = 0
    while position < file.size:
        try:
            header = _header(window.read(position, V2.size))
            yield _batch(header, window.read(position, header.length), position)
        except BadFormat as error:
            raise BadFormat(file.name, f"{error}, at byte {position}") from None
        position += header.length


def _header(start: bytes) -> BatchHeader:
    if start and not any(start):
        raise BadFormat(Reason.ZEROS, f"{len(start)} bytes or more")
    header = parse_header(start)
    if header.magic != _MAGIC:
        raise BadFormat(Reason.MAGIC, f"{header.magic} where KRaft writes {_MAGIC}")
    if header.length > _LARGEST_BATCH:
        raise BadFormat(Reason.LENGTH, f"{header.length} is more than KRaft writes")
    return header


def _batch(header: BatchHeader, whole: bytes, position: int) -> Batch:
    if not check_crc(header, whole):
        raise BadFormat(Reason.CRC, "it does not hold")
    if header.attributes & CODEC_MASK:
        raise BadFormat("batch codec", f"{header.codec}, where KRaft does not compress")
    base, count, epoch = header.base_offset, header.record_count, header.leader_epoch
    if base is None or not count or header.last_offset - base != count - 1:
        raise BadFormat(Reason.COUNT, f"{count} from offset {base} to {header.last_offset}")
    if epoch is None or epoch < 0:
        raise BadFormat("batch epoch", str(epoch))
    records = whole[V2.size :]
    return Batch(position, base, epoch, header.is_control, header.max_timestamp, count, records)


def _record(reader: Reader, index: int) -> KeyValue:
    length = reader.varint()
    start = reader.position
    reader.take(1)
    reader.varlong()
    delta = reader.varint()
    if delta != index:
        raise reader.bad(f"offset delta {delta} for record {index}")
    found = KeyValue(_nullable(reader), _nullable(reader))
    for _ in range(2 * reader.varint()):
        _nullable(reader)
    if reader.position != start + length:
        raise reader.bad(f"a record of {length} bytes does not end where it should")
    return found


def _nullable(reader: Reader) -> bytes | None:
    length = reader.varint()
    return None if length == -1 else reader.take(length)


class _Window:
    """A window that reads forward through a file in large pieces, because the batches of an idle
    cluster have only 72 bytes."""

    def __init__(self, file: MetadataFile) -> None:
        self._file = file
        self._start = 0
        self._piece = b""

    def read(self, position: int, length: int) -> bytes:
        """Return up to `length` bytes, fewer where the file ends."""
        length = min(length, self._file.size - position)
        skip = position - self._start
        if skip < 0 or skip + length > len(self._piece):
            wanted = min(max(length, _WINDOW), self._file.size - position)
            try:
                self._piece = self._file.read_at(position, wanted)
            except Unreadable as error:
                raise BadFormat("can't be read", str(error)) from None
            self._start, skip = position, 0
        return self._piece[skip : skip + length]
