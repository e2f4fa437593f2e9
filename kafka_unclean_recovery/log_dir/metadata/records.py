"""Decode the records of KRaft's metadata log by one table of layouts, from 3.6 to 4.4; no I/O.

A metadata record has no key. Its value is

    unsigned varint   frame version, always 1
    unsigned varint   api key: which record this is
    unsigned varint   version of its layout
    struct            its fields, in the flexible encoding (layouts.py)

A control record (in a batch with the control bit) has a key of two int16, version and type, and
a value whose first int16 is the version of its layout.

The layouts are written from the published definitions: metadata/src/main/resources/common/metadata
and clients/src/main/resources/common/message of Apache Kafka 3.6.2, 3.9.1, 4.3.1 and 4.4.0. Over
these releases fields and records were added, and none was changed or taken away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafka_unclean_recovery.log_dir.metadata.codec import Reader
from kafka_unclean_recovery.log_dir.metadata.layouts import (
    BOOL,
    BYTES,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    NULLABLE_STRING,
    STRING,
    UINT16,
    UUID,
    Field,
    Struct,
    Type,
    array,
    decode,
    nullable_array,
    struct,
)

_FRAME_VERSION = 1
NO_LEADER_CHANGE = -2
"""This number in a PartitionChangeRecord leaves the leader as it is."""
NO_RECOVERY_CHANGE = -1
_INT16_MAX = 0x7FFF


class MetadataRecord(NamedTuple):
    """A decoded record. `fields` has every field of its version, by Kafka's name in snake case;
    nested structs are dicts, arrays tuples, uuids uuid.UUID. `unknown_tags` holds the tags that
    were skipped."""

    name: str
    api_key: int
    version: int
    fields: Mapping[str, Any]
    unknown_tags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """A record that the quorum writes for its own use; `type` is a ControlRecordType."""

    name: str
    type: int
    version: int
    fields: Mapping[str, Any]
    unknown_tags: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record whose type, or whose version of a known type, this table lacks. `api_key` is the
    type for a control record, and `name` says which of the two it is."""

    name: str
    api_key: int
    version: int


@dataclass(frozen=True, slots=True)
class _Layout:
    name: str
    newest: int
    fields: Struct


def _layout(name: str, newest: int, *fields: Field) -> _Layout:
    return _Layout(name, newest, struct(*fields))


_BROKERS = array(INT32)
_DIRECTORIES = array(UUID)


def _changed(name: str, tag: int, element: Type = INT32, since: int = 0) -> Field:
    """Return a tagged array that is null where it does not change."""
    return Field(name, nullable_array(element), since, tag)


_ENDPOINTS = array(
    struct(
        Field("name", STRING),
        Field("host", STRING),
        Field("port", UINT16),
        Field("security_protocol", INT16),
    )
)
_SUPPORTED_FEATURES = array(
    struct(
        Field("name", STRING),
        Field("min_supported_version", INT16),
        Field("max_supported_version", INT16),
    )
)

REGISTER_BROKER = 0
UNREGISTER_BROKER = 1
TOPIC = 2
PARTITION = 3
CONFIG = 4
PARTITION_CHANGE = 5
FENCE_BROKER = 7
UNFENCE_BROKER = 8
REMOVE_TOPIC = 9
FEATURE_LEVEL = 12
BROKER_REGISTRATION_CHANGE = 17
NO_OP = 20
BEGIN_TRANSACTION = 23
END_TRANSACTION = 24
ABORT_TRANSACTION = 25
CLEAR_ELR = 28
REGISTER_CONTROLLER = 27
UNREGISTER_CONTROLLER = 29
DELEGATION_TOKEN, REMOVE_DELEGATION_TOKEN = 10, 26
SCRAM_CREDENTIAL, REMOVE_SCRAM_CREDENTIAL = 11, 22
CLIENT_QUOTA, PRODUCER_IDS = 14, 15
ACCESS_CONTROL_ENTRY, REMOVE_ACCESS_CONTROL_ENTRY = 18, 19

