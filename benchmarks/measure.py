"""Running a command as a whole process, and what the system says it cost."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.installed import CORE, environment, plain_environ
from tests.real.jars import jars, main_class
from tests.real.tools import MAIN_CLASSES

# What bin/kafka-run-class.sh passes unless told otherwise (4.3.1).
JVM_DEFAULTS = (
    "-Xmx256M",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


@dataclass(frozen=True)
class Cost:
    """Of one run: when it began (time.perf_counter(), the same clock in every process), seconds of
    wall clock and of processor, and its peak memory."""

    begun: float
    wall_s: float
    cpu_s: float
    peak_mib: float
    code: int


def ours(name: str, *arguments: str, kind: str = CORE) -> list[str]:
    """Return the command as installed; see installed.py."""
    return [str(environment(kind) / "bin" / name), *arguments]


def jvm_script(version: str, name: str, *arguments: str) -> list[str]:
    """Return the command that bin/NAME.sh ends in."""
    release, main = main_class(version, *MAIN_CLASSES[name])
    return ["java", *JVM_DEFAULTS, "-cp", f"{jars(release)}/*", main, *arguments]


def run(command: Sequence[str], stdout: Path | None = None, state_home: Path | None = None) -> Cost:
    """Run the command; without `state_home` it finds no journals of earlier runs."""
    with (
        tempfile.TemporaryDirectory() as state,
        tempfile.TemporaryFile() as figures,
        tempfile.TemporaryFile() if stdout is None else stdout.open("w+b") as output,
    ):
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", _STARTER, str(figures.fileno()), *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**plain_environ(), "XDG_STATE_HOME": str(state_home or state)},
            pass_fds=[figures.fileno()],
            check=True,
        )
        figures.seek(0)
        begun, wall, cpu, peak, code = map(float, figures.read().split())
        if code != 0:
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace")[-2000:])
    return Cost(begun, wall, cpu, peak, int(code))


# The system counts the memory of whoever starts a process as that process's own, until it is
# another program: this starter is small, and a benchmark is not.
_STARTER = """
import os, sys, time
told, command = int(sys.argv[1]), sys.argv[2:]
os.set_inheritable(told, False)
begun = time.perf_counter()
process = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(process, 0)
wall, cpu = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
code = os.waitstatus_to_exitcode(status)
os.write(told, f"{begun} {wall} {cpu} {usage.ru_maxrss / 1024} {code}".encode())
"""


def summary(costs: Sequence[Cost]) -> dict[str, float]:
    """Return medians, and the spread of the wall clock."""
    walls = [cost.wall_s for cost in costs]
    return {
        "runs": len(costs),
        "wall_s": round(median(walls), 3),
        "wall_min_s": round(min(walls), 3),
        "wall_max_s": round(max(walls), 3),
        "cpu_s": round(median(cost.cpu_s for cost in costs), 3),
        "peak_mib": round(max(cost.peak_mib for cost in costs), 1),
    }
