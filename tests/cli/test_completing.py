"""What completion scripts get: words, or silence whatever is wrong."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.commands.complete import (
    BOOTSTRAP,
    CONFIG,
    continued_list,
    matching,
    value_of,
    words_of,
)
from tests.cli.run import RECOVERY, command_line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a --topics or", ["a", "--topics", "or"]),
        ("a --topics ", ["a", "--topics", ""]),
        ("a --topics=or", ["a", "--topics=or"]),
        ("a 'b c' \"or", ["a", "b c", "or"]),
        ("a b\\ c 'or", ["a", "b c", "or"]),
        ("a or\\", ["a", "or"]),
        ("a $(touch x)`touch x` or", ["a", "$(touch", "x)`touch", "x`", "or"]),
        ("", [""]),
    ],
)
def test_a_line_is_taken_apart_and_not_carried_out(line: str, words: list[str]) -> None:
    expected = ["or"] if words[-1] == "--topics=or" else [words[-1]]
    assert words_of(line) == [*words[:-1], *expected]


def test_the_cluster_may_come_from_the_environment() -> None:
    environment = {
        "KAFKA_UNCLEAN_RECOVERY_BOOTSTRAP_SERVER": "b1:1",
        "KAFKA_UNCLEAN_RECOVERY_COMMAND_CONFIG": "~/c",
    }
    words = ["k", "--command-config=d", "--topics", "--bootstrap-server"]
    assert value_of(words, BOOTSTRAP, environment) == "b1:1"
    assert value_of(words, CONFIG, environment) == "d"
    assert value_of(words[:1], CONFIG, environment) == str(Path.home() / "c")
    assert value_of(words, BOOTSTRAP, {}) is None


def test_only_names_that_kafka_allows_are_offered() -> None:
    names = [
        "orders",
        "or.d-e_r",
        "or$(touch x)",
        "or`x`",
        "or\n",
        "or\x1b[2J",
        "payments",
        "or" * 200,
    ]
    assert matching(names, "or") == ["or.d-e_r", "orders"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", ["1", "4", "41", "all"]),
        ("4", ["4", "41"]),
        ("4,", ["4,1", "4,41"]),
        ("1,4", ["1,4", "1,41"]),
        ("x,", ["x,1", "x,4", "x,41"]),
        ("a", ["all"]),
        ("4,a", []),
    ],
)
def test_a_list_of_brokers_is_continued(typed: str, offered: list[str]) -> None:
    assert continued_list({41, 4, 1}, typed, all_too=True) == offered
    assert continued_list({41, 4, 1}, typed) == [word for word in offered if word != "all"]


def test_whatever_is_wrong_nothing_is_said_or_written(tmp_path: Path) -> None:
    broken = tmp_path / "broken.properties"
    broken.write_text("security.protocol=CARRIER_PIGEON\n")
    hanging = tmp_path / "fifo"
    os.mkfifo(hanging)
    before = sorted(tmp_path.rglob("*"))
    for line in (
        "k --topics ",
        # Neither answers: a network that is nowhere (RFC 5737), and a file that nobody writes.
        "k --bootstrap-server 192.0.2.1:9092 --topics ",
        f"k --bootstrap-server 127.0.0.1:1 --command-config {hanging} --topics ",
        f"k --bootstrap-server 127.0.0.1:1 --command-config {broken} --topics ",
    ):
        done = subprocess.run(
            command_line(RECOVERY, "complete", "topics", "--", line),
            env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")},
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), line
    assert sorted(tmp_path.rglob("*")) == before