# The keys 6, 13 and 16 have named no record since before 3.6.
_METADATA: Mapping[int, _Layout] = {
    REGISTER_BROKER: _layout(
        "RegisterBrokerRecord",
        4,  # 1: controlled shutdown, 2: migration, 3: directories (3.7), 4: cordoned (4.3)
        Field("broker_id", INT32),
        Field("is_migrating_zk_broker", BOOL, since=2),
        Field("incarnation_id", UUID),
        Field("broker_epoch", INT64),
        Field("end_points", _ENDPOINTS),
        Field("features", _SUPPORTED_FEATURES),
        Field("rack", NULLABLE_STRING),
        Field("fenced", BOOL),
        Field("in_controlled_shutdown", BOOL, since=1),
        Field("log_dirs", _DIRECTORIES, since=3, tag=0, default=()),
        _changed("cordoned_log_dirs", 1, UUID, since=4),
    ),
    UNREGISTER_BROKER: _layout(
        "UnregisterBrokerRecord", 0, Field("broker_id", INT32), Field("broker_epoch", INT64)
    ),
    TOPIC: _layout("TopicRecord", 0, Field("name", STRING), Field("topic_id", UUID)),
    PARTITION: _layout(
        "PartitionRecord",
        2,  # 1: directories (3.7), 2: ELR (4.0)
        Field("partition_id", INT32),
        Field("topic_id", UUID),
        Field("replicas", _BROKERS),
        Field("isr", _BROKERS),
        Field("removing_replicas", _BROKERS),
        Field("adding_replicas", _BROKERS),
        Field("leader", INT32),
        Field("leader_epoch", INT32),
        Field("partition_epoch", INT32),
        Field("directories", _DIRECTORIES, since=1),
        Field("leader_recovery_state", INT8, tag=0, default=0),
        _changed("eligible_leader_replicas", 1, since=2),
        _changed("last_known_elr", 2, since=2),
    ),
    CONFIG: _layout(
        "ConfigRecord",
        0,
        Field("resource_type", INT8),
        Field("resource_name", STRING),
        Field("name", STRING),
        Field("value", NULLABLE_STRING),
    ),
    PARTITION_CHANGE: _layout(
        "PartitionChangeRecord",
        2,  # as PartitionRecord
        Field("partition_id", INT32),
        Field("topic_id", UUID),
        _changed("isr", 0),
        Field("leader", INT32, tag=1, default=NO_LEADER_CHANGE),
        _changed("replicas", 2),
        _changed("removing_replicas", 3),
        _changed("adding_replicas", 4),
        Field("leader_recovery_state", INT8, tag=5, default=NO_RECOVERY_CHANGE),
        _changed("eligible_leader_replicas", 6, since=2),
        _changed("last_known_elr", 7, since=2),
        _changed("directories", 8, UUID, since=1),
    ),
    FENCE_BROKER: _layout("FenceBrokerRecord", 0, Field("id", INT32), Field("epoch", INT64)),
    UNFENCE_BROKER: _layout("UnfenceBrokerRecord", 0, Field("id", INT32), Field("epoch", INT64)),
    REMOVE_TOPIC: _layout("RemoveTopicRecord", 0, Field("topic_id", UUID)),
    DELEGATION_TOKEN: _layout(
        "DelegationTokenRecord",
        0,
        Field("owner", STRING),
        Field("requester", STRING),
        Field("renewers", array(STRING)),
        Field("issue_timestamp", INT64),
        Field("max_timestamp", INT64),
        Field("expiration_timestamp", INT64),
        Field("token_id", STRING),
    ),
    SCRAM_CREDENTIAL: _layout(
        "UserScramCredentialRecord",
        0,
        Field("name", STRING),
        Field("mechanism", INT8),
        Field("salt", BYTES),
        Field("stored_key", BYTES),
        Field("server_key", BYTES),
        Field("iterations", INT32),
    ),
    FEATURE_LEVEL: _layout(
        "FeatureLevelRecord", 0, Field("name", STRING), Field("feature_level", INT16)
    ),
    CLIENT_QUOTA: _layout(
        "ClientQuotaRecord",
        0,
        Field(
            "entity",
            array(struct(Field("entity_type", STRING), Field("entity_name", NULLABLE_STRING))),
        ),
        Field("key", STRING),
        Field("value", FLOAT64),
        Field("remove", BOOL),
    ),
    PRODUCER_IDS: _layout(
        "ProducerIdsRecord",
        0,
        Field("broker_id", INT32),
        Field("broker_epoch", INT64),
        Field("next_producer_id", INT64),
    ),
    BROKER_REGISTRATION_CHANGE: _layout(
        "BrokerRegistrationChangeRecord",
        3,  # 1: controlled shutdown, 2: directories (3.7), 3: cordoned (4.3)
        Field("broker_id", INT32),
        Field("broker_epoch", INT64),
        Field("fenced", INT8, tag=0, default=0),
        Field("in_controlled_shutdown", INT8, since=1, tag=1, default=0),
        Field("log_dirs", _DIRECTORIES, since=2, tag=2, default=()),
        _changed("cordoned_log_dirs", 3, UUID, since=3),
    ),
    ACCESS_CONTROL_ENTRY: _layout(
        "AccessControlEntryRecord",
        0,
        Field("id", UUID),
        Field("resource_type", INT8),
        Field("resource_name", STRING),
        Field("pattern_type", INT8),
        Field("principal", STRING),
        Field("host", STRING),
        Field("operation", INT8),
        Field("permission_type", INT8),
    ),
    REMOVE_ACCESS_CONTROL_ENTRY: _layout("RemoveAccessControlEntryRecord", 0, Field("id", UUID)),
    NO_OP: _layout("NoOpRecord", 0),
    21: _layout("ZkMigrationStateRecord", 0, Field("zk_migration_state", INT8)),
    REMOVE_SCRAM_CREDENTIAL: _layout(
        "RemoveUserScramCredentialRecord", 0, Field("name", STRING), Field("mechanism", INT8)
    ),
    BEGIN_TRANSACTION: _layout("BeginTransactionRecord", 0, Field("name", NULLABLE_STRING, tag=0)),
    END_TRANSACTION: _layout("EndTransactionRecord", 0),
    ABORT_TRANSACTION: _layout(
        "AbortTransactionRecord", 0, Field("reason", NULLABLE_STRING, tag=0)
    ),
    REMOVE_DELEGATION_TOKEN: _layout("RemoveDelegationTokenRecord", 0, Field("token_id", STRING)),
    REGISTER_CONTROLLER: _layout(
        "RegisterControllerRecord",
        0,
        Field("controller_id", INT32),
        Field("incarnation_id", UUID),
        Field("zk_migration_ready", BOOL),
        Field("end_points", _ENDPOINTS),
        Field("features", _SUPPORTED_FEATURES),
    ),
    CLEAR_ELR: _layout("ClearElrRecord", 0, Field("topic_name", STRING)),
    UNREGISTER_CONTROLLER: _layout(
        "UnregisterControllerRecord", 0, Field("controller_id", INT32)
    ),  # (4.4)
}

