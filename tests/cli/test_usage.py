"""What a command does before its work; bad input is in test_bad_input.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.disks import log_directory
from tests.cli.in_process import RECOVERY, invoke
from tests.cli.run import ELECTION, NOWHERE, run
from tests.cli.run import RECOVERY as MODULE

LOOKING = (*NOWHERE, "--all-offline-partitions", "--show-replica-info")


def test_nobody_there_is_exit_3_with_the_reason() -> None:
    done = invoke(RECOVERY, *LOOKING)
    assert done.code == 3
    assert "127.0.0.1:1" in done.stderr
    assert "refused" in done.stderr
    assert invoke(RECOVERY, "aftercare", *NOWHERE).code == 3


@pytest.mark.parametrize("module", [MODULE, ELECTION])
def test_version_and_help_are_artefacts(module: str) -> None:
    for flag in ("--version", "--help"):
        done = run(module, flag)
        assert (done.returncode, done.stderr) == (0, "")
        assert "kafka-" in done.stdout


def test_disks_are_read_before_any_broker_is_asked(tmp_path: Path) -> None:
    log_directory(tmp_path / "disk", 1, {"orders-0": 5})
    done = invoke(RECOVERY, *LOOKING, "--log-dirs", "disk", cwd=tmp_path)
    assert done.code == 3, done.stderr
    assert "127.0.0.1:1" in done.stderr


def test_client_properties_from_a_pipe_are_read_once(tmp_path: Path) -> None:
    """As of <(vault ...): a second look would find nothing, and go on in plaintext."""
    log_directory(tmp_path / "disk", 1, {"orders-0": 5})
    ours, its = os.pipe()
    os.write(its, b"retries=3\n")
    os.close(its)
    given = ("--log-dirs", "disk", "--command-config", f"/dev/fd/{ours}")
    done = invoke(RECOVERY, *LOOKING, *given, cwd=tmp_path)
    os.close(ours)
    assert "retries is not honoured" in done.stderr


def test_help_lists_the_commands() -> None:
    listed = invoke(RECOVERY, "--help").stdout
    for name in ("scan-log-dirs", "plan"):
        assert f"\n  {name} " in listed
        done = invoke(RECOVERY, name, "--help")
        assert (done.code, done.stderr) == (0, "")
        assert f"kafka-unclean-recovery {name} [OPTIONS]" in done.stdout
