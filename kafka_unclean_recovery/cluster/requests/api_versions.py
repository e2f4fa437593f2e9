"""Ask by ApiVersions what a broker has applied of the metadata, whether it is the broker that is
meant, and which of the requests that a recovery needs it does not speak."""

from __future__ import annotations

from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.cluster_apis import API_VERSIONS, DESCRIBE_CLUSTER
from kafka_unclean_recovery.cluster.wire.connection import SOFTWARE, Connection
from kafka_unclean_recovery.cluster.wire.controller_apis import (
    ALTER_PARTITION_REASSIGNMENTS,
    ELECT_LEADERS,
    LIST_PARTITION_REASSIGNMENTS,
)
from kafka_unclean_recovery.cluster.wire.log_apis import FETCH, LIST_OFFSETS
from kafka_unclean_recovery.deadline import Deadline

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
_NAMES_NODES = 5
"""The version in which a request names the node that it is for (KIP-1242, Kafka 4.4)."""
_NOT_TOLD = -1


async def applied_offset(connection: Connection, deadline: Deadline) -> int | None:
    """Return the offset (inclusive) of the last metadata record that the broker has applied, None
    where it does not tell.

    A broker carries out the requests of a connection in their order, so what is sent behind this
    request is answered from that metadata or from newer (KRaftMetadataCache.features). A broker may
    have fetched more than it has applied.
    """
    answer = await connection.request(Message(API_VERSIONS, SOFTWARE), deadline)
    told: int = answer["finalized_features_epoch"]
    return None if told == _NOT_TOLD else told


def can_name_nodes(connection: Connection) -> bool:
    version = connection.version_for(API_VERSIONS)
    return version is not None and version >= _NAMES_NODES


async def named_node_error(
    connection: Connection, cluster_id: str, node: int, deadline: Deadline
) -> int:
    """Return Kafka's error code for a request that is meant for this node of this cluster: NONE
    from that node, REBOOTSTRAP_REQUIRED from any other (KIP-1242). Only where `can_name_nodes`."""
    fields = {**SOFTWARE, "cluster_id": cluster_id, "node_id": node}
    answer = await connection.request(Message(API_VERSIONS, fields), deadline, _NAMES_NODES)
    code: int = answer["error_code"]
    return code


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
