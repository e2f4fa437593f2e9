"""The parts of `make test-all`. Their sizes are for less than two hours of two quiet cores: what
takes longer is seldom run to its end. More of one is had by hand, with numbers that were not run
yet: `python -m tests.simulation --runs 2000 --seed 3000`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

PYTHON = sys.executable
PYTEST = (PYTHON, "-m", "pytest")
TESTS = (*PYTEST, "-n", "4", "--dist", "loadfile", "--no-loadscope-reorder")
_STARTS = (PYTHON, "-m", "tests.real.whole_starts")
_CUTS = (PYTHON, "-m", "tests.real.power_cuts")
_CHAOS = (PYTHON, "-m", "tests.chaos")
# Of a machine that a night is for.
CORES = 2
_SEEDS = ("tests/real/test_quorum_seeds.py", "tests/real/test_seeds_by_kafkas_controller.py")


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    shows: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    cores: int = CORES


PARTS = (
    Part(
        "each-run",
        "every rule and story once, in containers too, as `make test` has them",
        (*TESTS, "--releases", "each"),
    ),
    Part(
        "rest",
        "every other test: the other releases of Kafka, and what takes long",
        (*TESTS, "--releases", "rest"),
    ),
    Part(
        "real-4.3.1",
        "those that name no release, on 4.3.1",
        (*TESTS, "--releases", "one", "-m", "real"),
        {"KAFKA_RELEASE": "4.3.1"},
    ),
    Part(
        "oldest-spark",
        "the tests of Spark on the oldest releases of Spark, pyarrow and pandas",
        (PYTHON, "-m", "tests.night.oldest_spark"),
    ),
    *(
        Part(
            f"simulation-{number}",
            f"faults at once in 1,200 recoveries on the emulator, from seed {seed} on",
            (PYTHON, "-m", "tests.simulation", "--runs", "1200", "--seed", str(seed)),
        )
        for number, seed in ((1, 1), (2, 1_201))
    ),
    *(
        Part(
            f"chaos-{number}",
            f"faults in 30 recoveries on real clusters, from seed {seed} on",
            (*_CHAOS, "--runs", "30", "--seed", str(seed), "--workers", "4"),
        )
        for number, seed in ((1, 1), (2, 31))
    ),
    Part(
        "hostile",
        "odd texts and numbers in each field of answers, documents and disks, for each command",
        (PYTHON, "-m", "tests.hostile"),
        cores=1,
    ),
    Part(
        "quorum-seeds",
        "controllers start on 60 seeds of damaged metadata logs, and Kafka's controller loads 300,"
        " or those get no plan",
        (*PYTEST, *_SEEDS),
        {"QUORUM_STARTS": "60", "QUORUM_SEEDS": "300"},
        cores=1,
    ),
    Part(
        "model-check",
        "no state of the emulated controller within the bounds breaks an invariant",
        (PYTHON, "-m", "benchmarks.model_check"),
        cores=1,
    ),
    *(
        Part(
            f"fidelity-{version}",
            f"our controller does what that of {version} does in {steps:,} random steps",
            (PYTHON, "-m", "tests.fidelity", "--version", version, "--steps", str(steps)),
            cores=1,
        )
        for version, steps in (("4.4.0", 100_000), ("4.3.1", 50_000), ("3.9.1", 50_000))
    ),
    *(
        Part(
            f"disks-{version}",
            f"what a start of {version} makes of {states:,} disks in random states is foretold",
            (PYTHON, "-m", "tests.fidelity.disk", "--version", version, "--states", str(states)),
            cores=1,
        )
        for version, states in (("4.4.0", 10_000), ("4.3.1", 3_000), ("3.9.1", 3_000))
    ),
    *(
        Part(
            f"starts-{version}",
            f"what was said before brokers of {version} start on random disks, in {rounds} rounds,"
            " comes true on all brokers",
            (*_STARTS, "--version", version, "--rounds", str(rounds)),
            cores=1,
        )
        for version, rounds in (("4.4.0", 8), ("4.3.1", 6), ("3.9.1", 6))
    ),
    *(
        Part(
            f"cuts-{version}",
            f"after {rounds} power cuts of {version} those lead, and that is lost, that start-order"
            " said",
            (*_CUTS, "--version", version, "--rounds", str(rounds)),
            cores=1,
        )
        for version, rounds in (("4.4.0", 10), ("4.3.1", 6), ("3.9.1", 6))
    ),
)


def chosen(
    parts: Sequence[Part], named: Collection[str], passed: Collection[str], *, again: bool
) -> list[Part]:
    """Return the parts to run: the named ones, else those that did not pass yet, or all again."""
    if named:
        return [part for part in parts if part.name in named]
    return [part for part in parts if again or part.name not in passed]


def listing(parts: Sequence[Part]) -> str:
    return "\n".join(f"  {part.name:<15} {part.shows}" for part in parts)
