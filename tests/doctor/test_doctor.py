"""The command against emulated clusters with something wrong, each named, and nothing changed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest

from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.emulator import Cluster, Options, Security
from kafka_unclean_recovery.emulator.emulation import Settings
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, NoAnswer, Seen
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import state_directory
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.mechanisms import Dialect
from tests.cli.in_process import RECOVERY, invoke
from tests.fidelity.wire import Wire
from tests.messages.building import build

TOPIC = "orders"
# Nobody is fenced but by a test.
SETTINGS = Settings(session_timeout=60.0)
QUICKLY = 1500
_BROKER = 4


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    document: Any
    stderr: str

    def statuses(self, code: str) -> list[str]:
        return [check["status"] for check in self.document["checks"] if check["code"] == code]

    def what(self, code: str) -> str:
        return " / ".join(c["what"] for c in self.document["checks"] if c["code"] == code)

    @property
    def bad(self) -> set[str]:
        bad = ("warning", "failure")
        return {c["code"] for c in self.document["checks"] if c["status"] in bad}


def doctor(servers: str, *flags: str, timeout_ms: int = 10_000) -> Done:
    arguments = ["doctor", "--bootstrap-server", servers, "--timeout-ms", str(timeout_ms)]
    done = invoke(RECOVERY, *arguments, "--format", "json", *flags)
    document = json.loads(done.stdout) if done.stdout else None
    return Done(done.code, document, done.stderr)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


@contextmanager
def running(**options: Any) -> Iterator[Cluster]:
    with Cluster(Options(**{"brokers": 3, "settings": SETTINGS, **options})) as cluster:
        cluster.create_topic(TOPIC, assignment=[[1, 2, 3], [2, 3, 1]])
        cluster.produce(TOPIC, 0, 10)
        yield cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with running() as found:
        yield found


CHANGING = ("ElectLeaders", "AlterPartitionReassignments", "IncrementalAlterConfigs", "Produce")


def test_a_healthy_cluster_is_well_and_nothing_is_changed(cluster: Cluster, state: Path) -> None:
    before, records = cluster.status(), cluster.look(lambda e: e.state.end_offset)
    seen: list[Seen] = []
    for api in CHANGING:
        # None lets each of them pass.
        cluster.intercept(api, seen.append, times=100)
    done = doctor(cluster.bootstrap_servers)
    assert (done.code, done.bad, done.stderr) == (0, set(), "")
    assert done.statuses("brokers_answer") == ["ok"]
    assert done.what("brokers_answer") == "brokers 1, 2, 3 answered"
    assert done.statuses("right_cluster_alter") == ["ok", "ok"]
    assert done.statuses("right_topic_read") == ["ok"]
    assert done.statuses("clock_controller") == ["ok"]
    cluster.clear_intercepts()
    assert (cluster.status(), cluster.look(lambda e: e.state.end_offset)) == (before, records)
    assert not state.exists()
    # What could change something asks for nothing that is there.
    (electing,) = [one.request for one in seen if one.api == "ElectLeaders"]
    assert [t.topic for t in electing.topic_partitions] == ["kafka-unclean-recovery/doctor"]
    assert [o.request.topics for o in seen if o.api == "AlterPartitionReassignments"] == [[]]
    assert len(seen) == 2


@pytest.mark.parametrize("release", ["4.4.0", "4.3.1"])
def test_an_address_that_leads_to_another_broker_is_named(release: str) -> None:
    with running(release=release) as cluster:
        cluster.lead_astray(2, 3)
        done = doctor(cluster.bootstrap_servers)
    assert (done.code, done.statuses("who_answered")) == (1, ["ok"])
    assert done.what("who_answered").startswith("brokers 1, 3 proved by id and cluster")
    assert done.what("brokers_answer") == "brokers 1, 3 answered"
    assert "not broker 2" in done.what("broker_unreachable")


def test_the_right_that_would_prove_who_answers_is_named() -> None:
    with running(release="4.3.1") as cluster:
        refuse = Fail(Errors.CLUSTER_AUTHORIZATION_FAILED)
        cluster.intercept(
            "DescribeConfigs",
            lambda seen: refuse if _of_a_broker(seen) else None,
            broker=2,
            times=100,
        )
        done = doctor(cluster.bootstrap_servers)
    assert done.statuses("who_answered") == ["unknown", "ok"]
    (told,) = (c for c in done.document["checks"] if "nothing proves" in c["what"])
    assert told["what"].startswith("nothing proves that broker 2 answered")
    assert told["to_do"] == "grant Cluster:DESCRIBE_CONFIGS, or run Kafka 4.4 there"


def _of_a_broker(seen: Seen) -> bool:
    return any(resource.resource_type == _BROKER for resource in seen.request.resources)


def test_a_broker_without_our_listener_is_not_said_to_start(cluster: Cluster) -> None:
    cluster.unlist(3)
    done = doctor(cluster.bootstrap_servers)
    assert "so it lives, and has no listener that leads here" in done.what("broker_down")


def test_what_a_broker_without_our_listener_leads_is_not_offline(cluster: Cluster) -> None:
    cluster.unlist(2)
    done = doctor(cluster.bootstrap_servers)
    assert done.statuses("offline_partitions") == ["ok"]
    assert "1 of them led by brokers without our listener" in done.what("offline_partitions")


def test_a_silent_broker_delays_nothing_but_itself(cluster: Cluster) -> None:
    cluster.pause(2)
    begun = time.monotonic()
    done = doctor(cluster.bootstrap_servers, timeout_ms=QUICKLY)
    assert time.monotonic() - begun < 3 * QUICKLY / 1000
    assert done.code == 1
    assert done.statuses("broker_unreachable") == ["failure"]
    assert done.what("broker_unreachable").startswith("broker 2 is listed as live")
    assert done.what("brokers_answer") == "brokers 1, 3 answered"
    assert done.bad == {"broker_unreachable"}


def test_a_broker_without_our_listener_is_not_down_nor_its_partitions_offline(
    cluster: Cluster,
) -> None:
    cluster.unlist(1)
    done = doctor(cluster.bootstrap_servers.split(",")[2])
    assert done.bad == {"broker_down", "led_unseen"}
    assert "so it lives, and has no listener that leads here" in done.what("broker_down")
    assert f"nobody led them: {TOPIC}-0;" in done.what("led_unseen")
    assert done.statuses("offline_partitions") == ["ok"]


def test_what_is_offline_is_not_told_by_a_broker_that_is_behind(cluster: Cluster) -> None:
    cluster.create_topic("alone", assignment=[[2]])
    cluster.lag_metadata(1, STOPPED, fetched=True)
    cluster.kill(2)
    cluster.fence(2)
    done = doctor(cluster.bootstrap_servers.split(",")[0])
    assert "alone-0" in done.what("offline_partitions")
    cluster.lag_metadata(3, STOPPED, fetched=True)
    cluster.create_topic("later", assignment=[[3]])
    done = doctor(cluster.bootstrap_servers.split(",")[0])
    assert done.statuses("metadata_old") == ["warning"]


def test_what_another_broker_says_at_its_address_is_none_of_it(cluster: Cluster) -> None:
    cluster.lead_astray(2, 3)
    done = doctor(cluster.bootstrap_servers)
    assert done.what("brokers_answer") == "brokers 1, 3 answered"
    assert "broker_unreachable" in done.bad


def test_a_fenced_broker_and_its_offline_partition_are_named(cluster: Cluster) -> None:
    cluster.create_topic("alone", assignment=[[2]])
    cluster.kill(2)
    cluster.fence(2)
    done = doctor(cluster.bootstrap_servers)
    assert done.code == 1
    assert done.bad == {
        "broker_down",
        "led_on_return",
        "offline_partitions",
        "right_topic_describe",
        "right_topic_read",
    }
    assert done.what("broker_down").startswith("broker 2 is fenced: ")
    assert done.what("led_on_return").startswith("broker 2 leads 1 offline partition by itself")
    assert "alone-0" in done.what("offline_partitions")
    # Nobody who hosts it can be asked: that is no proof of a right.
    assert "could not be tried on topics alone" in done.what("right_topic_read")


def test_a_reassignment_that_hangs_is_named(cluster: Cluster) -> None:
    cluster.create_topic("moving", assignment=[[1]])
    cluster.kill(3)
    cluster.fence(3)
    _reassign(cluster, "moving", [3])
    done = doctor(cluster.bootstrap_servers)
    assert done.statuses("reassignments") == ["warning"]
    assert "moving-0" in done.what("reassignments")


def _reassign(cluster: Cluster, topic: str, replicas: list[int]) -> None:
    host, port = parse_bootstrap(cluster.bootstrap_servers)[0]
    wanted = {"name": topic, "partitions": [{"partition_index": 0, "replicas": replicas}]}
    with Wire(host, port) as wire:
        request = build(AlterPartitionReassignmentsRequest, {"timeout_ms": 1, "topics": [wanted]})
        answer = wire.ask(request, 0)
    assert answer.responses[0].partitions[0].error_code == 0


@pytest.mark.parametrize(("topic", "where"), [(TOPIC, "on the topics"), (None, "for all brokers")])
def test_elections_by_the_controller_itself_are_warned_of(
    cluster: Cluster, topic: str | None, where: str
) -> None:
    cluster.alter_configs(topic, {"unclean.leader.election.enable": "true"})
    done = doctor(cluster.bootstrap_servers)
    assert (done.code, done.bad) == (1, {"unclean_elections"})
    assert f"is true for topics {TOPIC}, set {where}" in done.what("unclean_elections")


def test_without_a_quorum_the_rest_is_still_told(cluster: Cluster) -> None:
    cluster.pause_controller()
    begun = time.monotonic()
    done = doctor(cluster.bootstrap_servers, timeout_ms=QUICKLY)
    assert time.monotonic() - begun < 3 * QUICKLY / 1000
    assert done.code == 1
    assert done.bad == {"quorum", "reassignments", "right_cluster_alter"}
    assert done.statuses("quorum") == ["failure"]
    assert done.statuses("right_cluster_alter") == ["warning", "warning"]
    assert done.statuses("right_topic_read") == ["ok"]
    assert done.statuses("unclean_elections") == ["ok"]


def test_a_failed_log_directory_is_named() -> None:
    with running(log_directories=2) as cluster:
        cluster.lose_disk(1, 1)
        done = doctor(cluster.bootstrap_servers)
    assert "log_directory_failed" in done.bad
    assert "of broker 1 failed: KAFKA_STORAGE_ERROR" in done.what("log_directory_failed")


EVERYTHING = ("Cluster:ALTER", "Topic(*):READ", "Topic(*):DESCRIBE_CONFIGS")
WITHOUT: list[tuple[tuple[str, ...], set[str]]] = [
    (EVERYTHING, set()),
    # A recovery needs no more.
    (("Cluster:ALTER", "Topic(*):READ"), set()),
    (("Cluster:DESCRIBE", "Topic(*):READ"), {"right_cluster_alter"}),
    (("Cluster:ALTER", "Topic(*):DESCRIBE"), {"right_topic_read"}),
    (
        ("Cluster:ALTER",),
        {"hidden_topics", "right_topic_read", "right_topic_describe"},
    ),
    (
        ("Topic(*):READ",),
        {
            *("right_cluster_describe", "right_cluster_alter", "quorum", "reassignments"),
            "hidden_topics",
        },
    ),
]


# Where the refusal of another right keeps one from being tried.
UNTRIED: dict[tuple[tuple[str, ...], str], str] = {
    (("Cluster:ALTER",), "right_topic_read"): "warning",
    (("Cluster:ALTER",), "right_topic_describe"): "warning",
    (("Topic(*):READ",), "hidden_topics"): "warning",
}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cluster")
    with running(data_dir=directory):
        return directory


@pytest.mark.parametrize(("rights", "missing"), WITHOUT, ids=lambda each: "+".join(sorted(each)))
def test_each_missing_right_is_named(
    disk: Path, rights: tuple[str, ...], missing: set[str]
) -> None:
    security = Security(rights={"ANONYMOUS": rights})
    with Cluster(Options(brokers=3, settings=SETTINGS, data_dir=disk, security=security)) as one:
        done = doctor(one.bootstrap_servers)
    assert done.bad == missing
    for code in missing - {"reassignments"}:
        assert set(done.statuses(code)) == {UNTRIED.get((rights, code), "failure")}
    assert done.code == (1 if missing else 0)
    unclean = "ok" if "Topic(*):DESCRIBE_CONFIGS" in rights else "unknown"
    if "hidden_topics" not in missing:
        assert done.statuses("unclean_elections") == [unclean]


def test_the_new_rpcs_are_chosen_where_the_emulator_speaks_them() -> None:
    with running(release="kip-966", dialect=Dialect.KIP_966) as cluster:
        seen: list[Seen] = []
        cluster.intercept("ElectLeaders", seen.append, times=100)
        done = doctor(cluster.bootstrap_servers)
        reorder = doctor(cluster.bootstrap_servers, "--election-method", "reorder")
    assert (done.code, done.bad) == (0, set())
    assert "GetReplicaLogInfo as in kip-966" in done.what("mechanism")
    assert done.statuses("right_cluster_alter") == ["ok"]
    assert done.statuses("right_replica_log_info") == ["ok"]
    assert "replica order best first" in reorder.what("mechanism")
    assert [one.version for one in seen] == [3, 2]


def test_the_new_rpcs_need_a_right_of_their_own(tmp_path: Path) -> None:
    new: dict[str, Any] = {
        "release": "kip-966",
        "dialect": Dialect.KIP_966,
        "data_dir": tmp_path / "cluster",
    }
    with running(**new):
        pass
    security = Security(rights={"ANONYMOUS": ("Cluster:ALTER", "Topic(*):READ")})
    options = Options(brokers=3, settings=SETTINGS, security=security, **new)
    with Cluster(options) as cluster:
        done = doctor(cluster.bootstrap_servers)
        today = ("--transport", "list-offsets", "--election-method", "reorder")
        without = doctor(cluster.bootstrap_servers, *today)
    assert done.bad == {"right_replica_log_info"}
    assert done.statuses("right_replica_log_info") == ["failure"]
    assert (without.code, without.bad) == (0, set())


def test_a_dialect_that_nobody_named_or_speaks_is_a_failure(cluster: Cluster) -> None:
    wish = ("--transport", "replica-log-info")
    done = doctor(cluster.bootstrap_servers, *wish)
    assert done.bad == {"mechanism"}
    assert "name it with --replica-log-info-dialect" in done.what("mechanism")
    named = doctor(cluster.bootstrap_servers, *wish, "--replica-log-info-dialect", "kip-966")
    assert named.bad == {"request_not_understood", "right_replica_log_info"}
    assert named.statuses("request_not_understood") == ["failure"] * 3


def test_a_mechanism_that_is_not_offered_is_a_failure(cluster: Cluster) -> None:
    done = doctor(cluster.bootstrap_servers, "--election-method", "designated")
    assert (done.code, "mechanism" in done.bad) == (1, True)
    assert "does not offer elections of a designated leader" in done.what("mechanism")


def test_a_journal_that_was_left_unfinished_is_named(cluster: Cluster, state: Path) -> None:
    cluster_id = cluster.look(lambda emulation: emulation.cluster_id)
    directory = state_directory({"XDG_STATE_HOME": str(state)}, cluster_id)
    directory.mkdir(parents=True)
    left = {"topic": TOPIC, "topic_id": "id", "partition": 0, "designated_leader": 2}
    with Journal.open(directory / "a.jsonl") as journal:
        journal.write("reorder", partitions=[{**left, "original": [1, 2], "written": [2, 1]}])
    done = doctor(cluster.bootstrap_servers)
    assert (done.code, done.bad) == (1, {"unfinished_journal"})
    assert str(directory / "a.jsonl") in done.what("unfinished_journal")


def test_a_request_that_is_never_answered_is_that_check_alone(cluster: Cluster) -> None:
    cluster.intercept("DescribeConfigs", NoAnswer(carried_out=False), times=100)
    done = doctor(cluster.bootstrap_servers, timeout_ms=QUICKLY)
    assert (done.code, done.bad) == (0, set())
    assert done.statuses("unclean_elections") == ["unknown"]


def test_what_a_recovery_depends_on_and_was_not_found_out_is_neither_well_nor_not_well(
    cluster: Cluster,
) -> None:
    cluster.intercept("ListPartitionReassignments", NoAnswer(carried_out=False), times=100)
    done = doctor(cluster.bootstrap_servers, timeout_ms=QUICKLY)
    assert (done.code, done.bad) == (4, {"reassignments"})
    assert done.document is not None
    found = {c["code"]: c["known"] for c in done.document["checks"] if c["status"] == "warning"}
    assert found == {"reassignments": False}
    cluster.kill(3)
    cluster.fence(3)
    assert doctor(cluster.bootstrap_servers, timeout_ms=QUICKLY).code == 1


def test_a_topic_that_was_made_meanwhile_is_not_taken_for_hidden(cluster: Cluster) -> None:
    # Once the topics are told as they were before there was one.
    cluster.intercept("DescribeTopicPartitions", Fail(Errors.UNKNOWN_TOPIC_OR_PARTITION), times=1)
    done = doctor(cluster.bootstrap_servers)
    assert (done.code, done.statuses("hidden_topics")) == (0, ["ok"])


def test_a_bootstrap_server_that_is_gone_is_a_notice(cluster: Cluster) -> None:
    done = doctor(f"127.0.0.1:1,{cluster.bootstrap_servers}")
    assert (done.code, done.statuses("bootstrap_unreachable")) == (0, ["notice"])
    assert "127.0.0.1:1" in done.what("bootstrap_unreachable")


def test_nobody_reachable_is_exit_3() -> None:
    done = doctor("127.0.0.1:1", timeout_ms=QUICKLY)
    assert (done.code, done.document) == (3, None)
    assert "no broker could be reached: 127.0.0.1:1" in done.stderr


def test_for_people_it_is_a_line_each_with_why_and_what_to_do(cluster: Cluster) -> None:
    cluster.kill(3)
    cluster.fence(3)
    done = invoke(RECOVERY, "doctor", "--bootstrap-server", cluster.bootstrap_servers)
    assert done.code == 1
    first, why, to_do = done.stdout.splitlines()[:3]
    assert first.startswith("warning  broker_down: broker 3 is fenced")
    assert why.startswith("         why: ")
    assert to_do.startswith("         do:  ")


def test_the_salvage_directory_must_be_there(tmp_path: Path) -> None:
    done = doctor("127.0.0.1:1", "--salvage-dir", str(tmp_path / "none" / "new"))
    assert done.code == 2
    assert "--salvage-dir" in done.stderr


def test_the_salvage_directory_may_be_a_new_one(cluster: Cluster, tmp_path: Path) -> None:
    done = doctor(cluster.bootstrap_servers, "--salvage-dir", str(tmp_path / "new"))
    assert (done.code, done.statuses("room_salvage")) == (0, ["ok"])
    assert f"free in {tmp_path} for a salvage" in done.what("room_salvage")
    assert not (tmp_path / "new").exists()
