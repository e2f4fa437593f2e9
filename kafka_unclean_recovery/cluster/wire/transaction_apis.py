"""The layouts of requests that tell of producers and transactions (KIP-664), and end these."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Api

DESCRIBE_PRODUCERS = Api(
    61,
    "DescribeProducers",
    (0, 0),
    0,
    """
    topics [
        name text
        partition_indexes [int32]
    ]
    """,
    """
    throttle_time_ms int32
    topics [
        name text
        partitions [
            partition_index int32
            error_code int16
            error_message text?
            active_producers [
                producer_id int64
                producer_epoch int32
                last_sequence int32
                last_timestamp int64
                coordinator_epoch int32
                current_txn_start_offset int64
            ]
        ]
    ]
    """,
)

DESCRIBE_TRANSACTIONS = Api(
    65,
    "DescribeTransactions",
    (0, 0),
    0,
    """
    transactional_ids [text]
    """,
    """
    throttle_time_ms int32
    transaction_states [
        error_code int16
        transactional_id text
        transaction_state text
        transaction_timeout_ms int32
        transaction_start_time_ms int64
        producer_id int64
        producer_epoch int16
        topics [
            topic text
            partitions [int32]
        ]
    ]
    """,
)

LIST_TRANSACTIONS = Api(
    66,
    "ListTransactions",
    (0, 0),
    0,
    """
    state_filters [text]
    producer_id_filters [int64]
    """,
    """
    throttle_time_ms int32
    error_code int16
    unknown_state_filters [text]
    transaction_states [
        transactional_id text
        producer_id int64
        transaction_state text
    ]
    """,
)

WRITE_TXN_MARKERS = Api(
    27,
    "WriteTxnMarkers",
    # The highest version without transaction versions: it writes legacy markers, which every broker
    # takes.
    (1, 1),
    1,
    """
    markers [
        producer_id int64
        producer_epoch int16
        transaction_result bool
        topics [
            name text
            partition_indexes [int32]
        ]
        coordinator_epoch int32
    ]
    """,
    """
    markers [
        producer_id int64
        topics [
            name text
            partitions [
                partition_index int32
                error_code int16
            ]
        ]
    ]
    """,
)
