"""The requests of a recovery and their answers (org.apache.kafka.common.protocol.ApiKeys).

kafka-python has them too, but takes several times as long to import and to decode them; what a
recovery seldom needs goes by kafka-python. The layouts have the fields of the versions that each
names, and tests hold them against kafka-python's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from kafka_unclean_recovery.cluster.wire.layout import Read, Write, reader, writer
from kafka_unclean_recovery.cluster.wire.notation import row
from kafka_unclean_recovery.mechanisms import Dialect


class Api(NamedTuple):
    """A request and its answer. valid_versions: (lowest, highest) that the layouts have. flexible:
    the first flexible version. request, answer: their layouts as text (notation.py).

    The names that kafka-python's classes have, too, are theirs.
    """

    API_KEY: int
    name: str
    valid_versions: tuple[int, int]
    flexible: int
    request: str
    answer: str

    def is_flexible(self, version: int) -> bool:
        return version >= self.flexible


class Message(NamedTuple):
    """A request to send: its fields by name."""

    api: Api
    fields: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.api.name}Request"


@cache
def request_writer(api: Api, version: int) -> Write:
    """Return the function that writes requests of this version, without their header."""
    return writer(row(api.request), version, api.is_flexible(version))


@cache
def answer_reader(api: Api, version: int) -> Read:
    """Return the function that reads answers of this version, behind their header."""
    return reader(row(api.answer), version, api.is_flexible(version))


API_VERSIONS = Api(
    18,
    "ApiVersions",
    (0, 3),
    3,
    """
    client_software_name text 3+
    client_software_version text 3+
    """,
    """
    error_code int16
    api_keys [
        api_key int16
        min_version int16
        max_version int16
    ]
    throttle_time_ms int32 1+
    supported_features [ 3+ =[] tag 0
        name text
        min_version int16
        max_version int16
    ]
    finalized_features [ 3+ =[] tag 2
        name text
        max_version_level int16
        min_version_level int16
    ]
    """,
)

DESCRIBE_CLUSTER = Api(
    60,
    "DescribeCluster",
    (0, 2),
    0,
    """
    include_cluster_authorized_operations bool =false
    endpoint_type int8 1+ =1
    include_fenced_brokers bool 2+ =false
    """,
    """
    throttle_time_ms int32
    error_code int16
    error_message text?
    endpoint_type int8 1+
    cluster_id text
    controller_id int32
    brokers [
        broker_id int32
        host text
        port int32
        rack text?
        is_fenced bool 2+ =false
    ]
    cluster_authorized_operations int32
    """,
)

DESCRIBE_TOPIC_PARTITIONS = Api(
    75,
    "DescribeTopicPartitions",
    (0, 0),
    0,
    """
    topics [
        name text
    ]
    response_partition_limit int32
    cursor ?
        topic_name text
        partition_index int32
    }
    """,
    """
    throttle_time_ms int32
    topics [
        error_code int16
        name text?
        topic_id uuid
        is_internal bool
        partitions [
            error_code int16
            partition_index int32
            leader_id int32
            leader_epoch int32
            replica_nodes [int32]
            isr_nodes [int32]
            eligible_leader_replicas [int32]
            last_known_elr [int32]
            offline_replicas [int32]
        ]
        topic_authorized_operations int32
    ]
    next_cursor ?
        topic_name text
        partition_index int32
    }
    """,
)

METADATA = Api(
    3,
    "Metadata",
    (8, 12),
    9,
    """
    topics [
        topic_id uuid 10+ =none
        name text?
    ]
    allow_auto_topic_creation bool =false
    include_cluster_authorized_operations bool 8-10 =false
    include_topic_authorized_operations bool =false
    """,
    """
    throttle_time_ms int32
    brokers [
        node_id int32
        host text
        port int32
        rack text?
    ]
    cluster_id text?
    controller_id int32
    topics [
        error_code int16
        name text?
        topic_id uuid 10+ =none
        is_internal bool
        partitions [
            error_code int16
            partition_index int32
            leader_id int32
            leader_epoch int32
            replica_nodes [int32]
            isr_nodes [int32]
            eligible_leader_replicas [int32] 13+ =[]
            last_known_elr [int32] 13+ =[]
            offline_replicas [int32]
        ]
        topic_authorized_operations int32
    ]
    cluster_authorized_operations int32 8-10
    """,
)

_FETCHER = """
        replica_id int32
        replica_directory_id uuid 2+
        log_end_offset int64
        last_fetch_timestamp int64 1+ =-1
        last_caught_up_timestamp int64 1+ =-1
    ]"""
DESCRIBE_QUORUM = Api(
    55,
    "DescribeQuorum",
    (0, 2),
    0,
    """
    topics [
        topic_name text
        partitions [
            partition_index int32
        ]
    ]
    """,
    f"""
    error_code int16
    error_message text? 2+
    topics [
        topic_name text
        partitions [
            partition_index int32
            error_code int16
            error_message text? 2+
            leader_id int32
            leader_epoch int32
            high_watermark int64
            current_voters [{_FETCHER}
            observers [{_FETCHER}
        ]
    ]
    nodes [ 2+
        node_id int32
        listeners [
            name text
            host text
            port uint16
        ]
    ]
    """,
)

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

FETCH = Api(
    1,
    "Fetch",
    (12, 12),
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
        topic text
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
        topic text
        partitions [int32]
    ]
    rack_id text =""
    """,
    """
    throttle_time_ms int32
    error_code int16
    session_id int32
    responses [
        topic text
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
        ]
    ]
    """,
)

LIST_PARTITION_REASSIGNMENTS = Api(
    46,
    "ListPartitionReassignments",
    (0, 0),
    0,
    """
    timeout_ms int32
    topics [
        name text
        partition_indexes [int32]
    ]
    """,
    """
    throttle_time_ms int32
    error_code int16
    error_message text?
    topics [
        name text
        partitions [
            partition_index int32
            replicas [int32]
            adding_replicas [int32]
            removing_replicas [int32]
        ]
    ]
    """,
)

ALTER_PARTITION_REASSIGNMENTS = Api(
    45,
    "AlterPartitionReassignments",
    (0, 1),
    0,
    """
    timeout_ms int32
    allow_replication_factor_change bool 1+ =true
    topics [
        name text
        partitions [
            partition_index int32
            replicas [int32]
        ]
    ]
    """,
    """
    throttle_time_ms int32
    allow_replication_factor_change bool 1+
    error_code int16
    error_message text?
    responses [
        name text
        partitions [
            partition_index int32
            error_code int16
            error_message text?
        ]
    ]
    """,
)

ELECT_LEADERS = Api(
    43,
    "ElectLeaders",
    (0, 3),
    2,
    """
    election_type int8 1+
    topic_partitions [
        topic text
        partitions [int32]
        designated_leaders [int32] 3+
    ]
    timeout_ms int32
    """,
    """
    throttle_time_ms int32
    error_code int16 1+ =0
    replica_election_results [
        topic text
        partition_result [
            partition_id int32
            error_code int16
            error_message text?
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
