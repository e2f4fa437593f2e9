"""The harness keeps its promises: clusters, outages, and nothing left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_unclean_recovery.emulator import Cluster as EmulatedCluster
from kafka_unclean_recovery.emulator import Options
from kafka_unclean_recovery.kafka_names import ELR_VERSION, METADATA_VERSION
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.cache import ROOT, made_once
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, Span, replica_truth, replica_truths
from tests.real.metadata import NOTHING_SEEN, broker_view
from tests.real.metadata_request import answered_view
from tests.real.outages import Outage, last_replica_standing, stale_tail
from tests.real.ports import PortLease
from tests.real.recipes import TOPIC, elect_unclean
from tests.real.records import consume_all, create_topic, numbered, produce
from tests.real.releases import TESTED
from tests.real.security import Login
from tests.real.sharing import SharedClusters
from tests.real.waiting import wait_until

VERSIONS = TESTED
Restored = Callable[[Outage], KafkaCluster]


# One cluster of a version after the other.
@pytest.mark.parametrize("version", VERSIONS, scope="module")
def test_records_written_to_a_cluster_are_read_back(
    shared_clusters: SharedClusters, version: str
) -> None:
    cluster = shared_clusters.plain(version)
    create_topic(cluster.connection(), "read-back", [[1, 2, 3], [2, 3, 4]])
    produce(cluster.connection(), "read-back", 1, 300)
    assert consume_all(cluster.connection(), "read-back", 1) == list(map(numbered, range(300)))
    assert consume_all(cluster.connection(), "read-back", 0) == []


@pytest.mark.parametrize("version", VERSIONS, scope="module")
def test_one_request_shows_what_another_client_sees(
    shared_clusters: SharedClusters, version: str
) -> None:
    cluster = shared_clusters.plain(version)
    create_topic(cluster.connection(), "looked-at", [[1, 2, 3], [4, 3, 2]])
    cluster.wait_until_partitions("looked-at", lambda seen: len(seen.isr) == 3)
    for broker in cluster.live_brokers:
        view = answered_view(cluster.address(broker))
        assert view == broker_view(broker, cluster.connection(brokers=[broker]))
        assert view.topics["looked-at"][1].replicas == (4, 3, 2)


@pytest.mark.parametrize("version", VERSIONS, scope="module")
def test_an_emulated_broker_announces_nothing_that_a_real_one_lacks(
    shared_clusters: SharedClusters, version: str
) -> None:
    real = _announced(shared_clusters.plain(version).address(1))
    with EmulatedCluster(Options(brokers=1, release=version)) as emulated:
        ours = _announced(emulated.bootstrap_servers)
    levels = {METADATA_VERSION, ELR_VERSION}
    assert ours.levels == {n: level for n, level in real.levels.items() if n in levels}
    assert ours.versions.keys() <= real.versions.keys()
    # What clients draw conclusions from: other requests by the keys of GetReplicaLogInfo.
    newest = {43, 93, 94, *(request.API_KEY for request in REQUESTS.values())}
    assert [
        {key: of.versions[key] for key in newest & of.versions.keys()} for of in (ours, real)
    ] == [{43: (0, 2)} | ({93: (0, 0), 94: (0, 0)} if version == "4.4.0" else {})] * 2
    if version != "3.9.1":
        # The versions that are emulated are those of 4.3, or older.
        for key, (low, high) in ours.versions.items():
            assert real.versions[key][0] <= low <= high <= real.versions[key][1], key


class Announced(NamedTuple):
    """By a broker: the versions of each API key, and the finalized features."""

    versions: dict[int, tuple[int, int]]
    levels: dict[str, int]


def _announced(address: str) -> Announced:
    host, _, port = address.rpartition(":")
    names = {"client_software_name": "test", "client_software_version": "1"}
    with Wire(host, int(port)) as wire:
        answer = wire.ask(build(ApiVersionsRequest, names), 4)
    return Announced(
        {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys},
        {feature.name: feature.max_version_level for feature in answer.finalized_features},
    )


def test_brokers_die_and_come_back(tmp_path: Path) -> None:
    with KafkaCluster.create(tmp_path, brokers=3) as cluster:
        cluster.start()
        cluster.kill(3)
        cluster.wait_until_fenced({3})
        assert cluster.live_brokers == (1, 2)
        cluster.pause(2)
        assert answered_view(cluster.address(2), 0.5) == NOTHING_SEEN
        cluster.wait_until_fenced({2})
        cluster.resume(2)
        cluster.wait_until_unfenced({1, 2})
        cluster.start_node(3)
        cluster.stop(1)
        cluster.wait_until_fenced({1})
        assert cluster.view(2).brokers == {2, 3}


@pytest.mark.parametrize("version", VERSIONS)
def test_controllers_tell_who_is_fenced_once_no_broker_lives(tmp_path: Path, version: str) -> None:
    with KafkaCluster.create(tmp_path, version, brokers=2) as cluster:
        cluster.start()
        for broker in cluster.spec.broker_ids:
            cluster.stop(broker)
        cluster.wait_until_fenced({1, 2})
        cluster.start()
        cluster.stop(2)
        cluster.wait_until_fenced({2})
        # Before the session of the one that stopped is over.
        cluster.kill_all()
        cluster.start([101])
        # Before 4.0 a controller notices that one died only once a broker is there.
        cluster.wait_until_fenced({1, 2} if version >= "4" else {2})


@pytest.mark.parametrize("login", ["SCRAM-SHA-512", "PLAIN", "MTLS"])
def test_a_secured_cluster_admits_its_users(shared_clusters: SharedClusters, login: Login) -> None:
    cluster = shared_clusters.plain(brokers=1, secured=True)
    address = cluster.mtls_address(1) if login == "MTLS" else cluster.address(1)
    topic = f"made-by-{login.lower()}"

    def topics(user: str, *arguments: str) -> str:
        config = str(cluster.client_properties(user, login))
        command = ("--bootstrap-server", address, "--command-config", config, *arguments)
        return cluster.script("kafka-topics", *command).stdout

    topics("admin", "--create", "--topic", topic, "--partitions", "1")
    assert topic in topics("admin", "--list")
    # The authoriser hides what the other may not describe.
    assert topic not in topics("sre", "--list")


def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    with KafkaCluster.create(tmp_path, brokers=1) as cluster:
        cluster.log_dir(1).rename(tmp_path / "elsewhere")
        with pytest.raises(RuntimeError, match=r"meta\.properties"):
            cluster.start()
    assert not cluster.alive(101)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("min_isr", [1, 2])
def test_brokers_3_and_4_are_the_last_replicas_standing(
    restored: Restored, version: str, min_isr: int
) -> None:
    cluster = restored(last_replica_standing(version, min_isr))
    assert cluster.live_brokers == (3, 4)
    partitions = cluster.view(4).topics[TOPIC]
    assert len({partition.replicas for partition in partitions.values()}) == 24
    assert all(partition.offline for partition in partitions.values())
    cluster.kill_all()
    for broker, records in ((1, 2500), (2, 2000), (3, 1500), (4, 1000)):
        truths = replica_truths(cluster, broker, TOPIC, partitions)
        assert {(truth.log_start, truth.log_end) for truth in truths.values()} == {(0, records)}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_longest_log_has_a_stale_tail(restored: Restored, version: str) -> None:
    cluster = restored(stale_tail(version))
    assert cluster.live_brokers == (1, 4)
    assert cluster.view(4).topics[TOPIC][0].replicas == (1, 2, 4)
    cluster.kill_all()
    longest = ReplicaTruth(0, 1200, [Span(0, 0, 1200)])
    right = ReplicaTruth(0, 1100, [Span(0, 0, 1000), Span(2, 1000, 1100)])
    assert replica_truth(cluster, 1, TOPIC, 0) == longest
    assert replica_truth(cluster, 4, TOPIC, 0) == right


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stock_script_destroys_500_records_that_a_live_broker_held(
    restored: Restored, version: str
) -> None:
    cluster = restored(last_replica_standing(version))
    elect_unclean(cluster)
    cluster.wait_until_partitions(TOPIC, lambda p: not p.offline and set(p.isr) == {3, 4})
    partitions = cluster.view(3).topics[TOPIC]
    wrong = {
        number
        for number, partition in partitions.items()
        if partition.replicas.index(4) < partition.replicas.index(3)
    }
    assert {n for n, partition in partitions.items() if partition.leader == 4} == wrong
    assert len(wrong) == 12
    assert len(consume_all(cluster.connection(), TOPIC, min(wrong))) == 1000
    assert len(consume_all(cluster.connection(), TOPIC, min(set(partitions) - wrong))) == 1500
    cluster.kill_all()
    truths = replica_truths(cluster, 3, TOPIC, partitions)
    assert {number for number, truth in truths.items() if truth.log_end == 1000} == wrong


def test_ports_have_one_owner() -> None:
    mine, other = PortLease.of(20), PortLease.of(20)
    assert not set(mine.ports) & set(other.ports)
    assert max(mine.ports + other.ports) < 32_768
    mine.release()
    other.release()


def test_an_interrupted_making_leaves_nothing(tmp_path: Path) -> None:
    def interrupted(made: Path) -> None:
        made.write_text("half of it")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path / "thing", interrupted)
    assert not (tmp_path / "thing").exists()
    made_once(tmp_path / "thing", lambda made: made.mkdir())
    assert (tmp_path / "thing").is_dir()


def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    """A stand-in for pytest gets SIGKILL, a stand-in for a broker must follow."""
    script = (
        "import pathlib, sys, time; from tests.real.jvm import spawn;"
        "child = spawn(['sleep', '600'], pathlib.Path(sys.argv[1]));"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: not _runs(child), 10.0, lambda: f"{child} gone")


def _runs(pid: int) -> bool:
    """Return whether it runs; an orphan that nobody reaped is a zombie, and does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
