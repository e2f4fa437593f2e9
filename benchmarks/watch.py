"""Idle looks of watch on an emulated cluster: what one costs, against describing the topics once.

python -m benchmarks.watch [BROKERS PARTITIONS]
"""

from __future__ import annotations

import json
import sys

from benchmarks.compared import at_most
from benchmarks.installed import told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from benchmarks.rack_outage import rack_lost

BROKERS, PARTITIONS = 100, 10_000
INTERVAL_MS, SHORT_MS, LONG_MS = 1_000, 5_000, 25_000
RELEASE = "4.3.1"


def main(arguments: list[str]) -> None:
    brokers, partitions = map(int, arguments) if arguments else (BROKERS, PARTITIONS)
    with rack_lost(brokers, partitions) as (servers, _):
        short, long = (_watched(servers, duration) for duration in (SHORT_MS, LONG_MS))
        where = ("--bootstrap-server", servers)
        described = run(jvm_script(RELEASE, "kafka-topics", *where, "--describe"))
    # Both begin alike: what the longer one costs more is idle looks.
    idle = (long.cpu_s - short.cpu_s) / ((LONG_MS - SHORT_MS) / INTERVAL_MS)
    print(json.dumps(_result(brokers, partitions, idle, long, described)))


def _watched(servers: str, duration_ms: int) -> Cost:
    times = ("--interval-ms", str(INTERVAL_MS), "--duration-ms", str(duration_ms))
    return run(ours("kafka-unclean-recovery", "watch", "--bootstrap-server", servers, *times))


def _result(
    brokers: int, partitions: int, idle: float, long: Cost, described: Cost
) -> dict[str, object]:
    mine, rival = summary([long]), summary([described])
    work = f"watch, {brokers} brokers, {partitions:,} partitions (emulated)"
    against = "`kafka-topics.sh --describe`"
    return {
        "benchmark": "watch",
        **told_of_processes(),
        "watched": mine,
        "idle_look_cpu_s": round(idle, 3),
        "described": rival,
        "compared": [
            at_most(1.0, f"{work}: processor time of an idle look", against, idle, rival["cpu_s"]),
            at_most(1.0, f"{work}: memory", against, mine["peak_mib"], rival["peak_mib"], "MiB"),
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
