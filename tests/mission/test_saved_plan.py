"""A saved plan is carried out only where all that it rests on is as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.journal_lines import parse
from kafka_unclean_recovery.documents.writing import plan_digest
from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Fail, Where
from tests.cli.in_process import RECOVERY, invoke

TOPIC = "orders"
DEAD, WORSE, BETTER = 1, 4, 3
NO_LEADER = -1
CLUSTER_AUTHORIZATION_FAILED = 31
STORAGE_ERROR = 56


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# DescribeConfigs proves who answers where ApiVersions does not name nodes.
@pytest.fixture(params=["4.4.0", "4.3.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield an outage: broker 1 led last and is dead; 3 holds more than 4."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=request.param, settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[(DEAD, WORSE, BETTER)], configs=configs)
        for victim in (WORSE, BETTER, DEAD):
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


def _run(cluster: Cluster, *flags: str) -> Told:
    servers = cluster.bootstrap_servers.split(",")[1]
    chosen = ("--all-offline-partitions", "--format", "json")
    done = invoke(RECOVERY, "--bootstrap-server", servers, *chosen, *flags)
    (row,) = json.loads(done.stdout)["partitions"]
    return Told(done.code, row, done.stderr)


def _saved(cluster: Cluster, tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    _run(cluster, "--show-replica-info", "--plan-output-file", str(path))
    return path


def _carried_out(cluster: Cluster, plan: Path) -> Told:
    return _run(cluster, "--automated-recovery", "--yes", "--plan", str(plan))


def _refused(cluster: Cluster, plan: Path, tmp_path: Path) -> str:
    """Return the reason of the refusal, before which nothing was sent."""
    told = _carried_out(cluster, plan)
    assert (told.code, told.row["outcome"]) == (1, "refused"), told
    found = cluster.partition(TOPIC, 0)
    assert (found.leader, found.replicas) == (NO_LEADER, (DEAD, WORSE, BETTER))
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    assert "sent" not in {line["event"] for line in parse(journal.read_text(), str(journal))}
    reason: str = told.row["reason"]
    assert reason.startswith("not as in --plan: ")
    assert reason.endswith("; plan again")
    return reason


def test_a_plan_that_still_holds_is_carried_out(outage: Cluster, tmp_path: Path) -> None:
    told = _carried_out(outage, _saved(outage, tmp_path))
    assert (told.code, told.row["outcome"]) == (0, "elected"), told
    assert outage.partition(TOPIC, 0).leader == BETTER


def test_a_broker_that_was_unregistered_since_is_another_plan(
    outage: Cluster, tmp_path: Path
) -> None:
    plan = _saved(outage, tmp_path)
    outage.unregister_broker(DEAD)
    assert "unregistered brokers [], now [1]" in _refused(outage, plan, tmp_path)


def test_other_leader_epochs_of_the_same_length_are_another_plan(
    outage: Cluster, tmp_path: Path
) -> None:
    plan = _saved(outage, tmp_path)
    document = json.loads(plan.read_text())
    (row,) = document["partitions"]
    (log,) = (log for log in row["replica_logs"] if log["broker"] == BETTER)
    # As of a disk whose first records an older leader had written.
    end, epoch = log["log_end_offset"], log["last_written_leader_epoch"]
    log["epochs"] = [
        {"epoch": epoch, "start_offset": 0, "end_offset": end - 5},
        {"epoch": epoch + 1, "start_offset": end - 5, "end_offset": end},
    ]
    log["epochs"][0]["epoch"] = epoch
    document["digest"] = plan_digest(document)
    plan.write_text(json.dumps(document))
    said = f"log of broker {BETTER}: other leader epochs from offset {end - 5} on"
    assert said in _refused(outage, plan, tmp_path)


@pytest.mark.parametrize("outage", ["4.3.1"], indirect=True)
@pytest.mark.parametrize("first", [True, False], ids=["proven at first", "proven since"])
def test_who_was_proven_and_is_not_now_is_another_plan(
    outage: Cluster, tmp_path: Path, first: bool
) -> None:
    """The certain loss is unknown both times, for the log of broker 4 can't be read."""

    def prepare(*, proven: bool) -> None:
        outage.clear_intercepts()
        unread = Fail(STORAGE_ERROR, Where.ENTRIES)
        outage.intercept("ListOffsets", unread, broker=WORSE, times=1000)
        if not proven:
            lacking = Fail(CLUSTER_AUTHORIZATION_FAILED)
            outage.intercept("DescribeConfigs", lacking, broker=BETTER, times=1000)

    prepare(proven=first)
    plan = _saved(outage, tmp_path)
    prepare(proven=not first)
    reason = _refused(outage, plan, tmp_path)
    assert f"log of broker {BETTER}:" in reason
    assert ("unproven), now" in reason) is not first
