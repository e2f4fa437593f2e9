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
    SPARK: 450,
    CONTAINERS: 360,
    "tests/real/test_binary.py": 240,
    "tests/mission/test_who_lives.py": 170,
    "tests/real/test_aftercare.py": 140,
    "tests/simulation/test_simulation.py": 130,
    "tests/mission/test_given_up.py": 120,
    "tests/mission/test_no_single_broker.py": 120,
    "tests/hostile/test_hostile.py": 110,
    "tests/mission/test_faults.py": 110,
    "tests/real/test_faults_quorum.py": 100,
    "tests/transport/test_honest_elections.py": 90,
    "tests/fidelity/test_fidelity.py": 90,
    "tests/real/test_lost_quorum.py": 90,
    "tests/mission/test_who_leads_in_the_end.py": 80,
    "tests/real/test_faults_rights.py": 80,
    "tests/real/test_before_start_outages.py": 80,
    "tests/mission/test_unregistered.py": 80,
    "tests/real/test_ok_to_stop.py": 80,
    "tests/test_site.py": 80,
    "tests/transport/test_on_the_emulator.py": 80,
    "tests/test_completions.py": 60,
    "tests/chaos/test_chaos.py": 60,
    "tests/real/test_before_start_refusals.py": 60,
    "tests/real/test_before_start.py": 60,
    "tests/mission/test_outages.py": 50,
    "tests/real/test_lost_quorum_survivor.py": 50,
    "tests/real/test_faults_meanwhile.py": 50,
    "tests/metadata_quorum/test_seed.py": 50,
    "tests/real/test_faults_connecting.py": 50,
    "tests/mission/test_dead_readers.py": 50,
    "tests/real/test_replica_info_is_the_truth.py": 50,
    "tests/real/test_salvage_replay.py": 50,
    "tests/real/test_lost_quorum_of_one.py": 50,
    "tests/real/test_plan_from_disks.py": 40,
    "tests/ok_to_stop/test_command.py": 40,
    "tests/real/test_online_salvage.py": 40,
    "tests/mission/test_made_anew.py": 40,
    "tests/ok_to_stop/test_watch.py": 40,
    "tests/examples/test_kubernetes.py": 40,
    "tests/real/test_scripts_on_the_emulator.py": 40,
    "tests/mission/test_coming_back.py": 40,
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
