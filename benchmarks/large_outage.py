"""An outage of more partitions than this machine could hold real brokers for, on the emulated
cluster: what it takes to show them, and to elect all, beside the blind script on the same outage.

Each partition has one record more on one survivor than on the other, and the dead broker was the
last one in the ISR. Shown: `--show-replica-info` in each format to a file, its bytes, and `cat` of
them. Elected: the whole process, journal and report as by default, against kafka-leader-election.sh
--election-type unclean --all-topic-partitions on a copy of the outage.

    python -m benchmarks.large_outage [PARTITIONS ...]
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.compared import at_most
from benchmarks.election import BLIND
from benchmarks.emulated_cluster import emulated_outage
from benchmarks.installed import told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run
from tests.real.cache import CACHE, quick_scratch

VERSION = "4.3.1"
# 50,000 take six minutes more.
SIZES = (2_000, 20_000)
FORMATS = ("table", "json", "ladder")
MEMORY_NEEDED = 4 << 30


def main(arguments: list[str]) -> None:
    rows = [_measured(size) for size in ([int(a) for a in arguments] or SIZES)]
    compared = [row for each in rows for row in _compared(each)] + [_growth(rows[0], rows[-1])]
    print(
        json.dumps(
            {"benchmark": "large-outage", **told_of_processes(), "rows": rows, "compared": compared}
        )
    )


def _compared(row: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the comparisons with the aims; of an output only the peak has one."""
    many = f"{row['partitions']:,} partitions, emulated"
    mine, blind = row["ours"], row["blind"]
    yield at_most(1.2, f"{many}: elected", BLIND, mine["wall_s"], blind["wall_s"])
    peaks = mine["peak_mib"], blind["peak_mib"]
    yield at_most(1.0, f"{many}: peak memory of electing", BLIND, *peaks, "MiB")
    for output, shown in row["shown"].items():
        said = f"{many}: shown as {output}, {shown['mib']} MiB"
        yield at_most(None, said, "`cat` of the output", shown["wall_s"], shown["cat_s"])
        yield at_most(1.0, f"{said}: peak memory", "200 MiB", shown["peak_mib"], 200, "MiB")


def _growth(small: dict[str, Any], large: dict[str, Any]) -> dict[str, object]:
    each = [row["ours"]["wall_s"] / row["partitions"] * 1e6 for row in (large, small)]
    work, against = (f"each of {row['partitions']:,} elected, emulated" for row in (large, small))
    return at_most(1.3, work, against, each[0], each[1], "µs")


def _measured(partitions: int) -> dict[str, Any]:
    with quick_scratch(CACHE, MEMORY_NEEDED) as scratch:
        made, copy = scratch / "made", scratch / "copy"
        with emulated_outage(made, partitions):
            pass
        shutil.copytree(made, copy)
        with emulated_outage(made) as servers:
            shown = {name: _shown(servers, name) for name in FORMATS}
            mine = run(ours("kafka-unclean-recovery", *_where(servers), *_ELECT))
        with emulated_outage(copy) as servers:
            flags = ("--bootstrap-server", servers, "--election-type", "unclean")
            script = jvm_script(VERSION, "kafka-leader-election", *flags, "--all-topic-partitions")
            blind = run(script)
    return {
        "partitions": partitions,
        "shown": shown,
        "ours": _figures(mine),
        "blind": _figures(blind),
    }


_ELECT = ("--automated-recovery", "--yes")


def _where(servers: str) -> tuple[str, ...]:
    return ("--bootstrap-server", servers, "--all-offline-partitions")


def _shown(servers: str, output: str) -> dict[str, float]:
    with tempfile.NamedTemporaryFile(suffix=f".{output}") as file:
        flags = (*_where(servers), "--show-replica-info", "--format", output)
        cost = run(ours("kafka-unclean-recovery", *flags), Path(file.name))
        cat = run(["cat", file.name])
        size = Path(file.name).stat().st_size
    return _figures(cost) | {"mib": round(size / (1 << 20), 2), "cat_s": round(cat.wall_s, 4)}


def _figures(cost: Cost) -> dict[str, float]:
    return {
        "wall_s": round(cost.wall_s, 2),
        "cpu_s": round(cost.cpu_s, 2),
        "peak_mib": round(cost.peak_mib, 1),
        "code": cost.code,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
