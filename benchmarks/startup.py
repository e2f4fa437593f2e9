"""Start-up: --help and --version of our commands against the JVM script's --help."""

from __future__ import annotations

import json

from benchmarks.measure import Cost, jvm_script, ours, run, summary

VERSION = "4.3.1"
RUNS = 11


def main() -> None:
    rival = jvm_script(VERSION, "kafka-leader-election", "--version")
    commands = {
        "kafka-unclean-recovery --help": ours("kafka-unclean-recovery", "--help"),
        "kafka-unclean-recovery --version": ours("kafka-unclean-recovery", "--version"),
        "kafka-elect-leaders --help": ours("kafka-elect-leaders", "--help"),
        "kafka-leader-election.sh --version": rival,
    }
    for command in commands.values():
        run(command)
    # In turn, so that a slow moment of the machine falls on all of them.
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            costs[name].append(run(command))
    figures = {name: summary(found) for name, found in costs.items()}
    against = figures["kafka-leader-election.sh --version"]["wall_s"]
    ratios = {name: round(f["wall_s"] / against, 3) for name, f in figures.items()}
    print(json.dumps({"benchmark": "startup", "figures": figures, "ratio": ratios, "aim": 0.5}))


if __name__ == "__main__":
    main()
