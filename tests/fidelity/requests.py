"""Events as the requests that a real controller gets, and its answers as ours would be.

A broker registers with the features that the cluster has. Its listener leads nowhere: nobody
connects to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka.protocol.admin.cluster import UpdateFeaturesRequest
from kafka.protocol.admin.configs import IncrementalAlterConfigsRequest
from kafka.protocol.admin.topics import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
)

from kafka_unclean_recovery.kafka_names import ELR_VERSION, Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from tests.controller_messages.controller import (
    AlterPartitionRequest,
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    UnregisterBrokerRequest,
)
from tests.messages.building import build

TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
SET, DELETE = 0, 1
ELECTION_TYPES = {
    ev.ElectionType.PREFERRED: 0,
    ev.ElectionType.UNCLEAN: 1,
    # No release knows it; the request has no room for the leaders.
    ev.ElectionType.DESIGNATED: 2,
}
# An id that no controller gives out.
NO_TOPIC_ID = UUID(int=1 << 64)


Fields = dict[str, Any]
Sending = tuple[Callable[[Any, "Context"], Any], int, Callable[[Any], ev.AnyResponse]]
"""The request of an event, its version, and what is read of the answer."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a request needs and its event does not say: the levels of features that every broker
    knows, and the topics' ids by name."""

    cluster_id: str
    features: Mapping[str, int]
    topic_ids: Mapping[str, UUID]


def _register(event: ev.RegisterBroker, context: Context) -> Fields:
    return {
        "broker_id": event.broker,
        "cluster_id": context.cluster_id,
        "incarnation_id": event.incarnation_id,
        "listeners": [{"name": "PLAINTEXT", "host": "x", "port": 1, "security_protocol": 0}],
        "features": [
            {"name": name, "min_supported_version": 0, "max_supported_version": level}
            for name, level in context.features.items()
        ],
        "rack": None,
        "log_dirs": event.log_dirs,
        "previous_broker_epoch": event.previous_broker_epoch,
    }


def _unregister(event: ev.UnregisterBroker, _: Context) -> Fields:
    return {"broker_id": event.broker}


def _heartbeat(event: ev.Heartbeat, _: Context) -> Fields:
    return {
        "broker_id": event.broker,
        "broker_epoch": event.broker_epoch,
        "current_metadata_offset": event.current_metadata_offset,
        "want_fence": event.want_fence,
        "want_shut_down": event.want_shut_down,
        # A tag that is not there is no list, rather than an empty one.
        **({"offline_log_dirs": list(event.offline_log_dirs)} if event.offline_log_dirs else {}),
    }


def _alter_partition(event: ev.AlterPartition, context: Context) -> Fields:
    return _alter_partitions(ev.AlterPartitions((event,)), context)


def _alter_partitions(event: ev.AlterPartitions, context: Context) -> Fields:
    """Return the fields, with a topic for each, so that the answers are in the same order."""
    sender = event.changes[0]
    return {
        "broker_id": sender.broker,
        "broker_epoch": sender.broker_epoch,
        "topics": [_altered_topic(change, context) for change in event.changes],
    }


def _altered_topic(event: ev.AlterPartition, context: Context) -> Fields:
    partition = {
        "partition_index": event.partition,
        "leader_epoch": event.leader_epoch,
        "new_isr_with_epochs": [
            {"broker_id": broker, "broker_epoch": epoch} for broker, epoch in event.new_isr
        ],
        "leader_recovery_state": event.leader_recovery_state,
        "partition_epoch": event.partition_epoch,
    }
    topic_id = context.topic_ids.get(event.topic, NO_TOPIC_ID)
    return {"topic_id": topic_id, "partitions": [partition]}


def _assign_replica(event: ev.AssignReplicaToDir, context: Context) -> Fields:
    topic_id = context.topic_ids.get(event.topic, NO_TOPIC_ID)
    topic = {"topic_id": topic_id, "partitions": [{"partition_index": event.partition}]}
    return {
        "broker_id": event.broker,
        "broker_epoch": event.broker_epoch,
        "directories": [{"id": event.log_dir, "topics": [topic]}],
    }


def _create_topic(event: ev.CreateTopic, _: Context) -> Fields:
    topic = {
        "name": event.name,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": [
            {"partition_index": number, "broker_ids": replicas}
            for number, replicas in event.assignment.items()
        ],
        "configs": [{"name": name, "value": value} for name, value in event.configs.items()],
    }
    return {"topics": [topic]}


def _create_partitions(event: ev.CreatePartitions, _: Context) -> Fields:
    assignments = [{"broker_ids": replicas} for replicas in event.assignment]
    topic = {"name": event.name, "count": event.count, "assignments": assignments}
    return {"topics": [topic], "timeout_ms": 60_000, "validate_only": False}


def _delete_topic(event: ev.DeleteTopic, _: Context) -> Fields:
    return {"topics": [{"name": event.name, "topic_id": None}], "timeout_ms": 60_000}


def _alter_config(resource: int, name: str, key: str, value: str | None) -> Fields:
    config = {"name": key, "config_operation": DELETE if value is None else SET, "value": value}
    resources = [{"resource_type": resource, "resource_name": name, "configs": [config]}]
    return {"resources": resources, "validate_only": False}


def _alter_topic_config(event: ev.AlterTopicConfig, _: Context) -> Fields:
    return _alter_config(TOPIC_RESOURCE, event.name, event.key, event.value)


