"""Every record in every version, as Kafka's own code wrote it (tests.real.cluster_metadata_vectors
made them), and what is no record."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.records import (
    KNOWN_VERSIONS,
    ControlRecord,
    MetadataRecord,
    UnknownRecord,
    decode_control_record,
    decode_record,
)
from tests.log_dir import cluster_metadata_encoder as enc
from tests.log_dir.cluster_metadata_json import as_dumped

VECTORS = [
    json.loads(line)
    for line in Path(__file__).with_name("cluster_metadata_vectors.jsonl").read_text().splitlines()
]
Vector = dict[str, Any]


def _name(vector: Vector) -> str:
    return f"{vector['name']}-{vector['version']}-{len(vector['bytes']) // 2}"


def _decoded(
    vector: Vector, encoded: bytes | None = None
) -> MetadataRecord | ControlRecord | UnknownRecord:
    value = bytes.fromhex(vector["bytes"]) if encoded is None else encoded
    if vector["kind"] == "metadata":
        return decode_record(value)
    return decode_control_record(vector["key"].to_bytes(4, "big"), value)


def test_every_version_that_is_decoded_was_written_by_kafka() -> None:
    written: dict[tuple[str, int], set[int]] = {}
    for vector in VECTORS:
        written.setdefault((vector["kind"], vector["key"]), set()).add(vector["version"])
    assert written == {key: set(versions) for key, versions in KNOWN_VERSIONS.items()}


@pytest.mark.parametrize("vector", VECTORS, ids=_name)
def test_what_kafka_wrote_is_what_is_read(vector: Vector) -> None:
    found = _decoded(vector)
    assert not isinstance(found, UnknownRecord)
    assert (found.name, found.version) == (vector["name"], vector["version"])
    assert as_dumped(found.name, found.fields) == vector["data"]
    assert found.unknown_tags == ()


@pytest.mark.parametrize("vector", [v for v in VECTORS if len(v["bytes"]) < 600], ids=_name)
def test_a_record_cut_short_or_drawn_out_is_refused(vector: Vector) -> None:
    whole = bytes.fromhex(vector["bytes"])
    for length in range(len(whole)):
        with pytest.raises(BadFormat):
            _decoded(vector, whole[:length])
    with pytest.raises(BadFormat, match="1 bytes behind its end"):
        _decoded(vector, whole + b"\0")


def test_what_is_not_known_is_named() -> None:
    assert decode_record(enc.record(99, 0)) == UnknownRecord("metadata record 99", 99, 0)
    assert decode_record(enc.record(5, 3, b"?")) == UnknownRecord("PartitionChangeRecord", 5, 3)
    assert decode_control_record(*enc.control(9, b"?")) == UnknownRecord("control record 9", 9, 0)
    later = enc.control(2, b"\0\2?")
    assert decode_control_record(*later) == UnknownRecord("LeaderChangeMessage", 2, 2)


def test_tags_that_are_not_known_are_skipped_and_remembered() -> None:
    found = decode_record(enc.change(3, {0: enc.ints([1]), 9: b"new", 4000: b""}))
    assert isinstance(found, MetadataRecord)
    assert (found.fields["isr"], found.fields["leader"]) == ((1,), -2)
    assert found.unknown_tags == (9, 4000)


@pytest.mark.parametrize(
    ("key", "version", "tag", "value"),
    [
        (0, 2, 0, enc.uuids([])),
        (0, 3, 1, enc.uuids([])),
        (3, 1, 1, enc.ints([1])),
        (3, 1, 2, enc.ints([1])),
        (5, 0, 8, enc.uuids([])),
        (5, 1, 6, enc.ints([1])),
        (5, 1, 7, enc.ints([1])),
        (17, 0, 1, b"\1"),
        (17, 1, 2, enc.uuids([])),
        (17, 2, 3, enc.uuids([])),
    ],
)
def test_a_tag_of_a_later_version_is_not_read_in_an_earlier_one(
    key: int, version: int, tag: int, value: bytes
) -> None:
    bare = next(
        bytes.fromhex(v["bytes"])
        for v in VECTORS
        if (v["kind"], v["key"], v["version"]) == ("metadata", key, version)
    )
    assert bare.endswith(b"\0"), "it has no tagged fields"
    found = decode_record(bare[:-1] + enc.tagged({tag: value}))
    assert isinstance(found, MetadataRecord)
    assert found.unknown_tags == (tag,)
    assert found.fields == cast("MetadataRecord", decode_record(bare)).fields


@pytest.mark.parametrize(
    ("encoded", "why"),
    [
        (enc.record(20, 0, frame=2), "frame version 2"),
        (enc.record(20, 0, frame=0), "frame version 0"),
        (enc.record(40_000, 0), "api key 40000"),
        (enc.record(12, 0, enc.string(None), b"\0\1"), "null where nothing may be null"),
        (enc.record(12, 0, b"\2\xff", b"\0\1"), "not UTF-8"),
        (enc.record(12, 0, enc.uvarint(2**31), b"abc"), "2147483647 bytes wanted, 4 left"),
        (enc.record(10, 0, b"\1\1", enc.uvarint(2**32 - 1)), "4294967294 elements in"),
        (enc.record(20, 0)[:-1] + b"\x80\x80\x80\x80\x7f", "more than 32 bits"),
        (enc.record(20, 0)[:-1] + b"\x80\x80\x80\x80\x80\x80", "a varint without end"),
        (enc.change(0, {})[:-1] + b"\2\1\4\0\0\0\0\1\4\0\0\0\0", "tag 1 after tag 1"),
        (enc.change(0, {1: b"\0\0\0\0\0"}), "does not end where its size says"),
        (enc.change(0, {})[:-1] + b"\1\1\5\0\0\0\0", "tag 1 of 5 bytes, 4 left"),
    ],
)
def test_what_is_no_record_is_refused(encoded: bytes, why: str) -> None:
    with pytest.raises(BadFormat, match=why):
        decode_record(encoded)


@given(st.binary(max_size=80), st.sampled_from(sorted(KNOWN_VERSIONS)), st.integers(0, 4))
def test_arbitrary_bytes_are_a_record_or_bad_format(
    tail: bytes, known: tuple[str, int], version: int
) -> None:
    kind, key = known
    with suppress(BadFormat):
        if kind == "metadata":
            decode_record(enc.uvarint(1) + enc.uvarint(key) + enc.uvarint(version) + tail)
        else:
            decode_control_record(key.to_bytes(4, "big"), version.to_bytes(2, "big") + tail)
    with suppress(BadFormat):
        decode_record(tail)


@given(st.sampled_from(VECTORS), st.data())
def test_flipped_bits_are_a_record_or_bad_format(vector: Vector, data: st.DataObject) -> None:
    encoded = bytearray.fromhex(vector["bytes"])
    for place in data.draw(st.lists(st.integers(0, len(encoded) - 1), max_size=4)):
        encoded[place] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(BadFormat):
        _decoded(vector, bytes(encoded))
