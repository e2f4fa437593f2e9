"""`python -m tests.fidelity --version 4.4.0 --seed 7 --steps 20000`: real and ours, step by step.

Ends with 1 at the first difference, after shrinking the events that lead to it.
"""

from __future__ import annotations

import argparse
import signal
import sys

from tests.fidelity.runs import Run, random_runs, shortest
from tests.real.releases import NEWEST


def main() -> int:
    arguments = _parser().parse_args()
    # The controller and its directory, which is in memory, go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    steps, seconds = 0, 0.0
    for run in random_runs(arguments.version, arguments.seed, arguments.steps):
        steps, seconds = steps + len(run.events), seconds + run.seconds
        if run.difference is not None:
            _print_difference(arguments.version, run)
            return 1
        print(f"seed {run.seed}: {steps} steps alike, {steps / seconds:.0f}/s", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity", description=__doc__)
    parser.add_argument("--version", default=NEWEST, help="of the real Kafka; default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first controller's events")
    parser.add_argument("--steps", type=int, default=20_000, help="default %(default)s")
    return parser


def _print_difference(version: str, run: Run) -> None:
    print(f"seed {run.seed}, {run.difference}", flush=True)
    shrunk = shortest(version, run, lambda said: print(said, file=sys.stderr, flush=True))
    print(f"shrunk to {len(shrunk.events)} events:")
    for event in shrunk.events:
        print(f"  {event}")
    print(shrunk.difference, flush=True)


if __name__ == "__main__":
    sys.exit(main())
