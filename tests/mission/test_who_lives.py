"""A broker lives, or answers, whatever one listener, one address and one moment say of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from kafka_unclean_recovery.emulator.faults import STOPPED
from tests.cli.run import RECOVERY, run

TOPIC = "orders"
WORSE, BETTER = 4, 3
NO_LEADER = -1
WITHOUT_LOSS = ("--automated-recovery", "--yes", "--accept-loss", "*:0")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@dataclass(frozen=True)
class Told:
    """What a run said of its only partition."""

    code: int
    row: dict[str, Any]
    stderr: str

    def log(self, broker: int) -> dict[str, Any]:
        logs: list[dict[str, Any]] = self.row["replica_logs"]
        return next(log for log in logs if log["broker"] == broker)

    @property
    def findings(self) -> set[str]:
        return {finding["code"] for finding in self.row["findings"]}


# DescribeConfigs proves who answers where ApiVersions does not name nodes.
@pytest.fixture(params=["4.4.0", "4.3.1"])
def outage(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Brokers 4, 3 and 1 died in this order with writes between; 3 (1500 records) and 4 (1000) are
    back, and the order of replicas has 4 first."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release=request.param, settings=settings)) as cluster:
        cluster.create_topic(
            TOPIC, assignment=[(1, WORSE, BETTER)], configs={"min.insync.replicas": "1"}
        )
        for records, victim in ((1000, WORSE), (500, BETTER), (500, 1)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


def _address(cluster: Cluster, broker: int) -> str:
    return cluster.bootstrap_servers.split(",")[broker - 1]


def _recover(cluster: Cluster, *flags: str, by: int = 2) -> Told:
    done = run(
        RECOVERY,
        *("--bootstrap-server", _address(cluster, by), "--all-offline-partitions"),
        *("--format", "json", "--recovery-duration-ms", "3000"),
        *flags,
    )
    assert done.stdout, done.stderr
    rows = json.loads(done.stdout)["partitions"]
    return Told(done.returncode, rows[0] if rows else {}, done.stderr)


def _nobody_was_elected(cluster: Cluster) -> bool:
    found = cluster.partition(TOPIC, 0)
    return found.leader == NO_LEADER and found.replicas == (1, WORSE, BETTER)


def test_without_any_of_it_the_better_one_is_elected(outage: Cluster) -> None:
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER


@pytest.mark.parametrize(("astray", "to"), [(BETTER, WORSE), (WORSE, BETTER), (BETTER, 2)])
def test_an_address_that_leads_to_another_broker_is_no_answer(
    outage: Cluster, astray: int, to: int
) -> None:
    outage.lead_astray(astray, to)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    log = told.log(astray)
    assert log["log_end_offset"] is None
    assert f"not broker {astray}" in log["problem"]
    assert told.row["loss"]["certain"] is None


def test_a_broker_without_our_listener_lives(outage: Cluster) -> None:
    outage.unlist(BETTER)
    told = _recover(outage, *WITHOUT_LOSS)
    assert told.code == 1
    assert _nobody_was_elected(outage)
    assert "replica_lives_unseen" in told.findings
    log = told.log(BETTER)
    assert "listener" in log["unproven"]
    assert told.row["loss"]["certain"] is None


def test_who_consents_to_any_loss_may_elect_past_a_broker_without_our_listener(
    outage: Cluster,
) -> None:
    outage.unlist(BETTER)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == WORSE
    assert told.row["loss"]["certain"] is None


def test_a_partition_that_is_led_by_a_broker_without_our_listener_is_left_alone(
    outage: Cluster,
) -> None:
    outage.elect_leaders("unclean", TOPIC)
    leader = outage.partition(TOPIC, 0).leader
    before = outage.partition(TOPIC, 0)
    outage.unlist(leader)
    told = _recover(outage, "--automated-recovery", "--yes")
    assert told.row == {}
    assert "nothing is offline" in told.stderr
    assert outage.partition(TOPIC, 0) == before


def test_metadata_that_was_fetched_and_not_applied_is_old(outage: Cluster) -> None:
    outage.kill(BETTER)
    outage.fence(BETTER)
    outage.lag_metadata(WORSE, STOPPED, fetched=True)
    outage.start(BETTER)
    told = _recover(outage, *WITHOUT_LOSS, by=WORSE)
    # Another broker is asked instead, which knows that 3 lives.
    assert told.code == 0
    assert outage.partition(TOPIC, 0).leader == BETTER
