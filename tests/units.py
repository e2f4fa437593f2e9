"""Which tests run in one go on one worker of pytest-xdist, and which worker takes which next."""

from __future__ import annotations

from collections.abc import Collection, Iterable

# One session of Spark, and one engine with one image, serve all the tests of each.
CONTAINERS, SPARK = "tests/containers/", "tests/spark/"
TOGETHER = (CONTAINERS, SPARK)
# But these tests of Spark start clusters of their own, and take as long as all the others.
KILLS, CLUSTER = "tests/spark/test_kills.py", "tests/spark/test_cluster.py"
APART = (KILLS, CLUSTER)
# A driver, a master, workers and executors are six JVMs, and so are those of the next cluster: two
# of them, beside what else runs, do not begin to answer within a minute on a slow machine.
ONE_AT_A_TIME = (*APART, SPARK)
# Their tests wait for JVMs for half of their time.
ON_KAFKA = (CONTAINERS, "tests/real/", "tests/chaos/", "tests/fidelity/")
# Clusters of three workers fill two cores.
ON_KAFKA_AT_ONCE = 2
# Seconds of a worker that took 45 or more (`pytest --junitxml`, five on two cores):
# begun last, it would run on alone.
LONG = {
    KILLS: 600,
    SPARK: 520,
    CLUSTER: 260,
    "tests/real/test_binary.py": 250,
    CONTAINERS: 190,
    "tests/simulation/test_simulation.py": 170,
    "tests/mission/test_faults.py": 140,
    "tests/hostile/test_hostile.py": 140,
    "tests/real/test_aftercare.py": 110,
    "tests/mission/test_every_screen.py": 110,
    "tests/transport/test_honest_elections.py": 110,
    "tests/mission/test_no_single_broker.py": 110,
    "tests/real/test_faults_quorum.py": 110,
    "tests/mission/test_who_lives.py": 100,
    "tests/real/test_lost_quorum.py": 90,
    "tests/mission/test_who_leads_in_the_end.py": 90,
    "tests/model_check/test_model_check.py": 90,
    "tests/test_completions.py": 80,
    "tests/chaos/test_chaos.py": 80,
    "tests/transport/test_on_the_emulator.py": 80,
    "tests/mission/test_unregistered.py": 80,
    "tests/real/test_faults_rights.py": 80,
    "tests/real/test_before_start_outages.py": 70,
    "tests/test_site.py": 70,
    "tests/cli/test_standard_streams.py": 60,
    "tests/ok_to_stop/test_random_states.py": 60,
    "tests/mission/test_screens.py": 60,
    "tests/fidelity/test_fidelity.py": 60,
    "tests/real/test_before_start_refusals.py": 60,
    "tests/real/test_plan_from_disks.py": 60,
    "tests/real/test_before_start.py": 60,
    "tests/stores/test_faults.py": 60,
    "tests/ok_to_stop/test_watch.py": 60,
    "tests/real/test_faults_meanwhile.py": 50,
    "tests/real/test_ok_to_stop.py": 50,
    "tests/mission/test_dead_readers.py": 50,
    "tests/stores/test_scan_of_a_store.py": 50,
    "tests/real/test_recovers_the_best_replica.py": 50,
    "tests/ok_to_stop/test_command.py": 50,
    "tests/real/test_faults_connecting.py": 50,
    "tests/real/test_replica_info_is_the_truth.py": 50,
    "tests/mission/test_made_anew.py": 50,
    "tests/real/test_quotas.py": 50,
}


def unit_of(nodeid: str) -> str:
    """Return the unit: a file, or a directory whose tests share what takes long to start."""
    file = nodeid.partition("::")[0]
    shared = (directory for directory in TOGETHER if file.startswith(directory))
    return file if file in APART else next(shared, file)


def kafka_first(worker: int, workers: int) -> bool:
    """Return whether this worker begins with what runs on Kafka; at least one of several computes
    in the time in which the others wait for JVMs."""
    return worker < min(ON_KAFKA_AT_ONCE, max(workers - 1, 1))


def next_unit(left: Iterable[str], *, kafka: bool, busy: Collection[str] = ()) -> str:
    """Return the longest of its kind, as long as there are some; of equals the first. busy: what
    others run. What is to run one at a time comes beside another of these only where nothing else
    is left."""
    held_back = ONE_AT_A_TIME if not set(busy).isdisjoint(ONE_AT_A_TIME) else ()

    def rank(unit: str) -> tuple[bool, bool, int]:
        return unit not in held_back, unit.startswith(ON_KAFKA) == kafka, LONG.get(unit, 0)

    return max(left, key=rank)
