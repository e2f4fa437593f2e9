"""Start-up: --help and --version of our commands, each against the same flag of the JVM script."""

from __future__ import annotations

import json

from benchmarks.measure import Cost, jvm_script, ours, run, summary

VERSION = "4.3.1"
RUNS = 11
FLAGS = ("--help", "--version")
RIVAL = "kafka-leader-election"


def main() -> None:
    commands = {
        f"{name} {flag}": ours(name, flag)
        for name in ("kafka-unclean-recovery", "kafka-elect-leaders")
        for flag in FLAGS
    }
    commands |= {f"{RIVAL}.sh {flag}": jvm_script(VERSION, RIVAL, flag) for flag in FLAGS}
    for command in commands.values():
        run(command)
    # In turn, so that a slow moment of the machine falls on all of them.
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            costs[name].append(run(command))
    figures = {name: summary(found) for name, found in costs.items()}
    ratios = {
        name: round(figure["wall_s"] / figures[f"{RIVAL}.sh {name.split()[1]}"]["wall_s"], 3)
        for name, figure in figures.items()
    }
    print(json.dumps({"benchmark": "startup", "figures": figures, "ratio": ratios, "aim": 0.5}))


if __name__ == "__main__":
    main()
