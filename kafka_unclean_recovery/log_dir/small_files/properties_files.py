"""Parse meta.properties of a log directory and partition.metadata of a partition's directory."""

from __future__ import annotations

import base64
import re
import uuid
from dataclasses import dataclass

from kafka_unclean_recovery.documents.reading.java_properties import (
    BadEscape,
    parse_java_properties,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat, excerpt
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT32_MAX, decoded, number

META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"
_BROKER_ID = "broker.id"
NO_BROKER_ID = f"no {_BROKER_ID}"
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(==)?")

# meta.properties (org.apache.kafka.metadata.properties.MetaProperties) is a .properties file:
#
#     version 0 (ZooKeeper)            version 1 (KRaft)
#     version=0, or no such line       version=1
#     broker.id=<int32>                node.id=<int32>
#     cluster.id=<text>   optional     cluster.id=<text>
#     directory.id=<uuid> optional     directory.id=<uuid>   optional, 3.7 and later
#
# Kafka takes a version 0 without broker.id for a directory that no broker has claimed yet; such a
# directory holds no replica, and is refused here.


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """The owner of a directory. `directory_id` is 8-4-4-4-12 hex digits, as topic ids are."""

    version: int
    node_id: int
    cluster_id: str | None
    directory_id: str | None

    @property
    def zookeeper(self) -> bool:
        """Return True for the directory of a broker that last ran on ZooKeeper."""
        return self.version == 0


def parse_properties(what: str, data: bytes) -> dict[str, str]:
    """Return the keys and values of a file of that name. Raises BadFormat for a broken \\u escape,
    as Java does."""
    try:
        return parse_java_properties(data.decode("iso-8859-1"))
    except BadEscape:
        raise BadFormat(what, "a broken \\u escape") from None


def parse_meta_properties(data: bytes) -> MetaProperties:
    """Parse a whole meta.properties. Raises BadFormat."""
    properties = parse_properties(META_PROPERTIES, data)
    version = properties.get("version", "0")
    if version not in ("0", "1"):
        raise BadFormat(META_PROPERTIES, f"version {excerpt(version)} is not known")
    node_key = _BROKER_ID if version == "0" else "node.id"
    cluster_id = properties.get("cluster.id")
    if version == "1" and cluster_id is None:
        raise BadFormat(META_PROPERTIES, "no cluster.id")
    return MetaProperties(int(version), _node_id(properties, node_key), cluster_id, _id(properties))


def _node_id(properties: dict[str, str], key: str) -> int:
    if key not in properties:
        raise BadFormat(META_PROPERTIES, NO_BROKER_ID if key == _BROKER_ID else f"no {key}")
    return number(META_PROPERTIES, properties[key], INT32_MAX)


def _id(properties: dict[str, str]) -> str | None:
    text = properties.get("directory.id")
    return None if text is None else parse_uuid(META_PROPERTIES, text)


# partition.metadata (org.apache.kafka.storage.internals.checkpoint.PartitionMetadataFile) is UTF-8:
#
#     version: 0
#     topic_id: <uuid>
#
# The second line has no line end. Kafka reads a later version's file by the same two lines.
_FIELD = re.compile(r"([a-z_]+):[ \t]+(\S+)")


def parse_partition_metadata(data: bytes) -> str:
    """Return the topic id in the form of `model.PartitionState.topic_id`. Raises BadFormat."""
    lines = decoded(PARTITION_METADATA, data).rstrip("\r\n").split("\n")
    version = number(PARTITION_METADATA, _field(lines, 0, "version"), INT32_MAX)
    if version == 0 and len(lines) > 2:
        raise BadFormat(PARTITION_METADATA, "more than two lines")
    return parse_uuid(PARTITION_METADATA, _field(lines, 1, "topic_id"))


def _field(lines: list[str], index: int, name: str) -> str:
    line = lines[index].removesuffix("\r") if index < len(lines) else ""
    match = _FIELD.fullmatch(line)
    if match is None or match[1] != name:
        raise BadFormat(PARTITION_METADATA, f"no {name} in line {index + 1}: {excerpt(line)}")
    return match[2]


def kafka_uuid(value: uuid.UUID) -> str:
    """Return a UUID as Kafka writes it: 22 characters of base64url."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def parse_uuid(what: str, text: str) -> str:
    """Return a UUID in the form of `model.PartitionState.topic_id`: 8-4-4-4-12 hex digits. Kafka
    writes it as 22 characters of base64url (org.apache.kafka.common.Uuid). Raises BadFormat, also
    for the zero UUID, which Kafka gives to nothing."""
    if _UUID.fullmatch(text) is None:
        raise BadFormat(what, f"{excerpt(text)} is not a base64url UUID")
    value = uuid.UUID(bytes=base64.urlsafe_b64decode(text[:22] + "=="))
    if value.int == 0:
        raise BadFormat(what, "the UUID is zero")
    return str(value)
