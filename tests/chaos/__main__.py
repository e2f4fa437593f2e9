"""`python -m tests.chaos --runs 200 --seed 1`: a line a run, then a summary as JSON.

Each run has the next seed, and with --workers some go side by side, each on a cluster of its own:
a run is mostly waiting. A failing one is run again alone by its own. `--fault KIND`, as often as
wanted, takes the seeds that have one of these. Ends with 1 when any run ended badly; what the tool
wrote and the nodes said is kept then.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

from kafka_unclean_recovery.deadline import Deadline
from tests.chaos.run import Result
from tests.chaos.runs import Runs
from tests.chaos.scenario import Fault, scenario
from tests.real.cache import CACHE, quick_scratch

KEPT = CACHE / "chaos"


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.workers > 1:
        return _side_by_side(arguments)
    # The nodes and their directories, which are in memory, go with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    deadline = Deadline.after(arguments.minutes * 60)
    begun = time.monotonic()
    results = []
    with quick_scratch(Path(tempfile.gettempdir())) as scratch, Runs(scratch) as runs:
        for seed in _seeds(arguments):
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
    parser.add_argument("--workers", type=int, default=1, help="side by side; default %(default)s")
    faults = list(map(str, Fault))
    parser.add_argument(
        "--fault", action="append", choices=faults, default=[], help="default: all; repeatable"
    )
    parser.add_argument("--minutes", type=float, default=600, help="begin no run after these")
    return parser


def _seeds(arguments: argparse.Namespace) -> list[int]:
    all_seeds = count(arguments.seed)
    wanted = arguments.fault or list(Fault)
    return list(islice((s for s in all_seeds if scenario(s).fault in wanted), arguments.runs))


def _side_by_side(arguments: argparse.Namespace) -> int:
    """Run workers side by side, each with some seeds in a row."""
    begun = time.monotonic()
    ends = [arguments.runs * n // arguments.workers for n in range(arguments.workers + 1)]
    seeds = _seeds(arguments)
    only = [word for fault in arguments.fault for word in ("--fault", fault)]
    workers = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.chaos", "--minutes", str(arguments.minutes)),
                *("--seed", str(seeds[first]), "--runs", str(end - first), *only),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for first, end in pairwise(ends)
        if first < end
    ]

    def end(*_: object) -> None:
        for worker in workers:
            worker.terminate()

    signal.signal(signal.SIGTERM, end)
    with ThreadPoolExecutor(len(workers)) as readers:
        summaries = list(readers.map(_read, workers))
    seconds = round(time.monotonic() - begun, 1)
    together = reduce(_together, summaries)
    print(json.dumps(together | {"seconds": seconds}))
    return max(worker.wait() for worker in workers)


def _read(worker: subprocess.Popen[str]) -> dict[str, Any]:
    """Print the worker's lines as they come, and return its summary, which is the last."""
    assert worker.stdout is not None
    last = ""
    for line in worker.stdout:
        if last:
            print(last, end="", flush=True)
        last = line
    summary: dict[str, Any] = json.loads(last)
    return summary


def _together(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the sum of two summaries; numbers by name are added, too."""
    both: dict[str, Any] = {}
    for key, value in other.items():
        if isinstance(value, dict):
            both[key] = _together(one.get(key, {}), value) | {
                name: found for name, found in one.get(key, {}).items() if name not in value
            }
        elif isinstance(value, list):
            both[key] = [*one.get(key, []), *value]
        else:
            both[key] = one.get(key, 0) + value
    return both


def _summary(results: list[Result], seconds: float) -> dict[str, object]:
    reached = [result for result in results if result.reached]
    return {
        "runs": len(results),
        "violations": {r.scenario.seed: r.violations for r in results if r.violations},
        "faults_at_their_moment": len(reached),
        "by_fault": dict(Counter(str(result.scenario.fault) for result in reached)),
        "on_top": dict(Counter(str(e.fault) for r in reached for e in r.scenario.extras)),
        "by_moment": dict(Counter(str(result.scenario.moment) for result in reached)),
        "elected": sum(sum(result.elected) for result in results),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    sys.exit(main())
