"""Prove which broker of which cluster answers over a connection: an address shows nothing.

A load balancer, an old DNS name, a copied server.properties, or an address that was given to
another cluster may lead to another broker, which answers for the topics that it has by the same
names.
"""

from __future__ import annotations

import asyncio

from kafka_unclean_recovery.cluster.requests.api_versions import can_name_nodes, named_node_error
from kafka_unclean_recovery.cluster.requests.configs import broker_error
from kafka_unclean_recovery.cluster.requests.describe import describe_cluster
from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_CONFIGS
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED, error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors

_WHAT_WOULD = "grant Cluster:DESCRIBE_CONFIGS, or run Kafka 4.4 there"


async def prove(
    connection: Connection, cluster_id: str, broker: int, deadline: Deadline
) -> str | None:
    """Return None where the node has shown that it is this broker of this cluster; else a sentence
    on why nothing shows it, and what would. It costs one round trip.

    From Kafka 4.4 on ApiVersions names both, and any other node refuses it (KIP-1242). Before, the
    broker alone tells its own configuration, which takes DESCRIBE_CONFIGS on the cluster, and
    DescribeCluster names the cluster. Raises ConnectionFailed, with OTHER_NODE where it is another.
    """
    if can_name_nodes(connection):
        code = await named_node_error(connection, cluster_id, broker, deadline)
        if code == Errors.REBOOTSTRAP_REQUIRED:
            raise _other(
                connection, f"the node there is not broker {broker} of cluster {cluster_id}"
            )
        return None if code == Errors.NONE else _unproven(broker, error_name(code))
    if connection.version_for(DESCRIBE_CONFIGS) is None:
        return _unproven(broker, "it does not answer DescribeConfigs")
    (cluster, _), code = await asyncio.gather(
        describe_cluster(connection, deadline), broker_error(connection, broker, deadline)
    )
    if cluster.cluster_id != cluster_id:
        raise _other(
            connection, f"the node there is of cluster {cluster.cluster_id}, not {cluster_id}"
        )
    if code == Errors.INVALID_REQUEST:
        raise _other(connection, f"this is not broker {broker}")
    if code in UNAUTHORIZED:
        return _unproven(broker, "this user lacks DESCRIBE_CONFIGS on the cluster")
    return None if code == Errors.NONE else _unproven(broker, error_name(code))


def _other(connection: Connection, sentence: str) -> ConnectionFailed:
    return ConnectionFailed(
        FailureKind.OTHER_NODE,
        connection.address,
        f"{sentence}, though it is advertised here: mend what leads elsewhere (a load balancer,"
        " DNS, advertised.listeners)",
    )


def _unproven(broker: int, why: str) -> str:
    return f"nothing proves that broker {broker} answered ({why}): {_WHAT_WOULD}"
