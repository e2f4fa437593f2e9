"""`python -m tests.chaos --runs 200 --seed 1`: a line a run, then a summary as JSON.

Each run has the next seed; a failing one is run again alone by its own. Ends with 1 when any run
ended badly; what the tool wrote and the nodes said is kept then.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from kafka_unclean_recovery.deadline import Deadline
from tests.chaos.run import Result
from tests.chaos.runs import Runs
from tests.real.cache import CACHE, quick_scratch

KEPT = CACHE / "chaos"


def main() -> int:
    arguments = _parser().parse_args()
    # The nodes and their directories, which are in memory, go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    deadline = Deadline.after(arguments.minutes * 60)
    begun = time.monotonic()
    results = []
    with quick_scratch(Path(tempfile.gettempdir())) as scratch, Runs(scratch) as runs:
        for seed in range(arguments.seed, arguments.seed + arguments.runs):
            if deadline.expired:
                break
            result = runs.run(seed)
            results.append(result)
            print(result, flush=True)
            if result.violations:
                kept = KEPT / f"seed-{seed}"
                shutil.rmtree(kept, ignore_errors=True)
                runs.keep(seed, kept)
                print(f"  kept in {kept}", flush=True)
    print(json.dumps(_summary(results, time.monotonic() - begun)))
    return 1 if any(result.violations for result in results) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; default %(default)s")
    parser.add_argument("--minutes", type=float, default=600, help="begin no run after these")
    return parser


def _summary(results: list[Result], seconds: float) -> dict[str, object]:
    reached = [result for result in results if result.reached]
    return {
        "runs": len(results),
        "violations": {r.scenario.seed: r.violations for r in results if r.violations},
        "faults_at_their_moment": len(reached),
        "by_fault": dict(Counter(str(result.scenario.fault) for result in reached)),
        "by_moment": dict(Counter(str(result.scenario.moment) for result in reached)),
        "elected": sum(sum(result.elected) for result in results),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
