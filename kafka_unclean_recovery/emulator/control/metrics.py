"""These are the metrics that monitoring shows of a cluster: Kafka's of leadership, and those of
KIP-966.

Source: ControllerMetadataMetrics and ReplicaManager; KIP-966, "Metrics". They are counted anew for
each request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import below_min_isr
from kafka_unclean_recovery.emulator.broker.replica_fetchers import configured_min_isr
from kafka_unclean_recovery.emulator.election_counts import ElectionCounts
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import NO_LEADER, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.kraft_rules.unclean_recovery import (
    awaits_last_known_elr,
    left_to_users,
)
from kafka_unclean_recovery.report.prometheus import Labels, Metric, Sample, exposition


def _exported(name: str, kind: str = "gauge") -> int:
    """Return a dataclass field that is exported under a name."""
    found: int = field(metadata={"name": name, "kind": kind})
    return found


@dataclass(frozen=True, slots=True)
class ControllerMetrics:
    """The controller's metrics. The last five are KIP-966's: partitions whose ISR is smaller than
    min ISR; leaderless ones to which no broker's return would give a leader; unclean recoveries
    that go on and that are finished; and members of ISR and ELR, of all partitions, which the KIP
    wants counted without giving a name.

    Elections are counted from the cluster's start on.
    """

    active_broker_count: int = _exported("kafka_controller_kafkacontroller_activebrokercount")
    fenced_broker_count: int = _exported("kafka_controller_kafkacontroller_fencedbrokercount")
    global_topic_count: int = _exported("kafka_controller_kafkacontroller_globaltopiccount")
    global_partition_count: int = _exported("kafka_controller_kafkacontroller_globalpartitioncount")
    offline_partitions_count: int = _exported(
        "kafka_controller_kafkacontroller_offlinepartitionscount"
    )
    preferred_replica_imbalance_count: int = _exported(
        "kafka_controller_kafkacontroller_preferredreplicaimbalancecount"
    )
    unclean_leader_elections: int = _exported(
        "kafka_controller_controllerstats_uncleanleaderelections_total", "counter"
    )
    elections_from_eligible_leader_replicas: int = _exported(
        "kafka_controller_controllerstats_electionfromeligibleleaderreplicas_total", "counter"
    )
    global_under_min_isr_partition_count: int = _exported(
        "kafka_controller_global_under_min_isr_partition_count"
    )
    manual_leader_election_required_partition_count: int = _exported(
        "kafka_controller_manual_leader_election_required_partition_count"
    )
    unclean_recovery_partitions_count: int = _exported(
        "kafka_controller_unclean_recovery_partitions_count"
    )
    unclean_recovery_finished_count: int = _exported(
        "kafka_controller_unclean_recovery_finished_count", "counter"
    )
    electable_leaders: int = _exported("kafka_controller_electable_leaders")


@dataclass(frozen=True, slots=True)
class BrokerMetrics:
    """The metrics of a running broker. under_replicated_partitions and the metric after it count
    only partitions that the broker leads."""

    partition_count: int = _exported("kafka_server_replicamanager_partitioncount")
    leader_count: int = _exported("kafka_server_replicamanager_leadercount")
    under_replicated_partitions: int = _exported(
        "kafka_server_replicamanager_underreplicatedpartitions"
    )
    under_min_isr_partition_count: int = _exported(
        "kafka_server_replicamanager_underminisrpartitioncount"
    )


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a cluster. `brokers` holds the running ones by id."""

    controller: ControllerMetrics
    brokers: Mapping[int, BrokerMetrics]


def metrics(emulation: Emulation) -> Metrics:
    running = [broker for broker in emulation.brokers.values() if broker.running]
    return Metrics(
        _controller(emulation.state, emulation.elections),
        {broker.id: _broker(emulation, broker) for broker in running},
    )


def _controller(state: State, elections: ElectionCounts) -> ControllerMetrics:
    placed = [
        (topic, found) for topic in state.topics.values() for found in topic.partitions.values()
    ]
    keys = [TopicIdPartition(t.topic_id, n) for t in state.topics.values() for n in t.partitions]
    partitions = [found for _, found in placed]
    fenced = [broker for broker in state.brokers.values() if broker.fenced]
    return ControllerMetrics(
        active_broker_count=len(state.brokers) - len(fenced),
        fenced_broker_count=len(fenced),
        global_topic_count=len(state.topics),
        global_partition_count=len(partitions),
        offline_partitions_count=sum(p.leader == NO_LEADER for p in partitions),
        preferred_replica_imbalance_count=sum(p.leader != p.preferred_replica for p in partitions),
        unclean_leader_elections=elections.unclean,
        elections_from_eligible_leader_replicas=elections.from_elr,
        global_under_min_isr_partition_count=sum(
            len(found.isr) < state.min_isr(topic, found.replicas) for topic, found in placed
        ),
        manual_leader_election_required_partition_count=sum(
            _manual_election_required(state, key) for key in keys
        ),
        unclean_recovery_partitions_count=sum(_recovers(state, key) for key in keys),
        unclean_recovery_finished_count=state.recoveries_finished,
        electable_leaders=sum(len({*p.isr, *p.elr}) for p in partitions),
    )


def _nobody_eligible(found: PartitionRegistration) -> bool:
    """Return whether a leaderless partition has neither ISR nor ELR. A member of either would be
    elected once its broker is back."""
    return found.leader == NO_LEADER and not (found.isr or found.elr)


def _recovers(state: State, key: TopicIdPartition) -> bool:
    """Return whether a recovery goes on, or waits until the last known ELR is unfenced."""
    return key in state.recoveries or awaits_last_known_elr(state, key)


def _manual_election_required(state: State, key: TopicIdPartition) -> bool:
    """Return whether only a user can give the partition a leader. Without the recovery manager the
    last known leader is elected when its broker is back."""
    if state.recovers_uncleanly:
        return left_to_users(state, key)
    topic, found = state.topics[key.topic_id], state.partition(key)
    if not _nobody_eligible(found):
        return False
    last_known = found.last_known_elr or found.last_known_leader != NO_LEADER
    return not (last_known or state.unclean_elections(topic))


def _broker(emulation: Emulation, broker: Broker) -> BrokerMetrics:
    replicas = broker.replicas.values()
    led = [replica for replica in replicas if replica.leads]
    topics = emulation.state.topics
    return BrokerMetrics(
        partition_count=len(replicas),
        leader_count=len(led),
        under_replicated_partitions=sum(len(r.isr) < len(r.replicas) for r in led),
        under_min_isr_partition_count=sum(
            below_min_isr(r, configured_min_isr(emulation.state, topics[r.key.topic_id]))
            for r in led
        ),
    )


def prometheus_text(found: Metrics) -> str:
    """Return Prometheus text, with the names that the JMX exporter's rules for Kafka give."""
    brokers = [({"broker": str(id_)}, each) for id_, each in found.brokers.items()]
    return exposition([*_exports([({}, found.controller)]), *_exports(brokers)])


def _exports(
    by_labels: Sequence[tuple[Labels, ControllerMetrics | BrokerMetrics]],
) -> Iterator[Metric]:
    for each in fields(by_labels[0][1]) if by_labels else ():
        samples = tuple(Sample(getattr(values, each.name), labels) for labels, values in by_labels)
        yield Metric(each.metadata["name"], "", samples, each.metadata["kind"])
