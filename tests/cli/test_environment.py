"""Every flag can come from the environment, and who runs a command is told which did."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from typer.core import TyperOption

from kafka_unclean_recovery.cli.environment import PREFIX, options_of
from tests.cli.in_process import ELECTION, RECOVERY, commands, invoke

SHARED = {"--bootstrap-server", "--command-config", "--log-format"}
COMMANDS = dict(commands())


def _variables(words: str, flag: str) -> list[str]:
    """By the rule, in words of the test's own."""
    below = words.removeprefix("kafka-unclean-recovery").removeprefix("kafka-").split()
    named = [PREFIX, *below, flag.removeprefix("--")]
    own = "_".join(named).upper().replace("-", "_")
    plain = f"{PREFIX}_{flag.removeprefix('--').upper().replace('-', '_')}"
    return [own, plain] if flag in SHARED and own != plain else [own]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_flag_has_its_variable(words: str) -> None:
    command = COMMANDS[words]
    options = [p for p in command.params if isinstance(p, TyperOption)]
    given = {option.opts[0]: option.envvar for option in options}
    assert given.pop("--version", None) is None
    assert given == {flag: _variables(words, flag) for flag in given}
    # A group without a work of its own has commands and nothing else, and complete is for shells.
    if given:
        assert "--log-format" in given
        assert f"{_variables(words, '--x-y')[0].removesuffix('X_Y')} and its name" in " ".join(
            command.epilog.split()
        )


def test_no_variable_is_of_two_flags() -> None:
    own = [(option.envvar or [""])[0] for c in COMMANDS.values() for option in options_of(c)]
    assert [name for name, times in Counter(own).items() if times > 1] == []


ALL = f"{PREFIX}_ALL_OFFLINE_PARTITIONS"
ELECT = f"{PREFIX}_AUTOMATED_RECOVERY"
SERVER = f"{PREFIX}_BOOTSTRAP_SERVER"


@pytest.mark.parametrize(
    ("command", "env", "code", "says"),
    [
        # One export serves all, and a command's own name comes before it.
        ("aftercare", {SERVER: "nonsense"}, 2, "nonsense"),
        (
            "aftercare",
            {SERVER: "nonsense", f"{PREFIX}_AFTERCARE_BOOTSTRAP_SERVER": "127.0.0.1:1"},
            3,
            "environment: --bootstrap-server (KAFKA_UNCLEAN_RECOVERY_AFTERCARE_BOOTSTRAP_SERVER)\n",
        ),
        # The command line comes before both.
        ("aftercare --bootstrap-server 127.0.0.1:1", {SERVER: "nonsense"}, 3, "127.0.0.1:1"),
        # Empty is not set.
        ("", {SERVER: ""}, 2, "Missing option '--bootstrap-server'"),
        ("doctor", {SERVER: "", f"{PREFIX}_DOCTOR_BOOTSTRAP_SERVER": ""}, 2, "Missing option"),
        (
            "doctor",
            {SERVER: "127.0.0.1:1", f"{PREFIX}_DOCTOR_BOOTSTRAP_SERVER": ""},
            3,
            f"environment: --bootstrap-server ({SERVER})\n",
        ),
        # Flags without a value.
        ("", {SERVER: "h:1", ALL: "1"}, 2, "give at least one of"),
        ("", {SERVER: "h:1", ALL: "no"}, 2, "give exactly one of --all-offline-partitions"),
        (
            "--path-to-json-file x",
            {SERVER: "h:1", ALL: "true", ELECT: "yes"},
            2,
            f"--all-offline-partitions ({ALL}), --automated-recovery ({ELECT})\n",
        ),
        # Wrong values name their variable.
        ("", {ALL: "perhaps"}, 2, f"'--all-offline-partitions' from the environment ({ALL}=perhap"),
        (
            "scan-log-dirs disk",
            {f"{PREFIX}_SCAN_LOG_DIRS_MODE": "quick"},
            2,
            f"'--mode' from the environment ({PREFIX}_SCAN_LOG_DIRS_MODE=quick): 'quick' is not on",
        ),
        # What can be given again.
        (
            "plan --manual-recovery-output-file new.json",
            {f"{PREFIX}_PLAN_LOG_DIRS": "/nowhere/a:/nowhere/b"},
            2,
            "/nowhere/a: no log directory here",
        ),
        # Of the group it is no flag of the command, and no error either.
        ("scan-log-dirs nowhere", {SERVER: "h:1", ELECT: "yes"}, 2, "nowhere: no log directory"),
        # Commands of groups have both words in their variables.
        ("salvage replay saved", {f"{PREFIX}_SALVAGE_REPLAY_TOPICS": "("}, 2, "Missing option"),
        (
            "salvage replay saved --bootstrap-server h:1",
            {f"{PREFIX}_SALVAGE_REPLAY_TOPICS": "("},
            2,
            "--topics (: no regular expression",
        ),
        # --version ends a run: that no variable does.
        ("scan-log-dirs", {f"{PREFIX}_VERSION": "1"}, 2, "Missing argument"),
    ],
)
def test_a_flag_from_the_environment(
    tmp_path: Path, command: str, env: dict[str, str], code: int, says: str
) -> None:
    done = invoke(RECOVERY, *command.split(), cwd=tmp_path, env=env)
    assert (done.code, done.stdout) == (code, ""), done.stderr
    assert says in done.stderr


def test_kafka_elect_leaders_has_its_own_word() -> None:
    env = {f"{PREFIX}_ELECT_LEADERS_ELECTION_TYPE": "bold", SERVER: "h:1"}
    done = invoke(ELECTION, env=env)
    assert done.code == 2
    assert f"({PREFIX}_ELECT_LEADERS_ELECTION_TYPE=bold)" in done.stderr
