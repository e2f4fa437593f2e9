"""The emulated cluster against real ones: start-up and memory, 10,000 partitions, steps a second.

    python -m benchmarks.emulator [startup|partitions|steps ...]

One JSON object a line, with the load of the machine before and after. Where that is more than what
is measured here, times mean little: JVMs have many threads, which get more of a busy machine than
the emulator's one. Seconds of the processor stay true.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks import emulator_partitions, emulator_startup, emulator_steps

RUNS = 3
PARTITIONS = 10_000
STEPS = 10_000
PARTS: Mapping[str, Callable[[], dict[str, object]]] = {
    "startup": partial(emulator_startup.measure, RUNS),
    "partitions": partial(emulator_partitions.measure, PARTITIONS),
    "steps": partial(emulator_steps.measure, STEPS),
}


def main(arguments: list[str]) -> None:
    for name in arguments or PARTS:
        before = os.getloadavg()[0]
        figures = PARTS[name]()
        load = {"before": before, "after": os.getloadavg()[0]}
        print(json.dumps(figures | {"load": load}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
