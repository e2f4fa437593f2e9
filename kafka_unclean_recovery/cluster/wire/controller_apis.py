"""The layouts of requests that a broker passes on to the controller."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Api

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

CREATE_TOPICS = Api(
    19,
    "CreateTopics",
    (2, 7),
    5,
    """
    topics [
        name text
        num_partitions int32
        replication_factor int16
        assignments [
            partition_index int32
            broker_ids [int32]
        ]
        configs [
            name text
            value text?
        ]
    ]
    timeout_ms int32
    validate_only bool =false
    """,
    """
    throttle_time_ms int32
    topics [
        name text
        topic_id uuid 7+
        error_code int16
        error_message text?
        topic_config_error_code int16 5+ =0 tag 0
        num_partitions int32 5+ =-1
        replication_factor int16 5+ =-1
        configs [ 5+
            name text
            value text?
            read_only bool
            config_source int8
            is_sensitive bool
        ]
    ]
    """,
)
