"""The commands as processes, the way their console scripts start them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kafka_unclean_recovery.cli import ELECTION as ELECTION
from kafka_unclean_recovery.cli import RECOVERY as RECOVERY
from tests import forked

# Nobody listens there: a usage error must come before any connection.
NOWHERE = ("--bootstrap-server", "127.0.0.1:1")


def main_of(program: str) -> str:
    """Return the code that its console script runs."""
    return f"from kafka_unclean_recovery.cli.entry import main; main({program!r})"


def command_line(program: str, *args: str) -> list[str]:
    return [sys.executable, "-c", main_of(program), *args]


def run(program: str, *args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return forked.run(program, *args, directory=cwd, timeout=60)
