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
# Seconds of a worker that took 40 or more (`pytest --junitxml`, on two cores):
# begun last, it would run on alone.
LONG = {
    CONTAINERS: 410,
    SPARK: 370,
    "tests/real/test_binary.py": 170,
    "tests/real/test_faults_rights.py": 150,
    "tests/real/test_aftercare.py": 130,
    "tests/mission/test_faults.py": 110,
    "tests/mission/test_who_lives.py": 110,
    "tests/real/test_faults_quorum.py": 100,
    "tests/mission/test_no_single_broker.py": 100,
    "tests/transport/test_honest_elections.py": 100,
    "tests/real/test_before_start_outages.py": 90,
    "tests/real/test_lost_quorum.py": 90,
    "tests/real/test_before_start_refusals.py": 90,
    "tests/simulation/test_simulation.py": 80,
    "tests/mission/test_given_up.py": 80,
    "tests/real/test_lost_quorum_static.py": 70,
    "tests/transport/test_on_the_emulator.py": 70,
    "tests/mission/test_who_leads_in_the_end.py": 70,
    "tests/test_site.py": 50,
    "tests/real/test_faults_meanwhile.py": 50,
    "tests/real/test_plan_from_disks.py": 50,
    "tests/real/test_ok_to_stop.py": 50,
    "tests/chaos/test_chaos.py": 50,
    "tests/real/test_scripts_on_the_emulator.py": 50,
    "tests/real/test_before_start.py": 50,
    "tests/ok_to_stop/test_command.py": 50,
    "tests/cli/test_start.py": 50,
    "tests/fidelity/test_fidelity.py": 40,
    "tests/mission/test_outages.py": 40,
    "tests/real/test_oauth.py": 40,
    "tests/real/test_lost_quorum_of_one.py": 40,
    "tests/test_completions.py": 40,
    "tests/real/test_faults_connecting.py": 40,
    "tests/real/test_salvage_offsets.py": 40,
    "tests/real/test_stuck_quorum.py": 40,
    "tests/mission/test_unregistered.py": 40,
}


def unit_of(nodeid: str) -> str:
    """Return the unit: a file, or a directory whose tests share what takes long to start."""
    shared = (directory for directory in TOGETHER if nodeid.startswith(directory))
    return next(shared, nodeid.partition("::")[0])


def kafka_first(worker: int, workers: int) -> bool:
    """Return whether this worker begins with what runs on Kafka; at least one of several computes
    in the time in which the others wait for JVMs."""
    return worker < min(ON_KAFKA_AT_ONCE, max(workers - 1, 1))


def next_unit(left: Iterable[str], *, kafka: bool) -> str:
    """Return the longest of its kind, as long as there are some; of equals the first."""
    return max(left, key=lambda unit: (unit.startswith(ON_KAFKA) == kafka, LONG.get(unit, 0)))
