"""Find out which of the requests that a recovery needs a node does not speak."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_CLUSTER
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.controller_apis import (
    ALTER_PARTITION_REASSIGNMENTS,
    ELECT_LEADERS,
    LIST_PARTITION_REASSIGNMENTS,
)
from kafka_unclean_recovery.cluster.wire.log_apis import FETCH, LIST_OFFSETS

# Each row has the lowest and the highest version that this package sends the request at.
_NEEDED = (
    (DESCRIBE_CLUSTER, None, None),
    (LIST_OFFSETS, None, None),
    (FETCH, 12, 12),
    (LIST_PARTITION_REASSIGNMENTS, 0, 0),
    (ALTER_PARTITION_REASSIGNMENTS, None, None),
    (ELECT_LEADERS, 1, 2),
)
_TELLS_FENCED = 2


def missing_requests(connection: Connection) -> tuple[str, ...]:
    """Return requests that the node lacks, as "Fetch v12"; Kafka 2.8 and newer lack none."""
    return tuple(
        request.name + (f" v{lowest}" if lowest is not None else "")
        for request, lowest, highest in _NEEDED
        if not _spoken(connection.version_for(request, highest), lowest)
    )


def tells_fenced(connection: Connection) -> bool:
    """Return True when DescribeCluster lists fenced brokers (KIP-1073, Kafka 4.1)."""
    version = connection.version_for(DESCRIBE_CLUSTER)
    return version is not None and version >= _TELLS_FENCED


def _spoken(version: int | None, lowest: int | None) -> bool:
    return version is not None and (lowest is None or version >= lowest)
