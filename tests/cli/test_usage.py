"""Bad input: exit 2, a sentence that names the flag or the entry, nothing asked of any cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RECOVERY = "kafka_unclean_recovery.cli.unclean_recovery"
ELECTION = "kafka_unclean_recovery.cli.elect_leaders"
# Nobody listens there: a usage error must come before any connection.
NOWHERE = ("--bootstrap-server", "127.0.0.1:1")


def _run(module: str, *args: str) -> subprocess.CompletedProcess[str]:
    code = f"import {module} as m; m.main()"
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def partitions(tmp_path: Path) -> str:
    path = tmp_path / "partitions.json"
    path.write_text('{"partitions": [{"topic": "foo", "partition": 0}]}')
    return str(path)


ALL = "--all-offline-partitions"
SHOW = "--show-replica-info"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (f"{SHOW}", "--all-offline-partitions and --path-to-json-file"),
        (f"{ALL}", "at least one of --show-replica-info"),
        (
            f"{ALL} --automated-recovery --manual-recovery-output-file /nowhere/new.json",
            "exclude each other",
        ),
        (f"{ALL} --path-to-json-file x {SHOW}", "exactly one of"),
        (f"--path-to-json-file /nowhere/x {SHOW}", "/nowhere/x"),
        (f"{ALL} --manual-recovery-output-file /nowhere/x", "/nowhere"),
        (f"{ALL} {SHOW} --wait-for-brokers 1,x", "--wait-for-brokers 1,x"),
        (f"{ALL} {SHOW} --recovery-duration-ms 0", "--recovery-duration-ms"),
        (f"{ALL} {SHOW} --command-config /nowhere/c.properties", "/nowhere/c.properties"),
        (f"{ALL} {SHOW} --bootstrap-server nonsense", "nonsense"),
        ("--resume /nowhere/journal", "/nowhere/journal"),
        ("--resume x --automated-recovery", "--resume stands alone"),
        ("--all-ofline-partitions", "--all-ofline-partitions"),
    ],
)
def test_recovery_says_what_is_wrong(flags: str, says: str) -> None:
    done = _run(RECOVERY, *NOWHERE, *flags.split())
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""


def test_the_bootstrap_server_is_required() -> None:
    done = _run(RECOVERY, ALL, SHOW)
    assert done.returncode == 2
    assert "--bootstrap-server" in done.stderr


def test_an_output_file_is_never_overwritten(tmp_path: Path, partitions: str) -> None:
    there = tmp_path / "there.json"
    there.write_text("mine")
    for flag in ("--manual-recovery-output-file", "--plan-output-file"):
        done = _run(
            RECOVERY,
            *NOWHERE,
            "--path-to-json-file",
            partitions,
            "--show-replica-info",
            flag,
            str(there),
        )
        assert done.returncode == 2
        assert f"{flag} {there}" in done.stderr
    assert there.read_text() == "mine"


def test_a_bad_entry_of_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"partitions": [{"topic": "foo", "partition": 0}, {"topic": "foo"}]}')
    done = _run(RECOVERY, *NOWHERE, "--path-to-json-file", str(path), "--show-replica-info")
    assert done.returncode == 2
    assert "partitions[1]" in done.stderr


def test_nobody_there_is_exit_3_with_the_reason(tmp_path: Path) -> None:
    done = _run(RECOVERY, *NOWHERE, "--all-offline-partitions", "--show-replica-info")
    assert done.returncode == 3
    assert "127.0.0.1:1" in done.stderr
    assert "refused" in done.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--election-type preferred", "exactly one of"),
        ("--election-type unclean --topic foo", "go together"),
        ("--election-type bold --all-topic-partitions", "--election-type"),
        ("--election-type designated --all-topic-partitions", "designated"),
        (
            "--election-type unclean --topic foo --partition 0 --all-topic-partitions",
            "exactly one of",
        ),
    ],
)
def test_election_says_what_is_wrong(flags: str, says: str) -> None:
    done = _run(ELECTION, *NOWHERE, *flags.split())
    assert done.returncode == 2, done.stderr
    assert says in done.stderr


def test_a_designated_election_needs_designated_leaders(partitions: str) -> None:
    args = ("--election-type", "DESIGNATED", "--path-to-json-file", partitions)
    done = _run(ELECTION, *NOWHERE, *args)
    assert done.returncode == 2
    assert "foo-0 has no designatedLeader" in done.stderr


@pytest.mark.parametrize("module", [RECOVERY, ELECTION])
def test_version_and_help_are_artefacts(module: str) -> None:
    for flag in ("--version", "--help"):
        done = _run(module, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert "kafka-" in done.stdout
