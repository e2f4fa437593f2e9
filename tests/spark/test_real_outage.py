"""From a dead cluster's disks to leaders and salvage, by Spark and by one process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import RECOVERY, invoke
from tests.real.properties import node_directory
from tests.real.releases import TESTED
from tests.real.salvage_recipe import BROKERS, SURVIVOR, salvage_outage

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("spark")]

DEAD = tuple(broker for broker in BROKERS if broker != SURVIVOR)
EXCLUDED = ("--exclude-brokers", ",".join(map(str, DEAD)))


@dataclass(frozen=True, slots=True)
class Home:
    """Where commands leave their files; `cluster` has the disks of all nodes."""

    path: Path
    cluster: Path

    def disks(self, *brokers: int) -> list[str]:
        return [str(node_directory(self.cluster, broker)) for broker in brokers]

    def run(self, *words: object) -> str:
        """Run a command, and return stdout."""
        done = invoke(RECOVERY, *map(str, words))
        assert done.code == 0, done.stderr
        return done.stdout

    def plan(self, name: str, *words: object) -> tuple[str, Any]:
        """Return (the KIP's file, the rich plan but for when it was made) of a command."""
        manual, rich = self.path / f"{name}.json", self.path / f"{name}-rich.json"
        outputs = ("--manual-recovery-output-file", manual, "--plan-output-file", rich)
        self.run(*words, *outputs, *EXCLUDED)
        plan = json.loads(rich.read_text())
        del plan["created_at"], plan["digest"]
        return manual.read_text(), plan

    def salvaged(self, name: str) -> tuple[Any, dict[str, bytes]]:
        """Return (rows of the manifest but for when they were scanned, all other files)."""
        root = self.path / name
        manifest = json.loads((root / "manifest.json").read_text())
        files = (path for path in root.rglob("*") if path.is_file() and path.parent != root)
        rows = manifest["replicas"]
        for row in rows:
            del row["scanned_at"]
        return rows, {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.fixture(params=TESTED)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return Home(tmp_path, salvage_outage(request.param, tmp_path / "outage").directory)


def test_leaders_and_salvage_are_those_of_one_process(home: Home) -> None:
    # Two scans, as of two sites, and the later one of both.
    nodes = sorted(path for path in home.cluster.iterdir() if path.is_dir())
    assert len(nodes) > len(BROKERS)
    for name, roots in (("one", home.disks(*DEAD)), ("all", nodes)):
        home.run("spark", "scan", *roots, "--output", home.path / name)
    scans = ("--summaries", home.path / "one", "--summaries", home.path / "all")
    infos = []
    for name, roots in (("one", home.disks(*DEAD)), ("all", nodes)):
        infos += ["--replica-info-file", home.path / f"{name}.info"]
        home.run("scan-log-dirs", *roots, "--output", infos[-1])

    here = home.plan("here", "plan", *infos)
    by_spark = home.plan("spark", "spark", "plan", *scans)
    assert by_spark == here

    plan = ("--plan", home.path / "here-rich.json")
    home.run("spark", "salvage", *scans, *plan, "--output", home.path / "saved")
    home.run("salvage", *_flags(home.disks(*DEAD)), *plan, "--output", home.path / "saved-here")
    rows, files = home.salvaged("saved")
    assert (rows, files) == home.salvaged("saved-here")
    assert sum(row["records"] or 0 for row in rows) > 100


def _flags(disks: list[str]) -> list[str]:
    return [word for disk in disks for word in ("--log-dirs", disk)]
