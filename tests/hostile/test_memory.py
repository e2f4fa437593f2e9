"""What is made of an answer is bounded by its size, whichever of its arrays is full of nothing."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_unclean_recovery.cluster.requests.describe import EACH_TOPIC
from kafka_unclean_recovery.cluster.wire import frames, layout, limits
from kafka_unclean_recovery.cluster.wire.api import Api, Message
from kafka_unclean_recovery.cluster.wire.layout import BYTES, TEXT, TEXT_OR_NONE, Kind, Many, Row
from kafka_unclean_recovery.cluster.wire.notation import row
from tests.hostile.fields import apis

ROWS = 3000
_NOTHING = {TEXT: "", TEXT_OR_NONE: None, BYTES: None, layout.UUID: bytes(16), layout.BOOL: False}
_A_NUMBER = 300  # of which Python has no copy yet
_AT_A_TIME = {"Metadata": EACH_TOPIC, "DescribeTopicPartitions": EACH_TOPIC}

Way = tuple[str, ...]


def _arrays(kind: Kind, version: int, way: Way = ()) -> Iterator[Way]:
    if isinstance(kind, Row):
        for field in kind.fields:
            if field.since <= version <= field.until and field.tag is None:
                yield from _arrays(field.kind, version, (*way, field.name))
    elif isinstance(kind, Many):
        yield way
        yield from _arrays(kind.of, version, way)


def _full(kind: Kind, version: int, of: Way, way: Way = ()) -> Any:
    """Return the least value with all those rows in one array."""
    if isinstance(kind, Row):
        there = (f for f in kind.fields if f.since <= version <= f.until and f.tag is None)
        fields = {f.name: _full(f.kind, version, of, (*way, f.name)) for f in there}
        return None if kind.optional else fields
    if isinstance(kind, Many):
        count = ROWS if way == of else int(of[: len(way)] == way)
        return [_full(kind.of, version, of, way)] * count
    return _NOTHING.get(str(kind), 0 if kind == layout.INT8 else _A_NUMBER)


EVERY = [
    pytest.param(api, way, id=f"{api.name}-{api.API_KEY}-{'.'.join(way)}")
    for api in apis()
    for way in _arrays(row(api.answer), api.valid_versions[1])
]


@pytest.mark.parametrize(("api", "way"), EVERY)
def test_an_array_of_nothing_takes_no_more_than_its_size_lets_it(
    api: Api, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_MEMORY_FIXED", 0)
    version, kind = api.valid_versions[1], row(api.answer)
    flexible = api.is_flexible(version)
    body = bytearray(b"\0\0\0\1")
    if flexible and api.API_KEY != frames.API_VERSIONS_KEY:
        body.append(0)
    layout.writer(kind, version, flexible)(body, _full(kind, version, way))
    asking = Message(api, {}, _AT_A_TIME.get(api.name))
    frame = bytes(body)
    frames.decode_answer(Message(api, {}), version, _empty(api, version))
    tracemalloc.start()
    try:
        with contextlib.suppress(*frames.DECODE_ERRORS):
            frames.decode_answer(asking, version, frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * len(frame) + limits.most_memory(api.name, len(frame)) + 20_000


def _empty(api: Api, version: int) -> bytes:
    """Return an answer without rows: reading it makes, and keeps, what reads such answers."""
    body, flexible = bytearray(b"\0\0\0\1"), api.is_flexible(version)
    if flexible and api.API_KEY != frames.API_VERSIONS_KEY:
        body.append(0)
    kind = row(api.answer)
    layout.writer(kind, version, flexible)(body, _full(kind, version, ("none",)))
    return bytes(body)
