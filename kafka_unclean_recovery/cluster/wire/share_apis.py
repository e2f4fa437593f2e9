"""The layouts of requests about share groups (KIP-932)."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Api

DESCRIBE_SHARE_GROUP_OFFSETS = Api(
    90,
    "DescribeShareGroupOffsets",
    (0, 1),
    0,
    """
    groups [
        group_id text
        topics [
            topic_name text
            partitions [int32]
        ]
    ]
    """,
    """
    throttle_time_ms int32
    groups [
        group_id text
        topics [
            topic_name text
            topic_id uuid
            partitions [
                partition_index int32
                start_offset int64
                leader_epoch int32
                lag int64 1+ =-1
                error_code int16
                error_message text?
            ]
        ]
        error_code int16
        error_message text?
    ]
    """,
)

ALTER_SHARE_GROUP_OFFSETS = Api(
    91,
    "AlterShareGroupOffsets",
    (0, 0),
    0,
    """
    group_id text
    topics [
        topic_name text
        partitions [
            partition_index int32
            start_offset int64
        ]
    ]
    """,
    """
    throttle_time_ms int32
    error_code int16
    error_message text?
    responses [
        topic_name text
        topic_id uuid
        partitions [
            partition_index int32
            error_code int16
            error_message text?
        ]
    ]
    """,
)

READ_SHARE_GROUP_STATE = Api(
    84,
    "ReadShareGroupState",
    (0, 0),
    0,
    """
    group_id text
    topics [
        topic_id uuid
        partitions [
            partition int32
            leader_epoch int32
        ]
    ]
    """,
    """
    results [
        topic_id uuid
        partitions [
            partition int32
            error_code int16
            error_message text?
            state_epoch int32
            start_offset int64
            state_batches [
                first_offset int64
                last_offset int64
                delivery_state int8
                delivery_count int16
            ]
        ]
    ]
    """,
)
