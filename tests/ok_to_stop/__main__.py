"""`python -m tests.ok_to_stop --version 4.4.0 --states 10000 [--real]`: random states of a
controller; of each is asked what a stop does, and then it is done.

Ends with 1 when something came otherwise than predicted.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time

from tests.fidelity.real_side import real_side
from tests.ok_to_stop.comparing import compare
from tests.ok_to_stop.controllers import Controller, OurController
from tests.real.releases import NEWEST

EACH = 500
"""States of one controller: topics that may not be deleted any more gather on it."""


def main() -> int:
    arguments = _parser().parse_args()
    # The controller and its directory, which is in memory, go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for seed in range(arguments.seed, arguments.seed + -(-arguments.states // EACH)):
        start = time.monotonic()
        with contextlib.ExitStack() as stack:
            controller: Controller = (
                stack.enter_context(real_side(arguments.version))
                if arguments.real
                else OurController(arguments.version)
            )
            found = compare(controller, arguments.version, seed, min(EACH, arguments.states))
        seconds = time.monotonic() - start
        print(
            f"seed {seed}: {seconds:.0f} s", dict(found.verdicts), dict(found.classes), flush=True
        )
        if found.wrong:
            print(*found.wrong, sep="\n")
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.ok_to_stop", description=__doc__)
    parser.add_argument("--version", default=NEWEST, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first controller's states")
    parser.add_argument("--states", type=int, default=10_000, help="default %(default)s")
    parser.add_argument("--real", action="store_true", help="on real controllers, not ours")
    return parser


if __name__ == "__main__":
    sys.exit(main())
