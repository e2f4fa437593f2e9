"""Running a command as a whole process, and what the system says it cost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

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
    """Of one run: seconds of wall clock and of processor, and its peak memory."""

    wall_s: float
    cpu_s: float
    peak_mib: float
    code: int


def ours(name: str, *arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name(name)), *arguments]


def jvm_script(version: str, name: str, *arguments: str) -> list[str]:
    """The command that bin/NAME.sh ends in."""
    release, main = main_class(version, *MAIN_CLASSES[name])
    return ["java", *JVM_DEFAULTS, "-cp", f"{jars(release)}/*", main, *arguments]


def run(command: Sequence[str], stdout: Path | None = None, state_home: Path | None = None) -> Cost:
    """Without `state_home` the command finds no journals of earlier runs."""
    with (
        tempfile.TemporaryDirectory() as state,
        tempfile.TemporaryFile() if stdout is None else stdout.open("w+b") as output,
    ):
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "XDG_STATE_HOME": str(state_home or state)},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = code = os.waitstatus_to_exitcode(status)
        if code != 0:
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace")[-2000:])
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu, usage.ru_maxrss / 1024, code)


def summary(costs: Sequence[Cost]) -> dict[str, float]:
    """Medians, and the spread of the wall clock."""
    walls = [cost.wall_s for cost in costs]
    return {
        "runs": len(costs),
        "wall_s": round(median(walls), 3),
        "wall_min_s": round(min(walls), 3),
        "wall_max_s": round(max(walls), 3),
        "cpu_s": round(median(cost.cpu_s for cost in costs), 3),
        "peak_mib": round(max(cost.peak_mib for cost in costs), 1),
    }
