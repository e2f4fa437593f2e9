"""Frames to torment a listener with: requests that are right, nearly right, and noise. Pure."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.cluster.wire.frames import encode_request
from kafka_unclean_recovery.emulator.apis.api import Api
from tests.log_dir.segments import legacy, v2
from tests.messages.building import build

NAMES = (
    "orders",
    "payments",
    "new-1",
    "new_2",
    "",
    ".",
    "..",
    "a/b",
    "x" * 250,
    "min.insync.replicas",
)
NUMBERS = (-3, -2, -1, 0, 1, 2, 3, 4, 7, 100)
EDGES = {"int8": 7, "int16": 15, "uint16": 16, "int32": 31, "int64": 63}
_MANY = 64 << 10


@dataclass(frozen=True, slots=True)
class Frame:
    """What is sent. open: its length announces more than comes."""

    data: bytes
    correlation_id: int = -1
    open: bool = False


def frames(chance: random.Random, apis: Sequence[Api]) -> Iterator[Frame]:
    """Yield frames without end, the same for the same seed."""
    correlation_id = 0
    while True:
        correlation_id += 1
        kind = chance.choices((_valid, _flipped, _cut, _grown, _noise, _huge), (30, 40, 8, 8, 8, 6))
        yield kind[0](chance, apis, correlation_id)


def _valid(chance: random.Random, apis: Sequence[Api], correlation_id: int) -> Frame:
    api = chance.choice(apis)
    version = chance.randint(api.lowest, api.highest)
    return Frame(valid(chance, api.request, version, correlation_id), correlation_id)


def valid(chance: random.Random, request: Any, version: int, correlation_id: int) -> bytes:
    """Return a frame of random fields, as kafka-python writes it."""
    message = build(request, _fields(chance, request, version, 0))
    return bytes(encode_request(message, version, correlation_id, "fuzz"))


def _flipped(chance: random.Random, apis: Sequence[Api], correlation_id: int) -> Frame:
    """Return a frame with other bytes behind the length, in the header or after it."""
    content = bytearray(_valid(chance, apis, correlation_id).data[4:])
    for _ in range(chance.randint(1, 4)):
        # The key and the version seldom, or little else would ever be looked at.
        first = 0 if chance.random() < 0.1 else 4
        place = chance.randrange(first, len(content))
        content[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    return _framed(bytes(content))


def _cut(chance: random.Random, apis: Sequence[Api], correlation_id: int) -> Frame:
    """Return a frame that is too short, and either honest about it or not."""
    data = _valid(chance, apis, correlation_id).data
    kept = data[: chance.randrange(len(data))]
    if chance.random() < 0.5 or len(kept) < 4:
        return Frame(kept, open=True)
    return _framed(kept[4:])


def _grown(chance: random.Random, apis: Sequence[Api], correlation_id: int) -> Frame:
    return _framed(_valid(chance, apis, correlation_id).data[4:] + chance.randbytes(20))


def _noise(chance: random.Random, _: Sequence[Api], __: int) -> Frame:
    noise = chance.randbytes(chance.randint(0, 200))
    return chance.choice((Frame(noise, open=True), _framed(noise)))


def _huge(chance: random.Random, apis: Sequence[Api], correlation_id: int) -> Frame:
    """Return a frame with lengths and counts that are not there, or numbers that never end."""
    api = chance.choice(apis)
    version = chance.randint(api.lowest, api.highest)
    header = struct.pack(">hhih", api.request.API_KEY, version, correlation_id, -1)
    filling = chance.choice(
        (b"\x7f\xff\xff\xff", b"\xff" * chance.choice((5, _MANY)), b"\xff\xff\xff\xff\x07", b"\x80")
    )
    body = bytes(chance.randint(0, 6)) + filling * chance.randint(1, 5)
    if chance.random() < 0.2:
        length = chance.choice((2**31 - 1, (100 << 20) + 1, 100 << 20, -1, -(2**31)))
        return Frame(struct.pack(">i", length) + header + body, open=True)
    return _framed(header + body)


def _framed(content: bytes) -> Frame:
    correlation_id = struct.unpack_from(">i", content, 4)[0] if len(content) >= 8 else -1
    return Frame(struct.pack(">i", len(content)) + content, correlation_id)


def _fields(chance: random.Random, container: Any, version: int, depth: int) -> dict[str, Any]:
    return {
        name: _value(chance, field, version, depth)
        for name, field in container.fields.items()
        if field.for_version_q(version)
        and not (field.tagged_field_q(version) and chance.random() < 0.7)
    }


def _value(chance: random.Random, field: Any, version: int, depth: int) -> Any:
    if field.nullable_for_version_q(version) and chance.random() < 0.3:
        return None
    if field.is_struct_array():
        count = chance.choice((0, 1, 1, 2, 5))
        return [_fields(chance, field.data_class, version, depth + 1) for _ in range(count)]
    if field.is_struct():
        return field.data_class(**_fields(chance, field.data_class, version, depth + 1))
    if field.is_array():
        count = chance.choice((0, 1, 1, 2, 3))
        return [_simple(chance, field.array_of.type_str) for _ in range(count)]
    return _simple(chance, field.type_str)


def _simple(chance: random.Random, kind: str) -> Any:
    if kind in EDGES:
        edge = 2 ** EDGES[kind] - 1
        lowest = 0 if kind == "uint16" else -edge - 1
        wild = (lowest, edge) if chance.random() < 0.05 else NUMBERS
        return max(lowest, chance.choice(wild))
    if kind == "string":
        return chance.choice(NAMES)
    if kind == "records":
        return chance.choice((v2(count=3), legacy(), v2(count=1)[:40], b"", chance.randbytes(70)))
    if kind == "bytes":
        return chance.choice((b"", b"\0sre\0pw", b"n,,n=sre,r=abc", chance.randbytes(20)))
    plain: dict[str, Any] = {
        "bool": chance.random() < 0.5,
        "uuid": UUID(int=chance.choice((0, 1, 2**100))),
        "float64": chance.random(),
    }
    return plain[kind]
