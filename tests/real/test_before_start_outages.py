"""What before-start says in the outages that the recovery is made for, once it is over, and what a
user without the rights is told. The starts then do what was said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import replica_truths
from tests.real.faults import Trouble
from tests.real.foretelling import Rows, foretold
from tests.real.grants import (
    CLUSTER_ALTER,
    CLUSTER_DESCRIBE,
    DESCRIBE_ALL,
    READ_ALL,
    USER,
    Right,
    granted,
    proving,
)
from tests.real.outages import Outage, last_replica_standing, stale_tail
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, numbered, produce
from tests.real.releases import TESTED
from tests.real.start_outage import lose_broker
from tests.real.trouble_recipe import ON_3, ON_4
from tests.real.waiting import wait_until
from tests.real.watching import Commands
from tests.real.witnesses import records_of

Restored = Callable[[Outage], KafkaCluster]
ALL_OFFLINE = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
TIMEOUT = 60.0
ORDERS = range(24)


def scan(home: Path, cluster: KafkaCluster, broker: int) -> tuple[str, str]:
    path = str(home / f"{broker}.json")
    done = Cli(home).offline("scan-log-dirs", str(cluster.log_dir(broker)), "--output", path)
    assert done.code == 0, done
    return "--replica-info-file", path


def start_and_stop(cluster: KafkaCluster, broker: int, isr: set[int]) -> None:
    cluster.start_node(broker)
    cluster.wait_until_partitions(TOPIC, lambda p: set(p.isr) == isr, TIMEOUT)


def told(rows: Rows) -> set[tuple[Any, ...]]:
    keys = ("effect", "offset", "records", "unique", "leader")
    return {tuple(row[key] for key in keys) for row in rows.values()}


def test_of_each_of_24_orders_what_the_dead_brokers_lose(
    restored: Restored, cli: Cli, tmp_path: Path
) -> None:
    cluster = restored(last_replica_standing())
    # Broker 3 has 1500 records of each partition, 2 has 2000, and 1 has 2500.
    before, _ = foretold(tmp_path, cluster, 1)
    assert {row["effect"] for row in before.values()} == {"leads"}
    before, _ = foretold(tmp_path, cluster, 2)
    assert {row["effect"] for row in before.values()} == {"waits"}
    assert cli.recover(cluster, *ALL_OFFLINE).code == 0
    # What a replica that catches up has is not known at every moment.
    cluster.wait_until_partitions(TOPIC, lambda p: set(p.isr) == {3, 4}, TIMEOUT)
    first, done = foretold(tmp_path, cluster, 1)
    assert told(first) == {("truncated", 1500, 1000, 1000, 3)}
    assert (len(first), done.code) == (len(ORDERS), 1)
    assert "the start deletes 24000 records of 24 replicas" in done.stderr
    second, _ = foretold(tmp_path, cluster, 2)
    assert told(second) == {("truncated", 1500, 500, 500, 3)}
    assert {tuple(row["unread"]) for row in second.values()} == {(1,)}
    # Whatever 2 has, 1 has too, and half of what 1 has.
    assert told(foretold(tmp_path, cluster, 2, *scan(tmp_path, cluster, 1))[0]) == {
        ("truncated", 1500, 500, 0, 3)
    }
    assert told(foretold(tmp_path, cluster, 1, *scan(tmp_path, cluster, 2))[0]) == {
        ("truncated", 1500, 1000, 500, 3)
    }
    start_and_stop(cluster, 2, {2, 3, 4})
    start_and_stop(cluster, 1, {1, 2, 3, 4})
    kept = [numbered(n) for n in range(1500)]
    assert all(values == kept for values in records_of(cluster, TOPIC, ORDERS).values())
    for broker in (1, 2):
        cluster.kill(broker)
        truths = replica_truths(cluster, broker, TOPIC, ORDERS)
        assert {truth.log_end for truth in truths.values()} == {1500}


@pytest.mark.parametrize("version", TESTED)
def test_the_leader_of_the_stale_tail_loses_what_it_wrote_alone(
    restored: Restored, cli: Cli, tmp_path: Path, version: str
) -> None:
    cluster = restored(stale_tail(version))
    assert cli.recover(cluster, *ALL_OFFLINE).code == 0
    cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 4 and set(p.isr) == {1, 4}, TIMEOUT)
    # Broker 2 wrote 50 records in epoch 2 once 4 was dead.
    rows, _ = foretold(tmp_path, cluster, 2)
    assert told(rows) == {("truncated", 1100, 50, 50, 4)}
    start_and_stop(cluster, 2, {1, 2, 4})
    cluster.kill(2)
    assert replica_truths(cluster, 2, TOPIC, [0])[0].log_end == 1100


def test_a_clean_stop_leads_again_from_the_elr_and_an_unclean_one_waits(tmp_path: Path) -> None:
    """Brokers 1 and 2 are the partition's, and its min.insync.replicas is 2; 3 is there to be
    asked."""
    with KafkaCluster.create(tmp_path / "cluster", brokers=3) as cluster:
        cluster.start()
        create_topic(cluster.connection(), TOPIC, [(1, 2)], {"min.insync.replicas": "2"})
        cluster.wait_until_partitions(TOPIC, lambda p: set(p.isr) == {1, 2}, TIMEOUT)
        produce(cluster.connection(), TOPIC, 0, 10)
        cluster.stop(1)
        cluster.wait_until_fenced([1], TIMEOUT)
        lose_broker(cluster, 2)
        rows, done = foretold(tmp_path, cluster, 1)
        assert rows[0]["effect"] == "leads"
        assert "it is in the ELR, and its stop was clean" in rows[0]["why"]
        assert done.json["stopped_clean"]
        cluster.start_node(1)
        cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 1, TIMEOUT)

        # 2 leads while 1 is out of the ISR, and is killed last: so it is the last known leader.
        cluster.start_node(2)
        cluster.wait_until_partitions(TOPIC, lambda p: set(p.isr) == {1, 2}, TIMEOUT)
        lose_broker(cluster, 1)
        lose_broker(cluster, 2)
        rows, done = foretold(tmp_path, cluster, 1)
        assert (rows[0]["effect"], done.json["stopped_clean"]) == ("waits", False)
        rows, _ = foretold(tmp_path, cluster, 2)
        assert rows[0]["effect"] == "waits"
        cluster.start_node(1)
        assert cluster.view(3).topics[TOPIC][0].leader == -1
        # Now the last known leader is alone in that.
        rows, _ = foretold(tmp_path, cluster, 2)
        assert rows[0]["effect"] == "leads"
        cluster.start_node(2)
        # Below min.insync.replicas no high watermark rises, and 2 may have been killed before it
        # wrote its own down.
        cluster.wait_until_partitions(
            TOPIC, lambda p: (p.leader, set(p.isr)) == (2, {1, 2}), TIMEOUT
        )
        kept = {0: [numbered(n) for n in range(10)]}
        wait_until(
            lambda: records_of(cluster, TOPIC, [0]) == kept,
            TIMEOUT,
            lambda: f"read {records_of(cluster, TOPIC, [0])}",
        )


def _asked(guarded: Trouble, commands: Commands, *rights: Right) -> tuple[dict[str, Any], Finished]:
    """Return what is foretold of broker 2 to a user with these rights."""
    config = guarded.cluster.client_properties(USER)
    server = ("--bootstrap-server", guarded.cluster.address(3), "--command-config", str(config))
    own = ("--log-dirs", str(guarded.cluster.log_dir(2)), "--topics", TOPIC)
    with granted(guarded.cluster, *rights):
        done = commands.run("before-start", *server, *own, "--format", "json")
    document: dict[str, Any] = json.loads(done.stdout)
    return document, done


def test_a_right_that_is_missing_is_named_and_what_it_hides_is_not_kept(
    guarded: Trouble, commands: Commands
) -> None:
    led, *_ = guarded.take(2)
    elected = ("--path-to-json-file", str(commands.partitions_file({TOPIC: [led]})))
    config = str(guarded.cluster.client_properties(USER))
    server = ("--bootstrap-server", guarded.cluster.address(3), "--command-config", config)
    with granted(guarded.cluster, CLUSTER_ALTER, READ_ALL):
        done = commands.run(*server, *elected, "--automated-recovery", "--yes")
    assert done.code == 0, done.stderr

    document, done = _asked(guarded, commands)
    assert done.code == 4
    assert {row["effect"] for row in document["partitions"]} == {"unknown"}
    assert all(f"grant Topic({TOPIC}):DESCRIBE" in row["why"] for row in document["partitions"])

    # DESCRIBE tells where it is cut, and not who else has the rest.
    always = proving(guarded.cluster.spec.version)
    document, done = _asked(guarded, commands, *always, DESCRIBE_ALL)
    rows = {row["partition"]: row for row in document["partitions"]}
    row = rows.pop(led)
    assert (row["effect"], row["offset"], row["records"]) == ("truncated", ON_3, ON_3 - ON_4)
    assert row["unique"] is None
    assert f"grant Topic({TOPIC}):READ" in row["why"]
    hidden = [row for row in rows.values() if row["leader"] is None]
    assert {row["effect"] for row in hidden} == {"unknown"}
    assert all(f"grant Topic({TOPIC}):DESCRIBE_CONFIGS" in row["why"] for row in hidden)
    assert "grant Cluster:DESCRIBE" in document["unknown"][0]
    assert done.code == 1

    document, done = _asked(guarded, commands, *always, READ_ALL, CLUSTER_DESCRIBE)
    row = next(row for row in document["partitions"] if row["partition"] == led)
    assert (row["unique"], row["unread"]) == (ON_3 - ON_4, [1])
    assert document["unknown"] == []
