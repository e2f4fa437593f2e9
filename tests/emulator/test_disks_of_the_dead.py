"""scan-log-dirs and plan on the emulator's disks, with nothing alive: the outage of test_outage,
made step by step."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.emulator.emulation import Emulation
from tests.cli.run import RECOVERY, run
from tests.emulator.steps import create, lose, opened, partition, write

ENDS = {1: 2500, 2: 2000, 3: 1500, 4: 1000}
JSON = ("--format", "json")


def _all_dead(directory: Path) -> Emulation:
    """Let 4, 3, 2, 1 die with writes between; 3 and 4 come back, and die too."""
    emulation = opened(directory)
    create(emulation, (1, 2, 4, 3))
    write(emulation, 1000)
    for victim in (4, 3, 2):
        lose(emulation, victim)
        write(emulation, 500)
    lose(emulation, 1)
    for survivor in (3, 4):
        emulation.start(emulation.brokers[survivor])
    assert partition(emulation).leader == -1
    for survivor in (3, 4):
        lose(emulation, survivor)
    return emulation


def _told(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_scan_of_the_disks_says_what_the_controller_knew(tmp_path: Path) -> None:
    known = partition(_all_dead(tmp_path))
    found = _told(run(RECOVERY, "scan-log-dirs", str(tmp_path), "--mode", "deep", *JSON))
    assert found["problems"] == []
    (row,) = found["partitions"]
    assert {log["broker"]: log["log_end_offset"] for log in row["replica_logs"]} == ENDS
    assert not [log for log in row["replica_logs"] if log["suspect"] or log["problem"]]
    assert known.elr == (1,)
    lists = ("replicas", "isr", "elr", "last_known_elr", "adding_replicas", "removing_replicas")
    assert {name: tuple(row[name]) for name in lists} == {
        name: getattr(known, name) for name in lists
    }
    assert (row["leader"], row["leader_epoch"]) == (known.leader, known.leader_epoch)


def test_the_plan_from_the_disks_designates_whom_the_live_cluster_s_plan_does(
    tmp_path: Path,
) -> None:
    _all_dead(tmp_path / "cluster")
    output = tmp_path / "leaders.json"
    done = run(
        RECOVERY,
        "plan",
        *("--log-dirs", str(tmp_path / "cluster"), "--exclude-brokers", "1,2"),
        *("--manual-recovery-output-file", str(output), *JSON),
    )
    assert _told(done)["partitions"][0]["designated_leader"] == 3
    assert [each["designatedLeader"] for each in json.loads(output.read_text())["partitions"]] == [
        3
    ]
