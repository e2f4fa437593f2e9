"""Rights of the user of a secured cluster, given and taken away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY
from tests.real.recipes import TOPIC
from tests.real.waiting import wait_until

USER = "sre"
CLUSTER_ALTER = (ResourceType.BROKER, "kafka-cluster", AclOperation.ALTER)
CLUSTER_DESCRIBE = (ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE)
READ_ALL = (ResourceType.TOPIC, "*", AclOperation.READ)
READ_ONE = (ResourceType.TOPIC, TOPIC, AclOperation.READ)
CLUSTER_DESCRIBE_CONFIGS = (ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE_CONFIGS)
DESCRIBE_ALL = (ResourceType.TOPIC, "*", AclOperation.DESCRIBE)
Right = tuple[ResourceType, str, AclOperation]
EVERY_RIGHT = AclBindingFilter(
    ResourceType.ANY,
    None,  # type: ignore[arg-type]
    ResourcePatternType.ANY,
    f"User:{USER}",
    None,  # type: ignore[arg-type]
    AclOperation.ANY,
    AclPermissionType.ANY,
)


def proving(version: str) -> tuple[Right, ...]:
    """Return what it takes to have a broker of this release prove which one it is."""
    return () if version == "4.4.0" else (CLUSTER_DESCRIBE_CONFIGS,)


def right(text: str) -> Right:
    """Return the right that is written as "Topic(*):READ" or "Cluster:ALTER"."""
    resource, _, operation = text.partition(":")
    kind, _, name = resource.rstrip(")").partition("(")
    kinds = {"Cluster": "BROKER", "TransactionalId": "TRANSACTIONAL_ID"}
    named = ResourceType[kinds.get(kind, kind.upper())]
    return named, name or "kafka-cluster", AclOperation[operation]


def _binding(right: Right) -> AclBinding:
    kind, name, operation = right
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(kind, name, literal, f"User:{USER}", "*", operation, allow)


@contextmanager
def granted(cluster: KafkaCluster, *rights: Right) -> Iterator[None]:
    """Let brokers 3 and 4 know these rights of the user, and no others."""
    brokers = [AdminClient({**cluster.connection(brokers=[b]), **QUIETLY}) for b in (3, 4)]

    def known(count: int) -> bool:
        found = [broker.describe_acls(EVERY_RIGHT).result(10) for broker in brokers]
        return all(len(bindings) == count for bindings in found)

    if rights:
        for created in brokers[0].create_acls([_binding(right) for right in rights]).values():
            created.result(10)
    wait_until(lambda: known(len(rights)), 10, lambda: f"{rights} granted")
    try:
        yield
    finally:
        for deleted in brokers[0].delete_acls([EVERY_RIGHT]).values():
            deleted.result(10)
        wait_until(lambda: known(0), 10, lambda: "no rights left")
