"""A Right lets a principal do an operation on a resource (AclOperation, ResourceType, AclEntry)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum


class Operation(IntEnum):
    """The operations, with Kafka's codes."""

    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


class Resource(Enum):
    CLUSTER = "Cluster"
    TOPIC = "Topic"
    GROUP = "Group"
    TRANSACTIONAL_ID = "TransactionalId"


CLUSTER = frozenset(
    {
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    }
)
TOPIC = frozenset(
    {
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    }
)
GROUP = frozenset(
    {
        Operation.READ,
        Operation.DELETE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    }
)
SUPPORTED: Mapping[Resource, frozenset[Operation]] = {
    Resource.CLUSTER: CLUSTER,
    Resource.TOPIC: TOPIC,
    Resource.GROUP: GROUP,
    Resource.TRANSACTIONAL_ID: frozenset({Operation.WRITE, Operation.DESCRIBE}),
}
UNKNOWN = -(2**31)
ANY = "*"

# A principal that may do one of these may also do DESCRIBE (StandardAuthorizerData).
_IMPLY_DESCRIBE = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
_RIGHT = re.compile(r"(?P<resource>[A-Za-z]+)(?:\((?P<name>[^()]+)\))?:(?P<operation>[A-Z_]+)")


@dataclass(frozen=True, slots=True)
class Right:
    """One right. name: that of the resource, or * for all; the cluster has none."""

    resource: Resource
    name: str
    operation: Operation


def parse_right(text: str) -> Right:
    """Parse "Cluster:ALTER", "Topic(*):READ" or "Topic(orders):DESCRIBE". Raises ValueError."""
    found = _RIGHT.fullmatch(text)
    resources = {resource.value: resource for resource in Resource}
    resource = resources.get(found["resource"]) if found else None
    operation = Operation.__members__.get(found["operation"]) if found else None
    if found is None or resource is None or operation is None:
        raise ValueError(f'right {text!r}: write it as "Cluster:ALTER" or "Topic(*):READ"')
    if (found["name"] is None) != (resource is Resource.CLUSTER):
        needs = "has no name" if found["name"] else "needs a name, or *, in brackets"
        raise ValueError(f"right {text!r}: {resource.value} {needs}")
    if operation not in (SUPPORTED[resource] | {Operation.ALL}):
        known = ", ".join(sorted(each.name for each in SUPPORTED[resource]))
        raise ValueError(f"right {text!r}: {resource.value} has the operations {known}")
    return Right(resource, found["name"] or ANY, operation)


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of one principal. None means all of them."""

    granted: frozenset[Right] | None

    @property
    def everything(self) -> bool:
        return self.granted is None

    def may(self, operation: Operation, resource: Resource, name: str = ANY) -> bool:
        if self.granted is None:
            return True
        return any(
            Right(resource, named, granting) in self.granted
            for named in {name, ANY}
            for granting in _granting(operation)
        )

    def may_anywhere(self, operation: Operation, resource: Resource) -> bool:
        """Return whether the principal may do this on some resource of this kind
        (Authorizer.authorizeByResourceType)."""
        if self.granted is None:
            return True
        kind = [right.operation for right in self.granted if right.resource is resource]
        return not set(kind).isdisjoint(_granting(operation))

    def operations(self, resource: Resource, name: str = ANY) -> frozenset[Operation]:
        """Return the authorized operations on a resource, as metadata answers call them."""
        return frozenset(op for op in SUPPORTED[resource] if self.may(op, resource, name))


EVERY_RIGHT = Rights(None)


def _granting(operation: Operation) -> tuple[Operation, ...]:
    """Return the operations each of which is enough."""
    if operation is Operation.DESCRIBE:
        return (operation, Operation.ALL, *_IMPLY_DESCRIBE)
    if operation is Operation.DESCRIBE_CONFIGS:
        return operation, Operation.ALL, Operation.ALTER_CONFIGS
    return operation, Operation.ALL


def bits(operations: frozenset[Operation]) -> int:
    return sum(1 << code for code in operations)
