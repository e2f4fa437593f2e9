"""A partition lost its leader while a reassignment of it waited for a dead broker."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal_lines import half_done, parse
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Rewrite, Where
from tests.cli.run import RECOVERY, run
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, Gate, tapped

TOPIC = "orders"
WORSE, BETTER, MUTE = 4, 3, 5
NO_LEADER = -1
UNKNOWN_SERVER_ERROR = -1
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=["4.4.0", "4.3.1", "3.9.1"])
def pending(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield a reassignment: of brokers 1, 4 and 3 the last is to go and 2, which is dead, to come.
    1 died; 3 holds 1500 records and 4, which is before it in the list, 1000."""
    with _outage(request.param, (1, WORSE, BETTER)) as cluster:
        yield cluster


@contextmanager
def _outage(release: str, order: tuple[int, ...]) -> Iterator[Cluster]:
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=5, release=release, settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[order], configs=configs)
        _end(cluster, 2)
        for victim in (*(b for b in order if b == MUTE), WORSE, BETTER):
            cluster.produce(TOPIC, 0, 1000 if victim == WORSE else 500, acks="1")
            _end(cluster, victim)
        cluster.reassign(TOPIC, 0, tuple(2 if b == BETTER else b for b in order))
        _end(cluster, 1)
        cluster.start(BETTER)
        cluster.start(WORSE)
        assert cluster.partition(TOPIC, 0).leader == NO_LEADER
        yield cluster


