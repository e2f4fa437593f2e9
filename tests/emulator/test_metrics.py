"""The metrics of a cluster that goes through an outage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.control.metrics import (
    BrokerMetrics,
    ControllerMetrics,
    Metrics,
    metrics,
    prometheus_text,
)
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.recovery import Strategy
from tests.emulator.steps import TOPIC, create, elect_unclean, lose, opened, restart
from tests.emulator.test_recoveries import outage

HEALTHY = ControllerMetrics(
    active_broker_count=4,
    fenced_broker_count=0,
    global_topic_count=1,
    global_partition_count=1,
    offline_partitions_count=0,
    preferred_replica_imbalance_count=0,
    unclean_leader_elections=0,
    elections_from_eligible_leader_replicas=0,
    global_under_min_isr_partition_count=0,
    manual_leader_election_required_partition_count=0,
    unclean_recovery_partitions_count=0,
    unclean_recovery_finished_count=0,
    electable_leaders=3,
)


def test_every_step_of_an_outage_shows(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3), min_isr=2)
    assert metrics(emulation).controller == HEALTHY
    assert metrics(emulation).brokers == {
        1: BrokerMetrics(1, 1, 0, 0),
        2: BrokerMetrics(1, 0, 0, 0),
        3: BrokerMetrics(1, 0, 0, 0),
        4: BrokerMetrics(0, 0, 0, 0),
    }

    lose(emulation, 3)
    lose(emulation, 2)
    # 2 is in the ELR, 3 was outside of the ISR by then.
    below = replace(
        HEALTHY,
        active_broker_count=2,
        fenced_broker_count=2,
        global_under_min_isr_partition_count=1,
        electable_leaders=2,
    )
    assert metrics(emulation).controller == below
    assert metrics(emulation).brokers == {
        1: BrokerMetrics(1, 1, 1, 1),
        4: BrokerMetrics(0, 0, 0, 0),
    }

    lose(emulation, 1)
    offline = replace(
        below,
        active_broker_count=1,
        fenced_broker_count=3,
        offline_partitions_count=1,
        preferred_replica_imbalance_count=1,
    )
    assert metrics(emulation).controller == offline

    emulation.happen(ev.AlterTopicConfig(TOPIC, "min.insync.replicas", "1"))
    # With the ELR the last known leader is forgotten, and nobody is awaited any more.
    forgotten = replace(
        offline, manual_leader_election_required_partition_count=1, electable_leaders=0
    )
    assert metrics(emulation).controller == forgotten

    emulation.start(emulation.brokers[3])
    elect_unclean(emulation)
    assert metrics(emulation).controller == replace(
        forgotten,
        active_broker_count=2,
        fenced_broker_count=2,
        offline_partitions_count=0,
        unclean_leader_elections=1,
        global_under_min_isr_partition_count=0,
        manual_leader_election_required_partition_count=0,
        electable_leaders=1,
    )


def test_an_election_from_the_elr_is_counted_and_is_clean(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 3), min_isr=2)
    for broker in (3, 2, 1):
        emulation.stop(emulation.brokers[broker])
        emulation.expire(broker)
    emulation.start(emulation.brokers[2])
    found = metrics(emulation).controller
    assert (found.elections_from_eligible_leader_replicas, found.unclean_leader_elections) == (1, 0)


def test_a_topic_with_unclean_elections_waits_for_no_user(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2), min_isr=2)
    lose(emulation, 2)
    lose(emulation, 1)
    emulation.happen(ev.AlterTopicConfig(TOPIC, "min.insync.replicas", "1"))
    assert metrics(emulation).controller.manual_leader_election_required_partition_count == 1
    emulation.happen(ev.AlterTopicConfig(TOPIC, "unclean.leader.election.enable", "true"))
    assert metrics(emulation).controller.manual_leader_election_required_partition_count == 0


def test_a_balanced_recovery_counts_while_it_waits_and_when_it_is_finished(tmp_path: Path) -> None:
    emulation = outage(tmp_path)
    restart(emulation, 1)
    lose(emulation, 1)
    # 2 was in the ELR, and may be elected as it is.
    assert _recoveries(emulation) == (0, 0, 0)
    restart(emulation, 2)
    # Both started uncleanly, and 1, which was in the ELR last, is down.
    assert _recoveries(emulation) == (1, 0, 0)
    restart(emulation, 1)
    assert _recoveries(emulation) == (0, 0, 1)


def test_a_partition_that_may_not_be_recovered_waits_for_the_user(tmp_path: Path) -> None:
    emulation = outage(tmp_path, Strategy.NONE)
    for broker in (3, 2, 1):
        restart(emulation, broker)
    assert _recoveries(emulation) == (0, 1, 0)


def _recoveries(emulation: Emulation) -> tuple[int, int, int]:
    """Return (under recovery, waiting for the user, recovered)."""
    found = metrics(emulation).controller
    return (
        found.unclean_recovery_partitions_count,
        found.manual_leader_election_required_partition_count,
        found.unclean_recovery_finished_count,
    )


def test_they_are_exported_as_prometheus_text() -> None:
    found = Metrics(HEALTHY, {1: BrokerMetrics(5, 2, 1, 0), 3: BrokerMetrics(4, 0, 0, 0)})
    lines = prometheus_text(found).splitlines()
    assert "# TYPE kafka_controller_global_under_min_isr_partition_count gauge" in lines
    assert "kafka_controller_controllerstats_uncleanleaderelections_total 0" in lines
    start = lines.index("# TYPE kafka_server_replicamanager_leadercount gauge")
    assert lines[start + 1 : start + 3] == [
        'kafka_server_replicamanager_leadercount{broker="1"} 2',
        'kafka_server_replicamanager_leadercount{broker="3"} 0',
    ]


def test_without_a_running_broker_there_are_the_controller_s_alone() -> None:
    text = prometheus_text(Metrics(HEALTHY, {}))
    assert "kafka_server" not in text
    assert text.count("# TYPE") == 13


def test_a_running_cluster_is_asked_from_any_thread() -> None:
    with Cluster() as cluster:
        cluster.kill(4)
        cluster.fence(4)
        found = cluster.metrics()
    assert (found.controller.fenced_broker_count, sorted(found.brokers)) == (1, [1, 2, 3])
