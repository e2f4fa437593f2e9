"""kafka-unclean-recovery report as a process."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.cli.run import RECOVERY, run
from tests.post_mortem.journals import planned, write_journal


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    write_journal(path, [planned(0)])
    return path


def test_stdout_gets_the_format_that_was_asked_for(journal: Path) -> None:
    found = {flag: run(RECOVERY, "report", str(journal), flag) for flag in ("--html", "--json")}
    plain = run(RECOVERY, "report", str(journal))
    assert {done.returncode for done in (plain, *found.values())} == {0}
    assert plain.stdout.startswith("# Post-mortem, cluster cluster-1\n")
    assert found["--html"].stdout.startswith("<!DOCTYPE html>")
    assert json.loads(found["--json"].stdout)["kind"] == "post-mortem"
    assert plain.stderr == ""


def test_a_new_file_gets_it(journal: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.html"
    done = run(RECOVERY, "report", str(journal), "--html", "--output", str(new))
    assert (done.returncode, done.stdout) == (0, "")
    assert new.read_text().endswith("</html>\n")
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    again = run(RECOVERY, "report", str(journal), "--output", str(new))
    assert again.returncode == 2
    assert "never overwritten" in again.stderr


def test_an_unfinished_run_is_told_on_stderr_too(journal: Path) -> None:
    begun = [line for line in journal.read_text().splitlines() if '"restored"' not in line]
    journal.write_text("\n".join(begun) + "\n")
    done = run(RECOVERY, "report", str(journal), "--json")
    assert done.returncode == 0
    assert "Unfinished: 1 replica order may not be as before: orders-0" in done.stderr