LEADER_CHANGE = 2
SNAPSHOT_HEADER = 3
SNAPSHOT_FOOTER = 4
KRAFT_VERSION = 5
KRAFT_VOTERS = 6

_VERSION = Field("version", INT16)
_VOTER_IDS = array(struct(Field("voter_id", INT32), Field("voter_directory_id", UUID, since=1)))
_CONTROL: Mapping[int, _Layout] = {
    LEADER_CHANGE: _layout(
        "LeaderChangeMessage",
        1,  # 1: directory ids of the voters (KIP-853)
        _VERSION,
        Field("leader_id", INT32),
        Field("voters", _VOTER_IDS),
        Field("granting_voters", _VOTER_IDS),
    ),
    SNAPSHOT_HEADER: _layout(
        "SnapshotHeaderRecord", 0, _VERSION, Field("last_contained_log_timestamp", INT64)
    ),
    SNAPSHOT_FOOTER: _layout("SnapshotFooterRecord", 0, _VERSION),
    KRAFT_VERSION: _layout("KRaftVersionRecord", 0, _VERSION, Field("k_raft_version", INT16)),
    KRAFT_VOTERS: _layout(
        "VotersRecord",
        0,
        _VERSION,
        Field(
            "voters",
            array(
                struct(
                    Field("voter_id", INT32),
                    Field("voter_directory_id", UUID),
                    Field(
                        "endpoints",
                        array(
                            struct(
                                Field("name", STRING), Field("host", STRING), Field("port", UINT16)
                            )
                        ),
                    ),
                    Field(
                        "k_raft_version_feature",
                        struct(
                            Field("min_supported_version", INT16),
                            Field("max_supported_version", INT16),
                        ),
                    ),
                )
            ),
        ),
    ),
}

KNOWN_VERSIONS: Mapping[tuple[str, int], range] = {
    **{("metadata", key): range(layout.newest + 1) for key, layout in _METADATA.items()},
    **{("control", key): range(layout.newest + 1) for key, layout in _CONTROL.items()},
}
"""The versions that are decoded, by ("metadata" or "control", api key or control type)."""


def decode_record(value: bytes) -> MetadataRecord | UnknownRecord:
    """Decode the value of a metadata record. Raises BadFormat."""
    # Each of the three has one byte, as long as no api key goes beyond 127.
    if len(value) >= 3 and value[0] == _FRAME_VERSION and value[1] < 0x80 > value[2]:
        key, version, start = value[1], value[2], 3
    else:
        key, version, start = _head(value)
    layout = _METADATA.get(key)
    if layout is None:
        return UnknownRecord(f"metadata record {key}", key, version)
    if version > layout.newest:
        return UnknownRecord(layout.name, key, version)
    fields, unknown = decode(layout.fields, version, value, start, layout.name)
    return MetadataRecord(layout.name, key, version, fields, unknown)


def _head(value: bytes) -> tuple[int, int, int]:
    """Return (api key, version, where the fields begin). Raises BadFormat."""
    reader = Reader(value, "metadata record")
    frame = reader.unsigned_varint()
    if frame != _FRAME_VERSION:
        raise reader.bad(f"frame version {frame}, and only {_FRAME_VERSION} is known")
    key, version = reader.unsigned_varint(), reader.unsigned_varint()
    if max(key, version) > _INT16_MAX:
        raise reader.bad(f"api key {key}, version {version}")
    return key, version, reader.position


def decode_control_record(key: bytes, value: bytes) -> ControlRecord | UnknownRecord:
    """Decode a record of a control batch. Raises BadFormat."""
    key_reader = Reader(key, "control record's key")
    key_version, kind = _int16(key_reader), _int16(key_reader)
    layout = _CONTROL.get(kind)
    # Later versions of the key may only add to it, as the protocol promises.
    if layout is None or key_version < 0:
        return UnknownRecord(f"control record {kind}", kind, key_version)
    version = _int16(Reader(value, layout.name))
    if not 0 <= version <= layout.newest:
        return UnknownRecord(layout.name, kind, version)
    fields, unknown = decode(layout.fields, version, value, 0, layout.name)
    return ControlRecord(layout.name, kind, version, fields, unknown)


def _int16(reader: Reader) -> int:
    return int.from_bytes(reader.take(2), signed=True)
