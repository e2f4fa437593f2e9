"""meta.properties and partition.metadata, as brokers wrote them and as nobody should."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    MetaProperties,
    parse_meta_properties,
    parse_partition_metadata,
    parse_properties,
)
from tests.log_dir.segments import outcome

# Written by a broker of 4.3.1.
OF_4_3_1 = b"""#
#Fri Nov 20 14:42:00 UTC 2026
node.id=1
directory.id=LkCX_C1g2c0fZxkXtFqsMA
version=1
cluster.id=t4EeDAMyQ22fjNiD-Ql4ow
"""
DIRECTORY_ID = "2e4097fc-2d60-d9cd-1f67-1917b45aac30"


def text_of(value: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (OF_4_3_1, MetaProperties(1, 1, "t4EeDAMyQ22fjNiD-Ql4ow", DIRECTORY_ID)),
        (b"version=1\nnode.id=7\ncluster.id=c", MetaProperties(1, 7, "c", None)),
        (b"version=0\nbroker.id=0\ncluster.id=c\n", MetaProperties(0, 0, "c", None)),
        (b"broker.id=2147483647\n", MetaProperties(0, 2147483647, None, None)),
        (b"node.id : 3\r\nversion 1\r\n! c\r\ncluster.id = a\\=b\\\r\n  c",
         MetaProperties(1, 3, "a=bc", None)),
        (b"broker.id=1\nbroker.id=2", MetaProperties(0, 2, None, None)),
    ],
)  # fmt: skip
def test_meta_properties(data: bytes, expected: MetaProperties) -> None:
    assert parse_meta_properties(data) == expected


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"", "no broker.id"),
        (b"version=1\ncluster.id=c", "no node.id"),
        (b"version=1\nnode.id=1", "no cluster.id"),
        (b"version=1\nbroker.id=1\ncluster.id=c", "no node.id"),
        (b"version=2\nnode.id=1\ncluster.id=c", "version '2' is not known"),
        (b"broker.id=-1", "'-1' is not a number from 0 to 2147483647"),
        (b"broker.id=2147483648", "'2147483648' is not a number from 0 to 2147483647"),
        (b"broker.id=" + b"9" * 5000, f"'{'9' * 59}... is not a number from 0 to 2147483647"),
        (b"broker.id=1 ", "'1 ' is not a number from 0 to 2147483647"),
        (b"broker.id=\\u0661", "'\\u0661' is not a number from 0 to 2147483647"),
        (b"broker.id=1\ndirectory.id=short", "'short' is not a base64url UUID"),
        (b"broker.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAA", "the UUID is zero"),
        (b"broker.id=1\nx=\\u00g0", "a broken \\u escape"),
    ],
)
def test_bad_meta_properties(data: bytes, detail: str) -> None:
    with pytest.raises(BadFormat) as raised:
        parse_meta_properties(data)
    assert (raised.value.what, raised.value.detail) == ("meta.properties", detail)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a=b", {"a": "b"}),
        (b"a", {"a": ""}),
        (b"=b", {"": "b"}),
        (b" a\t=\x0cb ", {"a": "b "}),
        (b"a b=c", {"a": "b=c"}),
        (b"a==b", {"a": "=b"}),
        (b"a\\ b\\:c=d", {"a b:c": "d"}),
        (b"a=\\u00e9\\t\\q\\\\", {"a": "\xe9\tq\\"}),
        (b"a=\\\\u00zz", {"a": "\\u00zz"}),
        (b"a=1\\\n#2\nb=3", {"a": "1#2", "b": "3"}),
        (b"a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        (b"a=1\\", {"a": "1"}),
        (b"\r\r\n#x\\\na=\xe9", {"a": "\xe9"}),
        (b"!a=b\n #c=d\n", {}),
        (b"a=b\\\n\n c", {"a": "b", "c": ""}),
    ],
)
def test_java_properties(data: bytes, expected: dict[str, str]) -> None:
    assert parse_properties("p", data) == expected


def test_partition_metadata_of_a_broker() -> None:
    data = b"version: 0\ntopic_id: tfknJTR6SaCPpoyJHybiyQ"
    assert parse_partition_metadata(data) == "b5f92725-347a-49a0-8fa6-8c891f26e2c9"


@given(st.uuids().filter(lambda u: u.int != 0), st.sampled_from(["", "\n", "\r\n"]))
def test_topic_ids_are_written_as_the_model_has_them(topic_id: uuid.UUID, end: str) -> None:
    data = f"version: 0\ntopic_id: {text_of(topic_id)}{end}".encode()
    assert parse_partition_metadata(data) == str(topic_id)


def test_a_later_version_is_read_by_its_first_two_lines() -> None:
    data = b"version: 1\ntopic_id: tfknJTR6SaCPpoyJHybiyQ\nmore: x\n"
    assert parse_partition_metadata(data) == "b5f92725-347a-49a0-8fa6-8c891f26e2c9"


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        (b"", "no version in line 1: ''"),
        (b"version: 0", "no topic_id in line 2: ''"),
        (b"version: 0\ntopic_id: ", "no topic_id in line 2: 'topic_id: '"),
        (b"version: 0\ntopic: tfknJTR6SaCPpoyJHybiyQ",
         "no topic_id in line 2: 'topic: tfknJTR6SaCPpoyJHybiyQ'"),
        (b"version: 0\ntopic_id: tfknJTR6SaCPpoyJHybiyQ\nx", "more than two lines"),
        (b"version: -1\ntopic_id: x", "'-1' is not a number from 0 to 2147483647"),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "the UUID is zero"),
        (b"version: 0\ntopic_id: tfknJTR6SaCPpoyJHybi+Q",
         "'tfknJTR6SaCPpoyJHybi+Q' is not a base64url UUID"),
        (b"version: 0\ntopic_id: \xff", "byte 21 is not UTF-8"),
    ],
)  # fmt: skip
def test_bad_partition_metadata(data: bytes, detail: str) -> None:
    with pytest.raises(BadFormat) as raised:
        parse_partition_metadata(data)
    assert (raised.value.what, raised.value.detail) == ("partition.metadata", detail)


@given(st.binary() | st.text("version=01nodeid.clustry\n\\u:# ").map(str.encode))
@example(OF_4_3_1[:-10])
def test_any_bytes_give_a_value_or_bad_format(data: bytes) -> None:
    parsers: tuple[Callable[[bytes], object], ...] = (
        parse_meta_properties,
        parse_partition_metadata,
    )
    for parse in parsers:
        assert len(outcome(partial(parse, data))) < 200
