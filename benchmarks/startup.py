"""Start-up: --help, --version, a refused flag and a completion that needs no cluster.

Against `python -c pass`, and the first two against the same flag of the JVM script. Completions are
those of bash, which reads the script of completions/ each time.
"""

from __future__ import annotations

import json
import shlex
import sys

from benchmarks.measure import Cost, jvm_script, ours, run, summary
from completions.generate import HERE

VERSION = "4.3.1"
RUNS = 11
OURS = ("kafka-unclean-recovery", "kafka-elect-leaders")
RIVAL = "kafka-leader-election"
PYTHON = "python -c pass"


def main() -> None:
    rivals = {flag: f"{RIVAL}.sh {flag}" for flag in ("--help", "--version")}
    commands = {
        f"{name} {flag}": ours(name, flag)
        for name in OURS
        for flag in (*rivals, "--no-such-flag=1")
    }
    commands |= {f"{name} --au<TAB>": _tab(name) for name in OURS}
    commands["--topics <TAB>"] = ours(OURS[0], "complete", "topics", "--", f"{OURS[0]} --topics ")
    commands |= {shown: jvm_script(VERSION, RIVAL, flag) for flag, shown in rivals.items()}
    commands[PYTHON] = [sys.executable, "-c", "pass"]
    for command in commands.values():
        run(command)
    # In turn, so that a slow moment of the machine falls on all of them.
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            costs[name].append(run(command))
    figures = {name: summary(found) for name, found in costs.items()}
    result = {
        "benchmark": "startup",
        "figures": figures,
        "to python": _ratios(figures, dict.fromkeys(commands, PYTHON)),
        "to the script": _ratios(
            figures, {f"{name} {flag}": shown for name in OURS for flag, shown in rivals.items()}
        ),
        "aims": {"to python": 2.5, "completion": 3.0, "to the script": 0.5},
    }
    print(json.dumps(result))


def _ratios(figures: dict[str, dict[str, float]], rivals: dict[str, str]) -> dict[str, float]:
    return {
        name: round(figures[name]["wall_s"] / figures[rival]["wall_s"], 3)
        for name, rival in rivals.items()
    }


def _tab(name: str) -> list[str]:
    script, words = shlex.quote(str(HERE / f"{name}.bash")), f"{name} --au"
    line = f"COMP_WORDS=({words}) COMP_CWORD=1 COMP_LINE='{words}' COMP_POINT={len(words)}"
    function = f"_{name.replace('-', '_')}"
    return ["bash", "-c", f"source {script}; {line}; {function} {name} --au {name}"]


if __name__ == "__main__":
    main()
