"""What before-start says where the broker would be refused, and where the cluster has forgotten
what the broker knows."""

from __future__ import annotations

import shutil
from pathlib import Path

from confluent_kafka import ElectionType
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from tests.real.cluster import KafkaCluster
from tests.real.dump_log import replica_truth
from tests.real.faults import reassign
from tests.real.foretelling import foretold, said_since
from tests.real.metadata import QUIETLY, SILENT
from tests.real.new_controllers import bring_back, lose
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce, wait_until_replicated
from tests.real.start_outage import lose_broker
from tests.real.waiting import wait_until

TIMEOUT = 60.0
CANNOT_TELL = 4
CONFIG = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}


def _made(cluster: KafkaCluster) -> None:
    """Start the cluster, and give brokers 1 and 2 ten records of the topic."""
    cluster.start()
    create_topic(cluster.connection(), TOPIC, [(1, 2)], CONFIG)
    _produce(cluster, 0, 10)


def _produce(cluster: KafkaCluster, start: int, end: int) -> None:
    produce(cluster.connection(), TOPIC, 0, end - start, first=start)
    wait_until_replicated(cluster.connection(), TOPIC, {0: end}, TIMEOUT)


def _wait_until_said(cluster: KafkaCluster, since: int, words: str) -> None:
    """Wait until broker 1 said it, after so many bytes of its output."""
    wait_until(
        lambda: words in said_since(cluster, 1, since),
        TIMEOUT,
        lambda: f"{words}: {said_since(cluster, 1, since)[-2000:]}",
    )


def test_two_of_its_directories_with_one_replica_or_one_directory_id(tmp_path: Path) -> None:
    with KafkaCluster.create(tmp_path / "cluster", brokers=2, log_dirs_per_broker=2) as cluster:
        _made(cluster)
        lose_broker(cluster, 1)
        own = sorted(cluster.log_dirs(1), key=lambda path: not (path / f"{TOPIC}-0").exists())
        second = ("--log-dirs", str(cluster.log_dirs(1)[1]))
        rows, _ = foretold(tmp_path, cluster, 1, *second)
        assert {row["effect"] for row in rows.values()} == {"kept"}
        shutil.copytree(own[0] / f"{TOPIC}-0", own[1] / f"{TOPIC}-0")
        _is_refused(tmp_path, cluster, second, "in two of its directories", "Duplicate log direct")
        shutil.rmtree(own[1] / f"{TOPIC}-0")
        shutil.copy(own[0] / "meta.properties", own[1] / "meta.properties")
        _is_refused(tmp_path, cluster, second, "is here more than once", "Duplicate directory ID")


def test_a_directory_that_is_no_replicas(tmp_path: Path) -> None:
    with KafkaCluster.create(tmp_path / "cluster", brokers=2) as cluster:
        _made(cluster)
        lose_broker(cluster, 1)
        foreign = cluster.log_dir(1) / f"{TOPIC}-0.bak"
        foreign.mkdir()
        _is_refused(
            tmp_path, cluster, (), "of this name is no replica's", "not in the form of topic-par"
        )
        foreign.rmdir()
        (cluster.log_dir(1) / "remote-log-index-cache").mkdir()
        rows, _ = foretold(tmp_path, cluster, 1)
        assert {row["effect"] for row in rows.values()} == {"kept"}
        cluster.start_node(1)


def _is_refused(
    home: Path, cluster: KafkaCluster, second: tuple[str, ...], why: str, said: str
) -> None:
    rows, done = foretold(home, cluster, 1, *second)
    assert {row["effect"] for row in done.json["partitions"]} == {"refused"}
    assert all(why in row["why"] for row in rows.values())
    since = cluster.output(1).stat().st_size
    cluster.start_node(1, wait=False)
    wait_until(
        lambda: not cluster.alive(1),
        TIMEOUT,
        lambda: f"ended: {said_since(cluster, 1, since)}",
    )
    assert said in said_since(cluster, 1, since)


def test_a_broker_whose_session_has_not_ended_is_not_told_yet(tmp_path: Path) -> None:
    """Until then the controllers refuse another incarnation of it."""
    patient = {"broker.session.timeout.ms": "25000"}
    with KafkaCluster.create(tmp_path / "cluster", brokers=2, properties=patient) as cluster:
        _made(cluster)
        cluster.kill(1)
        rows, done = foretold(tmp_path, cluster, 1)
        assert (rows[0]["effect"], done.code) == ("unknown", CANNOT_TELL)
        assert "until then another incarnation of it is refused" in rows[0]["why"]
        since = cluster.output(1).stat().st_size
        cluster.start_node(1, wait=False)
        _wait_until_said(cluster, since, "DUPLICATE_BROKER_REGISTRATION")
        cluster.wait_until_unfenced([1])


def _each_leads(cluster: KafkaCluster, times: int) -> None:
    """Let brokers 2 and 1 lead in turn, in a leader epoch of their own each time."""
    client = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
    for leader in (2, 1) * times:
        reassign(cluster, TOPIC, [leader, 3 - leader])
        client.elect_leaders(ElectionType.PREFERRED, [Position(TOPIC, 0)]).result(TIMEOUT)
        cluster.wait_until_partitions(TOPIC, lambda p, leader=leader: p.leader == leader)  # type: ignore[misc]


def test_a_metadata_log_that_has_lost_records_is_not_believed(tmp_path: Path) -> None:
    """The only controller is back with a copy of its disk from before elections, and broker 1 wrote
    on after these."""
    with KafkaCluster.create(tmp_path / "cluster", brokers=2) as cluster:
        _made(cluster)
        controllers = cluster.spec.controller_ids
        lose(cluster, controllers, tmp_path / "old")
        bring_back(cluster, controllers, tmp_path / "old")
        cluster.wait_until_unfenced([1, 2])
        _each_leads(cluster, 5)
        _produce(cluster, 10, 20)
        lose_broker(cluster, 2)
        _produce(cluster, 20, 30)
        cluster.kill_all()
        written = replica_truth(cluster, 1, TOPIC, 0)
        bring_back(cluster, controllers, tmp_path / "old")
        # Each start is an epoch of the quorum: above those that the brokers know.
        for _ in range(3):
            cluster.kill(controllers[0])
            cluster.start(controllers)
        cluster.start([2])
        cluster.wait_until_partitions(TOPIC, lambda p: p.leader == 2, TIMEOUT)
        rows, done = foretold(tmp_path, cluster, 1)
        assert (rows[0]["effect"], done.code) == ("epoch_fell_back", CANNOT_TELL)
        assert "the metadata log has lost records since" in rows[0]["why"]
        assert rows[0]["log_end_offset"] == written.log_end == 30
        # What is not told: it cuts off what its leader's end does not reach, and asks for ever.
        since = cluster.output(1).stat().st_size
        cluster.start_node(1)
        _wait_until_said(cluster, since, f"Current offset 20 for partition {TOPIC}-0 is out of")
        assert set(cluster.view(2).topics[TOPIC][0].isr) == {2}
        cluster.kill(1)
        assert replica_truth(cluster, 1, TOPIC, 0).log_end == 20
