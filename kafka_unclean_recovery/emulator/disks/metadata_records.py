"""This module encodes the controller's records as Kafka writes them into `__cluster_metadata-0`.
Pure.

The layouts are those that log_dir.metadata reads: frame version 1, api key, version, then the
fields in the flexible encoding. KIP-966's last known leader is left out, because Kafka's records
have no field for it; endpoints, features and racks of brokers are empty.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from kafka_unclean_recovery.kafka_names import ELR_VERSION, METADATA_VERSION
from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.records import Record
from kafka_unclean_recovery.kraft_rules.releases import Release
from kafka_unclean_recovery.log_dir.metadata import records as keys
from kafka_unclean_recovery.log_dir.metadata.encoding import string, unsigned_varint
from kafka_unclean_recovery.log_dir.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE

# `kafka-storage format` gives the releases these levels (MetadataVersion.featureLevel).
_LEVELS = {"4.4.0": 33, "4.3.1": 30, "3.9.1": 21, "kip-966": 30}
_FRAME_VERSION = 1

_INT8, _INT16, _INT32, _INT64 = (struct.Struct(f">{code}").pack for code in "bhiq")


def _ids(ids: rec.Ids) -> bytes:
    return unsigned_varint(len(ids) + 1) + struct.pack(f">{len(ids)}i", *ids)


def _uuids(found: tuple[UUID, ...]) -> bytes:
    return unsigned_varint(len(found) + 1) + b"".join(each.bytes for each in found)


_EMPTY_ARRAY = _ids(())


def _tagged(fields: Mapping[int, bytes]) -> bytes:
    """Return tagged fields. `fields` is keyed by tag, in rising order."""
    parts = [unsigned_varint(len(fields))]
    for tag, value in fields.items():
        parts += (unsigned_varint(tag), unsigned_varint(len(value)), value)
    return b"".join(parts)


def _record(key: int, version: int, *fields: bytes, tags: Mapping[int, bytes] = {}) -> bytes:
    return bytes((_FRAME_VERSION, key, version)) + b"".join(fields) + _tagged(tags)


def encode(record: Record, release: Release) -> bytes:
    """Return the value of a record that takes an offset in the metadata log."""
    return _ENCODERS[type(record)](record, release)


def metadata_level(release: Release) -> int:
    """Return the metadata.version that a cluster of this release is formatted with. Switching ELR
    later does not change it."""
    return _LEVELS[release.name]


def bootstrap(release: Release) -> list[bytes]:
    """Return the records that a new cluster's log begins with: its feature levels."""
    levels = {METADATA_VERSION: metadata_level(release)}
    if release.elr:
        levels[ELR_VERSION] = 1
    return [_level(name, level) for name, level in levels.items()]


def _level(name: str, level: int) -> bytes:
    return _record(keys.FEATURE_LEVEL, 0, string(name), _INT16(level))


def leader_change(controller: int) -> tuple[bytes, bytes]:
    """Return key and value of the control record that begins an epoch of the only voter."""
    voters = unsigned_varint(2) + _INT32(controller) + _tagged({})
    value = _INT16(0) + _INT32(controller) + voters + voters + _tagged({})
    return _INT16(0) + _INT16(keys.LEADER_CHANGE), value


def _register_broker(record: rec.RegisterBrokerRecord, _: Release) -> bytes:
    return _record(
        keys.REGISTER_BROKER,
        3,
        _INT32(record.broker),
        _INT8(False),
        record.incarnation_id.bytes,
        _INT64(record.broker_epoch),
        _EMPTY_ARRAY,
        _EMPTY_ARRAY,
        string(None),
        _INT8(record.fenced),
        _INT8(record.in_controlled_shutdown),
        tags={0: _uuids(record.log_dirs)},
    )


def _unregister_broker(record: rec.UnregisterBrokerRecord, _: Release) -> bytes:
    return _record(keys.UNREGISTER_BROKER, 0, _INT32(record.broker), _INT64(record.broker_epoch))


