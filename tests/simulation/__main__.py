"""`python -m tests.simulation --runs 20000 --seed 1`: what went wrong, then a summary as JSON.

Each run has the next seed, and with it the same outage and the same faults whenever it is run
again: `--runs 1 --seed N --keep DIRECTORY` leaves what the tool wrote. Ends with 1 when any run
ended badly. `--fault KIND`, as often as wanted, makes faults of these kinds alone.
"""

from __future__ import annotations

from tests.simulation import clock

clock.install()

import argparse  # noqa: E402 - the package must find this clock
import gc  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pkgutil  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from kafka.protocol.api_message import ApiMessage  # noqa: E402

import kafka_unclean_recovery  # noqa: E402
from tests.cli.in_process import RECOVERY, invoke  # noqa: E402
from tests.simulation.faults import KINDS  # noqa: E402
from tests.simulation.play import Result, play  # noqa: E402
from tests.simulation.pool import Broken, side_by_side  # noqa: E402

_MEMORY = Path("/dev/shm")
# What starts threads, a JVM or the command itself when it is imported, and is in no run.
# From so many runs on, making all codecs takes less time than each run's making its own.
_MANY = 20
_NOT_NEEDED = ("spark", "salvage", "stores", "__main__")


def main() -> int:
    arguments = _parser().parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of a set of words would be another one in each process.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])
    _import_all()
    if arguments.runs >= _MANY:
        _compile_codecs()
    # A collection in a child would write to all the memory that it shares with its parent.
    gc.freeze()
    begun = time.perf_counter()
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    results: list[Result] = []
    broken: list[Broken] = []
    kinds = {kind: KINDS[kind] or 1 for kind in arguments.fault} if arguments.fault else KINDS
    kind_of_play = partial(play, kinds=kinds)
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        home = arguments.keep or Path(scratch)
        for result in side_by_side(
            kind_of_play, seeds, arguments.workers, home, keep=bool(arguments.keep)
        ):
            if isinstance(result, Broken):
                broken.append(result)
                print(f"seed {result.seed} broke: {result.said}", flush=True)
                continue
            results.append(result)
            if result.violations or arguments.verbose:
                print(result, flush=True)
    print(json.dumps(_summary(results, broken, time.perf_counter() - begun)))
    return 1 if broken or any(result.violations for result in results) else 0


def _import_all() -> None:
    """Import here, once, what each run would import for itself: half of its time."""
    home = kafka_unclean_recovery.__name__
    for found in pkgutil.walk_packages(kafka_unclean_recovery.__path__, f"{home}."):
        if found.name.split(".")[1] not in _NOT_NEEDED:
            importlib.import_module(found.name)
    assert invoke(RECOVERY).code != 0


def _compile_codecs() -> None:
    """Make kafka-python's codecs once, which are a fifth of the time of a run."""
    for message in _below(ApiMessage):
        for version in range(message.max_version + 1):
            flexible = message.flexible_version_q(version)
            how = {"compact": flexible, "tagged": flexible}
            if message.__name__.endswith("Response"):
                message._struct.compiled_encode_into(version, **how)
            else:
                message._struct.compiled_decode_from(version, **how, data_class=message[None])


def _below(message: Any) -> Iterator[Any]:
    """Yield the messages, not those that are bound to one version."""
    for each in message.__subclasses__():
        if each._struct is not None and each._class_version is None:
            yield each
        yield from _below(each)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the first run; default %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="side by side; default %(default)s")
    parser.add_argument("--fault", action="append", choices=KINDS, help="default: all; repeatable")
    parser.add_argument("--keep", type=Path, help="a new directory for all that is written")
    parser.add_argument("--verbose", action="store_true", help="print runs that ended well, too")
    return parser


def _summary(results: list[Result], broken: list[Broken], seconds: float) -> dict[str, object]:
    happened = Counter(each.partition(" ")[2] for r in results for each in r.happened)
    return {
        "runs": len(results) + len(broken),
        "violations": {r.scenario.seed: r.violations for r in results if r.violations},
        "broken": [each.seed for each in broken],
        "faults": dict(sorted(happened.items())),
        "faults_a_run": dict(sorted(Counter(len(r.happened) for r in results).items())),
        "exit_codes": {str(k): n for k, n in Counter(r.codes for r in results).most_common()},
        "elections": sum(r.elections for r in results),
        "slowest": {r.scenario.seed: round(r.cpu_seconds, 1) for r in _slowest(results)},
        "virtual_hours": round(sum(r.virtual_seconds for r in results) / 3600, 1),
        "seconds": round(seconds, 1),
    }


def _slowest(results: list[Result]) -> list[Result]:
    return sorted(results, key=lambda result: -result.cpu_seconds)[:3]


if __name__ == "__main__":
    sys.exit(main())
