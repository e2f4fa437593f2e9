"""The same recovery by Kafka's own scripts, one after the other, as a runbook has them: sizes of
each replica, the best one first in the order, the election, the order back, and a look.

Who is best is known beforehand, which costs them nothing; sizes in bytes are all that a script
tells of a replica without a leader. Each is a JVM; their times are added up.

    python -m benchmarks.by_scripts [--release 4.3.1] [RUNS] [PARTITIONS]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.compared import at_least
from benchmarks.election import recovered
from benchmarks.installed import told_of_processes
from benchmarks.measure import jvm_script, run
from tests.real.cache import CACHE, quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.outages import many_partitions, restore
from tests.real.recipes import TOPIC
from tests.real.releases import NEWEST, TESTED

RUNS, PARTITIONS = 3, 2000
BEST = 3
AIM = 5.0
SCRIPTS = "Kafka's own scripts: log-dirs, reassign, leader-election, reassign, topics"
TIMEOUT = 60.0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("benchmarks.by_scripts")
    parser.add_argument("--release", choices=TESTED, default=NEWEST)
    parser.add_argument("runs", type=int, nargs="?", default=RUNS)
    parser.add_argument("partitions", type=int, nargs="?", default=PARTITIONS)
    given = parser.parse_args(arguments)
    # In turn, so that a slow moment of the machine falls on both.
    pairs = [
        (recovered(given.partitions, release=given.release), _by_scripts(given))
        for _ in range(given.runs)
    ]
    mine = median(ours.cost.wall_s for ours, _ in pairs)
    theirs = median(sum(steps.values()) for _, steps in pairs)
    work = f"{given.partitions:,} offline partitions recovered, real {given.release}"
    result = {
        "benchmark": "by_scripts",
        "release": given.release,
        **told_of_processes(),
        "ours_s": [round(ours.cost.wall_s, 3) for ours, _ in pairs],
        "scripts_s": [steps for _, steps in pairs],
        "compared": [at_least(AIM, f"{work}: whole", SCRIPTS, mine, theirs)],
    }
    print(json.dumps(result))


def _by_scripts(given: argparse.Namespace) -> dict[str, float]:
    """Return the seconds of each script."""
    with quick_scratch(CACHE) as directory:
        outage = many_partitions(given.release, given.partitions)
        with restore(outage, directory / "cluster") as cluster:
            orders = _orders(cluster)
            best = {number: _best_first(order) for number, order in orders.items()}
            found: dict[str, float] = {}
            for step, (name, flags) in enumerate(_steps(directory, orders, best), start=1):
                servers = ("--bootstrap-server", cluster.bootstrap_servers)
                cost = run(jvm_script(given.release, name, *servers, *flags))
                if cost.code:
                    raise RuntimeError(f"{name} ended with {cost.code}")
                found[f"{step} {name}"] = round(cost.wall_s, 3)
            _check(cluster, orders)
            return found


def _orders(cluster: KafkaCluster) -> dict[int, Sequence[int]]:
    seen = cluster.view(cluster.live_brokers[0]).topics[TOPIC]
    return {number: partition.replicas for number, partition in seen.items()}


def _best_first(order: Sequence[int]) -> list[int]:
    return sorted(order, key=lambda broker: broker != BEST)


def _steps(
    directory: Path, orders: dict[int, Sequence[int]], best: dict[int, list[int]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each script and its flags."""
    yield "kafka-log-dirs", ("--describe", "--topic-list", TOPIC)
    yield "kafka-reassign-partitions", _execute(directory / "best.json", best)
    yield "kafka-leader-election", ("--election-type", "unclean", "--all-topic-partitions")
    yield "kafka-reassign-partitions", _execute(directory / "before.json", orders)
    yield "kafka-topics", ("--describe", "--topic", TOPIC)


def _execute(
    path: Path, orders: dict[int, Sequence[int]] | dict[int, list[int]]
) -> tuple[str, ...]:
    rows = [
        {"topic": TOPIC, "partition": number, "replicas": list(order)}
        for number, order in orders.items()
    ]
    path.write_text(json.dumps({"version": 1, "partitions": rows}))
    return ("--execute", "--reassignment-json-file", str(path))


def _check(cluster: KafkaCluster, orders: dict[int, Sequence[int]]) -> None:
    """Check that they did the same: the best log leads everywhere, and each order is as before."""
    cluster.wait_until_partitions(TOPIC, lambda p: p.leader == BEST, TIMEOUT)
    if _orders(cluster) != orders:
        raise RuntimeError("an order is not as it was before")


if __name__ == "__main__":
    main(sys.argv[1:])
