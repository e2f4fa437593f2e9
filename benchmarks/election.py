"""Recovering N offline partitions of a four-broker real cluster, against the blind script.

Ours: lineages, plan, elections, restored order, verification and report. Theirs:
kafka-leader-election.sh --election-type unclean --all-topic-partitions, which elects whoever comes
first. Both from the same saved outage, each run on a fresh copy.

Two figures of each. How long until the last partition had its leader, from the start of the process
on: that is how long users wait, and a client of its own sees it, which asks one live broker
(leaders.py). And the whole process. Beside them, what the brokers take alone (election_limit.py).

    python -m benchmarks.election [--release 4.3.1] [RUNS] [PARTITIONS ...]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.compared import at_most
from benchmarks.election_limit import limit
from benchmarks.installed import told_of_processes
from benchmarks.leaders import POLL_SECONDS, Seen, watching
from benchmarks.measure import Cost, jvm_script, ours, run, summary
from benchmarks.timeline import MS, timeline
from tests.real.cache import CACHE, quick_scratch
from tests.real.outages import many_partitions, restore
from tests.real.recipes import TOPIC
from tests.real.releases import NEWEST, TESTED

RUNS = 5
SIZES = (2000, 8000)
# Until the last leader, and the whole process: up to the first of SIZES, and beyond it.
AIMS, AIMS_BEYOND = (1.0, 1.3), (1.3, 2.0)
BLIND = "the blind stock script, kafka-leader-election.sh"


@dataclass(frozen=True, slots=True)
class Run:
    """timeline: as timeline.py has it; none of the script, or where `state_home` was given."""

    cost: Cost
    seen: Seen
    timeline: tuple[tuple[int, str], ...] = ()

    @property
    def last_leader_s(self) -> float:
        return self.seen.at - self.cost.begun

    @property
    def uncertain_s(self) -> float:
        """Return how much earlier it may have been: the client did not ask in between."""
        return self.seen.at - self.seen.offline_at


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("benchmarks.election")
    parser.add_argument("--release", choices=TESTED, default=NEWEST)
    parser.add_argument("runs", type=int, nargs="?", default=RUNS)
    parser.add_argument("partitions", type=int, nargs="*", default=SIZES)
    given = parser.parse_args(arguments)
    rows = [_measure(given.release, size, given.runs) for size in given.partitions]
    first, last = rows[0], rows[-1]
    growth = {
        who: {
            key: round(last[who][key] / first[who][key], 2) for key in ("last_leader_s", "wall_s")
        }
        for who in ("ours", "blind")
    }
    result = {
        "benchmark": "election",
        "release": given.release,
        **told_of_processes(),
        "rows": rows,
        f"{first['partitions']} to {last['partitions']}": growth,
        "compared": [compared for row in rows for compared in row.pop("compared")],
    }
    print(json.dumps(result))


def _measure(release: str, partitions: int, runs: int) -> dict[str, Any]:
    # In turn, so that a slow moment of the machine falls on all.
    turns = [
        (
            recovered(partitions, release=release),
            _blind(release, partitions),
            limit(release, partitions),
        )
        for _ in range(runs)
    ]
    pairs = [(ours, blind) for ours, blind, _ in turns]
    mine, theirs = (_figures(found) for found in zip(*pairs, strict=True))
    alone = {
        key: round(median(getattr(each, key) for _, _, each in turns), 3)
        for key in ("ordered_s", "elected_s", "last_leader_s")
    }
    return {
        "partitions": partitions,
        "ours": mine,
        "blind": theirs,
        "ratios of each pair": {
            "last leader": [round(a.last_leader_s / b.last_leader_s, 2) for a, b in pairs],
            "whole process": [round(a.cost.wall_s / b.cost.wall_s, 2) for a, b in pairs],
        },
        "timeline of a run, ms": _of_the_median([run for run, _ in pairs]),
        "the brokers alone": alone,
        "compared": _compared(release, partitions, mine, theirs, alone),
    }


def _of_the_median(runs: Sequence[Run]) -> dict[str, int]:
    """Return what the run waited for whose last leader came neither soon nor late."""
    run = sorted(runs, key=lambda run: run.last_leader_s)[len(runs) // 2]
    moments = [
        *run.timeline,
        (round(run.last_leader_s * MS), "last leader seen"),
        (round(run.cost.wall_s * MS), "exit"),
    ]
    in_time = sorted(moments, key=lambda moment: moment[0])
    return {f"{number}. {name}": at for number, (at, name) in enumerate(in_time, 1)}


def _figures(runs: Sequence[Run]) -> dict[str, Any]:
    """Return medians and spread, and what the client cost that looked on."""
    seconds = [run.last_leader_s for run in runs]
    return {
        **summary([run.cost for run in runs]),
        "last_leader_s": round(median(seconds), 3),
        "last_leader_min_s": round(min(seconds), 3),
        "last_leader_max_s": round(max(seconds), 3),
        "looked on": {
            "pause_ms": POLL_SECONDS * 1000,
            "requests": median(run.seen.requests for run in runs),
            "mib": round(median(run.seen.received for run in runs) / (1 << 20), 3),
            "cpu_s": round(median(run.seen.cpu_s for run in runs), 3),
            "at most earlier by ms": round(max(run.uncertain_s for run in runs) * 1000, 1),
        },
    }


def _compared(
    release: str,
    partitions: int,
    mine: dict[str, Any],
    blind: dict[str, Any],
    alone: dict[str, float],
) -> list[dict[str, object]]:
    work = f"{partitions:,} offline partitions elected, real {release}"
    aims = AIMS if partitions <= SIZES[0] else AIMS_BEYOND
    figures = {"last leader seen": "last_leader_s", "whole process": "wall_s"}
    rows = [
        at_most(aim, f"{work}: {name}", BLIND, mine[key], blind[key])
        for aim, (name, key) in zip(aims, figures.items(), strict=True)
    ]
    limited = f"{work}: last leader, order and election alone"
    least = at_most(None, limited, BLIND, alone["last_leader_s"], blind["last_leader_s"])
    return [*rows, least]


def recovered(partitions: int, state_home: Path | None = None, release: str = NEWEST) -> Run:
    """Return what a recovery cost. Without `state_home` it finds no journals of earlier runs."""
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes")
    return _on_a_copy(
        release,
        partitions,
        lambda servers: ours("kafka-unclean-recovery", "--bootstrap-server", servers, *flags),
        state_home,
    )


def _blind(release: str, partitions: int) -> Run:
    flags = ("--election-type", "unclean", "--all-topic-partitions")
    return _on_a_copy(
        release,
        partitions,
        lambda servers: jvm_script(
            release, "kafka-leader-election", "--bootstrap-server", servers, *flags
        ),
    )


def _on_a_copy(
    release: str,
    partitions: int,
    command: Callable[[str], list[str]],
    state_home: Path | None = None,
) -> Run:
    # In memory, where there is room: on a disk both wait for a sync of each partition's epoch
    # checkpoint, ours longer, since it waits until every broker shows the result.
    with quick_scratch(CACHE) as directory:
        outage = many_partitions(release, partitions)
        with restore(outage, directory / "cluster") as cluster:
            addresses = list(map(cluster.address, cluster.live_brokers))
            return watched(command(",".join(addresses)), addresses[0], TOPIC, state_home)


def watched(
    command: Sequence[str], address: str, topic: str, state_home: Path | None = None
) -> Run:
    """Run the command, while a client sees when the last partition has its leader."""
    with watching(address, topic) as seen, TemporaryDirectory() as home:
        cost = run(command, state_home=state_home or Path(home))
        if cost.code:
            raise RuntimeError(f"{command[0]} ended with {cost.code}")
        begun = time.time() - (time.perf_counter() - cost.begun)
        return Run(cost, seen(), tuple(timeline(Path(home), begun)))


if __name__ == "__main__":
    main(sys.argv[1:])
