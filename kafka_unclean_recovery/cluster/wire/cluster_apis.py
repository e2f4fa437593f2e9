"""The layouts of requests that tell who lives, who leads and what is committed."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Api

API_VERSIONS = Api(
    18,
    "ApiVersions",
    (0, 5),
    3,
    """
    client_software_name text 3+
    client_software_version text 3+
    cluster_id text? 5+
    node_id int32 5+ =-1
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
    finalized_features_epoch int64 3+ =-1 tag 1
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

DESCRIBE_CONFIGS = Api(
    32,
    "DescribeConfigs",
    (1, 4),
    4,
    """
    resources [
        resource_type int8
        resource_name text
        configuration_keys [text]
    ]
    include_synonyms bool =false
    include_documentation bool 3+ =false
    """,
    """
    throttle_time_ms int32
    results [
        error_code int16
        error_message text?
        resource_type int8
        resource_name text
        configs [
            name text
            value text?
            read_only bool
            config_source int8
            is_sensitive bool
            synonyms [
                name text
                value text?
                source int8
            ]
            config_type int8 3+ =0
            documentation text? 3+
        ]
    ]
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
