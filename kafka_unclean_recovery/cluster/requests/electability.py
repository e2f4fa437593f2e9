"""Ask the controllers whether they would elect a broker.

A broker in a controlled shutdown is listed as live and answers every question, and yet no election
takes it; so does one that was fenced a moment ago. The controllers tell of both by one request that
changes nothing: they refuse to place a new topic on such a broker alone (CreateTopics,
validate-only; ReplicationControlManager.createTopic). A policy for new topics is asked only once
the placement was found good, so its refusal tells of a broker that can be elected.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.controller_apis import CREATE_TOPICS
from kafka_unclean_recovery.cluster.wire.error_codes import UNAUTHORIZED, error_name
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors

_TIMEOUT_MS = 5_000
# A name of its own, with no period or underscore that another topic's could be taken for.
_NAME = "kafka-unclean-recovery-is-broker-{broker}-electable"


@dataclass(frozen=True, slots=True)
class Electable:
    """What the controllers would do with brokers. refused: those that they would elect for nothing
    now; accepted: those that they would. untold: why others are not known to be electable, by
    broker."""

    refused: frozenset[int]
    untold: Mapping[int, str]
    accepted: frozenset[int] = frozenset()


NOT_ASKED = Electable(frozenset(), {})


async def electable(
    connection: Connection, brokers: Collection[int], deadline: Deadline
) -> Electable:
    """Return which of the brokers the controllers would elect; needs CREATE on the cluster. Nothing
    is created. Raises ConnectionFailed."""
    if connection.version_for(CREATE_TOPICS) is None:
        # A side question: no reason to give up a way to the controllers that works.
        untold = "the broker that was asked does not speak CreateTopics"
        return Electable(frozenset(), dict.fromkeys(brokers, untold))
    names = {_NAME.format(broker=broker): broker for broker in sorted(brokers)}
    fields = {
        "topics": [
            {
                "name": name,
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": [broker]}],
                "configs": [],
            }
            for name, broker in names.items()
        ],
        "timeout_ms": _TIMEOUT_MS,
        "validate_only": True,
    }
    answer = await connection.request(Message(CREATE_TOPICS, fields), deadline)
    codes = {topic["name"]: topic["error_code"] for topic in answer["topics"]}
    refused = {
        b for name, b in names.items() if codes.get(name) == Errors.INVALID_REPLICA_ASSIGNMENT
    }
    told = {
        b for name, b in names.items() if codes.get(name) in (Errors.NONE, Errors.POLICY_VIOLATION)
    }
    return Electable(
        frozenset(refused),
        {b: _why(codes.get(name)) for name, b in names.items() if b not in refused | told},
        frozenset(told),
    )


def _why(code: int | None) -> str:
    if code is None:
        return "the answer lacks it"
    right = "; grant Cluster:CREATE" if code in UNAUTHORIZED else ""
    return f"{error_name(code)}{right}"
