"""What is answered from files is what the parser would have said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.installed import EXTRAS, plain_environ, python
from benchmarks.measure import ours
from kafka_unclean_recovery.cli import ELECTION, RECOVERY, start
from tests.cli.in_process import Done, commands, invoke

PATHS = [words for words, _ in commands() if " complete" not in words]
FLAGS = sorted({flag for flags in start._flags().values() for flag in flags})
NAMES = sorted({word for path in PATHS for word in path.split()[1:]})
OURS = (start._FLAGS, *start._WRITING)
PLAIN = {name: value for name, value in plain_environ().items() if not name.startswith(OURS)}


def _answered(name: str, args: list[str], env: Mapping[str, str] | None = None) -> Done | None:
    said = {1: "", 2: ""}

    def write(descriptor: int, text: str, code: int) -> int:
        said[descriptor] += text
        return code

    with (
        patch.object(start, "_written", write),
        patch.dict(os.environ, PLAIN | {"COLUMNS": "80"} | dict(env or {}), clear=True),
    ):
        code = start.answered(name, args)
    return None if code is None else Done(code, said[1], said[2])


def _parsed(name: str, args: list[str]) -> Done:
    return invoke(name, *args, env={"COLUMNS": "80"})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "flag",
    ["--help", "--nope", "--bootstrap-serve", "--outputs=3", "--dry-run", "--verbose"],
)
def test_every_command_says_at_once_what_its_parser_says(path: str, flag: str) -> None:
    name, *words = path.split()
    found = _answered(name, [*words, flag])
    assert found == _parsed(name, [*words, flag])


@pytest.mark.parametrize(
    ("flag", "instead"),
    [
        ("--dry-run", "--show-replica-info"),
        ("--topic", "--topics"),
        ("-o", "--format json"),
        ("--verbose", "--format wide"),
    ],
)
def test_a_flag_that_other_tools_have_is_answered_with_ours(flag: str, instead: str) -> None:
    done = _parsed(RECOVERY, [flag, "json"])
    assert done.code == 2
    assert f"No such option: {flag} (" in done.stderr
    assert instead in done.stderr


@pytest.mark.parametrize("path", PATHS)
def test_help_is_given_by_other_words_too(path: str) -> None:
    words = path.split()[1:]
    for asked in ([*words, "-h"], ["help", *words]):
        assert start.as_parsed(asked) == [*words, "--help"]
    assert start.as_parsed([*words, "--version"]) == [*words, "--version"]


def test_look_and_elect_are_the_flags_of_the_kip(monkeypatch: pytest.MonkeyPatch) -> None:
    at = ["--bootstrap-server", "h:1"]
    everywhere, looks, elects = "--all-offline-partitions", "--show-replica-info", _ELECTS
    assert start.with_flags(["look", *at]) == [everywhere, looks, *at]
    assert start.with_flags(["elect", *at]) == [everywhere, elects, *at]
    some = ["--path-to-json-file=f", *at]
    assert start.with_flags(["look", *some]) == [looks, *some]
    assert start.with_flags(["elect", "--help"]) == ["--help"]
    for others in ([], at, ["report", "look"], [*at, "look"]):
        assert start.with_flags(others) == others
    # A look never elects.
    asked = ["look", *at, elects]
    assert start.with_flags(asked) == asked
    assert "No such command 'look'" in _parsed(RECOVERY, asked).stderr
    monkeypatch.setenv("KAFKA_UNCLEAN_RECOVERY_PATH_TO_JSON_FILE", "f")
    assert start.with_flags(["look", *at]) == [looks, *at]
    monkeypatch.setenv("KAFKA_UNCLEAN_RECOVERY_AUTOMATED_RECOVERY", "1")
    assert start.with_flags(["look", *at]) == ["look", *at]


@pytest.mark.parametrize("name", [RECOVERY, ELECTION])
def test_the_version_is_that_of_the_parser(name: str) -> None:
    assert _answered(name, ["--version"]) == _parsed(name, ["--version"])


_ELECTS = "--automated-recovery"
_words = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from([flag.rstrip("=") for flag in FLAGS]),
    st.sampled_from([f"{flag.rstrip('=')}=x" for flag in FLAGS]),
    st.sampled_from(["--", "-", "-x", "--nope", "--yess", "--x=y", "", "x", "---", "--é", "--a\n"]),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([RECOVERY, ELECTION]), st.lists(_words, max_size=5))
def test_no_command_line_is_answered_otherwise_than_by_the_parser(
    name: str, args: list[str]
) -> None:
    found = _answered(name, args)
    if found is not None and args:
        assert found == _parsed(name, args)


def test_without_a_word_the_commands_of_an_incident_are_told() -> None:
    told = _answered(RECOVERY, [])
    assert told is not None
    assert (told.code, told.stdout) == (2, "")
    lines = [line.split() for line in told.stderr.splitlines() if line.startswith("  kafka")]
    for _, *words in lines:
        found = invoke(RECOVERY, *start.with_flags([*words, "--help"]))
        assert (found.code, found.stderr) == (0, "")
    assert len(lines) == 3
    assert _answered(RECOVERY, [], {"KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER": "b:1"}) is None


@pytest.mark.parametrize(
    "env",
    [
        {"COLUMNS": "79"},
        {"PYTHONIOENCODING": "utf-16"},
    ],
)
def test_the_parser_answers_where_its_answer_may_differ(env: dict[str, str]) -> None:
    assert _answered(RECOVERY, ["--help"], env) is None


FLAGS_GIVEN = {
    "KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER": "b:1",
    "KAFKA_UNCLEAN_RECOVERY_DOCTOR_FORMAT": "nothing",
    "KAFKA_UNCLEAN_RECOVERY_LOG_FORMAT": "json",
}


@pytest.mark.parametrize("path", PATHS)
def test_help_is_the_same_where_variables_give_flags(path: str) -> None:
    name, *words = path.split()
    found = _answered(name, [*words, "--help"], FLAGS_GIVEN)
    assert found == invoke(name, *words, "--help", env={"COLUMNS": "80", **FLAGS_GIVEN})


@pytest.mark.parametrize("args", [[], ["doctor", "--nope"], ["complete", "topics", "--", "x "]])
def test_other_lines_are_parsed_where_variables_give_flags(args: list[str]) -> None:
    assert _answered(RECOVERY, args, FLAGS_GIVEN) is None


COMPLETE = ["complete", "topics", "--"]


@pytest.mark.parametrize("kind", ["topics", "offline-brokers"])
@pytest.mark.parametrize("typed", ["--topics or", "--bootstrap-serve x --topics ", ""])
def test_a_line_that_names_no_cluster_has_no_candidates(kind: str, typed: str) -> None:
    done = _answered(RECOVERY, ["complete", kind, "--", f"{RECOVERY} {typed}"])
    assert done == Done(0, "", "")


@pytest.mark.parametrize(
    "args",
    [
        [*COMPLETE, "kafka-elect-leaders --bootstrap-server=a:1 --topics "],
        ["complete", "words", "--", "x"],
        [*COMPLETE, "x", "y"],
    ],
)
def test_other_completions_are_left_to_the_parser(args: list[str]) -> None:
    assert _answered(RECOVERY, args) is None


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["doctor", "--nope"], 2),
        ([*COMPLETE, "x --topics "], 0),
    ],
)
def test_what_is_said_at_once_imports_neither_the_parser_nor_a_client(
    args: list[str], code: int
) -> None:
    # Where the extras are there to be imported.
    (installed,) = ours(RECOVERY, kind=EXTRAS)
    script = f"import runpy, sys; sys.argv = {[installed, *args]!r}\n"
    script += f"try: runpy.run_path({installed!r}, run_name='__main__')\n"
    script += "except SystemExit as ended: print(ended.code, *sys.modules, file=sys.stderr)\n"
    command = python("-P", "-c", script, kind=EXTRAS)
    done = subprocess.run(command, capture_output=True, text=True, env=PLAIN)
    ended, *modules = done.stderr.splitlines()[-1].split()
    assert int(ended) == code
    imported = {name for name in modules if name.startswith("kafka")}
    package = "kafka_unclean_recovery"
    assert imported == {package, f"{package}.cli", f"{package}.cli.start"}
    assert not {"typer", "click", "rich", "inspect", "dataclasses", "asyncio"} & set(modules)


@pytest.mark.parametrize(
    ("redirected", "code", "says"), [(">&-", 0, ""), (">/dev/full", 1, "No space left on device")]
)
def test_a_stdout_that_takes_nothing_is_left_to_the_parser(
    redirected: str, code: int, says: str
) -> None:
    (installed,) = ours(RECOVERY, kind=EXTRAS)
    command = f"{installed} --help {redirected}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=PLAIN)
    assert done.returncode == code
    assert says in done.stderr
