"""The ids of brokers begin at 0, and a broker with id 0 is one like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from tests.cli.in_process import RECOVERY, Done, invoke

TOPIC = "orders"
WORSE, BETTER, DEAD = 2, 0, 1


def _run(cluster: Cluster, *words: str) -> Done:
    return invoke(RECOVERY, *words, "--bootstrap-server", cluster.bootstrap_servers)


def test_broker_0_is_elected_told_of_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    options = Options(brokers=3, first_broker=0, settings=Settings(session_timeout=600.0))
    with Cluster(options) as cluster:
        cluster.create_topic(TOPIC, assignment=[(DEAD, WORSE, BETTER)])
        for records, victim in ((10, WORSE), (5, BETTER), (5, DEAD)):
            cluster.produce(TOPIC, 0, records, acks="1")
            cluster.kill(victim)
            cluster.fence(victim)
        cluster.start(BETTER)
        cluster.start(WORSE)
        which = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = _run(cluster, *which, "--accept-loss", "*:0")
        assert done.code == 0, done.stderr
        (row,) = json.loads(done.stdout)["partitions"]
        assert (row["designated_leader"], row["leader"], row["loss"]["certain"]) == (BETTER, 0, 0)
        assert cluster.partition(TOPIC, 0).leader == BETTER
        (journal,) = (tmp_path / "state").rglob("*.jsonl")
        care = _run(cluster, "aftercare", "--journal", str(journal), "--format", "json")
        (row,) = json.loads(care.stdout)["partitions"]
        assert (row["leader"], row["log_end_offset"]) == (BETTER, 15)
        safe = _run(cluster, "ok-to-stop", "--brokers", str(BETTER), "--format", "json")
        assert (safe.code, json.loads(safe.stdout)["brokers"]) == (0, [BETTER])