def _alter_cluster_config(event: ev.AlterClusterConfig, _: Context) -> Fields:
    return _alter_config(BROKER_RESOURCE, "", event.key, event.value)


def _alter_reassignment(event: ev.AlterReassignment, _: Context) -> Fields:
    partition = {"partition_index": event.partition, "replicas": event.replicas}
    return {"topics": [{"name": event.topic, "partitions": [partition]}]}


def _elect_leaders(event: ev.ElectLeaders, _: Context) -> Fields:
    named = None
    if event.partitions is not None:
        named = [{"topic": name, "partitions": [number]} for name, number in event.partitions]
    return {"election_type": ELECTION_TYPES[event.kind], "topic_partitions": named}


def _update_elr_version(event: ev.UpdateElrVersion, _: Context) -> Fields:
    return update_feature(ELR_VERSION, event.level, event.upgrade_type)


def update_feature(name: str, level: int, upgrade_type: int) -> Fields:
    update = {"feature": name, "max_version_level": level, "upgrade_type": upgrade_type}
    return {"feature_updates": [update], "validate_only": False}


def _done(response: Any) -> ev.Response:
    return ev.Response(Errors(response.error_code))


def _created(response: Any) -> ev.Response:
    return _done(response.topics[0])


def _first_result(response: Any) -> ev.Response:
    return _done(response.results[0])


def _first_done(response: Any) -> ev.Response:
    return _done(response.responses[0])


def updated(response: Any) -> ev.Response:
    """Return the answer: 3.9 answers for each feature, 4.x for all of them when one fails."""
    return _done(response if response.error_code else response.results[0])


def _assigned(response: Any) -> ev.Response:
    found = response if response.error_code else response.directories[0].topics[0].partitions[0]
    return _done(found)


def _reassigned(response: Any) -> ev.Response:
    return _done(response if response.error_code else response.responses[0].partitions[0])


def _registered(response: Any) -> ev.RegisterBrokerResponse:
    return ev.RegisterBrokerResponse(Errors(response.error_code), response.broker_epoch)


def _heard(response: Any) -> ev.HeartbeatResponse:
    return ev.HeartbeatResponse(
        Errors(response.error_code),
        response.is_caught_up,
        response.is_fenced,
        response.should_shut_down,
    )


def _altered(response: Any) -> ev.AlterPartitionResponse:
    if response.error_code:
        return ev.AlterPartitionResponse(Errors(response.error_code))
    return _altered_partition(response.topics[0].partitions[0])


def _all_altered(response: Any) -> ev.AlterPartitionsResponse:
    results = (_altered_partition(topic.partitions[0]) for topic in response.topics)
    return ev.AlterPartitionsResponse(Errors(response.error_code), tuple(results))


def _altered_partition(found: Any) -> ev.AlterPartitionResponse:
    return ev.AlterPartitionResponse(
        partition_error=Errors(found.error_code),
        leader=found.leader_id,
        leader_epoch=found.leader_epoch,
        isr=tuple(found.isr),
        leader_recovery_state=found.leader_recovery_state,
        partition_epoch=found.partition_epoch,
    )


def _elected(response: Any) -> ev.ElectLeadersResponse:
    results = (
        (topic.topic, found.partition_id, Errors(found.error_code))
        for topic in response.replica_election_results
        for found in topic.partition_result
    )
    return ev.ElectLeadersResponse(Errors(response.error_code), tuple(sorted(results)))


def _sent_as(fields: Any, message: Any, version: int, read: Any) -> Sending:
    """Return how it is sent. `fields` takes event and context, `read` the decoded answer."""
    return lambda event, context: build(message, fields(event, context)), version, read


REQUESTS: Mapping[type, Sending] = {
    ev.RegisterBroker: _sent_as(_register, BrokerRegistrationRequest, 4, _registered),
    ev.UnregisterBroker: _sent_as(_unregister, UnregisterBrokerRequest, 0, _done),
    ev.Heartbeat: _sent_as(_heartbeat, BrokerHeartbeatRequest, 1, _heard),
    ev.AlterPartition: _sent_as(_alter_partition, AlterPartitionRequest, 3, _altered),
    ev.AlterPartitions: _sent_as(_alter_partitions, AlterPartitionRequest, 3, _all_altered),
    ev.AssignReplicaToDir: _sent_as(_assign_replica, AssignReplicasToDirsRequest, 0, _assigned),
    ev.CreateTopic: _sent_as(_create_topic, CreateTopicsRequest, 7, _created),
    ev.CreatePartitions: _sent_as(_create_partitions, CreatePartitionsRequest, 3, _first_result),
    ev.DeleteTopic: _sent_as(_delete_topic, DeleteTopicsRequest, 6, _first_done),
    ev.AlterTopicConfig: _sent_as(
        _alter_topic_config, IncrementalAlterConfigsRequest, 1, _first_done
    ),
    ev.AlterClusterConfig: _sent_as(
        _alter_cluster_config, IncrementalAlterConfigsRequest, 1, _first_done
    ),
    # Version 1 is Kafka 4's; 0 allows another number of replicas as well.
    ev.AlterReassignment: _sent_as(
        _alter_reassignment, AlterPartitionReassignmentsRequest, 0, _reassigned
    ),
    ev.ElectLeaders: _sent_as(_elect_leaders, ElectLeadersRequest, 2, _elected),
    ev.UpdateElrVersion: _sent_as(_update_elr_version, UpdateFeaturesRequest, 1, updated),
}
"""By event; the version is one that 3.9, 4.3 and 4.4 take."""
