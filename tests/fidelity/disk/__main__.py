"""`python -m tests.fidelity.disk --version 4.4.0 --seed 7 --states 20000`: Kafka's and our start of
log directories in random states.

Ends with 1 if there was a difference; each is printed.
"""

from __future__ import annotations

import argparse
import signal
import sys

from tests.fidelity.disk.runs import judged_states
from tests.real.releases import NEWEST

_EVERY = 1_000


def main() -> int:
    arguments = _parser().parse_args()
    # The JVM and its directory, which is in memory, go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    different = 0
    states = judged_states(arguments.version, arguments.seed, arguments.states)
    for number, judged in enumerate(states, 1):
        if judged.differences:
            different += 1
            print(judged.state)
            for difference in judged.differences:
                print(f"    {difference}", flush=True)
        if number % _EVERY == 0:
            print(f"{number} states, {different} of them differ", flush=True)
    print(f"{arguments.states} states from seed {arguments.seed}, {different} of them differ")
    return 1 if different else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity.disk", description=__doc__)
    parser.add_argument("--version", default=NEWEST, help="of Kafka; default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first state")
    parser.add_argument("--states", type=int, default=20_000, help="default %(default)s")
    return parser


if __name__ == "__main__":
    sys.exit(main())
