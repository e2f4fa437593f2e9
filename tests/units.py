"""Which tests run in one go on one worker of pytest-xdist, and which worker takes which next."""

from __future__ import annotations

from collections.abc import Iterable

# One session of Spark, and one engine with one image, serve all the tests of each.
CONTAINERS, SPARK = "tests/containers/", "tests/spark/"
TOGETHER = (CONTAINERS, SPARK)
# Their tests wait for JVMs for half of their time.
ON_KAFKA = (CONTAINERS, "tests/real/", "tests/chaos/", "tests/fidelity/")
# Clusters of three workers fill two cores.
ON_KAFKA_AT_ONCE = 2
# Seconds of a worker that took half a minute or more: begun last, it would run on alone.
LONG = {
    CONTAINERS: 300,
    SPARK: 180,
    "tests/test_runs.py": 40,
}


def unit_of(nodeid: str) -> str:
    """A file, or a directory whose tests share what takes long to start."""
    shared = (directory for directory in TOGETHER if nodeid.startswith(directory))
    return next(shared, nodeid.partition("::")[0])


def kafka_first(worker: int, workers: int) -> bool:
    """Whether this worker begins with what runs on Kafka; at least one of several computes in the
    time in which the others wait for JVMs."""
    return worker < min(ON_KAFKA_AT_ONCE, max(workers - 1, 1))


def next_unit(left: Iterable[str], *, kafka: bool) -> str:
    """The longest of its kind, as long as there are some; of equals the first."""
    return max(left, key=lambda unit: (unit.startswith(ON_KAFKA) == kafka, LONG.get(unit, 0)))
