"""Records of the metadata log as kafka-dump-log.sh prints them, to compare with its JSON."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Mapping
from typing import Any

from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.model import TopicPartition

# What a tagged field holds when it is not written; Kafka's JSON leaves it out then.
UNWRITTEN: Mapping[str, Mapping[str, Any]] = {
    "AbortTransactionRecord": {"reason": None},
    "BeginTransactionRecord": {"name": None},
    "BrokerRegistrationChangeRecord": {
        "fenced": 0,
        "inControlledShutdown": 0,
        "logDirs": [],
        "cordonedLogDirs": None,
    },
    "PartitionChangeRecord": {
        "isr": None,
        "leader": -2,
        "replicas": None,
        "removingReplicas": None,
        "addingReplicas": None,
        "leaderRecoveryState": -1,
        "eligibleLeaderReplicas": None,
        "lastKnownElr": None,
        "directories": None,
    },
    "PartitionRecord": {
        "leaderRecoveryState": 0,
        "eligibleLeaderReplicas": None,
        "lastKnownElr": None,
    },
    "RegisterBrokerRecord": {"logDirs": [], "cordonedLogDirs": None},
}


def as_dumped(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `data` of the record in kafka-dump-log's JSON."""
    unwritten = UNWRITTEN.get(name, {})
    return {
        key: value
        for key, value in _json(fields).items()
        if key not in unwritten or unwritten[key] != value
    }


def dumped_type(name: str) -> str:
    """Return the type's name there: PARTITION_CHANGE_RECORD for PartitionChangeRecord."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_camel(key): _json(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_json(each) for each in value]
    if isinstance(value, uuid.UUID):
        return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def partition_epochs(image: MetadataImage) -> dict[TopicPartition, int]:
    """Return the partition epoch, which PartitionState does not carry, by partition."""
    return {
        TopicPartition(topic, number): found.partition_epoch
        for topic_id, topic in image.topics.items()
        for number, found in image.partitions[topic_id].items()
    }
