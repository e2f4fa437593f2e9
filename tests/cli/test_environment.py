"""Every flag can come from the environment, and who runs a command is told which did."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from typer.core import TyperOption

from kafka_unclean_recovery.cli.environment import PREFIX, options_of, unknown_variables
from tests.cli.in_process import ELECTION, RECOVERY, commands, invoke
from tests.cli.run import RECOVERY as MODULE
from tests.cli.run import run

SHARED = {"--bootstrap-server", "--command-config", "--cluster", "--log-format", "--color"}
COMMANDS = dict(commands())


def _variables(words: str, flag: str) -> list[str]:
    """Return the variables of a flag by the rule, in words of the test's own."""
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


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (f"{PREFIX}_ACCEPT_LOS", f"{PREFIX}_ACCEPT_LOSS"),
        (f"{PREFIX}_ELECT_LEADERS_ACEPT_LOSS", f"{PREFIX}_ELECT_LEADERS_ACCEPT_LOSS"),
        # Of another name of the flag, and of a command that does not have it.
        (f"{PREFIX}_ELECT_LEADERS_ADMIN_CONFIG", f"{PREFIX}_ELECT_LEADERS_COMMAND_CONFIG"),
        (f"{PREFIX}_WATCH_ACCEPT_LOSS", f"{PREFIX}_ACCEPT_LOSS"),
        # The slip may be in the prefix.
        ("KAFKA_ELECT_LEADERS_CANARY", f"{PREFIX}_ELECT_LEADERS_CANARY"),
        ("KAFKA_UNCLEAN_RECOVRY_ACCEPT_LOSS", f"{PREFIX}_ACCEPT_LOSS"),
        (f"{PREFIX}ACCEPT_LOSS", f"{PREFIX}_ACCEPT_LOSS"),
        ("kafka_unclean_recovery_accept_loss", f"{PREFIX}_ACCEPT_LOSS"),
    ],
)
def test_a_misspelt_variable_is_named_with_the_one_that_was_meant(name: str, meant: str) -> None:
    said = f"{name}: no flag has this variable; rename it to {meant}, or unset it"
    assert list(unknown_variables({name: "*:0", ALL: "1"})) == [said]


def test_variables_of_others_are_let_pass() -> None:
    """A service called kafka-unclean-recovery, a container of a broker, completion scripts."""
    names = (
        *(f"{PREFIX}_{end}" for end in ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_METRICS")),
        *(f"{PREFIX}_PORT{end}" for end in ("", "_9092_TCP", "_9092_TCP_PROTO", "_9092_TCP_ADDR")),
        *(f"{PREFIX}_{end}" for end in ("STRATEGY", "TIMEOUT_MS", "MANAGER_ENABLED")),
        "KAFKA_ELECT_LEADERS_SERVICE_HOST",
        "KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE",
        *("KAFKA_BOOTSTRAP_SERVERS", "KAFKA_LOG_DIRS", "KAFKA_OPTS", "KAFKA_HEAP_OPTS", "KAFKA"),
        *(f"_{PREFIX}_COMPLETE", f"UNPACK_{PREFIX}_TO"),
    )
    assert list(unknown_variables(dict.fromkeys(names, "x"))) == []
    assert list(unknown_variables({f"{PREFIX}_ACCEPT_LOS": ""})) == []


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (RECOVERY, "--all-offline-partitions --automated-recovery --yes"),
        (RECOVERY, "aftercare"),
        (ELECTION, "--election-type unclean --all-topic-partitions"),
    ],
)
def test_nobody_is_asked_for_anything_with_a_misspelt_limit(name: str, command: str) -> None:
    env = {SERVER: "127.0.0.1:1", f"{PREFIX}_ACCEPT_LOS": "*:0"}
    done = invoke(name, *command.split(), env=env)
    assert (done.code, done.stdout) == (2, "")
    assert f"rename it to {PREFIX}_ACCEPT_LOSS" in done.stderr


def test_a_flag_that_is_missing_may_be_in_a_misspelt_variable() -> None:
    done = invoke(RECOVERY, "doctor", env={f"{PREFIX}_BOOTSTRAP_SERVR": "h:1"})
    assert done.code == 2
    assert "Missing option" in done.stderr
    assert f"rename it to {SERVER}, or unset it" in done.stderr


def test_help_works_with_a_misspelt_variable() -> None:
    assert invoke(RECOVERY, "doctor", "--help", env={f"{PREFIX}_ACCEPT_LOS": "*:0"}).code == 0


def test_completion_is_silent_with_a_misspelt_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}_ACCEPT_LOS", "*:0")
    done = run(MODULE, "complete", "topics", "--", "x --bootstrap-server=127.0.0.1:1 --topics ")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
