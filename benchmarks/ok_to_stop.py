"""One answer of ok-to-stop on an emulated cluster, against kafka-topics.sh describing the same.

python -m benchmarks.ok_to_stop [BROKERS PARTITIONS]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compared import at_most
from benchmarks.installed import told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from benchmarks.rack_outage import rack_lost

BROKERS, PARTITIONS = 100, 10_000
RUNS = 3
RELEASE = "4.3.1"


def main(arguments: list[str]) -> None:
    brokers, partitions = map(int, arguments) if arguments else (BROKERS, PARTITIONS)
    with rack_lost(brokers, partitions) as (servers, scratch):
        where = ("--bootstrap-server", servers)
        saved = scratch / "seen.json"
        live = (*where, "--brokers", "2", "--format", "json")
        told = _runs(ours("kafka-unclean-recovery", "ok-to-stop", *live))
        run(ours("kafka-unclean-recovery", "ok-to-stop", *live, "--save", str(saved)))
        what_if = _what_if(saved)
        described = _runs(jvm_script(RELEASE, "kafka-topics", *where, "--describe"))
    print(json.dumps(_result(brokers, partitions, told, what_if, described)))


def _what_if(saved: Path) -> list[Cost]:
    words = ("ok-to-stop", "--what-if", str(saved), "--brokers", "2")
    return _runs(ours("kafka-unclean-recovery", *words))


def _runs(command: Sequence[str]) -> list[Cost]:
    return [run(command) for _ in range(RUNS)]


def _result(
    brokers: int, partitions: int, told: list[Cost], what_if: list[Cost], described: list[Cost]
) -> dict[str, object]:
    mine, offline, rival = map(summary, (told, what_if, described))
    work = f"ok-to-stop, {brokers} brokers, {partitions:,} partitions (emulated)"
    against = "`kafka-topics.sh --describe`"
    return {
        "benchmark": "ok-to-stop",
        **told_of_processes(),
        "told": mine,
        "what_if": offline,
        "described": rival,
        "compared": [
            at_most(1.0, work, against, mine["wall_s"], rival["wall_s"]),
            at_most(1.0, f"{work}: memory", against, mine["peak_mib"], rival["peak_mib"], "MiB"),
            at_most(None, f"{work}: --what-if", against, offline["wall_s"], rival["wall_s"]),
        ],
    }


if __name__ == "__main__":
    main(sys.argv[1:])
