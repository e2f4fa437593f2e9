"""Our layouts against kafka-python's messages and kio's, and against bytes that no broker sends."""

from __future__ import annotations

import io
import random
import struct
import sys
from pkgutil import resolve_name
from typing import Any
from uuid import UUID

import pytest
from kafka.protocol.admin.cluster import (
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
)
from kafka.protocol.admin.configs import DescribeConfigsRequest
from kafka.protocol.admin.groups import ListGroupsRequest
from kafka.protocol.admin.topics import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    ListPartitionReassignmentsRequest,
)
from kafka.protocol.admin.transactions import (
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.consumer.fetch import FetchRequest
from kafka.protocol.consumer.group import OffsetFetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest, OffsetForLeaderEpochRequest
from kafka.protocol.metadata.metadata import MetadataRequest
from kafka.protocol.producer.transaction import WriteTxnMarkersRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest
from kio.schema.index import PayloadEntityType, schema_name_map
from kio.schema.index import api_key_map as KIO_NAMES  # noqa: N812
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from kafka_unclean_recovery.cluster.wire import (
    cluster_apis,
    controller_apis,
    frames,
    layout,
    log_apis,
    login_apis,
    share_apis,
    transaction_apis,
)
from kafka_unclean_recovery.cluster.wire.api import Api, Message, answer_reader, request_writer
from kafka_unclean_recovery.cluster.wire.layout import Field, Kind, Many, Row
from kafka_unclean_recovery.cluster.wire.notation import row
from kafka_unclean_recovery.messages.api_versions import ApiVersionsRequest
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from kafka_unclean_recovery.messages.share_groups import (
    AlterShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
    ReadShareGroupStateRequest,
)
from tests.hostile.fields import apis

THEIRS: dict[Api, Any] = {
    cluster_apis.API_VERSIONS: ApiVersionsRequest,
    cluster_apis.DESCRIBE_CONFIGS: DescribeConfigsRequest,
    cluster_apis.DESCRIBE_CLUSTER: DescribeClusterRequest,
    cluster_apis.DESCRIBE_TOPIC_PARTITIONS: DescribeTopicPartitionsRequest,
    cluster_apis.METADATA: MetadataRequest,
    cluster_apis.DESCRIBE_QUORUM: DescribeQuorumRequest,
    log_apis.LIST_OFFSETS: ListOffsetsRequest,
    log_apis.OFFSET_FOR_LEADER_EPOCH: OffsetForLeaderEpochRequest,
    log_apis.FETCH: FetchRequest,
    # kafka-python lacks it, and kio has it.
    log_apis.FETCH_SNAPSHOT: None,
    login_apis.SASL_AUTHENTICATE: SaslAuthenticateRequest,
    login_apis.SASL_HANDSHAKE: SaslHandshakeRequest,
    controller_apis.LIST_PARTITION_REASSIGNMENTS: ListPartitionReassignmentsRequest,
    controller_apis.ALTER_PARTITION_REASSIGNMENTS: AlterPartitionReassignmentsRequest,
    controller_apis.CREATE_TOPICS: CreateTopicsRequest,
    controller_apis.ELECT_LEADERS: ElectLeadersRequest,
    log_apis.LIST_GROUPS: ListGroupsRequest,
    log_apis.DESCRIBE_LOG_DIRS: DescribeLogDirsRequest,
    log_apis.OFFSET_FETCH: OffsetFetchRequest,
    share_apis.DESCRIBE_SHARE_GROUP_OFFSETS: DescribeShareGroupOffsetsRequest,
    share_apis.ALTER_SHARE_GROUP_OFFSETS: AlterShareGroupOffsetsRequest,
    share_apis.READ_SHARE_GROUP_STATE: ReadShareGroupStateRequest,
    transaction_apis.DESCRIBE_PRODUCERS: DescribeProducersRequest,
    transaction_apis.DESCRIBE_TRANSACTIONS: DescribeTransactionsRequest,
    transaction_apis.LIST_TRANSACTIONS: ListTransactionsRequest,
    transaction_apis.WRITE_TXN_MARKERS: WriteTxnMarkersRequest,
    **{api: REQUESTS[dialect] for dialect, api in log_apis.GET_REPLICA_LOG_INFO.items()},
}
EVERY = [
    pytest.param(api, version, id=f"{api.name}-{api.API_KEY}-v{version}")
    for api in THEIRS
    for version in range(api.valid_versions[0], api.valid_versions[1] + 1)
]
BY_KAFKA_PYTHON = [each for each in EVERY if THEIRS[each.values[0]] is not None]  # type: ignore[index]
ROUNDS = 30
RANGES = {"b": 7, "h": 15, "i": 31, "q": 63}
# kafka-python's names for what it decodes to a set.
AS_SET = {"cluster_authorized_operations", "topic_authorized_operations"}


def _there(fields: tuple[Field, ...], version: int) -> list[Field]:
    return [f for f in fields if f.since <= version <= f.until and f.tag is None]


def _value(kind: Kind, version: int, dice: random.Random) -> Any:
    if isinstance(kind, Row):
        if kind.optional and dice.random() < 0.5:
            return None
        return {f.name: _value(f.kind, version, dice) for f in _there(kind.fields, version)}
    if isinstance(kind, Many):
        count = dice.choice([0, 1, 3, 9] if isinstance(kind.of, Row) else [0, 1, 2, 7, 8, 300])
        return [_value(kind.of, version, dice) for _ in range(count)]
    if kind in RANGES:
        bits = RANGES[kind]
        return dice.randrange(-(2**bits), 2**bits)
    by_kind = {
        "?": dice.random() < 0.5,
        "H": dice.randrange(2**16),
        "16s": dice.randbytes(16),
        "text": "t" * dice.choice([0, 1, 126, 127, 200]) + "é",
        "text?": dice.choice([None, "", "words"]),
        "bytes": None,
    }
    return by_kind[str(kind)]


def _agree(kind: Kind, version: int, ours: Any, theirs: Any) -> None:
    if isinstance(kind, Row) and ours is not None:
        for field in _there(kind.fields, version):
            if field.name in AS_SET and not hasattr(theirs, field.name):
                bits = ours[field.name] & 0xFFFFFFFF
                expected = {bit for bit in range(32) if bits >> bit & 1}
                assert set(theirs.authorized_operations or ()) in (expected, set())
            else:
                _agree(field.kind, version, ours[field.name], getattr(theirs, field.name))
    elif isinstance(kind, Many):
        assert len(theirs) == len(ours)
        for mine, other in zip(ours, theirs, strict=True):
            _agree(kind.of, version, mine, other)
    elif isinstance(theirs, UUID):
        assert theirs.bytes == ours
    else:
        assert theirs == ours


@pytest.mark.parametrize(("api", "version"), BY_KAFKA_PYTHON)
def test_kafka_python_reads_our_requests_as_we_mean_them(api: Api, version: int) -> None:
    dice = random.Random(version)
    for _ in range(ROUNDS):
        fields = _value(row(api.request), version, dice)
        body = bytearray()
        request_writer(api, version)(body, fields)
        theirs = THEIRS[api].decode(memoryview(bytes(body)), version=version)
        _agree(row(api.request), version, fields, theirs)


@pytest.mark.parametrize(("api", "version"), BY_KAFKA_PYTHON)
def test_we_read_answers_as_kafka_python_does(api: Api, version: int) -> None:
    dice = random.Random(version)
    answer_class = frames.response_class(object.__new__(THEIRS[api]))
    kind = row(api.answer)
    for _ in range(ROUNDS):
        fields = _value(kind, version, dice)
        body = bytearray()
        layout.writer(kind, version, api.is_flexible(version))(body, fields)
        _agree(kind, version, fields, answer_class.decode(memoryview(bytes(body)), version=version))
        found, end = answer_reader(api, version)(bytes(body), 0)
        assert end == len(body)
        assert _without_defaults(kind, version, found) == fields


# What kio makes times and enumerations of, by parts of names: values that those can have.
KIO_KNOWS = {"error_code": (0, 3, 41), "_ms": (0, 1, 60_000), "timestamp": (0, 1_700_000_000_000)}
IN_KIO = [
    pytest.param(api, version, id=f"{api.name}-v{version}")
    for api in THEIRS
    for version in range(api.valid_versions[0], api.valid_versions[1] + 1)
    if version in schema_name_map.get(KIO_NAMES.get(api.API_KEY, ""), ())
]


def _for_kio(value: Any, dice: random.Random, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _for_kio(each, dice, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_for_kio(each, dice, name) for each in value]
    if value is None and name == "name":
        return ""  # null from some version on; we write and read it in each
    if value is None and name in ("auth_bytes", "unaligned_records"):
        return b"a token, or a record"
    known = next((there for part, there in KIO_KNOWS.items() if part in name), None)
    return value if known is None else dice.choice(known)


@pytest.mark.parametrize("side", [EntityType.request, EntityType.response], ids=lambda s: s.name)
@pytest.mark.parametrize(("api", "version"), IN_KIO)
def test_kio_reads_and_writes_the_same_bytes(
    api: Api, version: int, side: PayloadEntityType
) -> None:
    dice = random.Random(version)
    payload = resolve_name(schema_name_map[KIO_NAMES[api.API_KEY]][version][side])
    kind = row(api.request if side is EntityType.request else api.answer)
    for _ in range(ROUNDS):
        body = bytearray()
        fields = _for_kio(_value(kind, version, dice), dice)
        layout.writer(kind, version, api.is_flexible(version))(body, fields)
        read, size = entity_reader(payload)(bytes(body), 0)
        assert size == len(body)
        again = io.BytesIO()
        entity_writer(payload)(again, read)
        assert again.getvalue() == bytes(body)


def _without_defaults(kind: Kind, version: int, found: Any) -> Any:
    if isinstance(kind, Row) and found is not None:
        there = _there(kind.fields, version)
        return {f.name: _without_defaults(f.kind, version, found[f.name]) for f in there}
    if isinstance(kind, Many):
        return [_without_defaults(kind.of, version, each) for each in found]
    return found


@pytest.mark.parametrize(("api", "version"), EVERY)
def test_no_bytes_fail_otherwise_than_as_bytes_that_can_not_be_read(api: Api, version: int) -> None:
    dice = random.Random(version)
    kind = row(api.answer)
    for _ in range(ROUNDS):
        body = bytearray()
        layout.writer(kind, version, api.is_flexible(version))(body, _value(kind, version, dice))
        for _ in range(dice.randrange(4)):
            body[dice.randrange(len(body))] = dice.randrange(256)
        cut = bytes(body[: dice.randrange(len(body) + 1)])
        try:
            answer_reader(api, version)(cut, 0)
        except frames.DECODE_ERRORS:
            continue


def test_an_array_that_claims_more_than_there_is_costs_nothing() -> None:
    read = layout.reader(Many(layout.TEXT), 0, flexible=False)
    with pytest.raises(ValueError, match="an array of 2147483647"):
        read(struct.pack(">i", 2**31 - 1) + b"\0\0", 0)
    read = layout.reader(Many(layout.INT32), 0, flexible=False)
    with pytest.raises(ValueError, match="an array of 2147483647"):
        read(struct.pack(">i", 2**31 - 1) + b"\0\0", 0)


def test_a_name_that_is_none_can_not_be_read() -> None:
    with pytest.raises(ValueError, match="a value of -1 bytes"):
        layout.reader(layout.TEXT, 0, flexible=True)(b"\0", 0)


def test_tagged_fields_that_nobody_asks_for_are_skipped() -> None:
    kind = row("number int32\nmore int16 =7 tag 2")
    read = layout.reader(kind, 0, flexible=True)
    data = struct.pack(">i", 5) + bytes([3, 0, 1, 9, 2, 2, 0, 3, 200, 1, 0])
    assert read(data, 0) == ({"number": 5, "more": 3}, len(data))
    assert read(struct.pack(">i", 5) + b"\0", 0) == ({"number": 5, "more": 7}, 5)


def test_a_tagged_field_has_the_size_that_it_says() -> None:
    """Else each of a thousand would have the same bytes read anew."""
    read = layout.reader(row("more text tag 2"), 0, flexible=True)
    with pytest.raises(ValueError, match="a tagged field of 0 bytes has 2"):
        read(bytes([2, 2, 0, 2, 0, 3]) + b"ab", 0)


@pytest.mark.parametrize("flexible", [False, True])
@pytest.mark.parametrize("count", [0, 1, 126, 127, 128, 16383, 16384])
def test_counts_of_every_length_are_read_as_written(count: int, flexible: bool) -> None:
    kind = Many(layout.INT16)
    out = bytearray()
    layout.writer(kind, 0, flexible)(out, [1] * count)
    assert layout.reader(kind, 0, flexible)(bytes(out), 0) == ([1] * count, len(out))


def test_a_request_has_the_header_that_kafka_python_gives_it() -> None:
    for version in (2, 6):
        message = Message(log_apis.LIST_OFFSETS, {"replica_id": -2, "topics": []})
        ours = frames.encode_request(message, version, 77, "somebody")
        theirs = ListOffsetsRequest(version=version, replica_id=-2, isolation_level=0, topics=[])
        assert bytes(ours) == bytes(frames.encode_request(theirs, version, 77, "somebody"))


def test_every_layout_is_tried() -> None:
    assert set(apis()) == set(THEIRS)
    assert "kafka" in sys.modules
