"""A plan is rehearsed on the emulated twin of the cluster that an archive of bundle tells of, and
what the real election does later is what was seen there."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shlex
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.bundle import opening
from kafka_unclean_recovery.emulator import Cluster, Options
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.cli.test_emulator import Running, running
from tests.emulator.losing import lose_the_longer_log

Members = list[tuple[str, bytes]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def outage() -> Iterator[Cluster]:
    """Yield a cluster where orders-0 is offline: broker 1 died with records that 2 lacks."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1, 2)])
        cluster.produce("orders", 0, 100)
        lose_the_longer_log(cluster, 500)
        yield cluster


def _bundled(cluster: Cluster) -> Done:
    server = cluster.bootstrap_servers.split(",")[1]
    return invoke(RECOVERY, "bundle", "--bootstrap-server", server, "--output", "ticket.tar.gz")


def rehearsed(said: str) -> tuple[list[str], dict[str, str]]:
    """Return the words behind the program in the command that an emulator printed, and what stands
    before it for the environment."""
    (line,) = (line for line in said.splitlines() if "XDG_STATE_HOME=" in line)
    state, program, *words = shlex.split(line.partition("emulator:")[2])
    assert program == RECOVERY
    name, _, value = state.partition("=")
    return words, {name: value}


def told(done: Done) -> list[tuple[Any, ...]]:
    """Return what a run did to each partition."""
    rows = json.loads(done.stdout)["partitions"]
    return [
        (row["topic"], row["partition"], row["outcome"], row["leader"], row["loss"]) for row in rows
    ]


def elected(words: list[str], env: dict[str, str]) -> Done:
    return invoke(RECOVERY, *words, "--accept-loss", "*", "--format", "json", env=env)


def test_the_printed_command_rehearses_the_plan_and_the_real_cluster_does_the_same(
    outage: Cluster, home: Path
) -> None:
    assert _bundled(outage).code == 0
    with running("--from-bundle", "ticket.tar.gz", "--data-dir", "twin") as twin:
        twin.ctl("status")
        words, env = rehearsed(said_so_far(twin))
        there = elected(words, env)
        assert there.code == 0, there.stderr
        assert "orders-0 leader=2" in twin.ctl("status")
    assert not list((home / "state").rglob("*.jsonl"))
    (journal,) = (home / "twin").rglob("rehearsal-state/**/*.jsonl")
    server = outage.bootstrap_servers.split(",")[1]
    here = elected(["--bootstrap-server", server, *words[2:]], {})
    assert here.code == 0, here.stderr
    assert told(here) == told(there)
    (row,) = told(here)
    assert row[:4] == ("orders", 0, "elected", 2)
    assert journal.read_bytes()


def said_so_far(twin: Running) -> str:
    """Return what a twin said up to the command."""
    said = twin.process.stderr
    assert said is not None
    lines = [said.readline()]
    while lines[-1] and "XDG_STATE_HOME=" not in lines[-1]:
        lines.append(said.readline())
    return "".join(lines)


def test_what_it_has_and_what_it_cannot_imitate_is_said(outage: Cluster, home: Path) -> None:
    assert _bundled(outage).code == 0
    with running("--from-bundle", "ticket.tar.gz") as twin:
        said = said_so_far(twin)
        assert len(twin.addresses) == 2
    assert "1 offline partition of 2 brokers; running: 2\n" in said
    assert "not imitated: what brokers hold that are down: nobody has read it" in said


def _members(path: Path) -> Members:
    with tarfile.open(path) as archive:
        return [(m.name, archive.extractfile(m).read()) for m in archive]  # type: ignore[union-attr]


def _write(path: Path, members: Members) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _without(name: str) -> Callable[[Members], Members]:
    return lambda members: [each for each in members if each[0] != name]


def _changed(name: str, one: bytes, other: bytes) -> Callable[[Members], Members]:
    return lambda found: [(n, c.replace(one, other) if n == name else c) for n, c in found]


def _vouched(members: Members) -> Members:
    """Return a plan of another version, for which the index vouches."""
    other = _changed("plan.json", b'"format_version": 1', b'"format_version": 2')(members)
    (plan,) = (content for name, content in members if name == "plan.json")
    (changed,) = (content for name, content in other if name == "plan.json")
    digests = (hashlib.sha256(content).hexdigest().encode() for content in (plan, changed))
    return _changed("index.json", *digests)(other)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_without("index.json"), "it has no index.json, so it was cut off"),
        (_without("plan.json"), "it has no plan.json"),
        (_changed("plan.json", b'"end_offset": 100', b'"end_offset": 101'), "so it was changed"),
        (lambda found: [*found, found[-1]], "has index.json twice"),
        (_changed("index.json", b'"kind": "bundle"', b'"kind": "report"'), 'kind: is not "bundle"'),
        (_changed("index.json", b"{", b"\xff"), "is not UTF-8"),
        (_vouched, "format_version: only 1 is known here"),
    ],
)
def test_an_archive_that_is_not_whole_raises_nothing(
    outage: Cluster, home: Path, change: Callable[[Members], Members], why: str
) -> None:
    assert _bundled(outage).code == 0
    _write(home / "other.tar.gz", change(_members(home / "ticket.tar.gz")))
    done = invoke(RECOVERY, "emulator", "--from-bundle", "other.tar.gz", "--data-dir", "twin")
    assert done.code == 2
    assert why in done.stderr
    assert "--from-bundle other.tar.gz" in done.stderr
    assert not (home / "twin").exists()


def test_what_is_no_archive_is_told_from_one(
    outage: Cluster, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _bundled(outage).code == 0
    whole = (home / "ticket.tar.gz").read_bytes()
    (home / "half").write_bytes(whole[: len(whole) // 2])
    (home / "text").write_text("no archive")
    (home / "zipped").write_bytes(gzip.compress(b"no archive"))
    os.mkfifo(home / "fifo")
    for name in ("half", "text", "zipped", "fifo", "absent"):
        done = invoke(RECOVERY, "emulator", "--from-bundle", name)
        assert done.code == 2
        assert f"--from-bundle {name}: " in done.stderr
    monkeypatch.setattr(opening, "LARGEST", 100)
    done = invoke(RECOVERY, "emulator", "--from-bundle", "ticket.tar.gz")
    assert (done.code, "holds more than 100 bytes" in done.stderr) == (2, True)


def test_flags_that_the_archive_answers_are_refused(outage: Cluster, home: Path) -> None:
    assert _bundled(outage).code == 0
    for flag in ("--brokers", "--log-directories"):
        done = invoke(RECOVERY, "emulator", "--from-bundle", "ticket.tar.gz", flag, "1")
        assert (done.code, f"leave {flag} out" in done.stderr) == (2, True)
    with running("--data-dir", "kept"):
        pass
    done = invoke(RECOVERY, "emulator", "--from-bundle", "ticket.tar.gz", "--data-dir", "kept")
    assert (done.code, "kept holds a cluster already" in done.stderr) == (2, True)
