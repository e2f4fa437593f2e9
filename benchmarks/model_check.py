"""The model check of the emulated controller: states, seconds, and what comes out.

Of each configuration in which all invariants must hold, of the table of tolerated unclean
shutdowns, and of the last replica standing without ELR, which is found and told.

    python -m benchmarks.model_check [quick]

`quick` leaves out what takes more than a few seconds. Ends with 1 where an invariant is broken that
must hold, or the search was not complete.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.installed import told_of_this_process
from kafka_unclean_recovery.kraft_rules.releases import (
    KAFKA_3_9_1,
    KAFKA_4_3_1,
    KIP_966,
)
from tests.model_check.invariants import INVARIANTS
from tests.model_check.search import Configuration, explore
from tests.model_check.states import State, initial
from tests.model_check.steps import Bounds, Fault

NEAR = 5_000
THREE, FOUR = initial(3, 3), initial(4, 4)

# Bounds are records, overlapping unclean shutdowns, brokers behind.
QUICK = (
    Configuration(KAFKA_4_3_1, 2, THREE, 2, Bounds(1, 1, 0)),
    Configuration(KAFKA_4_3_1, 2, THREE, 1, Bounds(1, 1, 3)),
    Configuration(KAFKA_4_3_1, 2, THREE, 1, Bounds(2, 1, 0)),
    Configuration(KIP_966, 2, THREE, 2, Bounds(1, 1, 0)),
    Configuration(KAFKA_4_3_1, 2, FOUR, 1, Bounds(1, 1, 0)),
    Configuration(KAFKA_4_3_1, 3, FOUR, 1, Bounds(1, 2, 0)),
)
LONG = (
    Configuration(KAFKA_4_3_1, 2, THREE, 4, Bounds(1, 1, 0)),
    Configuration(KAFKA_4_3_1, 2, THREE, 2, Bounds(2, 1, 0)),
    Configuration(KAFKA_4_3_1, 2, THREE, 2, Bounds(1, 1, 3)),
    Configuration(KAFKA_4_3_1, 2, FOUR, 2, Bounds(1, 1, 0)),
    Configuration(KAFKA_4_3_1, 3, FOUR, 2, Bounds(1, 2, 0)),
    Configuration(KAFKA_4_3_1, 2, FOUR, 1, Bounds(1, 1, 1)),
    Configuration(KAFKA_4_3_1, 3, FOUR, 1, Bounds(1, 2, 1)),
)

# Replicas, min ISR, and how many unclean shutdowns there are in all, None being any number.
Rows = tuple[tuple[int, int, int | None], ...]
QUICK_TABLE: Rows = ((3, 2, None), (5, 3, 2), (6, 4, 1))
LONG_TABLE: Rows = ((3, 2, None), (5, 3, None), (6, 4, 3))


def main(arguments: list[str]) -> int:
    quick = arguments == ["quick"]
    configurations = QUICK if quick else (*QUICK, *LONG)
    # One process for each core; the seconds that are told are those of one core.
    with ProcessPoolExecutor() as pool:
        measured = [pool.submit(_measured, one) for one in configurations]
        tolerated = [
            pool.submit(_tolerated, *row) for row in (QUICK_TABLE if quick else LONG_TABLE)
        ]
        found = [each.result() for each in measured]
        result = {
            "benchmark": "model_check",
            **told_of_this_process(),
            "configurations": found,
            "tolerated": [each.result() for each in tolerated],
            "last_replica_standing": _last_replica_standing(),
        }
    print(json.dumps(result))
    held = all(each["complete"] and each["broken"] is None for each in found)
    return 0 if held else 1


def _measured(configuration: Configuration) -> dict[str, object]:
    begun = time.process_time()
    explored = explore(configuration)
    seconds = time.process_time() - begun
    bounds = configuration.bounds
    return {
        "release": configuration.release.name,
        "brokers": len(configuration.start.brokers),
        "min_isr": configuration.min_isr,
        "disturbances": configuration.disturbances,
        "records": bounds.records,
        "unclean_shutdowns": bounds.unclean_shutdowns,
        "behind": bounds.behind,
        "states": explored.states,
        "steps": explored.steps,
        "complete": explored.complete,
        "broken": None if explored.broken is None else explored.broken.invariant,
        "cpu_s": round(seconds, 1),
        "states_per_s": round(explored.states / seconds),
    }


def _tolerated(replicas: int, min_isr: int, shutdowns: int | None) -> dict[str, object]:
    """Return the most that may overlap without a loss, of so many in all; nothing else goes wrong.
    A record is committed by as few replicas as can be."""
    start = initial(replicas, min_isr, records=1)
    overlapping = 0
    while not _lost_soon(_only_crashes(start, min_isr, overlapping + 1, None)):
        overlapping += 1
    measured = _measured(_only_crashes(start, min_isr, overlapping, shutdowns))
    tolerated = None if measured["broken"] else overlapping
    return {"replicas": replicas, "tolerated": tolerated, **measured}


def _lost_soon(configuration: Configuration) -> bool:
    # Breadth first, and so those that only crash come early.
    return explore(configuration, most_states=NEAR).broken is not None


def _only_crashes(
    start: State, min_isr: int, overlapping: int, shutdowns: int | None
) -> Configuration:
    bounds = Bounds(1, overlapping, 0, frozenset({Fault.CRASH}))
    return Configuration(KAFKA_4_3_1, min_isr, start, shutdowns, bounds)


def _last_replica_standing() -> list[str]:
    name = "NoCommittedRecordLostGlobally"
    configuration = Configuration(KAFKA_3_9_1, 2, THREE, 1, Bounds(1, 1, 0))
    broken = explore(configuration, {name: INVARIANTS[name]}).broken
    assert broken is not None
    return list(broken.trace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
