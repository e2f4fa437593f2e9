"""Clusters whose quorum is to be lost: three controllers, two brokers, and something of each kind
of metadata that must not be lost with them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import create_topic, produce
from tests.real.releases import ONE
from tests.real.waiting import wait_until

ORDERS, NAMES, DOOMED, LAST = "orders", "names", "doomed", "last"
RECORDS = 100
TIMEOUT = 30.0
# Whoever is not logged in may do everything, and ACLs are kept all the same.
AUTHORIZED: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
# Two cores are shared with other tests: nobody is taken for dead who is merely slow.
PATIENT: Mapping[str, str] = {"broker.session.timeout.ms": "15000"}


def three_controllers_and_two_brokers(
    directory: Path,
    version: str = ONE,
    properties: Mapping[str, str] = {},
    *,
    dynamic_quorum: bool,
) -> KafkaCluster:
    """Return a cluster in which everything runs, with what `fill` makes. Close it when done."""
    cluster = KafkaCluster.create(
        directory,
        version,
        brokers=2,
        controllers=3,
        properties={**AUTHORIZED, **PATIENT, **properties},
        dynamic_quorum=dynamic_quorum,
    )
    try:
        cluster.start()
        fill(cluster, [(1, 2), (2, 1)])
    except BaseException:
        cluster.close()
        raise
    return cluster


def fill(cluster: KafkaCluster, assignment: list[tuple[int, ...]]) -> None:
    """Create topics with configs and records, one that was deleted, an ACL and a SCRAM user."""
    connection = cluster.connection()
    create_topic(connection, ORDERS, assignment, {"max.message.bytes": "2000000"})
    create_topic(connection, NAMES, assignment[:1], {"cleanup.policy": "compact"})
    create_topic(connection, DOOMED, assignment[:1])
    for topic in (ORDERS, NAMES, DOOMED):
        cluster.wait_until_partitions(topic, lambda p: not p.offline)
    for partition in range(len(assignment)):
        produce(connection, ORDERS, partition, RECORDS)
    client = AdminClient({**connection, **QUIETLY}, logger=SILENT)
    client.delete_topics([DOOMED])[DOOMED].result(TIMEOUT)
    _wait_until_deleted(cluster, DOOMED)
    allow(cluster, "User:alice", ORDERS)
    _add_user(client, "alice")
    # Brokers take what is new in its order: one that has the last thing has all.
    create_topic(connection, LAST, assignment[:1])
    cluster.wait_until_partitions(LAST, lambda p: not p.offline)


def allow(cluster: KafkaCluster, principal: str, topic: str) -> None:
    """Add one more ACL."""
    acl = AclBinding(
        restype=ResourceType.TOPIC,
        name=topic,
        resource_pattern_type=ResourcePatternType.LITERAL,
        principal=principal,
        host="*",
        operation=AclOperation.READ,
        permission_type=AclPermissionType.ALLOW,
    )
    client = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
    client.create_acls([acl])[acl].result(TIMEOUT)


def _add_user(client: AdminClient, name: str) -> None:
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    change = UserScramCredentialUpsertion(name, info, b"secret")
    client.alter_user_scram_credentials([change])[name].result(TIMEOUT)


def _wait_until_deleted(cluster: KafkaCluster, topic: str) -> None:
    wait_until(
        lambda: all(topic not in cluster.view(id_).topics for id_ in cluster.live_brokers),
        TIMEOUT,
        lambda: f"{topic} deleted",
    )
