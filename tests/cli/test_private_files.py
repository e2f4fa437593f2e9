"""Whatever a command writes is for its user alone, whatever the umask."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Security
from tests.cli.in_process import ELECTION, RECOVERY, invoke
from tests.emulator.secured import cluster, make_outage
from tests.private import generous_umask, open_to_others
from tests.salvage.batches import numbered
from tests.salvage.disks import disk, plan_text


def _run(*arguments: str, command: str = RECOVERY) -> None:
    done = invoke(command, *arguments)
    # 1: there is something to be said of every one of these.
    assert done.code in (0, 1), done.stderr


def test_files_are_for_their_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "made" / "state"))
    disk(tmp_path / "disks", {0: numbered(0, 10) + numbered(10, 5)})
    (tmp_path / "plan.json").write_text(plan_text())
    (tmp_path / "made").mkdir(mode=0o700)
    with generous_umask(), cluster(Security()) as running:
        servers = ("--bootstrap-server", running.bootstrap_servers)
        _from_disks()
        make_outage(running, running.bootstrap_servers)
        running.create_topic("orders.salvaged", 1, 1)
        _replay(running)
        outputs = ("--plan-output-file", "made/live-plan.json")
        leaders = ("--manual-recovery-output-file", "made/live.json")
        look = (*servers, "--all-offline-partitions", "--show-replica-info")
        _run(*look, *outputs, *leaders)
        designated = ("--election-type", "designated", "--path-to-json-file", "made/live.json")
        journal = ("--journal", "made/journal")
        _run(*servers, *designated, *journal, command=ELECTION)
        _run(*servers, "--all-offline-partitions", "--automated-recovery", "--yes")
        _run("aftercare", *servers, "--journal", "made/journal")
    made = {path.name for path in (tmp_path / "made").iterdir()}
    assert made >= {"scan.json", "plan.json", "saved", "checkpoint", "journal", "state"}
    assert list((tmp_path / "made").rglob("*.jsonl"))
    assert list((tmp_path / "made").rglob("*.parquet"))
    assert open_to_others(tmp_path / "made") == []


def _from_disks() -> None:
    _run("scan-log-dirs", "disks", "--output", "made/scan.json")
    outputs = ("--plan-output-file", "made/plan.json")
    leaders = ("--manual-recovery-output-file", "made/leaders.json")
    _run("plan", "--replica-info-file", "made/scan.json", *outputs, *leaders)
    _run("salvage", "--log-dirs", "disks", "--plan", "plan.json", "--output", "made/saved")


def _replay(running: Cluster) -> None:
    target = ("--bootstrap-server", running.bootstrap_servers, "--execute")
    _run("salvage", "replay", "made/saved", *target, "--checkpoint", "made/checkpoint")
