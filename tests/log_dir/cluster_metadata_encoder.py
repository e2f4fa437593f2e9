"""Writes what the reader of the metadata log reads: as little of it as the tests need."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Mapping

from crc32c import crc32c

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile

TOPIC_ID = uuid.UUID(int=1000)
INCARNATION = uuid.UUID(int=2000)
EPOCH = 7


def uvarint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def varint(value: int) -> bytes:
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def string(text: str | None) -> bytes:
    return b"\0" if text is None else uvarint(len(text.encode()) + 1) + text.encode()


def array(elements: Iterable[bytes]) -> bytes:
    every = list(elements)
    return uvarint(len(every) + 1) + b"".join(every)


def ints(numbers: Iterable[int]) -> bytes:
    return array(struct.pack(">i", number) for number in numbers)


def uuids(found: Iterable[uuid.UUID]) -> bytes:
    return array(each.bytes for each in found)


def tagged(fields: Mapping[int, bytes] = {}) -> bytes:
    ordered = sorted(fields.items())
    return uvarint(len(ordered)) + b"".join(
        uvarint(tag) + uvarint(len(value)) + value for tag, value in ordered
    )


def record(
    key: int, version: int, *fields: bytes, tags: Mapping[int, bytes] = {}, frame: int = 1
) -> bytes:
    header = uvarint(frame) + uvarint(key) + uvarint(version)
    return header + b"".join(fields) + tagged(tags)


def topic(name: str, topic_id: uuid.UUID = TOPIC_ID) -> bytes:
    return record(2, 0, string(name), topic_id.bytes)


def partition(
    number: int,
    replicas: Iterable[int],
    *,
    topic_id: uuid.UUID = TOPIC_ID,
    leader: int | None = None,
    directories: Iterable[uuid.UUID] = (),
    tags: Mapping[int, bytes] = {},
) -> bytes:
    """Return a PartitionRecord: every replica is in sync, and the first one leads. Tags: 0
    recovery, 1 ELR, 2 last known."""
    who = list(replicas)
    return record(
        3,
        2,
        struct.pack(">i", number),
        topic_id.bytes,
        ints(who),
        ints(who),
        ints([]),
        ints([]),
        struct.pack(">iii", who[0] if leader is None else leader, 0, 0),
        uuids(directories),
        tags=tags,
    )


def change(number: int, tags: Mapping[int, bytes], topic_id: uuid.UUID = TOPIC_ID) -> bytes:
    """Return a PartitionChangeRecord. Tags: 0 isr, 1 leader, 2 replicas, 3 removing, 4 adding, 5
    recovery, 6 ELR, 7 last known, 8 directories."""
    return record(5, 2, struct.pack(">i", number), topic_id.bytes, tags=tags)


def leader(broker: int) -> bytes:
    return struct.pack(">i", broker)


def remove_topic(topic_id: uuid.UUID = TOPIC_ID) -> bytes:
    return record(9, 0, topic_id.bytes)


def clear_elr(name: str) -> bytes:
    return record(28, 0, string(name))


def config(kind: int, name: str, key: str, value: str | None) -> bytes:
    return record(4, 0, struct.pack(">b", kind), string(name), string(key), string(value))


def feature(name: str, level: int) -> bytes:
    return record(12, 0, string(name), struct.pack(">h", level))


def register(
    broker: int,
    epoch: int,
    *,
    fenced: bool = False,
    log_dirs: Iterable[uuid.UUID] = (),
    at: tuple[str, int] = ("host", 9092),
    features: Iterable[tuple[str, int, int]] = (),
) -> bytes:
    """Return a RegisterBrokerRecord. Features: name, least and greatest level that it supports."""
    host, port = at
    endpoint = string("PLAINTEXT") + string(host) + struct.pack(">Hh", port, 0) + tagged()
    supported = [
        string(name) + struct.pack(">hh", *levels) + tagged() for name, *levels in features
    ]
    return record(
        0,
        4,
        struct.pack(">i?", broker, False),
        INCARNATION.bytes,
        struct.pack(">q", epoch),
        array([endpoint]),
        array(supported),
        string(None),
        struct.pack(">??", fenced, False),
        tags={0: uuids(log_dirs)},
    )


def change_broker(broker: int, epoch: int, tags: Mapping[int, bytes]) -> bytes:
    """Return a BrokerRegistrationChangeRecord. Tags: 0 fenced, 1 in controlled shutdown, 2 log
    dirs, 3 cordoned ones."""
    return record(17, 3, struct.pack(">iq", broker, epoch), tags=tags)


def fence(broker: int, epoch: int) -> bytes:
    return record(7, 0, struct.pack(">iq", broker, epoch))


def unfence(broker: int, epoch: int) -> bytes:
    return record(8, 0, struct.pack(">iq", broker, epoch))


def unregister(broker: int, epoch: int) -> bytes:
    return record(1, 0, struct.pack(">iq", broker, epoch))


BEGIN, END, ABORT, NO_OP = (record(key, 0) for key in (23, 24, 25, 20))


def control(kind: int, value: bytes) -> tuple[bytes, bytes]:
    return struct.pack(">hh", 0, kind), value


def leader_change(controller: int = 101, voters: Iterable[int] = (101,)) -> tuple[bytes, bytes]:
    listed = array(struct.pack(">i", voter) + tagged() for voter in voters)
    return control(2, struct.pack(">hi", 0, controller) + listed + array([]) + tagged())


def snapshot_header(time_ms: int) -> tuple[bytes, bytes]:
    return control(3, struct.pack(">hq", 0, time_ms) + tagged())


SNAPSHOT_FOOTER = control(4, struct.pack(">h", 0) + tagged())
Written = bytes | tuple[bytes, bytes]
"""The value of a metadata record, or key and value of a control record"""


def batch(base: int, *written: Written, epoch: int = EPOCH, time_ms: int = 1_000) -> bytes:
    records = b"".join(in_batch(delta, each) for delta, each in enumerate(written))
    attributes = 0x20 if isinstance(written[0], tuple) else 0
    return raw_batch(base, records, len(written), attributes, epoch=epoch, time_ms=time_ms)


def raw_batch(
    base: int,
    records: bytes,
    count: int,
    attributes: int = 0,
    *,
    last_delta: int | None = None,
    epoch: int = EPOCH,
    time_ms: int = 1_000,
) -> bytes:
    """Return a batch whose CRC holds, whatever else does not."""
    last = count - 1 if last_delta is None else last_delta
    covered = struct.pack(">hiqqqhii", attributes, last, time_ms, time_ms, -1, -1, -1, count)
    covered += records
    body = struct.pack(">ibI", epoch, 2, crc32c(covered)) + covered
    return struct.pack(">qi", base, len(body)) + body


def in_batch(delta: int, written: Written | None, *, longer: int = 0) -> bytes:
    """Return a record; `longer` than it is, by what it says."""
    key, value = written if isinstance(written, tuple) else (None, written)
    body = b"\0" + varint(0) + varint(delta) + _sized(key) + _sized(value) + varint(0)
    return varint(len(body) + longer) + body


def _sized(found: bytes | None) -> bytes:
    return varint(-1) if found is None else varint(len(found)) + found


def log(base: int, *batches: bytes) -> MetadataFile:
    return MetadataFile.of(f"{base:020}.log", b"".join(batches))


def snapshot(
    offset: int, *values: bytes, epoch: int = EPOCH, time_ms: int = 500, footer: bool = True
) -> MetadataFile:
    batches = [batch(0, snapshot_header(time_ms), epoch=epoch)]
    if values:
        batches.append(batch(1, *values, epoch=epoch))
    if footer:
        batches.append(batch(1 + len(values), SNAPSHOT_FOOTER, epoch=epoch))
    return MetadataFile.of(f"{offset:020}-{epoch:010}.checkpoint", b"".join(batches))
