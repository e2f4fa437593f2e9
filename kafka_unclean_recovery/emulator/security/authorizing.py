"""The rules here decide what a client may ask for, and answer a client that may not (KafkaApis,
ControllerApis).

Rights are checked in this one place. Entries that a client may not have are taken out of its
request, or out of the answer where asking changes nothing; the APIs know nothing of rights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_unclean_recovery.emulator.apis.api import Api, Context, Fields
from kafka_unclean_recovery.emulator.apis.describe_configs import BROKER
from kafka_unclean_recovery.emulator.listener.failure_answers import failed
from kafka_unclean_recovery.emulator.security.asked import (
    Asked,
    Named,
    Refusal,
    Rule,
    anyone,
    needs_cluster,
    on_topic,
    parted,
)
from kafka_unclean_recovery.emulator.security.authorizing_groups import (
    alter_share_group_offsets,
    delete_groups,
    describe_groups,
    find_coordinator,
    list_groups,
    of_group,
    offset_fetch,
    share_group_offsets,
)
from kafka_unclean_recovery.emulator.security.authorizing_metadata import (
    describe_cluster,
    describe_topic_partitions,
    metadata,
)
from kafka_unclean_recovery.emulator.security.rights import Operation, Resource
from kafka_unclean_recovery.kafka_names import Errors


async def answer(api: Api, context: Context, request: Any) -> Fields | None:
    """Return the API's answer, as far as the client may have it, or None where none is wanted."""
    if context.rights.everything:
        return await api.answer(context, request)
    return await RULES[type(request).name](Asked(api, context, request))


# These rules refuse some topics of a request and let the API answer the others.


async def _fetch(asked: Asked) -> Fields | None:
    """Answer a fetch: a follower needs a right on the cluster, other clients one on the topic."""
    return await (_fetch_as_follower if _follows(asked.request) else _fetch_topics)(asked)


def _follows(request: Any) -> bool:
    if request.version < 15:
        return int(request.replica_id) >= 0
    return request.replica_state is not None and int(request.replica_state.replica_id) >= 0


def _no_fetch(topic: Any) -> Fields:
    none = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED, "high_watermark": -1, "records": b""}
    partitions = [{"partition_index": each.partition} | none for each in topic.partitions]
    return {"topic": topic.topic, "topic_id": topic.topic_id, "partitions": partitions}


_fetch_topics = parted("topics", "responses", on_topic(Operation.READ), _no_fetch)
_fetch_as_follower = parted(
    "topics",
    "responses",
    lambda asked, _: asked.rights.may(Operation.CLUSTER_ACTION, Resource.CLUSTER),
    _no_fetch,
)


def _no_produce(topic: Any) -> Fields:
    none = {
        "error_code": Errors.TOPIC_AUTHORIZATION_FAILED,
        "base_offset": -1,
        "log_start_offset": -1,
    }
    partitions = [{"index": each.index} | none for each in topic.partition_data]
    return {"name": topic.name, "topic_id": topic.topic_id, "partition_responses": partitions}


def _no_offsets(topic: Any) -> Fields:
    none = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED}
    partitions = [{"partition_index": each.partition_index} | none for each in topic.partitions]
    return {"name": topic.name, "partitions": partitions}


def _no_producers(topic: Any) -> Fields:
    none = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED, "error_message": None}
    partitions = [{"partition_index": number} | none for number in topic.partition_indexes]
    return {"name": topic.name, "partitions": partitions}


def _no_topic(topic: Any) -> Fields:
    return {
        "name": topic.name,
        "error_code": Errors.TOPIC_AUTHORIZATION_FAILED,
        "error_message": "Topic authorization failed.",
    }


def _may_create(asked: Asked, topic: Any) -> bool:
    anywhere = asked.rights.may(Operation.CREATE, Resource.CLUSTER)
    return anywhere or asked.may(Operation.CREATE, topic)


async def _delete_topics(asked: Asked) -> Fields | None:
    """Answer DeleteTopics. A refusal by id names the topic if the client may describe it."""
    if asked.request.version < 6:
        return await _delete_by_name(asked)

    def refusal(topic: Any) -> Fields:
        no: Fields = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED, "error_message": None}
        if topic.name:
            return no | {"name": topic.name}
        known = asked.context.topic(None, topic.topic_id)
        told = known is not None and asked.may(Operation.DESCRIBE, topic)
        return no | {"name": known.name if known and told else None, "topic_id": topic.topic_id}

    return await parted("topics", "responses", on_topic(Operation.DELETE), refusal)(asked)


_delete_by_name = parted(
    "topic_names",
    "responses",
    lambda asked, name: asked.may(Operation.DELETE, Named(name)),
    lambda name: {"name": name, "error_code": Errors.TOPIC_AUTHORIZATION_FAILED},
)


def _configs(operation: Operation, answered: str, more: Fields) -> Rule:
    """Return a rule for configs: topics need a right by name, brokers a right on the cluster."""

    def may(asked: Asked, resource: Any) -> bool:
        if resource.resource_type == BROKER:
            return asked.rights.may(operation, Resource.CLUSTER)
        return asked.may(operation, Named(resource.resource_name))

    def refusal(resource: Any) -> Fields:
        of_broker = resource.resource_type == BROKER
        return more | {
            "error_code": Errors.CLUSTER_AUTHORIZATION_FAILED
            if of_broker
            else Errors.TOPIC_AUTHORIZATION_FAILED,
            "error_message": None,
            "resource_type": resource.resource_type,
            "resource_name": resource.resource_name,
        }

    return parted("resources", answered, may, refusal)


# These functions refuse whole requests.


