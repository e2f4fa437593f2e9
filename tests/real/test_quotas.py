"""A client quota that is used up: the broker answers Fetch without partitions, for a while."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, last_replica_standing
from tests.real.recipes import TOPIC
from tests.real.witnesses import replica_orders, wait_until_led

BEST = 3
# Kafka counts over about ten seconds: 24 partitions of a lineage are answered in 1.4 kB.
QUOTAS = {"bytes": "consumer_byte_rate=100", "requests": "request_percentage=0.5"}
LONG = ("--recovery-duration-ms", "120000")


@pytest.mark.parametrize("quota", QUOTAS.values(), ids=QUOTAS)
def test_the_best_replica_is_elected_under_a_client_quota_that_holds_answers_back(
    restored: Callable[[Outage], KafkaCluster], cli: Cli, quota: str
) -> None:
    cluster = restored(last_replica_standing())
    servers = ("--bootstrap-server", ",".join(map(cluster.address, cluster.live_brokers)))
    everybody = ("--entity-type", "clients", "--entity-default")
    cluster.script("kafka-configs", *servers, "--alter", "--add-config", quota, *everybody)
    assert quota in cluster.script("kafka-configs", *servers, "--describe", *everybody).stdout
    orders = replica_orders(cluster, TOPIC)
    flags = ("--all-offline-partitions", "--automated-recovery", "--accept-loss", "*:0", *LONG)
    done = cli.recover(cluster, *flags, "--format", "json", timeout=300)
    rows = done.partitions(TOPIC)
    assert done.code == 0, done.stderr
    assert {(row["outcome"], row["leader"]) for row in rows.values()} == {("elected", BEST)}
    assert {row["loss"]["certain"] for row in rows.values()} == {0}
    wait_until_led(cluster, TOPIC, BEST, orders)
