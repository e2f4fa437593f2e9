"""Start-up: --help, --version, a refused flag and a completion that needs no cluster.

Against `python -c pass` by the same interpreter, and the first two against the same flag of the JVM
script. Completions are those of bash, which reads the installed script each time.
"""

from __future__ import annotations

import json
import shlex

from benchmarks.compared import at_most
from benchmarks.installed import environment, python, told_of_processes
from benchmarks.measure import Cost, jvm_script, ours, run, summary

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
    commands[PYTHON] = python("-c", "pass")
    for command in commands.values():
        run(command)
    # In turn, so that a slow moment of the machine falls on all of them.
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            costs[name].append(run(command))
    figures = {name: summary(found) for name, found in costs.items()}
    compared = [
        at_most(3.0 if "TAB" in name else 2.5, f"`{name}`", f"`{PYTHON}`", *_walls(figures, name))
        for name in commands
        if name != PYTHON and not name.startswith(RIVAL)
    ]
    compared += [
        at_most(0.5, f"`{name} {flag}`", f"`{rival}`", *_walls(figures, f"{name} {flag}", rival))
        for name in OURS
        for flag, rival in rivals.items()
    ]
    print(
        json.dumps(
            {
                "benchmark": "startup",
                **told_of_processes(),
                "figures": figures,
                "compared": compared,
            }
        )
    )


def _walls(
    figures: dict[str, dict[str, float]], name: str, rival: str = PYTHON
) -> tuple[float, float, str]:
    """Return the milliseconds of ours and of the rival."""
    mine, theirs = (1000 * figures[each]["wall_s"] for each in (name, rival))
    return mine, theirs, "ms"


def _tab(name: str) -> list[str]:
    script = environment() / "share" / "bash-completion" / "completions" / name
    words = f"{name} --au"
    line = f"COMP_WORDS=({words}) COMP_CWORD=1 COMP_LINE='{words}' COMP_POINT={len(words)}"
    function = f"_{name.replace('-', '_')}"
    return [
        "bash",
        "-c",
        f"source {shlex.quote(str(script))}; {line}; {function} {name} --au {name}",
    ]


if __name__ == "__main__":
    main()
