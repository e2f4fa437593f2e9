"""The system test that KIP-1275 sketches in its "Test Plan", step by step."""

from __future__ import annotations

import json
from pathlib import Path

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.records import create_topic, produce
from tests.real.witnesses import partitions_of, wait_until_led

TOPIC = "test"
ISR = {1, 2}
REPLICAS = (1, 2, 3)


def test_the_system_test_of_the_kip(new_cluster: KafkaCluster, cli: Cli, tmp_path: Path) -> None:
    # "Spins up a test cluster": broker 4 hosts no replica and is there to be asked throughout.
    cluster = new_cluster

    # "[with] unclean.leader.election=false and create a partition. Produce to it."
    unclean_off = {"unclean.leader.election.enable": "false"}
    create_topic(cluster.connection(), TOPIC, [REPLICAS], unclean_off)
    produce(cluster.connection(), TOPIC, 0, 100)
    # A replica outside the ISR must be left to live: it goes first, and misses what follows.
    cluster.kill(3)
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == ISR)
    produce(cluster.connection(), TOPIC, 0, 50, first=100)

    # "Terminate all brokers in the ISR with unclean shutdowns (`kill -9`) and ensure that the
    # entire ISR is offline."
    for broker in ISR:
        cluster.kill(broker)
    cluster.wait_until_fenced(ISR)
    assert not ISR & cluster.view(4).brokers
    cluster.start_node(3)

    # "Assert that the test partition is offline."
    assert partitions_of(cluster, TOPIC)[0].offline

    # "Record the replica set."
    replica_set = partitions_of(cluster, TOPIC)[0].replicas
    assert replica_set == REPLICAS

    # "Get kafka-unclean-recovery.sh to perform a designated leadership election using
    # --automated-recovery flag."
    partitions = tmp_path / "partitions.json"
    partitions.write_text(json.dumps({"partitions": [{"topic": TOPIC, "partitions": [0]}]}))
    flags = ("--path-to-json-file", str(partitions), "--automated-recovery")
    done = cli.recover(cluster, *flags)
    assert done.code == 0, done

    # "Assert that the test partition is online and is using a broker from the non-ISR replica
    # set."
    (outside_the_isr,) = set(replica_set) - ISR
    wait_until_led(cluster, TOPIC, outside_the_isr, {0: replica_set})
