"""What controllers say of themselves and of brokers, when no broker lives to be asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# A controller's own words, the same in 3.9.1, 4.3.1 and 4.4.0.
ACTIVE = re.compile(r"Becoming the active controller at epoch (\d+)")
FENCED = re.compile(r"Fencing broker (\d+) ")
# A broker that stops is fenced by this. From 4.0 on the line above follows when its session is
# over, unless the controller dies before.
STOPPED = re.compile(
    r"(?:Unf|F)enced broker (\d+) has requested and been granted an immediate shutdown"
    r"|The request from broker (\d+) to shut down has been granted"
)
UNFENCED = re.compile(r"The request from broker (\d+) to unfence has been granted")


def fenced_brokers(outputs: Iterable[Path]) -> set[int]:
    """Return the brokers that a controller fenced in these outputs and has not unfenced since."""
    fenced: set[int] = set()
    for output in filter(Path.exists, outputs):
        for line in output.read_text(errors="replace").splitlines():
            if found := FENCED.search(line) or STOPPED.search(line):
                fenced.add(int(found[found.lastindex or 0]))
            elif found := UNFENCED.search(line):
                fenced.discard(int(found[1]))
    return fenced


def last_led(output: Path) -> int:
    """Return the last leader epoch in which this controller took over; -1 if it never did."""
    text = output.read_text(errors="replace") if output.exists() else ""
    return max(map(int, ACTIVE.findall(text)), default=-1)
