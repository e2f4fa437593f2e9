"""`quorum` on the disks of a test, in this process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.in_process import RECOVERY, Done, invoke

ALL_LOST = ("--lost-controllers", "101,102,103")
# Port 1 of the loopback: nobody listens there.
NEW = "101@127.0.0.1:1"


def quorum(*words: str | Path) -> Done:
    return invoke(RECOVERY, "quorum", *map(str, words))


def plan(disks: Path, *flags: str | Path, new: str = NEW) -> Done:
    where = disks.parent / "plan.json"
    wanted = ("--new-controller", new, "--plan-output-file", where)
    return quorum("plan", disks, *wanted, *flags)


def codes(done: Done) -> set[str]:
    """Return the codes of the findings that it printed."""
    words = (line.split() for line in done.stderr.splitlines())
    severities = ("loss", "unknown", "notice")
    return {line[1].rstrip(":") for line in words if len(line) > 1 and line[0] in severities}


@contextmanager
def listening() -> Iterator[int]:
    """Yield a port at which something answers that is no Kafka."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
