"""Every message and version with its bytes, written by hand.

Bytes are hexadecimal, a field a word, a struct's tagged fields last. In the flexible encoding
lengths are one more than they say: 03 is an array of two, 00 is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.messages import api_versions as v
from kafka_unclean_recovery.messages import elect_leaders as e
from kafka_unclean_recovery.messages import get_replica_log_info as g
from kafka_unclean_recovery.messages import share_groups as s
from tests.controller_messages import controller as c

NO_TAGS = "00"
TOPIC_ID = UUID("00112233-4455-6677-8899-aabbccddeeff")
TOPIC_ID_HEX = "00112233445566778899aabbccddeeff"
DIRECTORY = UUID("a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf")
DIRECTORY_HEX = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"


@dataclass(frozen=True, slots=True)
class Vector:
    """`values` are all fields that the version has."""

    message_class: Any
    version: int
    values: Mapping[str, Any]
    data: bytes

    @property
    def name(self) -> str:
        return f"{self.message_class.__name__}-v{self.version}"


def _vector(message_class: Any, version: int, values: Mapping[str, Any], *words: str) -> Vector:
    return Vector(message_class, version, values, bytes.fromhex(" ".join(words)))


def alter_partition() -> Iterator[Vector]:
    head = "00000001 0000000000000102"
    sender: dict[str, Any] = {"broker_id": 1, "broker_epoch": 0x102}
    first = {"partition_index": 3, "leader_epoch": 4, "partition_epoch": 0x1FF}
    by_name, by_id = {"topic_name": "orders"}, {"topic_id": TOPIC_ID}
    name_hex = "07 6f7264657273"

    def request(version: int, topic: dict[str, Any], partition: dict[str, Any], *w: str) -> Vector:
        topics = [topic | {"partitions": [first | partition]}]
        return _vector(
            c.AlterPartitionRequest, version, sender | {"topics": topics}, head, "02", *w
        )

    isr = {"new_isr": [1, 2]}
    isr_hex = "00000003 00000004 03 00000001 00000002"
    recovering = {"leader_recovery_state": 1}
    end = f"000001ff {NO_TAGS} {NO_TAGS} {NO_TAGS}"
    yield request(0, by_name, isr, name_hex, "02", isr_hex, end)
    yield request(1, by_name, isr | recovering, name_hex, "02", isr_hex, "01", end)
    yield request(2, by_id, isr | recovering, TOPIC_ID_HEX, "02", isr_hex, "01", end)
    epochs = [{"broker_id": 1, "broker_epoch": 0x102}, {"broker_id": 2, "broker_epoch": -1}]
    epochs_hex = (
        "00000003 00000004"
        f" 03 00000001 0000000000000102 {NO_TAGS} 00000002 ffffffffffffffff {NO_TAGS}"
    )
    with_epochs = {"new_isr_with_epochs": epochs} | recovering
    yield request(3, by_id, with_epochs, TOPIC_ID_HEX, "02", epochs_hex, "01", end)

    answer: dict[str, Any] = {"throttle_time_ms": 5, "error_code": 0}
    found = {
        "partition_index": 3,
        "error_code": 107,
        "leader_id": 2,
        "leader_epoch": 5,
        "isr": [2],
        "partition_epoch": 0x200,
    }

    def response(version: int, topic: dict[str, Any], partition: dict[str, Any], *w: str) -> Vector:
        topics = [topic | {"partitions": [found | partition]}]
        head, end = "00000005 0000", f"00000200 {NO_TAGS} {NO_TAGS} {NO_TAGS}"
        values = answer | {"topics": topics}
        return _vector(c.AlterPartitionResponse, version, values, head, "02", *w, end)

    body = "02 00000003 006b 00000002 00000005 02 00000002"
    yield response(0, by_name, {}, name_hex, body)
    yield response(1, by_name, recovering, name_hex, body, "01")
    for version in (2, 3):
        yield response(version, by_id, recovering, TOPIC_ID_HEX, body, "01")


def broker_registration() -> Iterator[Vector]:
    values: dict[str, Any] = {
        "broker_id": 4,
        "cluster_id": "abc",
        "incarnation_id": TOPIC_ID,
        "listeners": [{"name": "A", "host": "h1", "port": 40000, "security_protocol": 3}],
        "features": [
            {"name": "metadata.version", "min_supported_version": 7, "max_supported_version": 30}
        ],
        "rack": None,
    }
    words = [
        "00000004 04 616263",
        TOPIC_ID_HEX,
        f"02 02 41 03 6831 9c40 0003 {NO_TAGS}",
        f"02 11 6d657461646174612e76657273696f6e 0007 001e {NO_TAGS}",
        "00",
    ]
    added: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        ({"is_migrating_zk_broker": True}, "01"),
        ({"log_dirs": [DIRECTORY]}, f"02 {DIRECTORY_HEX}"),
        ({"previous_broker_epoch": -2}, "fffffffffffffffe"),
        ({}, ""),
    ]
    for version, (more, word) in enumerate(added):
        values = values | more
        words = [*words, word]
        yield _vector(c.BrokerRegistrationRequest, version, values, *words, NO_TAGS)
        answer = {"throttle_time_ms": 0, "error_code": 101, "broker_epoch": -1}
        yield _vector(
            c.BrokerRegistrationResponse, version, answer, "00000000 0065 ffffffffffffffff", NO_TAGS
        )


def broker_heartbeat() -> Iterator[Vector]:
    values: dict[str, Any] = {
        "broker_id": 4,
        "broker_epoch": 17,
        "current_metadata_offset": 1 << 40,
        "want_fence": True,
        "want_shut_down": False,
    }
    body = "00000004 0000000000000011 0000010000000000 01 00"
    failed = {"offline_log_dirs": [DIRECTORY]}
    # Two tags: 0 of 17 bytes, and 1 of one byte, an array of none.
    one_tag, two_tags = f"01 00 11 02 {DIRECTORY_HEX}", f"02 00 11 02 {DIRECTORY_HEX} 01 01 01"
    request = c.BrokerHeartbeatRequest
    yield _vector(request, 0, values, body, NO_TAGS)
    yield _vector(request, 1, values | {"offline_log_dirs": []}, body, NO_TAGS)
    yield _vector(request, 1, values | failed, body, one_tag)
    nothing: dict[str, Any] = {"offline_log_dirs": [], "cordoned_log_dirs": None}
    yield _vector(request, 2, values | nothing, body, NO_TAGS)
    yield _vector(request, 2, values | failed | {"cordoned_log_dirs": []}, body, two_tags)
    answer = {
        "throttle_time_ms": 0,
        "error_code": 77,
        "is_caught_up": True,
        "is_fenced": False,
        "should_shut_down": True,
    }
    for version in range(3):
        yield _vector(c.BrokerHeartbeatResponse, version, answer, "00000000 004d 01 00 01", NO_TAGS)


def unregister_broker() -> Iterator[Vector]:
    yield _vector(c.UnregisterBrokerRequest, 0, {"broker_id": 300}, "0000012c", NO_TAGS)
    answer = {"throttle_time_ms": 1, "error_code": 102, "error_message": "no"}
    yield _vector(c.UnregisterBrokerResponse, 0, answer, "00000001 0066 03 6e6f", NO_TAGS)


def assign_replicas_to_dirs() -> Iterator[Vector]:
    def directories(**partition: int) -> list[dict[str, Any]]:
        topic = {"topic_id": TOPIC_ID, "partitions": [{"partition_index": 7} | partition]}
        return [{"id": DIRECTORY, "topics": [topic]}]

    before, after = f"02 {DIRECTORY_HEX} 02 {TOPIC_ID_HEX} 02 00000007", " ".join([NO_TAGS] * 4)
    sender = {"broker_id": 4, "broker_epoch": 17}
    asked = sender | {"directories": directories()}
    head = "00000004 0000000000000011"
    yield _vector(c.AssignReplicasToDirsRequest, 0, asked, head, before, after)
    answer = {"throttle_time_ms": 1, "error_code": 77, "directories": directories(error_code=6)}
    words = ("00000001 004d", before, "0006", after)
    yield _vector(c.AssignReplicasToDirsResponse, 0, answer, *words)


def get_replica_log_info() -> Iterator[Vector]:
    wanted = {"topic_partitions": [{"topic_id": TOPIC_ID, "partitions": [0, 9]}]}
    wanted_hex = f"02 {TOPIC_ID_HEX} 03 00000000 00000009 {NO_TAGS} {NO_TAGS}"
    everything: dict[str, Any] = {"topic_partitions": None}
    asked = {"broker_id": 2}
    yield _vector(g.GetReplicaLogInfoKip966Request, 0, asked | wanted, "00000002", wanted_hex)
    yield _vector(g.GetReplicaLogInfoKip966Request, 0, asked | everything, "00000002 00", NO_TAGS)
    for request in (g.GetReplicaLogInfoKip1275Request, g.GetReplicaLogInfoRevertedRequest):
        yield _vector(request, 0, wanted, wanted_hex)
        yield _vector(request, 0, everything, "00", NO_TAGS)

    def found(**partition: Any) -> dict[str, Any]:
        return {
            "topic_partition_log_info_list": [
                {"topic_id": TOPIC_ID, "partition_log_info": [{"partition": 9} | partition]}
            ]
        }

    before, after = f"02 {TOPIC_ID_HEX} 02 00000009", f"{NO_TAGS} {NO_TAGS} {NO_TAGS}"
    both = {"last_written_leader_epoch": 6, "current_leader_epoch": 8}
    both_hex = "00000006 00000008"
    end, end_hex = {"log_end_offset": 1500, "error_code": 3}, "00000000000005dc 0003"
    epoch, epoch_hex = {"broker_epoch": 258}, "0000000000000102"
    more = {"throttle_time_ms": 9, "has_more_data": True} | epoch
    more_hex = f"00000009 {epoch_hex} 01"
    yield _vector(
        g.GetReplicaLogInfoKip966Response,
        0,
        epoch | found(**both, **end, error_message="no"),
        *(epoch_hex, before, both_hex, end_hex, "03 6e6f", after),
    )
    yield _vector(
        g.GetReplicaLogInfoKip966Response,
        0,
        epoch | found(**both, **end, error_message=None),
        *(epoch_hex, before, both_hex, end_hex, "00", after),
    )
    yield _vector(
        g.GetReplicaLogInfoKip1275Response,
        0,
        more | found(partition_leader_epoch=8, **end),
        *(more_hex, before, "00000008", end_hex, after),
    )
    yield _vector(
        g.GetReplicaLogInfoRevertedResponse,
        0,
        more | found(**both, **end),
        *(more_hex, before, both_hex, end_hex, after),
    )


def elect_leaders() -> Iterator[Vector]:
    topic: dict[str, Any] = {"topic": "orders", "partitions": [0, 1]}
    wait = {"timeout_ms": 60000}
    plain_hex = "00000001 0006 6f7264657273 00000002 00000000 00000001"
    compact_hex = "02 07 6f7264657273 03 00000000 00000001"
    request = e.ElectLeadersRequest
    topics = {"topic_partitions": [topic]} | wait
    unclean = {"election_type": 1}
    yield _vector(request, 0, topics, plain_hex, "0000ea60")
    yield _vector(request, 1, unclean | topics, "01", plain_hex, "0000ea60")
    yield _vector(request, 1, unclean | {"topic_partitions": None} | wait, "01 ffffffff 0000ea60")
    yield _vector(request, 2, unclean | topics, "01", compact_hex, NO_TAGS, "0000ea60", NO_TAGS)
    designated: dict[str, Any] = {"election_type": e.DESIGNATED}
    for leaders, leaders_hex in ([3, 4], "03 00000003 00000004"), (None, "00"):
        named = {"topic_partitions": [topic | {"designated_leaders": leaders}]} | wait
        words = ("02", compact_hex, leaders_hex, NO_TAGS, "0000ea60", NO_TAGS)
        yield _vector(request, 3, designated | named, *words)

    result = {"partition_id": 1, "error_code": 84, "error_message": None}
    results = {"replica_election_results": [{"topic": "orders", "partition_result": [result]}]}
    throttled, error = {"throttle_time_ms": 2}, {"error_code": 0}
    plain_hex = "00000001 0006 6f7264657273 00000001 00000001 0054 ffff"
    response = e.ElectLeadersResponse
    yield _vector(response, 0, throttled | results, "00000002", plain_hex)
    yield _vector(response, 1, throttled | error | results, "00000002 0000", plain_hex)
    compact_hex = f"02 07 6f7264657273 02 00000001 0054 00 {NO_TAGS} {NO_TAGS} {NO_TAGS}"
    for version in (2, 3):
        yield _vector(response, version, throttled | error | results, "00000002 0000", compact_hex)


def api_versions() -> Iterator[Vector]:
    request, response = v.ApiVersionsRequest, v.ApiVersionsResponse
    software: dict[str, Any] = {"client_software_name": "ab", "client_software_version": "1"}
    software_hex = "03 6162 02 31"
    key = {"api_key": 43, "min_version": 0, "max_version": 2}
    keys: dict[str, Any] = {"error_code": 0, "api_keys": [key]}
    for version in range(3):
        yield _vector(request, version, {})
        throttled = {"throttle_time_ms": 5} if version else {}
        words = ["0000 00000001 002b 0000 0002", "00000005" if version else ""]
        yield _vector(response, version, keys | throttled, *words)
    for version in (3, 4):
        yield _vector(request, version, software, software_hex, NO_TAGS)
    named = software | {"cluster_id": "xyz", "node_id": 2}
    yield _vector(request, 5, named, software_hex, "04 78797a 00000002", NO_TAGS)
    anybody = software | {"cluster_id": None, "node_id": -1}
    yield _vector(request, 5, anybody, software_hex, "00 ffffffff", NO_TAGS)
    told = {
        "throttle_time_ms": 5,
        "supported_features": [{"name": "f", "min_version": 0, "max_version": 1}],
        "finalized_features_epoch": 44,
        "finalized_features": [{"name": "f", "max_version_level": 1, "min_version_level": 1}],
    }
    # Three tags: 0 and 2 of eight bytes, and between them 1, of eight bytes too.
    feature = f"08 02 02 66 {{}} {NO_TAGS}"
    tags = f"03 00 {feature.format('0000 0001')} 01 08 000000000000002c"
    tags += f" 02 {feature.format('0001 0001')}"
    for version in (3, 4, 5):
        words = [f"0000 02 002b 0000 0002 {NO_TAGS} 00000005", tags]
        yield _vector(response, version, keys | told, *words)


def share_groups() -> Iterator[Vector]:
    yield from _described_share_groups()
    topic = {"topic_name": "orders"}
    name_hex = "07 6f7264657273"
    end = f"{NO_TAGS} {NO_TAGS} {NO_TAGS}"
    set_to = {"partition_index": 1, "start_offset": 0x102}
    values: dict[str, Any] = {"group_id": "g", "topics": [topic | {"partitions": [set_to]}]}
    words = f"02 67 02 {name_hex} 02 00000001 0000000000000102 {end}"
    yield _vector(s.AlterShareGroupOffsetsRequest, 0, values, words)
    error = {"error_code": 0, "error_message": None}
    found = {"partition_index": 1, "error_code": 3, "error_message": "no"}
    responses = [topic | {"topic_id": TOPIC_ID, "partitions": [found]}]
    words = f"00000005 0000 00 02 {name_hex} {TOPIC_ID_HEX} 02 00000001 0003 03 6e6f {end}"
    values = {"throttle_time_ms": 5, "responses": responses} | error
    yield _vector(s.AlterShareGroupOffsetsResponse, 0, values, words)

    asked = {"topic_id": TOPIC_ID, "partitions": [{"partition": 1, "leader_epoch": 6}]}
    words = f"02 67 02 {TOPIC_ID_HEX} 02 00000001 00000006 {end}"
    values = {"group_id": "g", "topics": [asked]}
    yield _vector(s.ReadShareGroupStateRequest, 0, values, words)
    batch = {"first_offset": 3, "last_offset": 4, "delivery_state": 2, "delivery_count": 1}
    state = {"partition": 1, "state_epoch": 7, "start_offset": 3, "state_batches": [batch]} | error
    values = {"results": [{"topic_id": TOPIC_ID, "partitions": [state]}]}
    batch_hex = f"0000000000000003 0000000000000004 02 0001 {NO_TAGS}"
    words = f"02 {TOPIC_ID_HEX} 02 00000001 0000 00 00000007 0000000000000003 02 {batch_hex} {end}"
    yield _vector(s.ReadShareGroupStateResponse, 0, values, words)


def _described_share_groups() -> Iterator[Vector]:
    request, response = s.DescribeShareGroupOffsetsRequest, s.DescribeShareGroupOffsetsResponse
    name_hex = "07 6f7264657273"
    topic: dict[str, Any] = {"topic_name": "orders"}
    error: dict[str, Any] = {"error_code": 0, "error_message": None}
    for version in (0, 1):
        groups: list[Any] = [
            {"group_id": "g", "topics": [topic | {"partitions": [1]}]},
            {"group_id": "h", "topics": None},
        ]
        words = f"03 02 67 02 {name_hex} 02 00000001 {NO_TAGS} {NO_TAGS} 02 68 00 {NO_TAGS}"
        yield _vector(request, version, {"groups": groups}, words, NO_TAGS)
        lag = {"lag": 9} if version else {}
        lag_hex = "0000000000000009" if version else ""
        position = {"partition_index": 1, "start_offset": 3, "leader_epoch": 6} | lag | error
        told = topic | {"topic_id": TOPIC_ID, "partitions": [position]}
        values = {"throttle_time_ms": 5, "groups": [{"group_id": "g", "topics": [told]} | error]}
        yield _vector(
            response,
            version,
            values,
            f"00000005 02 02 67 02 {name_hex} {TOPIC_ID_HEX}",
            f"02 00000001 0000000000000003 00000006 {lag_hex} 0000 00 {NO_TAGS}",
            f"{NO_TAGS} 0000 00 {NO_TAGS} {NO_TAGS}",
        )


VECTORS = (
    *api_versions(),
    *alter_partition(),
    *broker_registration(),
    *broker_heartbeat(),
    *unregister_broker(),
    *assign_replicas_to_dirs(),
    *get_replica_log_info(),
    *elect_leaders(),
    *share_groups(),
)
