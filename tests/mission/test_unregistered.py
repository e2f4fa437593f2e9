"""A broker that is lost for good was unregistered, and replica sets still name it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka.protocol.admin.topics import AlterPartitionReassignmentsRequest

from kafka_unclean_recovery.documents.journal_lines import half_done, parse
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.control.commands import parse_line
from kafka_unclean_recovery.emulator.control.executing import execute
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Rewrite, Where
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import link_to, state_directory
from kafka_unclean_recovery.recovery import views
from tests.cli.in_process import RECOVERY, invoke
from tests.emulator.asking import ask

TOPIC = "orders"
DEAD, WORSE, BETTER, MUTE = 1, 4, 3, 5
ORDER = (DEAD, WORSE, BETTER)
REORDER = "AlterPartitionReassignments"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=["4.4.0", "4.3.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield an outage: broker 1 led last and is dead; 3 holds more than 4."""
    with _outage(request.param) as cluster:
        yield cluster


@contextmanager
def _outage(release: str, brokers: int = 4, order: tuple[int, ...] = ORDER) -> Iterator[Cluster]:
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=brokers, release=release, settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[order], configs=configs)
        for victim in (WORSE, BETTER, *(b for b in order if b == MUTE), DEAD):
            cluster.produce(TOPIC, 0, 10)
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


@dataclass(frozen=True)
class Told:
    code: int
    row: dict[str, Any]
    stderr: str


def _recover(cluster: Cluster, *flags: str) -> Told:
    servers = ",".join(cluster.bootstrap_servers.split(",")[1:])
    how = flags or ("--automated-recovery", "--yes")
    found = ("--all-offline-partitions", "--format", "json")
    done = invoke(RECOVERY, "--bootstrap-server", servers, *found, *how)
    (row,) = json.loads(done.stdout)["partitions"]
    return Told(done.code, row, done.stderr)


def _unregister(cluster: Cluster, broker: int = DEAD) -> None:
    command = parse_line(f"unregister-broker {broker}")
    assert command is not None
    execute(cluster, command)


def _events(tmp_path: Path) -> list[str]:
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    lines = parse(journal.read_text(), str(journal))
    assert not half_done(lines)
    return [line["event"] for line in lines]


def test_the_registered_replicas_alone_are_written_and_the_better_one_is_elected(
    outage: Cluster, tmp_path: Path
) -> None:
    _unregister(outage)
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    now = outage.look(lambda e: e.state.partition(e.partition_key(TOPIC, 0)))
    assert (now.leader, now.replicas, now.reassigning) == (BETTER, (BETTER, WORSE), False)
    assert "broker 1 is not registered and has left the set [1, 4, 3]" in told.row["reason"]
    assert "its replicas are [3, 4] from now on" in told.row["reason"]
    assert "reduce" in _events(tmp_path)
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    report = invoke(RECOVERY, "report", str(journal))
    assert "writes 1 replica set without the unregistered broker 1" in report.stdout
    assert "Unregistered brokers have left for good 1 replica set: orders-0" in report.stdout
    assert "somebody else changed" not in report.stdout


def test_what_the_election_gives_up_is_in_the_plan_that_is_consented_to(outage: Cluster) -> None:
    assert "replica_unregistered" not in _codes(_recover(outage, "--show-replica-info"))
    _unregister(outage)
    told = _recover(outage, "--show-replica-info")
    assert "replica_unregistered" in _codes(told)
    (message,) = (f["message"] for f in told.row["findings"] if f["code"] == "replica_unregistered")
    assert "takes its replica out of the set for good, and brokers 3, 4 remain" in message


