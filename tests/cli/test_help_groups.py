"""Every flag of both programs has its place in --help, and the examples there are understood."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.cli import ELECTION, RECOVERY
from kafka_unclean_recovery.cli.terminal.help_groups import GROUPS, Group
from tests.cli.in_process import invoke
from tests.command_lines import CommandLine, check


@pytest.mark.parametrize("program", [RECOVERY, ELECTION])
def test_no_flag_is_without_a_group(program: str) -> None:
    shown = invoke(program, "--help", env={"COLUMNS": "80"}).stdout
    assert "\nOptions:\n" not in shown
    flags = {line.split()[0].rstrip(",") for line in shown.splitlines() if line.startswith("  --")}
    assert flags <= {flag for group in GROUPS for flag in group.flags}


def test_no_flag_has_two_places() -> None:
    flags = [flag for group in GROUPS for flag in group.flags]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.title)
def test_an_example_is_understood_and_shown(group: Group) -> None:
    check(CommandLine(group.title, f"{RECOVERY} ... {group.example}"))
    assert f"  Example: ... {group.example}\n" in invoke(RECOVERY, "--help").stdout
