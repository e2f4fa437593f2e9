"""These tables list a topic's configs, with Kafka 4.3's defaults (LogConfig, QuotaConfig)."""

from __future__ import annotations

from collections.abc import Mapping

TOPIC_CONFIGS: Mapping[str, str] = {
    "cleanup.policy": "delete",
    "compression.gzip.level": "-1",
    "compression.lz4.level": "9",
    "compression.type": "producer",
    "compression.zstd.level": "3",
    "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000",
    "flush.messages": "9223372036854775807",
    "flush.ms": "9223372036854775807",
    "follower.replication.throttled.replicas": "",
    "index.interval.bytes": "4096",
    "leader.replication.throttled.replicas": "",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": "9223372036854775807",
    "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "preallocate": "false",
    "remote.log.copy.disable": "false",
    "remote.log.delete.on.disable": "false",
    "remote.storage.enable": "false",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
    "segment.ms": "604800000",
    "unclean.leader.election.enable": "false",
}

_LISTS = {
    *("cleanup.policy", "follower.replication.throttled.replicas"),
    "leader.replication.throttled.replicas",
}
_STRINGS = {"compression.type", "message.timestamp.type", "unclean.recovery.strategy"}
_INTS = {
    *("compression.gzip.level", "compression.lz4.level", "compression.zstd.level"),
    *("index.interval.bytes", "max.message.bytes", "min.insync.replicas"),
    *("segment.bytes", "segment.index.bytes"),
}


def config_type(key: str) -> int:
    """Return the type of a topic's config (DescribeConfigsResponse.ConfigType), or 0, unknown, for
    any other key."""
    if key in _STRINGS:
        return 2
    if key not in TOPIC_CONFIGS:
        return 0
    if key in _LISTS:
        return 7
    if TOPIC_CONFIGS[key] in ("true", "false"):
        return 1
    if key == "min.cleanable.dirty.ratio":
        return 6
    return 3 if key in _INTS else 5


KIP_966_TOPIC_CONFIGS = frozenset({"unclean.recovery.strategy"})
"""No release has these configs, and every emulated release accepts them."""
