"""A partition lost its leader while a reassignment of it waited for a dead broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from tests.cli.run import RECOVERY, run

TOPIC = "orders"
WORSE, BETTER = 4, 3
NO_LEADER = -1
UNCLEAN = "unclean.leader.election.enable"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=["4.4.0", "4.3.1", "3.9.1"])
def pending(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Of brokers 1, 4 and 3 the last is to go and 2, which is dead, to come. 1 died; 3 holds 1500
    records and 4, which is before it in the list, 1000."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=request.param, settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[(1, WORSE, BETTER)], configs=configs)
        _end(cluster, 2)
        for victim in (WORSE, BETTER):
            cluster.produce(TOPIC, 0, 1000 if victim == WORSE else 500, acks="1")
            _end(cluster, victim)
        cluster.reassign(TOPIC, 0, (1, WORSE, 2))
        _end(cluster, 1)
        cluster.start(BETTER)
        cluster.start(WORSE)
        assert cluster.partition(TOPIC, 0).leader == NO_LEADER
        yield cluster


def _end(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def _refused(cluster: Cluster) -> dict[str, Any]:
    done = run(
        RECOVERY,
        *("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions"),
        *("--format", "json", "--automated-recovery", "--yes"),
    )
    assert done.returncode == 1
    row: dict[str, Any] = json.loads(done.stdout)["partitions"][0]
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