def _change_registration(record: rec.BrokerRegistrationChangeRecord, _: Release) -> bytes:
    tags = {}
    if record.fenced is not None:
        tags[0] = _INT8(1 if record.fenced else -1)
    if record.in_controlled_shutdown:
        tags[1] = _INT8(1)
    if record.log_dirs:
        tags[2] = _uuids(record.log_dirs)
    return _record(
        keys.BROKER_REGISTRATION_CHANGE,
        2,
        _INT32(record.broker),
        _INT64(record.broker_epoch),
        tags=tags,
    )


def _topic(record: rec.TopicRecord, _: Release) -> bytes:
    return _record(keys.TOPIC, 0, string(record.name), record.topic_id.bytes)


def _remove_topic(record: rec.RemoveTopicRecord, _: Release) -> bytes:
    return _record(keys.REMOVE_TOPIC, 0, record.topic_id.bytes)


def _partition_version(release: Release) -> int:
    """Return the version of partition records. Version 1 has the directories, 2 also the ELR, which
    may be on or off."""
    return 2 if release.highest_elr_version else 1


def _partition(record: rec.PartitionRecord, release: Release) -> bytes:
    return _record(
        keys.PARTITION,
        _partition_version(release),
        _INT32(record.key.partition),
        record.key.topic_id.bytes,
        _ids(record.replicas),
        _ids(record.isr),
        _EMPTY_ARRAY,
        _EMPTY_ARRAY,
        _INT32(record.leader),
        _INT32(record.leader_epoch),
        _INT32(record.partition_epoch),
        _uuids(record.directories),
    )


def _change_partition(record: rec.PartitionChangeRecord, release: Release) -> bytes:
    ids = {
        0: record.isr,
        2: record.replicas,
        3: record.removing_replicas,
        4: record.adding_replicas,
        6: record.elr,
        7: record.last_known_elr,
    }
    tags = {tag: _ids(found) for tag, found in ids.items() if found is not None}
    if record.leader != rec.NO_LEADER_CHANGE:
        tags[1] = _INT32(record.leader)
    if record.leader_recovery_state is not None:
        tags[5] = _INT8(record.leader_recovery_state)
    if record.directories is not None:
        tags[8] = _uuids(record.directories)
    return _record(
        keys.PARTITION_CHANGE,
        _partition_version(release),
        _INT32(record.key.partition),
        record.key.topic_id.bytes,
        tags=dict(sorted(tags.items())),
    )


def _config(record: rec.ConfigRecord, _: Release) -> bytes:
    kind = BROKER_RESOURCE if record.topic is None else TOPIC_RESOURCE
    name = record.topic or ("" if record.broker is None else str(record.broker))
    fields = (_INT8(kind), string(name), string(record.key), string(record.value))
    return _record(keys.CONFIG, 0, *fields)


def _clear_elr(record: rec.ClearElrRecord, _: Release) -> bytes:
    return _record(keys.CLEAR_ELR, 0, string(record.topic or ""))


def _feature_level(record: rec.FeatureLevelRecord, _: Release) -> bytes:
    return _level(ELR_VERSION, record.level)


_ENCODERS: Mapping[type[Record], Callable[[Any, Release], bytes]] = {
    rec.RegisterBrokerRecord: _register_broker,
    rec.UnregisterBrokerRecord: _unregister_broker,
    rec.BrokerRegistrationChangeRecord: _change_registration,
    rec.TopicRecord: _topic,
    rec.RemoveTopicRecord: _remove_topic,
    rec.PartitionRecord: _partition,
    rec.PartitionChangeRecord: _change_partition,
    rec.ConfigRecord: _config,
    rec.ClearElrRecord: _clear_elr,
    rec.FeatureLevelRecord: _feature_level,
}


def lasting(records: Iterable[Record], release: Release) -> list[bytes]:
    """Return the encoded records of a step that take an offset, in order."""
    return [encode(record, release) for record in records if not isinstance(record, rec.IN_MEMORY)]
