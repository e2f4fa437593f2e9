"""All replicas are lost for good, and a person gives the log up by its name."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal_lines import half_done, parse
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.faults import CONTROLLER
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, Fail, Seen
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.files.state_directory import state_directory
from tests.cli.run import RECOVERY, run

SOLO, OTHER = "solo", "other"
NO_LEADER = -1
UNKNOWN_SERVER_ERROR = -1
ELECT = ("--automated-recovery", "--yes")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=["4.4.0", "4.3.1", "3.9.1"])
def lost(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield a cluster: broker 1 had the only replica of both topics, and is dead."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=3, release=request.param, settings=settings)) as cluster:
        for topic in (SOLO, OTHER):
            cluster.create_topic(topic, assignment=[(1,), (1,)])
            cluster.produce(topic, 0, 1000)
        _end(cluster, 1)
        yield cluster


def _end(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


@dataclass(frozen=True)
class Told:
    code: int
    rows: dict[str, dict[str, Any]]
    problems: list[str]
    stderr: str


def _recover(
    cluster: Cluster, *flags: str, chosen: tuple[str, ...] = ("--all-offline-partitions",)
) -> Told:
    done = run(
        RECOVERY,
        *("--bootstrap-server", cluster.bootstrap_servers, *chosen),
        *("--format", "json", "--recovery-duration-ms", "3000"),
        *flags,
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    rows = {f"{row['topic']}-{row['partition']}": row for row in report["partitions"]}
    return Told(done.returncode, rows, report["problems"], done.stderr)


def _reassigning(cluster: Cluster, topic: str) -> bool:
    def asked(emulation: Emulation) -> bool:
        found = emulation.state.topic(topic)
        assert found is not None
        return found.partitions[0].reassigning

    return cluster.look(asked)


def _offline(emulation: Emulation, partitions: list[int]) -> bool:
    found = emulation.state.topic(SOLO)
    assert found is not None
    return all(found.partitions[number].leader == NO_LEADER for number in partitions)


def _nothing_is_left_open(state: Path) -> bool:
    journals = [parse(path.read_text(), str(path)) for path in state.rglob("*.jsonl")]
    return bool(journals) and not any(map(half_done, journals))


def test_a_partition_that_is_named_begins_anew_and_no_other(lost: Cluster, tmp_path: Path) -> None:
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    row = told.rows[f"{SOLO}-0"]
    assert row["outcome"] == "elected", row
    assert (
        "every record that it had is given up, and how many these were is unknown" in row["reason"]
    )
    assert row["loss"] == {"certain": None, "possible": None, "at_least": None}
    assert "log_given_up" in {finding["code"] for finding in row["findings"]}
    found = lost.partition(SOLO, 0)
    assert (found.leader, found.replicas, found.isr) == (2, (2,), (2,))
    assert not _reassigning(lost, SOLO)
    assert lost.produce(SOLO, 0, 1) == 0
    others = [name for name in told.rows if name != f"{SOLO}-0"]
    assert {told.rows[name]["outcome"] for name in others} == {"no_candidate"}
    assert lost.partition(SOLO, 1).replicas == (1,)
    assert _nothing_is_left_open(tmp_path / "state")


def test_a_topic_stands_for_its_partitions_and_they_begin_at_different_brokers(
    lost: Cluster,
) -> None:
    told = _recover(lost, *ELECT, "--accept-loss", "*:0", "--give-up-log", SOLO)
    assert told.code == 1
    assert [told.rows[f"{SOLO}-{n}"]["outcome"] for n in (0, 1)] == ["elected", "elected"]
    assert [lost.partition(SOLO, n).leader for n in (0, 1)] == [2, 3]
    assert lost.partition(OTHER, 0).leader == NO_LEADER


def test_a_name_that_is_also_that_of_a_topic_with_a_leader_gives_nothing_up(
    lost: Cluster, tmp_path: Path
) -> None:
    """Whoever names `solo-0` may mean that topic, which has come back meanwhile."""
    lost.create_topic(f"{SOLO}-0", assignment=[(2,)])
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    assert told.rows[f"{SOLO}-0"]["outcome"] == "no_candidate"
    assert lost.partition(SOLO, 0).replicas == (1,)
    assert told.code == 1
    assert any("neither counts" in problem for problem in told.problems)
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"partitions": [{"topic": SOLO, "partition": 0}]}))
    alone = ("--path-to-json-file", str(named))
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0", chosen=alone)
    assert told.rows[f"{SOLO}-0"]["outcome"] == "elected"


@pytest.mark.parametrize("flags", [(), ("--accept-loss", "*"), ("--accept-loss", SOLO)])
def test_no_other_consent_gives_a_log_up(lost: Cluster, flags: tuple[str, ...]) -> None:
    told = _recover(lost, *ELECT, *flags)
    assert {row["outcome"] for row in told.rows.values()} == {"no_candidate"}
    assert lost.partition(SOLO, 0).replicas == (1,)
    assert "--give-up-log" in told.rows[f"{SOLO}-0"]["reason"]


@pytest.mark.parametrize("name", ["*", "so lo", "", "."])
def test_what_is_no_name_is_refused(lost: Cluster, name: str) -> None:
    servers = ("--bootstrap-server", lost.bootstrap_servers, "--all-offline-partitions")
    done = run(RECOVERY, *servers, *ELECT, "--give-up-log", name)
    assert done.returncode == 2
    assert lost.partition(SOLO, 0).replicas == (1,)


def test_a_name_that_fits_nothing_is_a_problem(lost: Cluster) -> None:
    told = _recover(lost, *ELECT, "--give-up-log", "sole-0")
    assert told.code == 1
    assert "--give-up-log sole-0: no topic or partition of that name is offline here" in (
        told.problems
    )


def test_a_broker_that_only_the_controllers_do_not_hear_keeps_its_log(lost: Cluster) -> None:
    lost.start(1)
    lost.drop_link(1, CONTROLLER)
    lost.fence(1)
    told = _recover(lost, *ELECT, "--give-up-log", SOLO)
    assert "broker 1 may hold its log" in told.rows[f"{SOLO}-0"]["reason"]
    assert lost.partition(SOLO, 0).replicas == (1,)
    # Its own name passes over what may hold it.
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    assert told.rows[f"{SOLO}-0"]["outcome"] == "elected"
    assert lost.partition(SOLO, 0).leader == 2


def test_a_broker_that_may_live_keeps_its_log(lost: Cluster) -> None:
    lost.start(1)
    lost.unlist(1)
    told = _recover(lost, *ELECT, "--give-up-log", SOLO)
    assert {lost.partition(SOLO, n).replicas for n in (0, 1)} == {(1,)}
    assert not any(row["outcome"] == "elected" for row in told.rows.values())


def test_a_live_broker_whose_log_directory_failed_keeps_its_log() -> None:
    options = Options(brokers=3, log_directories=2, settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        cluster.create_topic(SOLO, assignment=[(1,)] * 4)
        failing = cluster.log_directories(1)[1]
        gone = [n for n in range(4) if (failing / f"{SOLO}-{n}").is_dir()]
        assert gone
        cluster.lose_disk(1, 1)
        cluster.wait_until(lambda emulation: _offline(emulation, gone))
        told = _recover(cluster, *ELECT, "--give-up-log", SOLO)
        for number in gone:
            assert "broker 1 may hold its log" in told.rows[f"{SOLO}-{number}"]["reason"]
            assert cluster.partition(SOLO, number).replicas == (1,)
        named = f"{SOLO}-{gone[0]}"
        told = _recover(cluster, *ELECT, "--give-up-log", named)
        assert told.rows[named]["outcome"] == "elected"


def test_a_disk_that_was_read_keeps_its_log(lost: Cluster) -> None:
    disk = ("--log-dirs", str(lost.log_directory(1)))
    told = _recover(lost, *ELECT, *disk, "--give-up-log", SOLO)
    assert "its disk was read" in told.rows[f"{SOLO}-0"]["reason"]
    assert lost.partition(SOLO, 0).replicas == (1,)
    told = _recover(lost, *ELECT, *disk, "--give-up-log", f"{SOLO}-0")
    assert told.rows[f"{SOLO}-0"]["outcome"] == "elected"


def test_a_partition_that_a_replica_can_lead_is_elected_as_ever(lost: Cluster) -> None:
    lost.create_topic("pair", assignment=[(3, 2)])
    lost.produce("pair", 0, 10)
    _end(lost, 2)
    _end(lost, 3)
    lost.start(2)
    told = _recover(lost, *ELECT, "--give-up-log", "pair-0")
    assert told.rows["pair-0"]["outcome"] == "elected"
    found = lost.partition("pair", 0)
    assert (found.leader, found.replicas) == (2, (3, 2))


@pytest.mark.parametrize("flags", [(), ("--salvage-dir", "saved"), ("--plan", "plan.json")])
def test_it_is_a_consent_to_an_election_and_to_nothing_else(
    lost: Cluster, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    servers = ("--bootstrap-server", lost.bootstrap_servers, "--all-offline-partitions")
    elect = ELECT if flags else ("--show-replica-info",)
    done = run(RECOVERY, *servers, *elect, *flags, "--give-up-log", SOLO, cwd=tmp_path)
    assert done.returncode == 2
    assert "--give-up-log and --end-reassignment" in done.stderr


def test_the_report_of_the_run_tells_what_was_given_up(lost: Cluster, tmp_path: Path) -> None:
    _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    told = run(RECOVERY, "report", str(journal))
    assert told.returncode == 0, told.stderr
    assert f"{SOLO}-0" in told.stdout
    assert "every record that it had is given up" in told.stdout
    assert "gives 1 partition new replicas, empty" in told.stdout
    page = run(RECOVERY, "report", str(journal), "--format", "html")
    assert page.returncode == 0, page.stderr


def test_a_person_sees_what_is_given_up(lost: Cluster) -> None:
    told = run(
        RECOVERY,
        *("--bootstrap-server", lost.bootstrap_servers, "--all-offline-partitions"),
        *(*ELECT, "--give-up-log", f"{SOLO}-0", "--show-replica-info", "--format", "ladder"),
    )
    assert "log_given_up: broker 2 is to start the partition anew, empty" in told.stdout
    assert "explain no_designated_leader" in told.stdout


def test_a_replica_that_comes_back_while_it_is_given_up_keeps_its_records(lost: Cluster) -> None:
    back = threading.Thread(target=lost.start, args=(1,))

    def while_it_is_written(seen: Seen) -> Delay:
        back.start()
        return Delay(3.5, carried_out=True)

    lost.intercept("AlterPartitionReassignments", while_it_is_written, times=1)
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    back.join()
    assert told.rows[f"{SOLO}-0"]["outcome"] == "already_online", told.rows
    assert lost.produce(SOLO, 0, 1) == 1000


# A run that ended half way.


def _left_by_a_run(cluster: Cluster, state: Path, kind: str, *orders: tuple[int, ...]) -> None:
    cluster_id = cluster.look(lambda emulation: emulation.cluster_id)
    topic_id = cluster.look(lambda emulation: str(emulation.state.topic_ids[SOLO]))
    directory = state_directory({"XDG_STATE_HOME": str(state)}, cluster_id)
    original, written = orders
    where = {"topic": SOLO, "topic_id": topic_id, "partition": 0, "kind": kind}
    with Journal.open(directory / "a.jsonl") as journal:
        journal.note("begin", cluster_id=cluster_id, command="kafka-unclean-recovery")
        journal.write("move", partitions=[{**where, "original": original, "written": written}])
        journal.write("settled")


def test_a_run_that_ended_before_the_election_gives_the_old_replicas_back(
    lost: Cluster, tmp_path: Path
) -> None:
    _left_by_a_run(lost, tmp_path / "state", "empty", (1,), (2,))
    lost.reassign(SOLO, 0, (2,))
    told = _recover(lost, *ELECT)
    assert "replica orders are to be put back first" in told.stderr
    found = lost.partition(SOLO, 0)
    assert (found.leader, found.replicas[0]) == (NO_LEADER, 1)
    assert _nothing_is_left_open(tmp_path / "state")


def test_a_run_that_ended_after_the_election_is_finished(lost: Cluster, tmp_path: Path) -> None:
    _left_by_a_run(lost, tmp_path / "state", "empty", (1,), (2,))
    lost.reassign(SOLO, 0, (2,))
    lost.elect_leaders("unclean", SOLO)
    assert _reassigning(lost, SOLO)
    _recover(lost, *ELECT)
    found = lost.partition(SOLO, 0)
    assert (found.leader, found.replicas) == (2, (2,))
    assert not _reassigning(lost, SOLO)
    assert _nothing_is_left_open(tmp_path / "state")


def test_a_run_that_ended_before_anything_was_written_leaves_nothing_to_do(
    lost: Cluster, tmp_path: Path
) -> None:
    _left_by_a_run(lost, tmp_path / "state", "empty", (1,), (2,))
    _recover(lost, *ELECT)
    assert lost.partition(SOLO, 0).replicas == (1,)
    assert not _reassigning(lost, SOLO)
    assert _nothing_is_left_open(tmp_path / "state")


def test_an_election_that_fails_gives_the_old_replicas_back(lost: Cluster, tmp_path: Path) -> None:
    lost.intercept("ElectLeaders", Fail(UNKNOWN_SERVER_ERROR), times=1000)
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    row = told.rows[f"{SOLO}-0"]
    assert row["outcome"] == "failed"
    assert "ElectLeaders: UNKNOWN" in row["reason"]
    found = lost.partition(SOLO, 0)
    assert (found.leader, found.replicas[0]) == (NO_LEADER, 1)
    assert _nothing_is_left_open(tmp_path / "state")
    # It can be tried again, whatever is listed still.
    lost.clear_intercepts()
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    assert told.rows[f"{SOLO}-0"]["outcome"] == "elected", told.rows
    assert lost.partition(SOLO, 0).replicas == (2,)
    assert not _reassigning(lost, SOLO)


def test_what_was_begun_with_the_stock_scripts_is_ended(lost: Cluster) -> None:
    lost.reassign(SOLO, 0, (3,))
    told = _recover(lost, *ELECT, "--give-up-log", f"{SOLO}-0")
    assert told.rows[f"{SOLO}-0"]["outcome"] == "elected", told.rows
    assert len(lost.partition(SOLO, 0).replicas) == 1
    assert not _reassigning(lost, SOLO)
