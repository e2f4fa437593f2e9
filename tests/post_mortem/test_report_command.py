"""kafka-unclean-recovery report as a process."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from kafka_unclean_recovery.files.journal import Journal
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


def _noted(path: Path, *events: str) -> Path:
    """Write a journal with these events."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with Journal.open(path) as journal:
        journal.note("begin", version="0", cluster_id="c", command=RECOVERY)
        for event in events:
            # A text from outside that looks like the event, if its quotes were not escaped.
            journal.note("consent", how='","event":"elect",')
            journal.note(event, exit_code=1)  # type: ignore[arg-type]
    return path


def test_the_last_run_that_elected_is_found_behind_looks_and_refusals(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    without = run(RECOVERY, "report", "--last")
    assert (without.returncode, without.stdout) == (2, "")
    assert "no run of this user that elected" in without.stderr
    home = tmp_path / "state" / "kafka-unclean-recovery"
    _noted(home / "a" / "20260101T000000Z-9.jsonl", "elect")
    elected = home / "b" / "20260102T000000Z-1.jsonl"
    elected.parent.mkdir()
    elected.write_bytes(journal.read_bytes())
    _noted(home / "a" / "20260103T000000Z-1.jsonl", "end")
    (home / "b" / "20260104T000000Z-1.jsonl").symlink_to(tmp_path / "nowhere")
    last = run(RECOVERY, "report", "--last")
    named = run(RECOVERY, "report", str(elected))
    assert (last.returncode, last.stdout) == (0, named.stdout)
    assert f"the last run that elected: {elected}" in last.stderr
    assert "20260104T000000Z-1.jsonl, a link to" in last.stderr
    both = run(RECOVERY, "report", str(elected), "--last")
    assert (both.returncode, "give one of them" in both.stderr) == (2, True)
