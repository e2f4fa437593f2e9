"""Colours: where they are wanted, around what they are put, and that nothing hangs on them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import pytest

from kafka_unclean_recovery.cli.terminal import colour
from kafka_unclean_recovery.cli.terminal.colour import Color, painted, wanted
from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cli.run import RECOVERY, run
from tests.emulator.losing import lose_the_longer_log

RED, GREEN, YELLOW, END = "\x1b[1;31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
SGR = re.compile(r"\x1b\[[0-9;]*m")
LOSSES = 500


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    colour.paint(Color.AUTO)


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({}, True, True),
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({}, False, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], terminal: bool, wanted: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert colour.wanted(sys.stdout, environment) is wanted


@pytest.mark.parametrize(("when", "expected"), [(Color.ALWAYS, True), (Color.NEVER, False)])
def test_the_flag_says_it_for_every_stream(when: Color, expected: bool) -> None:
    colour.paint(when)
    for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert wanted(sys.stdout, environment) is expected
        assert wanted(None, environment) is expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("certain loss 500 records", f"{RED}certain loss 500 records{END}"),
        ("possible loss 7 records", f"{YELLOW}possible loss 7 records{END}"),
        ("certain loss unknown", f"{YELLOW}certain loss unknown{END}"),
        ("certain loss 0, possible", f"{GREEN}certain loss 0{END}, possible"),
        ("t-0: refused: why", f"t-0: {RED}refused{END}: why"),
        ("t-0: elected, leader 3", f"t-0: {GREEN}elected{END}, leader 3"),
        ("  3  *", f"  3  {GREEN}*{END}"),
        ("failure  quorum: gone", f"{RED}failure{END}  quorum: gone"),
        ("warning  broker_down: 3", f"{YELLOW}warning{END}  broker_down: 3"),
        ("ok       fine: it is", f"{GREEN}ok{END}       fine: it is"),
        ("no: too few", f"{RED}no{END}: too few"),
        ("yes", f"{GREEN}yes{END}"),
    ],
)
def test_what_a_reader_looks_for_is_coloured(text: str, shown: str) -> None:
    assert painted(text) == shown


@pytest.mark.parametrize(
    "text",
    ["no broker is down", "ok-to-stop", "loss of orders", "t-0: refused-topic", "elected 3", "a*b"],
)
def test_other_text_is_not(text: str) -> None:
    assert painted(text) == text


@pytest.mark.parametrize("count", ["0", "1", "10", "1,000", "100,200"])
def test_a_number_is_never_cut_by_a_colour(count: str) -> None:
    found = painted(f"certain loss {count} records, possible loss {count} records")
    for one in re.findall(r"\x1b\[[0-9;]*m([^\x1b]*)\x1b\[0m", found):
        assert one.endswith(f" {count} records")
    assert (GREEN in found) is (count == "0")


@pytest.fixture(scope="module")
def outage() -> Iterator[Cluster]:
    """Yield a cluster where broker 1 died with LOSSES records that 2 lacks."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)])
        cluster.produce("orders", 0, 100)
        lose_the_longer_log(cluster, LOSSES)
        yield cluster


def _look(cluster: Cluster, *flags: str) -> tuple[str, str]:
    server = cluster.bootstrap_servers.split(",")[1]
    asked = ("--bootstrap-server", server, "--all-offline-partitions", "--show-replica-info")
    done = run(RECOVERY, *asked, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("how", ["table", "wide", "ladder"])
def test_colours_add_nothing_and_hide_nothing(outage: Cluster, how: str) -> None:
    plain = _look(outage, "--format", how)
    never = _look(outage, "--format", how, "--color", "never")
    always = _look(outage, "--format", how, "--color", "always")
    assert "\x1b" not in "".join([*plain, *never])
    assert "\x1b" in "".join(always)
    undone = [SGR.sub("", text) for text in always]
    assert [_without_ages(text) for text in undone] == [_without_ages(text) for text in plain]


def _without_ages(text: str) -> str:
    """Return the text without what the time of day, or the name of the plan's file, changes."""
    return re.sub(r"[0-9.]+ (?:s|ms) ago|[0-9TZ-]{15,}\S*", "", text)


def test_what_programs_read_has_no_colours(outage: Cluster) -> None:
    stdout, _ = _look(outage, "--format", "json", "--color", "always")
    assert "\x1b" not in stdout
    assert json.loads(stdout)["partitions"]
    _, stderr = _look(outage, "--log-format", "json", "--color", "always")
    assert "\x1b" not in stderr
    assert "\\u001b" not in stderr


def test_a_name_from_outside_brings_no_colour(outage: Cluster) -> None:
    done = run(
        RECOVERY,
        *("--bootstrap-server", "127.0.0.1:1\x1b[31m", "--all-offline-partitions"),
        *("--color", "always"),
    )
    assert done.returncode == 2
    assert "\x1b[31m" not in done.stderr
