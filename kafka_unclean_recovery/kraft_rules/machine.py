"""The controller is a pure state machine.

`handle(state, event)` decides and changes nothing; `replay(state, record)` changes and decides
nothing. The controller has no socket, clock, lock or randomness: events tell it what happens
outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.alter_partition import (
    alter_partition,
    alter_partitions,
)
from kafka_unclean_recovery.kraft_rules.configs import (
    alter_broker_config,
    alter_cluster_config,
    alter_topic_config,
)
from kafka_unclean_recovery.kraft_rules.elections import (
    balance_leaders,
    elect_leaders,
    elect_unclean_leaders,
)
from kafka_unclean_recovery.kraft_rules.features import update_elr_version
from kafka_unclean_recovery.kraft_rules.heartbeats import heartbeat
from kafka_unclean_recovery.kraft_rules.log_dirs import assign_replica
from kafka_unclean_recovery.kraft_rules.reassignments import alter_reassignment
from kafka_unclean_recovery.kraft_rules.records import Record
from kafka_unclean_recovery.kraft_rules.registrations import (
    expire_session,
    register,
    unregister,
)
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.kraft_rules.topics import (
    create_partitions,
    create_topic,
    delete_topic,
)
from kafka_unclean_recovery.kraft_rules.unclean_recovery import (
    receive_log_info,
    review_recoveries,
    time_out,
)

_HANDLERS: dict[type[ev.Event], Callable[[State, Any], tuple[list[Record], Any]]] = {
    ev.RegisterBroker: register,
    ev.UnregisterBroker: unregister,
    ev.Heartbeat: heartbeat,
    ev.SessionExpired: expire_session,
    ev.AssignReplicaToDir: assign_replica,
    ev.AlterPartition: alter_partition,
    ev.AlterPartitions: alter_partitions,
    ev.CreateTopic: create_topic,
    ev.CreatePartitions: create_partitions,
    ev.DeleteTopic: delete_topic,
    ev.AlterTopicConfig: alter_topic_config,
    ev.AlterClusterConfig: alter_cluster_config,
    ev.AlterBrokerConfig: alter_broker_config,
    ev.AlterReassignment: alter_reassignment,
    ev.ElectLeaders: elect_leaders,
    ev.UpdateElrVersion: update_elr_version,
    ev.ReplicaLogInfo: receive_log_info,
    ev.RecoveryTimeout: time_out,
    ev.ReviewRecoveries: review_recoveries,
    ev.ElectUncleanLeaders: elect_unclean_leaders,
    ev.BalanceLeaders: balance_leaders,
}


def handle(state: State, event: ev.Event) -> tuple[list[Record], ev.AnyResponse]:
    """Return the records to write, in order, and the answer. An error goes with no records, except
    for NEW_LEADER_ELECTED. Raises ControllerFault where Kafka's own controller fails."""
    return _HANDLERS[type(event)](state, event)


def step(state: State, event: ev.Event) -> ev.AnyResponse:
    """Handle an event, replay its records and return the answer. A ControllerFault leaves the state
    as it was before."""
    records, response = handle(state, event)
    for record in records:
        replay(state, record)
    return response
