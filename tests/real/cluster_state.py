"""All that a cluster holds, as clients see it: what must be equal before and after a recovery."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    ConfigSource,
    ResourcePatternType,
    ResourceType,
)
from kafka.protocol.metadata import MetadataRequest

from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import consume_all

# Topic ids and leader epochs are told by these.
METADATA_VERSION = 12
TIMEOUT = 30.0
# Made by clients that look, and no part of what is compared.
INTERNAL = "__"
# The types say that a name is needed; None is any.
ANY_ACL = AclBindingFilter(
    restype=ResourceType.ANY,
    name=None,  # type: ignore[arg-type]
    resource_pattern_type=ResourcePatternType.ANY,
    principal=None,  # type: ignore[arg-type]
    host=None,  # type: ignore[arg-type]
    operation=AclOperation.ANY,
    permission_type=AclPermissionType.ANY,
)


class Led(NamedTuple):
    """A partition by a broker's metadata."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: frozenset[int]


@dataclass(frozen=True, slots=True)
class ClusterState:
    """By topic: its id, its partitions, the configs it was given. ACLs and SCRAM users as text."""

    ids: Mapping[str, str]
    partitions: Mapping[str, Mapping[int, Led]]
    configs: Mapping[str, Mapping[str, str]]
    acls: frozenset[str]
    users: frozenset[str]

    def without(self, topic: str) -> ClusterState:
        """Return the state but for a topic that was made since."""

        def rest(by_topic: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in by_topic.items() if name != topic}

        return ClusterState(
            rest(self.ids), rest(self.partitions), rest(self.configs), self.acls, self.users
        )


def state_of_cluster(cluster: KafkaCluster, broker: int) -> ClusterState:
    """Return the state as this broker knows it, internal topics left out."""
    host, _, port = cluster.address(broker).rpartition(":")
    with Wire(host, int(port)) as wire:
        answer = wire.ask(build(MetadataRequest, {"topics": None}), METADATA_VERSION)
    topics = [topic for topic in answer.topics if not topic.name.startswith(INTERNAL)]
    client = AdminClient({**cluster.connection(brokers=[broker]), **QUIETLY}, logger=SILENT)
    return ClusterState(
        ids={topic.name: str(topic.topic_id) for topic in topics},
        partitions={topic.name: _partitions(topic) for topic in topics},
        configs=_configs(client, [topic.name for topic in topics]),
        acls=_acls(client),
        users=_users(client),
    )


def records(cluster: KafkaCluster, state: ClusterState) -> dict[tuple[str, int], list[bytes]]:
    """Return every record of every partition, read side by side: consumers mostly wait."""
    wanted = [(topic, number) for topic, found in state.partitions.items() for number in found]
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda which: consume_all(cluster.connection(), *which), wanted)
        return dict(zip(wanted, found, strict=True))


def _partitions(topic: Any) -> dict[int, Led]:
    return {
        found.partition_index: Led(
            found.leader_id,
            found.leader_epoch,
            tuple(found.replica_nodes),
            frozenset(found.isr_nodes),
        )
        for found in topic.partitions
    }


def _configs(client: AdminClient, topics: list[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics]
    answers = client.describe_configs(resources, request_timeout=TIMEOUT) if resources else {}
    given = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    return {
        resource.name: {
            name: entry.value
            for name, entry in answer.result(TIMEOUT).items()
            if entry.source == given
        }
        for resource, answer in answers.items()
    }


def _acls(client: AdminClient) -> frozenset[str]:
    return frozenset(map(str, client.describe_acls(ANY_ACL).result(TIMEOUT)))


def _users(client: AdminClient) -> frozenset[str]:
    # One future where all users are asked for, which the types leave open.
    described: Any = client.describe_user_scram_credentials(request_timeout=TIMEOUT)
    return frozenset(
        f"{user} {info.mechanism.name} {info.iterations}"
        for user, found in described.result(TIMEOUT).items()
        for info in found.scram_credential_infos
    )