def test_it_is_seen_though_the_controllers_heard_from_it_a_moment_ago(
    outage: Cluster, tmp_path: Path
) -> None:
    """It died within its session: the controllers remember its last fetch for minutes."""

    def remembered(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        observers = [o for o in partition["observers"] if o["replica_id"] != DEAD]
        ago = {"replica_id": DEAD, "last_fetch_timestamp": int(time.time() * 1000) - 5_000}
        partition["observers"] = [*observers, {**observers[0], **ago}]
        return answer

    _unregister(outage)
    outage.intercept("DescribeQuorum", Rewrite(remembered), times=1000)
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    assert "replica_unregistered" in _codes(told)
    assert told.row["loss"]["certain"] is None
    assert "reduce" in _events(tmp_path)


def _codes(told: Told) -> set[str]:
    return {finding["code"] for finding in told.row["findings"]}


def test_where_no_broker_tells_who_is_registered_the_refusal_names_the_way_out(
    outage: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before Kafka 4.0."""
    monkeypatch.setattr(views, "with_unregistered", lambda state, *_: state)
    _unregister(outage)
    told = _recover(outage)
    assert (told.code, told.row["outcome"], told.row["leader"]) == (1, "failed", -1), told
    assert "Give the partition the replicas [3, 4] by kafka-reassign-partitions" in told.stderr
    assert _events(tmp_path)


def test_a_dead_broker_without_our_listener_keeps_its_replica(
    outage: Cluster, tmp_path: Path
) -> None:
    """It is not listed either, and the controllers know it."""
    outage.unlist(DEAD)
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    assert outage.partition(TOPIC, 0).replicas == ORDER
    assert "reduce" not in _events(tmp_path)


@pytest.mark.parametrize("unregistered", [(DEAD,), (DEAD, MUTE)], ids=["one", "both"])
def test_a_dead_broker_without_our_listener_keeps_its_replica_beside_one_that_is_unregistered(
    tmp_path: Path, unregistered: tuple[int, ...]
) -> None:
    """Neither is listed, and the controllers refuse a list for one after the other."""
    with _outage("4.4.0", brokers=5, order=(DEAD, WORSE, MUTE, BETTER)) as cluster:
        cluster.unlist(MUTE)
        for broker in unregistered:
            _unregister(cluster, broker)
        told = _recover(cluster)
        now = cluster.look(lambda e: e.state.partition(e.partition_key(TOPIC, 0)))
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    left = [broker for broker in (DEAD, MUTE) if broker not in unregistered]
    target = tuple(broker for broker in now.replicas if broker not in now.removing_replicas)
    assert (now.leader, target) == (BETTER, (BETTER, WORSE, *left)), now
    assert f"its replicas are {[BETTER, WORSE, *left]} from now on" in told.row["reason"]
    assert ("broker 1 is not registered" in told.row["reason"]) == (len(unregistered) == 1)
    listed = "a reassignment is listed until broker 5 is in sync"
    assert (listed in told.row["reason"]) == now.reassigning == bool(left)
    events = _events(tmp_path)
    assert events.count("reduce") == len(unregistered)


def test_a_run_that_dies_before_the_election_leaves_what_the_next_one_finishes(
    outage: Cluster,
) -> None:
    _unregister(outage)
    refused = outage.intercept("ElectLeaders", Fail(31), times=9)
    assert _recover(outage).row["outcome"] == "failed"
    assert outage.partition(TOPIC, 0).leader == -1
    refused.cancel()
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    now = outage.look(lambda e: e.state.partition(e.partition_key(TOPIC, 0)))
    assert (now.leader, now.replicas, now.reassigning) == (BETTER, (BETTER, WORSE), False)


def test_an_order_that_is_refused_is_not_put_back_and_stops_no_later_run(
    outage: Cluster, tmp_path: Path
) -> None:
    asked = outage.intercept(REORDER, Fail(39, Where.ENTRIES), times=99)
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (1, "failed")
    assert "INVALID_REPLICATION_ASSIGNMENT" in told.row["reason"]
    assert _events(tmp_path).count("reorder") == 1
    asked.cancel()
    assert _recover(outage).row["outcome"] == "elected"
    assert outage.partition(TOPIC, 0).replicas == ORDER


def _stuck(cluster: Cluster, tmp_path: Path) -> Path:
    """Return the journal of a run that elected, and whose order can't be put back, for broker 1 was
    unregistered meanwhile."""
    topic = cluster.look(lambda e: str(e.state.topic_ids[TOPIC]))
    path = tmp_path / "left.jsonl"
    row = {"topic": TOPIC, "topic_id": topic, "partition": 0}
    written = (BETTER, WORSE, DEAD)
    with Journal.open(path) as journal:
        journal.write("begin", cluster_id=cluster.look(lambda e: e.cluster_id))
        journal.write("reorder", partitions=[row | {"original": ORDER, "written": written}])
        journal.note("settled")
    partition = {"partition_index": 0, "replicas": list(written)}
    values = {"timeout_ms": 1000, "topics": [{"name": TOPIC, "partitions": [partition]}]}
    ask(cluster, BETTER, AlterPartitionReassignmentsRequest, 0, values)
    _unregister(cluster)
    found = state_directory(os.environ, cluster.look(lambda e: e.cluster_id))
    found.mkdir(parents=True)
    link_to(path, found)
    return path


def test_an_order_that_can_not_be_put_back_stops_its_own_partition_and_nothing_else(
    outage: Cluster, tmp_path: Path
) -> None:
    configs = {"min.insync.replicas": "1"}
    outage.create_topic("other", assignment=[(2, WORSE)], configs=configs)
    for victim in (WORSE, 2):
        outage.produce("other", 0, 5)
        outage.kill(victim)
        outage.fence(victim)
    outage.start(WORSE)
    journal = _stuck(outage, tmp_path)
    servers = ",".join(outage.bootstrap_servers.split(",")[2:])
    found = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = invoke(RECOVERY, "--bootstrap-server", servers, *found)
    rows = {row["topic"]: row for row in json.loads(done.stdout)["partitions"]}
    assert rows["other"]["outcome"] == "elected", done
    assert rows[TOPIC]["outcome"] == "refused"
    (named,) = re.findall(r"--resume (\S+),", rows[TOPIC]["reason"])
    assert Path(named).resolve() == journal
    assert "--keep-order" in rows[TOPIC]["reason"]


def test_an_order_that_can_not_be_put_back_is_settled_by_hand(
    outage: Cluster, tmp_path: Path
) -> None:
    journal = _stuck(outage, tmp_path)
    servers = ("--bootstrap-server", ",".join(outage.bootstrap_servers.split(",")[1:]))
    alone = invoke(RECOVERY, *servers, "--resume", str(journal))
    assert alone.code == 1
    assert "could not be put back" in alone.stderr
    other = invoke(RECOVERY, *servers, "--resume", str(journal), "--keep-order", "other-0")
    assert (other.code, "has no order to put back there" in other.stderr) == (2, True)
    done = invoke(RECOVERY, *servers, "--resume", str(journal), "--keep-order", "orders-0")
    assert done.code == 0, done.stderr
    assert "left as it is, as --keep-order says: now [3, 4, 1], before [1, 4, 3]" in done.stderr
    assert not half_done(parse(journal.read_text(), str(journal)))
    told = _recover(outage)
    assert (told.code, told.row["outcome"]) == (0, "elected"), told


def test_what_is_kept_is_named_beside_the_journal_alone(outage: Cluster) -> None:
    servers = ("--bootstrap-server", outage.bootstrap_servers)
    done = invoke(RECOVERY, *servers, "--all-offline-partitions", "--keep-order", "orders-0")
    assert (done.code, "--keep-order goes with --resume" in done.stderr) == (2, True)
