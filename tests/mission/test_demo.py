"""`make demo` needs no Java: it runs as its reader would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_recovers_an_emulated_cluster() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "orders-0 has no leader" in done.stdout
    assert '"partition": 0, "designatedLeader": 3' in done.stdout
    assert "1 partition: 1 online, 0 offline; 1 elected" in done.stdout
    assert "1500 records: all that a live broker held." in done.stdout
