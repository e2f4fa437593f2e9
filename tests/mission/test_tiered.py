"""A topic whose older records lie in remote storage, which the command does not read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Security, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Fail
from tests.cli.run import RECOVERY, run

TOPIC, PLAIN = "orders", "plain"
SEGMENTS = "__remote_log_metadata"
BEST, EMPTY = 2, 3
NO_LEADER = -1
TIERED = {"remote.storage.enable": "true"}
UNKNOWN_SERVER_ERROR = -1
WITHOUT_LOSS = ("--automated-recovery", "--yes", "--accept-loss", "*:0")


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _cluster(**more: Any) -> Cluster:
    return Cluster(
        Options(brokers=3, release="4.4.0", settings=Settings(session_timeout=600.0), **more)
    )


def _lose_the_leader(cluster: Cluster, configs: dict[str, str], survivor: int) -> None:
    """Lose 1, which led; the survivor, which is back, left the ISR before."""
    cluster.create_topic(TOPIC, assignment=[(1, survivor)], configs=configs)
    cluster.create_topic(PLAIN, assignment=[(1, survivor)])
    for topic in (TOPIC, PLAIN):
        cluster.produce(topic, 0, 100, acks="1")
    for broker in (survivor, 1):
        cluster.kill(broker)
        cluster.fence(broker)
    if survivor == EMPTY:
        cluster.wipe(survivor)
    cluster.start(survivor)


def _rows(cluster: Cluster, *flags: str) -> dict[str, dict[str, Any]]:
    done = run(
        RECOVERY,
        *("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions"),
        *("--format", "json", *flags),
    )
    assert done.stdout, done.stderr
    return {row["topic"]: row for row in json.loads(done.stdout)["partitions"]}


def _codes(row: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in row["findings"]}


def test_the_loss_of_a_tiered_topic_is_unknown_and_no_limit_accepts_it() -> None:
    with _cluster() as cluster:
        _lose_the_leader(cluster, TIERED, BEST)
        rows = _rows(cluster, *WITHOUT_LOSS)
        assert rows[TOPIC]["loss"] == {"certain": None, "possible": None, "at_least": None}
        assert "its certain loss is unknown: tiered" in rows[TOPIC]["reason"]
        assert cluster.partition(TOPIC, 0).leader == NO_LEADER
        assert (rows[PLAIN]["outcome"], rows[PLAIN]["loss"]["certain"]) == ("elected", 0)
        # Who consents to a loss that nobody knows may elect.
        rows = _rows(cluster, "--automated-recovery", "--yes", "--accept-loss", TOPIC)
        assert rows[TOPIC]["outcome"] == "elected"
        assert "tiered_topic" in _codes(rows[TOPIC])
        assert rows[TOPIC]["loss"]["certain"] is None


def test_a_replica_without_leader_epochs_does_not_get_to_delete_the_remote_records() -> None:
    with _cluster() as cluster:
        _lose_the_leader(cluster, TIERED, EMPTY)
        rows = _rows(cluster, "--automated-recovery", "--yes")
        assert rows[TOPIC]["outcome"] == "refused"
        assert "has no leader epochs that could be read" in rows[TOPIC]["reason"]
        assert cluster.partition(TOPIC, 0).leader == NO_LEADER
        assert rows[PLAIN]["outcome"] == "elected"


def test_a_table_says_why_the_loss_is_unknown() -> None:
    with _cluster() as cluster:
        _lose_the_leader(cluster, TIERED, BEST)
        done = run(
            RECOVERY,
            *("--bootstrap-server", cluster.bootstrap_servers, "--all-offline-partitions"),
            "--show-replica-info",
        )
    assert "unknown: tiered" in done.stdout
    assert f"{TOPIC}-0 tiered_topic: its remote.storage.enable is true" in done.stdout


JOB = ("Cluster:ALTER", "Topic(*):READ")


@pytest.mark.parametrize(
    ("rights", "remote", "unknown"),
    [
        (JOB, True, True),
        (JOB, False, False),
        (("Cluster:ALTER", f"Topic({TOPIC}):READ", f"Topic({PLAIN}):READ"), False, True),
        ((*JOB, "Topic(*):DESCRIBE_CONFIGS"), True, False),
    ],
    ids=["remote storage", "none", "may not know", "may know"],
)
def test_a_topic_whose_config_can_not_be_read_counts_as_tiered_where_remote_storage_is(
    tmp_path: Path, rights: tuple[str, ...], remote: bool, unknown: bool
) -> None:
    with _cluster(data_dir=tmp_path / "cluster") as everybody:
        if remote:
            everybody.create_topic(SEGMENTS, assignment=[(BEST,)])
        _lose_the_leader(everybody, {}, BEST)
    granted = Security(rights={"ANONYMOUS": rights})
    with _cluster(data_dir=tmp_path / "cluster", running=(BEST,), security=granted) as cluster:
        row = _rows(cluster, "--show-replica-info")[TOPIC]
    assert row["designated_leader"] == BEST
    assert (row["loss"]["certain"] is None) == unknown
    assert ("tiered_topic" in _codes(row)) == unknown


def test_a_config_that_no_broker_tells_costs_nothing_where_there_is_no_remote_storage() -> None:
    with _cluster() as cluster:
        _lose_the_leader(cluster, {}, BEST)
        cluster.intercept("DescribeConfigs", Fail(UNKNOWN_SERVER_ERROR), times=1000)
        rows = _rows(cluster, *WITHOUT_LOSS)
    assert {row["outcome"] for row in rows.values()} == {"elected"}


def test_the_disks_tell_it_too(tmp_path: Path) -> None:
    with _cluster(data_dir=tmp_path / "cluster") as cluster:
        _lose_the_leader(cluster, TIERED, BEST)
        disks = [str(cluster.log_directory(broker)) for broker in (1, BEST)]
    scanned, leaders = tmp_path / "scan.json", tmp_path / "leaders.json"
    done = run(RECOVERY, "scan-log-dirs", *disks, "--output", str(scanned))
    assert done.returncode == 0, done.stderr
    files = ("--replica-info-file", str(scanned), "--manual-recovery-output-file", str(leaders))
    done = run(RECOVERY, "plan", *files, "--format", "json")
    rows = {row["topic"]: row for row in json.loads(done.stdout)["partitions"]}
    assert rows[TOPIC]["loss"]["certain"] is None
    assert "tiered_topic" in _codes(rows[TOPIC])
    assert rows[PLAIN]["loss"]["certain"] == 0
