"""The layouts of requests that tell how far logs go, and what groups have read of them."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_unclean_recovery.cluster.wire.api import Api
from kafka_unclean_recovery.mechanisms import Dialect

LIST_OFFSETS = Api(
    2,
    "ListOffsets",
    (1, 7),
    6,
    """
    replica_id int32
    isolation_level int8 2+ =0
    topics [
        name text
        partitions [
            partition_index int32
            current_leader_epoch int32 4+ =-1
            timestamp int64
        ]
    ]
    """,
    """
    throttle_time_ms int32 2+ =0
    topics [
        name text
        partitions [
            partition_index int32
            error_code int16
            timestamp int64
            offset int64
            leader_epoch int32 4+ =-1
        ]
    ]
    """,
)

OFFSET_FOR_LEADER_EPOCH = Api(
    23,
    "OffsetForLeaderEpoch",
    (2, 4),
    4,
    """
    replica_id int32 3+ =-2
    topics [
        topic text
        partitions [
            partition int32
            current_leader_epoch int32 =-1
            leader_epoch int32
        ]
    ]
    """,
    """
    throttle_time_ms int32
    topics [
        topic text
        partitions [
            error_code int16
            partition int32
            leader_epoch int32
            end_offset int64
        ]
    ]
    """,
)

FETCH = Api(
    1,
    "Fetch",
    (12, 13),
    12,
    """
    replica_id int32
    max_wait_ms int32
    min_bytes int32
    max_bytes int32
    isolation_level int8 =0
    session_id int32 =0
    session_epoch int32 =-1
    topics [
        topic text 0-12
        topic_id uuid 13+
        partitions [
            partition int32
            current_leader_epoch int32 =-1
            fetch_offset int64
            last_fetched_epoch int32 =-1
            log_start_offset int64 =-1
            partition_max_bytes int32
        ]
    ]
    forgotten_topics_data [ =[]
        topic text 0-12
        topic_id uuid 13+
        partitions [int32]
    ]
    rack_id text =""
    """,
    """
    throttle_time_ms int32
    error_code int16
    session_id int32
    responses [
        topic text 0-12
        topic_id uuid 13+
        partitions [
            partition_index int32
            error_code int16
            high_watermark int64
            last_stable_offset int64
            log_start_offset int64
            aborted_transactions [
                producer_id int64
                first_offset int64
            ]
            preferred_read_replica int32
            records bytes
            diverging_epoch { tag 0
                epoch int32
                end_offset int64
            }
            snapshot_id { tag 2
                end_offset int64
                epoch int32
            }
        ]
    ]
    """,
)
"""Version 13 names topics by id, as controllers alone know that of the metadata log."""

FETCH_SNAPSHOT = Api(
    59,
    "FetchSnapshot",
    (0, 0),
    0,
    """
    replica_id int32
    max_bytes int32
    topics [
        name text
        partitions [
            partition int32
            current_leader_epoch int32
            snapshot_id {
                end_offset int64
                epoch int32
            }
            position int64
        ]
    ]
    """,
    """
    throttle_time_ms int32
    error_code int16
    topics [
        name text
        partitions [
            index int32
            error_code int16
            snapshot_id {
                end_offset int64
                epoch int32
            }
            size int64
            position int64
            unaligned_records bytes
        ]
    ]
    """,
)

LIST_GROUPS = Api(
    16,
    "ListGroups",
    (0, 5),
    3,
    """
    states_filter [text] 4+ =[]
    types_filter [text] 5+ =[]
    """,
    """
    throttle_time_ms int32 1+
    error_code int16
    groups [
        group_id text
        protocol_type text
        group_state text 4+
        group_type text 5+
    ]
    """,
)

DESCRIBE_LOG_DIRS = Api(
    35,
    "DescribeLogDirs",
    (1, 4),
    2,
    """
    topics [
        topic text
        partitions [int32]
    ]
    """,
    """
    throttle_time_ms int32
    error_code int16 3+ =0
    results [
        error_code int16
        log_dir text
        topics [
            name text
            partitions [
                partition_index int32
                partition_size int64
                offset_lag int64
                is_future_key bool
            ]
        ]
        total_bytes int64 4+ =-1
        usable_bytes int64 4+ =-1
    ]
    """,
)

_COMMITS = """
                partition_index int32
                committed_offset int64
                committed_leader_epoch int32 5+ =-1
                metadata text?
                error_code int16
            ]"""

OFFSET_FETCH = Api(
    9,
    "OffsetFetch",
    (1, 10),
    6,
    """
    group_id text 0-7
    topics [ 0-7
        name text
        partition_indexes [int32]
    ]
    groups [ 8+
        group_id text
        member_id text? 9+
        member_epoch int32 9+ =-1
        topics [
            name text 0-9
            topic_id uuid 10+
            partition_indexes [int32]
        ]
    ]
    require_stable bool 7+ =false
    """,
    f"""
    throttle_time_ms int32 3+
    topics [ 0-7 =[]
        name text
        partitions [{_COMMITS}
    ]
    error_code int16 2-7 =0
    groups [ 8+ =[]
        group_id text
        topics [
            name text 0-9
            topic_id uuid 10+
            partitions [{_COMMITS}
        ]
        error_code int16
    ]
    """,
)

_ASKED = """
    topic_partitions [
        topic_id uuid
        partitions [int32]
    ]
"""

_TOLD = """
    topic_partition_log_info_list [
        topic_id uuid
        partition_log_info [
            partition int32
"""

_BOTH_EPOCHS = """
            last_written_leader_epoch int32
            current_leader_epoch int32
"""

_MORE = """
    throttle_time_ms int32
    broker_epoch int64
    has_more_data bool
"""

_END_OFFSET = """
            log_end_offset int64
            error_code int16
"""

GET_REPLICA_LOG_INFO: Mapping[Dialect, Api] = {
    Dialect.KIP_966: Api(
        1020,
        "GetReplicaLogInfo",
        (0, 0),
        0,
        f"broker_id int32{_ASKED}",
        f"broker_epoch int64{_TOLD}{_BOTH_EPOCHS}{_END_OFFSET}error_message text?\n]\n]",
    ),
    Dialect.REVERTED: Api(
        93,
        "GetReplicaLogInfo",
        (0, 0),
        0,
        _ASKED,
        f"{_MORE}{_TOLD}{_BOTH_EPOCHS}{_END_OFFSET}]\n]",
    ),
    Dialect.KIP_1275: Api(
        1275,
        "GetReplicaLogInfo",
        (0, 0),
        0,
        _ASKED,
        f"{_MORE}{_TOLD}partition_leader_epoch int32{_END_OFFSET}]\n]",
    ),
}
"""The request of KIP-966 and krabka names the broker that is asked, and marks partitions that were
left out by an error; that of KIP-1275 tells the current epoch only. No released Kafka speaks any:
see kafka_unclean_recovery/messages, where the keys come from."""
