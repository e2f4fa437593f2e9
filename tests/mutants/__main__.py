"""python -m tests.mutants --mutants 300 --seed 1 [--only MODULE] [--line N]

Changes the modules that decide, one small change at a time, drawn by chance, in copies of the tree;
runs the tests of the module (table.py) on each, and prints those that no test sees, then a summary
as JSON. Exit code 1 when there are any. Each is to be read: it is the same program, or a test is
missing.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafka.protocol.admin import topics  # noqa: F401 - what is imported here no child reads anew

from tests.mutants.operators import Mutant, mutants
from tests.mutants.table import HELD

_ROOT = Path(__file__).resolve().parents[2]
_OURS = ("kafka_unclean_recovery", "tests", "examples", "benchmarks", "completions")
_WORKERS = 2
_POLL_SECONDS = 0.05
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


@dataclass(frozen=True, slots=True)
class Job:
    module: str
    mutant: Mutant

    @property
    def path(self) -> Path:
        return Path("kafka_unclean_recovery", f"{self.module}.py")


def drawn(only: str | None, line: int | None, count: int, seed: int) -> list[Job]:
    jobs = [
        Job(module, mutant)
        for module, held in HELD.items()
        if only in (None, module)
        for mutant in mutants((_ROOT / Job(module, _NONE).path).read_bytes(), held.functions)
        if line in (None, mutant.line)
    ]
    random.Random(seed).shuffle(jobs)
    return jobs[:count]


_NONE = Mutant(0, 0, 0, "")


def _tree(work: Path) -> Path:
    tree = work / str(os.getpid())
    if not tree.exists():
        for name in _OURS:
            shutil.copytree(_ROOT / name, tree / name, ignore=shutil.ignore_patterns("*.pyc"))
        for path in _ROOT.iterdir():
            if path.is_file():
                shutil.copy(path, tree)
    return tree


def judge(work: Path, seconds: float, job: Job) -> tuple[Job, str]:
    tree, held = _tree(work), HELD[job.module]
    path, source = tree / job.path, (_ROOT / job.path).read_bytes()
    path.write_bytes(job.mutant.of(source))
    try:
        for tests in filter(None, (held.quick, *(test.split() for test in held.slow))):
            # Two mutants of one second and size have the same bytecode for Python.
            for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
                compiled.unlink()
            code = _ended(_run(tree, tests), time.monotonic() + seconds)
            if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
                raise ValueError((tree / "output").read_text())
            if code != 0:
                return job, TIMED_OUT if code is None else KILLED
        return job, SURVIVED
    finally:
        path.write_bytes(source)


def passes_unchanged(work: Path, seconds: float, modules: Sequence[str]) -> bool:
    """Return whether the tests pass unchanged: what fails by itself kills every mutant."""
    given = {test: None for name in modules for test in (*HELD[name].quick, *HELD[name].slow)}
    tests = {test.split()[0]: None for test in given}
    ended = _ended(_run(_tree(work), list(tests)), time.monotonic() + seconds * len(tests))
    if ended != 0:
        print((_tree(work) / "output").read_text()[-2000:])
    return ended == 0


def _ended(child: int, by: float) -> int | None:
    """Return the exit code of a child; None where it had to be killed."""
    while time.monotonic() < by:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_SECONDS)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run(tree: Path, tests: Sequence[str]) -> int:
    """Start a child that runs these tests, and return its process id, which is its group's."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    os.chdir(tree)
    output = os.open(tree / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ["PYTHONPATH"] = sys.path[0] = str(tree)
    for name in [name for name in sys.modules if name.split(".")[0] in _OURS]:
        del sys.modules[name]
    code = 1
    try:
        code = pytest.main(["-n", "0", "-x", "-q", "-p", "no:cacheprovider", *tests])
    except BaseException:  # noqa: BLE001 - the child ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def _shown(job: Job) -> str:
    source = (_ROOT / job.path).read_bytes()
    before, after = (s.decode().splitlines() for s in (source, job.mutant.of(source)))
    return "\n".join(list(difflib.unified_diff(before, after, str(job.path), "", n=1))[2:])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(HELD))
    parser.add_argument("--line", type=int)
    parser.add_argument(
        "--seconds", type=float, default=120, help="that tests of a mutant may take"
    )
    given = parser.parse_args()
    jobs = drawn(given.only, given.line, given.mutants, given.seed)
    counts: dict[str, Counter[str]] = {}
    os.nice(10)
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as work,
        multiprocessing.get_context("fork").Pool(_WORKERS) as pool,
    ):
        modules = sorted({job.module for job in jobs})
        unchanged = pool.apply_async(passes_unchanged, (Path(work), given.seconds, modules))
        todo = functools.partial(judge, Path(work), given.seconds)
        for job, became in pool.imap_unordered(todo, jobs):
            counts.setdefault(job.module, Counter())[became] += 1
            print(f"{became}: {job.path}:{job.mutant.line}", flush=True)
            if became == SURVIVED:
                print(_shown(job), flush=True)
        if not unchanged.get():
            sys.exit("tests fail on the unchanged tree: this says nothing")
    print(json.dumps({"seed": given.seed, "mutants": len(jobs), "modules": counts}, sort_keys=True))
    return int(any(count[SURVIVED] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
