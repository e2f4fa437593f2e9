"""Each command with the least rights, and without each of them; on the emulator, whose refusals
are those of real brokers (tests/real/test_faults_rights.py runs the main job's rows there)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Security
from tests.cli.in_process import invoke
from tests.emulator.secured import Done
from tests.least_rights import EMULATED, ROWS, Row, check_table, prove
from tests.salvage.batches import numbered
from tests.salvage.live.tails import DEAD, LOSERS, TOPIC, WINNER, make_tails
from tests.salvage.replay.saved import salvaged


@pytest.fixture(scope="module")
def outage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("outage")
    make_tails(directory)
    return directory


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = {1: numbered(0, 10) + numbered(10, 5)}
    return salvaged(tmp_path_factory.mktemp("saved"), log)


@pytest.mark.parametrize("row", EMULATED, ids=lambda row: row.what)
def test_a_command_needs_these_rights_and_says_which_is_missing(
    row: Row, outage: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copytree(outage, tmp_path / "cluster")
    wanted = [{"topic": TOPIC, "partition": n} for n in LOSERS]
    (tmp_path / "wanted.json").write_text(json.dumps({"partitions": wanted}))
    named = [each | {"designatedLeader": WINNER} for each in wanted]
    (tmp_path / "leaders.json").write_text(json.dumps({"partitions": named}))
    places = {
        "{wanted}": str(tmp_path / "wanted.json"),
        "{leaders}": str(tmp_path / "leaders.json"),
        "{saved}": str(saved),
        "{shared}": "orders.salvaged",
    }
    rights: dict[str, Sequence[str]] = {}
    options = Options(
        data_dir=tmp_path / "cluster", running=(1, 3, 4), security=Security(rights=rights)
    )
    with Cluster(options) as running:
        running.create_topic("orders.salvaged", assignment=[[4]])
        places["{dead}"] = str(running.log_directory(DEAD))
        # What is there already is read.
        running.produce("orders.salvaged", 0, 1)
        running.share_group("workers", "orders.salvaged", 0, start=1, done=(1, 9))

        def run(granted: Sequence[str]) -> Done:
            rights["ANONYMOUS"] = granted
            new = tmp_path / f"new-{len(list(tmp_path.iterdir()))}"
            arguments = [{**places, "{new}": str(new)}.get(each, each) for each in row.arguments]
            servers = ("--bootstrap-server", running.bootstrap_servers)
            words = (*row.words, *servers, *arguments)
            found = invoke(row.command, *words)
            return Done(found.code, found.stdout, found.stderr)

        prove(row, run)


def test_the_readme_has_the_table(request: pytest.FixtureRequest) -> None:
    check_table(ROWS, rewrite=request.config.getoption("--rewrite"))
