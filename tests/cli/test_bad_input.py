"""Wrong invocations and files: what is said of each, word for word, and the exit code.

tests/testdata/bad_input has a file for each command, a row a line: a command line, or `write NAME
CONTENT` for a file that the rows after it are about (\\n is a line feed). After the `----` the same
command lines with the exit code and what stderr gets. Nothing of it creates or changes a file, or
asks a cluster to change anything. CLUSTER is an emulated one.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.approval import Approval, approval_json
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, Interception
from tests import transcript
from tests.cli.disks import info, log_directory, partition, replica_log, write_info
from tests.cli.in_process import ELECTION, RECOVERY, invoke
from tests.salvage.batches import numbered
from tests.salvage.disks import plan_text
from tests.salvage.replay.saved import salvaged

FOLDER = "bad_input"
CHANGING = (
    "AlterPartitionReassignments",
    "ElectLeaders",
    "IncrementalAlterConfigs",
    "CreateTopics",
    "Produce",
)


@dataclass(frozen=True)
class Running:
    cluster: Cluster
    changing: list[Interception]

    @property
    def id(self) -> str:
        return self.cluster.look(lambda emulation: emulation.cluster_id)

    @property
    def changes(self) -> int:
        """Return the number of requests so far that change something."""
        return sum(len(rule.requests) for rule in self.changing)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """Yield a cluster in which orders-0 has no leader, for broker 1 is dead."""
    with Cluster(Options(brokers=2)) as cluster:
        cluster.create_topic("orders", assignment=[(1,)])
        cluster.kill(1)
        cluster.wait_until(lambda e: e.state.brokers[1].fenced)
        rules = [cluster.intercept(api, Delay(0.0), times=10**6) for api in CHANGING]
        yield Running(cluster, rules)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a working directory with what can be right, and what can be taken for it."""
    here = tmp_path_factory.mktemp("place")
    log_directory(here / "disk", 1, {"orders-0": 5})
    log_directory(here / "nameless", 1, {"orders-0": 5}, cluster=None)
    for name in ("empty", "mine"):
        (here / name).mkdir()
    (here / "mine" / "thesis").write_text("")
    (here / "latin.json").write_bytes(b"\xe9")
    (here / "there.json").write_text("mine")
    os.mkfifo(here / "fifo")
    with (here / "huge.json").open("wb") as huge:
        huge.truncate(2 << 30)
    write_info(here / "info.json", info(partition(0, replica_log(1, 5), replica_log(2, 7))))
    write_info(here / "other.json", info(partition(0, replica_log(3, 5)), cluster_id="c2"))
    plan = plan_text()
    (here / "plan.json").write_text(plan)
    (here / "altered.json").write_text(plan.replace('"leader_epoch": 0', '"leader_epoch": 1'))
    approval = Approval("sha256:0", "c1", "second", "2026-01-02T03:04:05+00:00")
    (here / "approval.json").write_text(approval_json(approval))
    salvaged(here, {1: numbered(0, 15)})
    return here


def _rows(given: str, place: Path, running: Running, home: Path) -> Iterator[str]:
    """Carry out the lines, and yield each command with what is said of it."""
    for line in given.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "write":
            name, _, content = rest.partition(" ")
            (place / name).write_text(content.replace("\\n", "\n"))
        elif kind in (RECOVERY, ELECTION):
            yield f"\n$ {line}\n{_row(line, place, running, home)}"
        else:
            assert line == "" or line.startswith("#"), line


def _row(line: str, place: Path, running: Running, home: Path) -> str:
    cluster = running.cluster.bootstrap_servers
    name, *words = shlex.split(line.replace("CLUSTER", cluster))
    before = _tree(place), running.changes
    done = invoke(name, *words, cwd=place, env={"XDG_STATE_HOME": str(home), "COLUMNS": "100"})
    assert done.stdout == "", line
    assert "Traceback" not in done.stderr, line
    assert (_tree(place), running.changes) == before, line
    said = done.stderr
    names = {cluster: "CLUSTER", str(place): "PLACE", running.id: "CLUSTER_ID"}
    names |= dict.fromkeys(cluster.split(","), "BROKER")
    for what, called in names.items():
        said = said.replace(what, called)
    # Usage stands before what typer says; it is no part of the message.
    return f"{done.code}: {said[said.find('Error: ') :] if said.startswith('Usage: ') else said}"


def _tree(place: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of change of everything, by name."""
    found = ((str(path), path.lstat()) for path in place.rglob("*"))
    return {name: (status.st_size, status.st_mtime_ns) for name, status in found}


@pytest.mark.parametrize("path", transcript.scenarios(FOLDER), ids=lambda path: path.name)
def test_what_is_wrong_is_told(
    path: Path,
    place: Path,
    running: Running,
    tmp_path: Path,
    pytestconfig: pytest.Config,
) -> None:
    def run(given: str) -> str:
        return "".join(_rows(given, place, running, tmp_path))

    transcript.check(path, run, rewrite=pytestconfig.getoption("--rewrite"))


def test_there_are_rows_for_every_command_and_enough() -> None:
    texts = [path.read_text().partition("----\n")[2] for path in transcript.scenarios(FOLDER)]
    lines = [line for text in texts for line in text.splitlines()]
    rows = [line for line in lines if line.startswith("$ ")]
    assert len(rows) >= 120
    assert len(set(rows)) == len(rows)
    codes = [line[:2] for line in lines if line[1:3] == ": "]
    assert codes.count("2:") == len(codes) == len(rows)
