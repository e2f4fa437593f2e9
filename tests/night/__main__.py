"""`make test-all`: each part that did not pass yet on this commit; those of one core by twos.

    make test-all                            what is left
    make test-all AGAIN=1                    all of it
    make test-all PARTS="chaos-1 hostile"    these, whatever they did before

A part that fails keeps none of the others from being run. Ends with 1 when one failed, and with 130
when it was stopped.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tests.night.parts import PARTS, Part, chosen, listing
from tests.night.running import Ended, run
from tests.night.stamps import Stamp, Stamps

ROOT = Path(__file__).resolve().parents[2]
STAMPS = Stamps(ROOT, ROOT / ".cache" / "test-all")


def main(arguments: Sequence[str], parts: Sequence[Part] = PARTS, stamps: Stamps = STAMPS) -> int:
    asked = _asked(arguments, [part.name for part in parts])
    if asked.list:
        print(listing(parts))
        return 0
    commit = stamps.commit()
    if commit is None:
        print("The tree has changes: what passes now is not kept as passed.")
    passed = stamps.passed(commit)
    todo = chosen(parts, asked.parts, passed, again=asked.again)
    done: dict[str, Ended] = {}
    try:
        with closing(run(todo, stamps.root)) as all_ended:
            for part, ended in all_ended:
                done[part.name] = ended
                if ended.passed and commit is not None:
                    _keep(stamps, commit, part, ended)
    except KeyboardInterrupt:
        left = [part.name for part in todo if part.name not in done]
        print(_summary(parts, done, passed))
        print(f"Stopped. Left: {', '.join(left)}")
        return 130
    print(_summary(parts, done, passed))
    return 0 if all(ended.passed for ended in done.values()) else 1


def _keep(stamps: Stamps, commit: str, part: Part, ended: Ended) -> None:
    if not stamps.keep(commit, part.name, Stamp(ended.closing, ended.seconds)):
        print(f"{part.name} passed, and the tree was changed: it is not kept as passed.")


def _summary(parts: Sequence[Part], done: Mapping[str, Ended], passed: Mapping[str, Stamp]) -> str:
    """Return a row for each part: how its last line begins, and how many tests passed."""
    rows, tests, seconds = [], 0, 0.0
    for part in parts:
        ended = done.get(part.name) or passed.get(part.name)
        if ended is None:
            rows.append(f"  {part.name:<15} not run")
            continue
        how = "passed before" if isinstance(ended, Stamp) else _how(ended)
        rows.append(f"  {part.name:<15} {how:<13} {ended.seconds:6.0f} s  {ended.closing:.100}")
        tests += count_of(ended.closing)
        seconds += ended.seconds
    total = f"{tests} tests passed; the parts took {seconds / 60:.0f} minutes"
    return "\n".join(("", *rows, total))


def _how(ended: Ended) -> str:
    return "passed" if ended.passed else "FAILED"


def count_of(closing: str) -> int:
    """Return the number of tests in pytest's closing line; 0 for any other."""
    found = re.search(r"\b(\d+) passed\b.* in [\d.]+s", closing)
    return int(found[1]) if found else 0


def _asked(arguments: Sequence[str], names: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.night",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="one of --list")
    parser.add_argument("--again", action="store_true", help="those that passed, too")
    parser.add_argument("--list", action="store_true", help="only say which parts there are")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.parts).difference(names):
        parser.error(
            f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(names)}"
        )
    return asked


if __name__ == "__main__":
    # A shell that begins it in the background has it ignore SIGINT, as what it begins then would.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