def _end(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _recovered(cluster: Cluster, *flags: str) -> tuple[int, dict[str, Any]]:
    done = run(
        RECOVERY,
        *("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions"),
        *("--format", "json", "--automated-recovery", "--yes", *flags),
    )
    assert done.stdout, done.stderr
    row: dict[str, Any] = json.loads(done.stdout)["partitions"][0]
    return done.returncode, row


def _refused(cluster: Cluster, *flags: str) -> dict[str, Any]:
    code, row = _recovered(cluster, *flags)
    assert code == 1
    assert row["outcome"] == "refused"
    return row


def test_nobody_is_told_that_it_can_not_be_cancelled_or_to_cancel_it_first(
    pending: Cluster,
) -> None:
    reason = _refused(pending)["reason"]
    looked = run(
        RECOVERY, "doctor", "--bootstrap-server", pending.bootstrap_servers, "--format", "json"
    )
    checks = {check["code"]: check for check in json.loads(looked.stdout)["checks"]}
    told = checks["reassignments"]["to_do"]
    for said in (reason, told):
        assert "can't be cancelled" not in said
        assert "cancel or finish it first" not in said
        assert "back to that set, the best replica first" in said
        assert "--end-reassignment" in said


def test_reassigned_back_to_the_old_set_best_first_the_best_replica_is_elected(
    pending: Cluster,
) -> None:
    _refused(pending)
    pending.reassign(TOPIC, 0, (BETTER, WORSE, 1))
    pending.elect_leaders("unclean", TOPIC)
    found = pending.partition(TOPIC, 0)
    assert found.leader == BETTER
    assert found.replicas[:3] == (BETTER, WORSE, 1)


def test_cancelled_where_unclean_elections_are_allowed_the_worse_one_is_elected_blindly(
    pending: Cluster,
) -> None:
    pending.alter_configs(TOPIC, {UNCLEAN: "true"})
    pending.reassign(TOPIC, 0, None)
    assert pending.partition(TOPIC, 0).leader == WORSE


@pytest.mark.parametrize("name", [TOPIC, f"{TOPIC}-0"])
def test_who_gives_the_reassignment_up_has_the_best_of_the_old_replicas_elected(
    pending: Cluster, name: str, tmp_path: Path
) -> None:
    limits = ("--accept-loss", "*:0")
    code, row = _recovered(pending, "--end-reassignment", name, *limits)
    assert (code, row["outcome"], row["loss"]["certain"]) == (0, "elected", 0), row
    assert "the reassignment is ended; its replicas are [3, 4, 1] from now on" in row["reason"]
    assert "reassignment_ended" in {finding["code"] for finding in row["findings"]}
    found = pending.partition(TOPIC, 0)
    assert (found.leader, found.replicas) == (BETTER, (BETTER, WORSE, 1))
    assert not _reassigning(pending)
    assert _nothing_is_left_open(tmp_path / "state")


def test_it_elects_nobody_whose_election_loses_more_than_is_accepted(pending: Cluster) -> None:
    pending.kill(BETTER)
    pending.fence(BETTER)
    pending.unlist(BETTER)
    pending.start(BETTER)
    before = pending.partition(TOPIC, 0).replicas
    _refused(pending, "--end-reassignment", TOPIC, "--accept-loss", "*:0")
    assert pending.partition(TOPIC, 0).replicas == before


def test_an_election_that_fails_leaves_the_reassignment_given_up_and_can_be_tried_again(
    pending: Cluster, tmp_path: Path
) -> None:
    pending.intercept("ElectLeaders", Fail(UNKNOWN_SERVER_ERROR), times=1000)
    code, row = _recovered(pending, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (1, "failed")
    assert pending.partition(TOPIC, 0).leader == NO_LEADER
    assert _nothing_is_left_open(tmp_path / "state")
    pending.clear_intercepts()
    code, row = _recovered(pending, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (0, "elected"), row
    assert pending.partition(TOPIC, 0).leader == BETTER
    assert not _reassigning(pending)


def test_a_partition_that_is_not_named_is_left_alone(pending: Cluster) -> None:
    before = pending.partition(TOPIC, 0)
    code, row = _recovered(pending, "--end-reassignment", "other")
    assert (code, row["outcome"]) == (1, "refused")
    assert pending.partition(TOPIC, 0) == before


@pytest.fixture(params=["4.4.0", "4.3.1"])
def beside(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield the reassignment of `pending` with a replica on broker 5, behind those of 3 and 4."""
    with _outage(request.param, (1, WORSE, MUTE, BETTER)) as cluster:
        yield cluster


def test_a_live_broker_without_our_listener_keeps_its_replica(
    beside: Cluster, tmp_path: Path
) -> None:
    """It is listed nowhere, and a controller that leads since a moment has not heard from it."""

    def unheard(answer: dict[str, Any]) -> dict[str, Any]:
        (partition,) = answer["topics"][0]["partitions"]
        heard = [o for o in partition["observers"] if o["replica_id"] != MUTE]
        partition["observers"] = heard
        return answer

    beside.start(MUTE)
    beside.unlist(MUTE)
    beside.intercept("DescribeQuorum", Rewrite(unheard), times=1000)
    code, row = _recovered(beside, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (0, "elected"), row
    assert set(beside.partition(TOPIC, 0).replicas) == {BETTER, WORSE, MUTE, 1}
    assert "its replicas are [3, 4, 1, 5] from now on" in row["reason"]
    assert "left the set" not in row["reason"]
    assert _nothing_is_left_open(tmp_path / "state")


@pytest.mark.parametrize("mute", [False, True], ids=["listed", "without our listener"])
def test_a_broker_that_was_unregistered_leaves_the_set_and_nobody_else_does(
    beside: Cluster, tmp_path: Path, mute: bool
) -> None:
    beside.unregister_broker(1)
    if mute:
        beside.unlist(MUTE)
    code, row = _recovered(beside, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (0, "elected"), row
    assert "broker 1 is not registered and has left the set [1, 4, 5, 3] for good" in row["reason"]
    assert "its replicas are [3, 4, 5] from now on" in row["reason"]
    beside.start(MUTE)
    beside.wait_until(lambda e: set(e.state.partition(e.partition_key(TOPIC, 0)).isr) == {3, 4, 5})
    found = beside.partition(TOPIC, 0)
    assert (found.leader, found.replicas) == (BETTER, (BETTER, WORSE, MUTE))
    assert not _reassigning(beside)
    assert _nothing_is_left_open(tmp_path / "state")
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    report = run(RECOVERY, "report", str(journal))
    assert "without the unregistered broker 1" in report.stdout


def test_an_election_that_fails_behind_an_unregistered_broker_can_be_tried_again(
    beside: Cluster, tmp_path: Path
) -> None:
    """By the same run, and by the next one."""
    beside.unregister_broker(1)
    beside.intercept("ElectLeaders", Fail(UNKNOWN_SERVER_ERROR), times=1)
    code, row = _recovered(beside, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (1, "failed"), row["reason"]
    beside.intercept("ElectLeaders", Fail(UNKNOWN_SERVER_ERROR, Where.ENTRIES), times=1)
    code, row = _recovered(beside, "--end-reassignment", TOPIC)
    assert (code, row["outcome"]) == (0, "elected"), row["reason"]
    assert not _reassigning(beside) or 1 not in beside.partition(TOPIC, 0).replicas[:3]
    assert _nothing_is_left_open(tmp_path / "state")


@pytest.mark.parametrize("anew", [False, True], ids=["moved", "made anew"])
def test_a_set_that_somebody_else_wrote_just_before_is_left_to_him(
    beside: Cluster, tmp_path: Path, anew: bool
) -> None:
    """He is quicker than our request, which comes to his replicas."""
    beside.start(2)

    def meanwhile() -> None:
        if anew:
            beside.delete_topic(TOPIC)
            configs = {"min.insync.replicas": "1"}
            beside.create_topic(TOPIC, assignment=[(2, BETTER)], configs=configs)
            return
        beside.reassign(TOPIC, 0, (BETTER, 2))
        beside.elect_leaders("unclean", TOPIC)
        beside.wait_until(lambda e: not e.state.partition(e.partition_key(TOPIC, 0)).reassigning)

    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, 1)

    def act() -> None:
        gate.wait()
        try:
            meanwhile()
        finally:
            gate.open()

    live = (2, 3, 4)
    servers = [a for b, a in enumerate(beside.bootstrap_servers.split(","), 1) if b in live]
    with tapped(servers, gate) as address:
        acting = threading.Thread(target=act)
        acting.start()
        done = run(
            RECOVERY,
            *("--bootstrap-server", address, "--all-offline-partitions", "--format", "json"),
            *("--automated-recovery", "--yes", "--end-reassignment", TOPIC),
        )
        acting.join()
    (row,) = json.loads(done.stdout)["partitions"]
    assert (done.returncode, row["outcome"]) == (1, "failed"), row
    assert "a set that somebody else had just written, which is to stay" in row["reason"]
    assert sorted(beside.partition(TOPIC, 0).replicas) == [2, BETTER]
    assert not _reassigning(beside)
    assert _nothing_is_left_open(tmp_path / "state")


def _reassigning(cluster: Cluster) -> bool:
    def asked(emulation: Emulation) -> bool:
        found = emulation.state.topic(TOPIC)
        assert found is not None
        return found.partitions[0].reassigning

    return cluster.look(asked)


def _nothing_is_left_open(state: Path) -> bool:
    journals = [parse(path.read_text(), str(path)) for path in state.rglob("*.jsonl")]
    return bool(journals) and not any(map(half_done, journals))
