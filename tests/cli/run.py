"""The commands as processes, the way their console scripts start them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RECOVERY = "kafka_unclean_recovery.cli.commands.whole_program"
ELECTION = "kafka_unclean_recovery.cli.commands.elect_leaders"
# Nobody listens there: a usage error must come before any connection.
NOWHERE = ("--bootstrap-server", "127.0.0.1:1")


def command_line(module: str, *args: str) -> list[str]:
    return [sys.executable, "-c", f"import {module} as m; m.main()", *args]


def run(module: str, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line(module, *args),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
    )
