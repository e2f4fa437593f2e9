"""All benchmarks, one after the other: their JSON objects on stdout, and with a file the table.

    python -m benchmarks [--write docs/performance.md] [NAME ...]

Each prints one JSON object a line; what each took, and the load of the machine before and after, is
a line of its own. The rows under `compared` make the table.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.installed import plain_environ

ALL = (
    "startup",
    "election",
    "journals",
    "large_outage",
    "rack_outage",
    "scan",
    "cold_scan",
    "salvage",
    "spark_scan",
    "spark_plan",
    "emulator",
    "report_page",
    "quorum_inspect",
    "ok_to_stop",
    "watch",
)
BEGIN, END = "<!-- made by make bench -->\n", "<!-- end -->\n"


def main(arguments: list[str]) -> int:
    page = None
    if arguments[:1] == ["--write"]:
        page, arguments = Path(arguments[1]), arguments[2:]
    rows: list[dict[str, Any]] = []
    failed = []
    for name in arguments or ALL:
        before, begun = os.getloadavg()[0], time.perf_counter()
        found = [json.loads(line) for line in _lines(name)]
        if not found:
            failed.append(name)
        rows += [row for each in found for row in each.get("compared", ())]
        took = {"took_s": round(time.perf_counter() - begun), "load": [before, os.getloadavg()[0]]}
        print(json.dumps({"benchmark": name, **took}), flush=True)
    if page is not None:
        page.write_text(with_table(page.read_text(), rows, _machine()))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def with_table(page: str, rows: list[dict[str, Any]], machine: str) -> str:
    """Return the page with this table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = ["| work | against | ours | theirs | ratio | aim |", "|---|---|---|---|---|---|"]
    keys = ("work", "against", "ours", "theirs", "ratio", "aim")
    lines += [f"| {' | '.join(str(row[key]) for key in keys)} |" for row in rows]
    table = "\n".join(lines)
    return f"{before}{BEGIN}\nMeasured on {machine}.\n\n{table}\n\n{END}{after}"


def _lines(name: str) -> Iterator[str]:
    """Yield what the benchmark prints, shown as it comes; nothing where it failed. Python may write
    byte code: what is measured within its process has it from the second time on, too."""
    command = [sys.executable, "-m", f"benchmarks.{name}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, text=True, env=plain_environ()) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode == 0:
        yield from lines


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    python = platform.python_version()
    return f"{os.cpu_count()} cores, {memory} GiB, {platform.machine()}, Python {python}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
