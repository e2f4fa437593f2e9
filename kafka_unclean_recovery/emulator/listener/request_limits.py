"""These limits bound the partitions in one answer (KIP-966, "Config changes" and the limits that
its texts of GetReplicaLogInfo and ElectLeaders name).

No partition over the limit is dropped silently: DescribeTopicPartitions gives a cursor, and the
other APIs answer REQUEST_LIMIT_REACHED for each partition that they did not serve.
"""

from __future__ import annotations

from kafka_unclean_recovery.kraft_rules.state import State

PARTITION_LIMIT = "max.request.partition.size.limit"
"""This config limits DescribeTopicPartitions. Here it can be altered while the brokers run; a Kafka
broker reads it when it starts."""
_DEFAULT = "2000"
_INT_MAX = 2**31 - 1
_MOST_DIGITS = 20

SERVED_AT_ONCE = 1000
"""This limit is that of GetReplicaLogInfo and of ElectLeaders 3. For GetReplicaLogInfo the KIP says
2000, and in its next sentence that 1000 are served."""


def is_partition_limit(value: str) -> bool:
    """Return whether the value is an int of at least 1, as ServerConfigs demands."""
    # Python refuses to convert thousands of digits.
    fits = len(value) <= _MOST_DIGITS
    return value.isascii() and value.isdigit() and fits and 1 <= int(value) <= _INT_MAX


def partition_limit(state: State, broker: int, asked: int) -> int:
    """Return the number of partitions in one answer: what the client asked for, within the broker's
    config or that of all brokers, and at least one (DescribeTopicPartitionsRequestHandler)."""
    of_all = state.cluster_configs.get(PARTITION_LIMIT, _DEFAULT)
    limit = state.broker_configs.get(broker, {}).get(PARTITION_LIMIT, of_all)
    return max(1, min(asked, int(limit)))
