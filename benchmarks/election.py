"""Recovering N offline partitions of a four-broker real cluster, against the blind script.

Ours: lineages, plan, elections, restored order, verification and report. Theirs:
kafka-leader-election.sh --election-type unclean --all-topic-partitions, which elects whoever comes
first. Both from the same saved outage, each run on a fresh copy.

    python -m benchmarks.election [RUNS] [PARTITIONS ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.compared import at_most
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from tests.real.cache import CACHE, quick_scratch
from tests.real.outages import many_partitions, restore

VERSION = "4.3.1"
RUNS = 5
SIZES = (2000, 8000)
AIM = 1.0
BLIND = "the blind stock script, kafka-leader-election.sh"


def main(arguments: list[str]) -> None:
    runs = int(arguments[0]) if arguments else RUNS
    sizes = [int(a) for a in arguments[1:]] or SIZES
    rows = [_measure(size, runs) for size in sizes]
    first, last = rows[0], rows[-1]
    growth = {
        who: round(last[who]["wall_s"] / first[who]["wall_s"], 2)  # type: ignore[index]
        for who in ("ours", "blind")
    }
    sizes_text = f"{sizes[0]} to {sizes[-1]}"
    compared = [row.pop("compared") for row in rows]
    result = {"benchmark": "election", "rows": rows, sizes_text: growth, "compared": compared}
    print(json.dumps(result))


def _measure(partitions: int, runs: int) -> dict[str, object]:
    # In turn, so that a slow moment of the machine falls on both.
    mine, blind = [], []
    for _ in range(runs):
        mine.append(recovered(partitions))
        blind.append(_blind(partitions))
    mine_figure, blind_figure = summary(mine), summary(blind)
    return {
        "partitions": partitions,
        "ours": mine_figure,
        "blind": blind_figure,
        "compared": at_most(
            AIM,
            f"{partitions:,} offline partitions elected, real {VERSION}",
            BLIND,
            mine_figure["wall_s"],
            blind_figure["wall_s"],
        ),
    }


def recovered(partitions: int, state_home: Path | None = None) -> Cost:
    """What a recovery cost. Without `state_home` it finds no journals of earlier runs."""
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes")
    return _on_a_copy(
        partitions,
        lambda servers: ours("kafka-unclean-recovery", "--bootstrap-server", servers, *flags),
        state_home,
    )


def _blind(partitions: int) -> Cost:
    flags = ("--election-type", "unclean", "--all-topic-partitions")
    return _on_a_copy(
        partitions,
        lambda servers: jvm_script(
            VERSION, "kafka-leader-election", "--bootstrap-server", servers, *flags
        ),
    )


def _on_a_copy(
    partitions: int, command: Callable[[str], list[str]], state_home: Path | None = None
) -> Cost:
    # In memory, where there is room: on a disk both wait for a sync of each partition's epoch
    # checkpoint, ours longer, since it waits until every broker shows the result.
    with quick_scratch(CACHE) as directory:
        outage = many_partitions(VERSION, partitions)
        with restore(outage, directory / "cluster") as cluster:
            servers = ",".join(map(cluster.address, cluster.live_brokers))
            return run(command(servers), state_home=state_home)


if __name__ == "__main__":
    main(sys.argv[1:])