def _everywhere(request: Any) -> Fields:
    """Refuse at the top and for each thing that was asked for, wherever the answer has an error."""
    return failed(type(request), request, Errors.CLUSTER_AUTHORIZATION_FAILED)


def _no(operation: Operation, **more: Any) -> Refusal:
    return lambda request: {
        "error_code": Errors.CLUSTER_AUTHORIZATION_FAILED,
        "error_message": f"Request {type(request).name} needs {operation.name} permission.",
        **more,
    }


# These rules are about producers and groups.


async def _init_producer_id(asked: Asked) -> Fields | None:
    request, rights = asked.request, asked.rights
    if request.transactional_id is not None:
        name = request.transactional_id
        allowed = rights.may(Operation.WRITE, Resource.TRANSACTIONAL_ID, name)
        error = Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    else:
        allowed = rights.may(Operation.IDEMPOTENT_WRITE, Resource.CLUSTER)
        allowed = allowed or rights.may_anywhere(Operation.WRITE, Resource.TOPIC)
        error = Errors.CLUSTER_AUTHORIZATION_FAILED
    if allowed:
        return await asked.answered()
    return {"error_code": error, "producer_id": -1, "producer_epoch": -1}


_describe_transactions = parted(
    "transactional_ids",
    "transaction_states",
    lambda asked, name: asked.rights.may(Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, name),
    lambda name: {
        "transactional_id": name,
        "error_code": Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    },
)


def _no_commit(topic: Any) -> Fields:
    return _no_offsets(topic) | {"topic_id": topic.topic_id}


def _no_epoch_end(topic: Any) -> Fields:
    none = {"error_code": Errors.TOPIC_AUTHORIZATION_FAILED}
    partitions = [{"partition": each.partition} | none for each in topic.partitions]
    return {"topic": topic.topic, "partitions": partitions}


def _may_see_epochs(asked: Asked, topic: Any) -> bool:
    replica = asked.rights.may(Operation.CLUSTER_ACTION, Resource.CLUSTER)
    return replica or asked.may(Operation.DESCRIBE, topic)


RULES: Mapping[str, Rule] = {
    "AlterConfigsRequest": _configs(Operation.ALTER_CONFIGS, "responses", {}),
    "AlterPartitionReassignmentsRequest": needs_cluster(
        Operation.ALTER, _no(Operation.ALTER, responses=[])
    ),
    "AlterShareGroupOffsetsRequest": alter_share_group_offsets,
    "ApiVersionsRequest": anyone,
    "CreatePartitionsRequest": parted("topics", "results", on_topic(Operation.ALTER), _no_topic),
    "CreateTopicsRequest": parted("topics", "topics", _may_create, _no_topic),
    "DeleteGroupsRequest": delete_groups,
    "DeleteTopicsRequest": _delete_topics,
    "DescribeClusterRequest": describe_cluster,
    "DescribeConfigsRequest": _configs(Operation.DESCRIBE_CONFIGS, "results", {"configs": []}),
    "DescribeGroupsRequest": describe_groups,
    "DescribeLogDirsRequest": needs_cluster(Operation.DESCRIBE, _everywhere),
    "DescribeProducersRequest": parted("topics", "topics", on_topic(Operation.READ), _no_producers),
    "DescribeQuorumRequest": needs_cluster(
        Operation.DESCRIBE, _no(Operation.DESCRIBE, topics=[], nodes=[])
    ),
    "DescribeShareGroupOffsetsRequest": share_group_offsets,
    "DescribeTopicPartitionsRequest": describe_topic_partitions,
    "DescribeTransactionsRequest": _describe_transactions,
    "ListTransactionsRequest": anyone,
    # ElectLeaders needs ALTER in Kafka; the texts of KIP-966 and KIP-1275 say CLUSTER_ACTION.
    "ElectLeadersRequest": needs_cluster(Operation.ALTER, _everywhere),
    "FetchRequest": _fetch,
    "FindCoordinatorRequest": find_coordinator,
    "GetReplicaLogInfoRequest": needs_cluster(Operation.CLUSTER_ACTION, _everywhere),
    "HeartbeatRequest": of_group(Operation.READ),
    "IncrementalAlterConfigsRequest": _configs(Operation.ALTER_CONFIGS, "responses", {}),
    "InitProducerIdRequest": _init_producer_id,
    "JoinGroupRequest": of_group(Operation.READ),
    "LeaveGroupRequest": of_group(Operation.READ),
    "ListGroupsRequest": list_groups,
    "ListOffsetsRequest": parted("topics", "topics", on_topic(Operation.DESCRIBE), _no_offsets),
    "ListPartitionReassignmentsRequest": needs_cluster(
        Operation.DESCRIBE, _no(Operation.DESCRIBE, topics=[])
    ),
    "MetadataRequest": metadata,
    "OffsetCommitRequest": of_group(
        Operation.READ, parted("topics", "topics", on_topic(Operation.READ), _no_commit)
    ),
    "OffsetFetchRequest": offset_fetch,
    "OffsetForLeaderEpochRequest": parted("topics", "topics", _may_see_epochs, _no_epoch_end),
    "ProduceRequest": parted("topic_data", "responses", on_topic(Operation.WRITE), _no_produce),
    "ReadShareGroupStateRequest": needs_cluster(Operation.CLUSTER_ACTION, _everywhere),
    "SaslAuthenticateRequest": anyone,
    "SaslHandshakeRequest": anyone,
    "SyncGroupRequest": of_group(Operation.READ),
    "UpdateFeaturesRequest": needs_cluster(Operation.ALTER, _no(Operation.ALTER, results=[])),
}
"""This table has every request that is answered, by name, with the rule that says what it needs."""
