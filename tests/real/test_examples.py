"""Every example runs as its reader would run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, stale_tail

ROOT = Path(__file__).parents[2]
# What the runbook keeps of the commands around the election.
CHECKS = ("doctor", "aftercare")


def test_the_demo_recovers_a_real_cluster() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo_kafka"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "24 partitions: 24 online, 0 offline; 24 elected" in done.stdout
    assert "can be read again: 1500 records" in done.stdout


def test_the_runbook_recovers_and_keeps_the_evidence(
    restored: Callable[[Outage], KafkaCluster], tmp_path: Path
) -> None:
    cluster = restored(stale_tail())
    servers = ",".join(map(cluster.address, cluster.live_brokers))
    evidence = tmp_path / "evidence"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    state = {"PATH": path, "XDG_STATE_HOME": str(tmp_path / "state"), "DURATION_MS": "2000"}
    done = subprocess.run(
        [str(ROOT / "examples" / "runbook.sh"), servers, str(evidence)],
        env={**os.environ, **state},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    before = json.loads((evidence / "before.json").read_text())
    after = json.loads((evidence / "after.json").read_text())
    assert [p["leader"] for p in before["partitions"]] == [-1]
    assert [p["outcome"] for p in after["partitions"]] == ["elected"]
    assert after["partitions"][0]["leader"] == 4
    looks = {name: json.loads((evidence / f"{name}.json").read_text()) for name in CHECKS}
    assert {name: look["cluster_id"] for name, look in looks.items()} == dict.fromkeys(
        CHECKS, before["cluster_id"]
    )
    assert (evidence / "journal.jsonl").exists()
    assert (evidence / "plan.json").exists()
