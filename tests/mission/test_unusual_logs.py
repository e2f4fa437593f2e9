"""Replicas that never held a record, and leader epochs that wrote none. What deleted records leave
behind can't be shown: see NOT_EMULATED.
"""

from __future__ import annotations

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce
from tests.real.test_replica_info_is_the_truth import log_of, shown, the_files_agree

EPOCH_SKIPPED, NEVER_WRITTEN = range(2)
# Made while broker 3 is down, which never gets a record.
NEVER_COPIED = "never-copied"
REPLICAS = (1, 2, 3)


def test_empty_replicas_and_epochs_that_wrote_nothing_are_seen(
    new_cluster: KafkaCluster, cli: Cli
) -> None:
    cluster = new_cluster
    _write_in_epochs_0_and_2(cluster, cli)
    _fall_behind(cluster)
    rows = shown(cluster, cli)
    for broker in (2, 3):
        lineage = log_of(rows[EPOCH_SKIPPED], broker)["epochs"]
        assert [span["epoch"] for span in lineage] == [0, 2]
        assert log_of(rows[NEVER_WRITTEN], broker)["epochs"] == []
    done = cli.recover(cluster, "--all-offline-partitions", "--show-replica-info", "--format=json")
    (late,) = done.partitions(NEVER_COPIED).values()
    ends = {broker: log_of(late, broker)["log_end_offset"] for broker in (2, 3)}
    assert (ends, log_of(late, 3)["last_written_leader_epoch"]) == ({2: 50, 3: 0}, -1)
    the_files_agree(cluster, rows, live=(2, 3))


def _write_in_epochs_0_and_2(cluster: KafkaCluster, cli: Cli) -> None:
    create_topic(cluster.connection(), TOPIC, [REPLICAS] * 2)
    produce(cluster.connection(), TOPIC, EPOCH_SKIPPED, 500)
    cluster.stop(1)
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.leader == 2)
    cluster.start_node(1)
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == set(REPLICAS))
    preferred = ("--election-type", "preferred", "--all-topic-partitions")
    assert cli.elect(cluster, *preferred).code == 0
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.leader == 1)
    produce(cluster.connection(), TOPIC, EPOCH_SKIPPED, 100, first=500)


def _fall_behind(cluster: KafkaCluster) -> None:
    """Stop broker 3, then broker 2; broker 1 writes on alone before it dies."""
    cluster.stop(3)
    produce(cluster.connection(), TOPIC, EPOCH_SKIPPED, 50, first=600)
    create_topic(cluster.connection(), NEVER_COPIED, [REPLICAS])
    produce(cluster.connection(), NEVER_COPIED, 0, 50)
    cluster.stop(2)
    produce(cluster.connection(), TOPIC, EPOCH_SKIPPED, 50, first=650)
    cluster.kill(1)
    cluster.wait_until_fenced({1})
    cluster.start([2, 3])
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline)
