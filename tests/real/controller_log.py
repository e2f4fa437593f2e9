"""What controllers say of brokers, for the time when no broker lives to be asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# A controller's own words, the same in 3.9.1 and 4.3.1.
FENCED = re.compile(r"Fencing broker (\d+) ")
UNFENCED = re.compile(r"The request from broker (\d+) to unfence has been granted")


def fenced_brokers(outputs: Iterable[Path]) -> set[int]:
    """Brokers that a controller fenced in these outputs and has not unfenced since."""
    fenced: set[int] = set()
    for output in filter(Path.exists, outputs):
        for line in output.read_text(errors="replace").splitlines():
            if found := FENCED.search(line):
                fenced.add(int(found[1]))
            elif found := UNFENCED.search(line):
                fenced.discard(int(found[1]))
    return fenced
