"""`.ci/run` with a stand-in for make: what is shown, in which order, how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.real.waiting import wait_until

ROOT = Path(__file__).parents[1]
CLOSING = "===== 8790 passed, 3 skipped in 1203.61s (0:20:03) ====="
# A shell may not heed a signal that reaches it while it forks: who is to be ended forks nothing.
FOREVER = "import os, time; open('begun', 'w').write(str(os.getpid())); time.sleep(300)"
# The linters end after the tests have begun to write.
MAKE = f"""#!/bin/sh
case "$*" in
*packages*) echo "prepared $*"; exit "$PREPARING" ;;
lint) until [ -e begun ]; do sleep 0.1; done; echo linted; exit "$LINTING" ;;
test) [ -z "$FOREVER" ] || exec "{sys.executable}" -c "{FOREVER}"
    echo > begun; echo first; echo second; sleep 1
    echo "{CLOSING}"; [ "$TESTING" = 0 ] || echo "make: *** [test] Error" >&2; exit "$TESTING" ;;
esac
"""
TIMEOUT = 60.0


def _begin(directory: Path, environment: Mapping[str, str] = {}) -> subprocess.Popen[str]:
    (directory / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", directory / ".ci")
    programs = directory / "programs"
    programs.mkdir()
    (programs / "make").write_text(MAKE)
    (programs / "make").chmod(0o700)
    ends = {"PREPARING": "0", "LINTING": "0", "TESTING": "0", "FOREVER": ""}
    path = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(directory)}
    return subprocess.Popen(
        ["bash", ".ci/run"],
        cwd=directory,
        env={**os.environ, **path, **ends, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # By nohup, which began the tests, it is ignored, and a shell can't trap what it ignores.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )


def _lines(run: subprocess.Popen[str]) -> list[str]:
    return run.communicate(timeout=TIMEOUT)[0].splitlines()


def test_each_part_is_shown_whole_and_pytests_line_is_the_last(tmp_path: Path) -> None:
    run = _begin(tmp_path)
    prepared, *rest = _lines(run)
    assert prepared.startswith("prepared -j4")
    assert rest == ["linted", "first", "second", CLOSING]
    assert run.returncode == 0
    assert not list(tmp_path.glob("tmp.*"))


@pytest.mark.parametrize(
    ("ends", "failed"),
    [
        ({"LINTING": "1"}, "failed: lint"),
        ({"TESTING": "2"}, "failed: test"),
        ({"LINTING": "1", "TESTING": "2"}, "failed: lint test"),
    ],
)
def test_what_fails_hides_nothing_and_fails_the_run(
    tmp_path: Path, ends: dict[str, str], failed: str
) -> None:
    run = _begin(tmp_path, ends)
    lines = _lines(run)
    assert lines[1:5] == ["linted", "first", "second", CLOSING]
    assert lines[-2:] == [failed, CLOSING]
    assert run.returncode == 1


def test_nothing_is_tried_where_the_preparation_failed(tmp_path: Path) -> None:
    run = _begin(tmp_path, {"PREPARING": "2"})
    assert [line.split()[0] for line in _lines(run)] == ["prepared"]
    assert run.returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ended_early_it_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    run = _begin(tmp_path, {"FOREVER": "1"})
    begun = tmp_path / "begun"
    wait_until(
        lambda: begun.exists() and begun.read_text() != "", TIMEOUT, lambda: "the tests begin"
    )
    group = int(begun.read_text())
    run.send_signal(number)
    run.communicate(timeout=TIMEOUT)
    assert run.returncode == {signal.SIGINT: 130}.get(number, 143)
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    assert not list(tmp_path.glob("tmp.*"))


def test_a_part_that_is_gone_is_sent_no_signal(tmp_path: Path) -> None:
    """Its id may be a stranger's by then."""
    traced = "\n".join(_lines(_begin(tmp_path, {"SHELLOPTS": "xtrace"})))
    assert "kill -0" in traced
    assert "kill -INT" not in traced
