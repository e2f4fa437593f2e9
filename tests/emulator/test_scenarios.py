"""The scenarios that are bundled: each comes to what its name says, and our command mends it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, bundled
from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from tests.cli.in_process import invoke
from tests.cli.run import RECOVERY, command_line
from tests.emulator.asking import ask

BUNDLED = Path(bundled.__file__).parent / "scenarios"
OUTAGE = BUNDLED / "last-replica-standing.scenario"
STALE_TAIL = BUNDLED / "stale-tail.scenario"
PARTED = BUNDLED / "parted-leader.scenario"
GHOST = BUNDLED / "lost-answer.scenario"
POWER_CUT = BUNDLED / "power-cut.scenario"


def test_every_scenario_is_tested_here() -> None:
    assert {OUTAGE, STALE_TAIL, PARTED, GHOST, POWER_CUT} == set(BUNDLED.glob("*"))


def test_each_has_a_name_and_tells_its_story() -> None:
    listed = invoke(RECOVERY, "emulator", "scenarios")
    assert (listed.code, listed.stderr) == (0, "")
    paragraphs = dict(text.split("\n", 1) for text in listed.stdout.split("\n\n"))
    assert set(paragraphs) == {path.stem for path in BUNDLED.glob("*")}
    assert all(len(" ".join(story.split())) > 100 for story in paragraphs.values())
    assert max(map(len, listed.stdout.splitlines())) < 80
    shown = invoke(RECOVERY, "emulator", "scenarios", "stale-tail")
    assert shown.stdout == STALE_TAIL.read_text()


def test_a_name_that_is_none_is_told_with_those_alike(tmp_path: Path) -> None:
    done = invoke(RECOVERY, "emulator", "--scenario", "stale-tale", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "emulator scenarios lists them); did you mean stale-tail?" in done.stderr
    done = invoke(RECOVERY, "emulator", "scenarios", "power")
    assert (done.code, "no scenario is called 'power'" in done.stderr) == (2, True)


def test_a_file_of_ones_own_needs_no_ending_and_a_path_is_never_a_name(tmp_path: Path) -> None:
    for name in ("mine", "stale-tail"):
        (tmp_path / name).write_text("kil 1\n")
    for given in ("mine", "./stale-tail"):
        done = invoke(RECOVERY, "emulator", "--scenario", given, cwd=tmp_path)
        assert (done.code, "line 1: 'kil' is no command" in done.stderr) == (2, True)


def _ends(cluster: Cluster, partition: int = 0) -> Mapping[int, int]:
    return {log.broker: log.log_end_offset for log in cluster.partition("orders", partition).logs}


def _recover(cluster: Cluster, tmp_path: Path) -> dict[int, Any]:
    """Return the rows of the report by partition."""
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = subprocess.run(
        command_line(RECOVERY, "--bootstrap-server", cluster.bootstrap_servers, *flags),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    return {row["partition"]: row for row in json.loads(done.stdout)["partitions"]}


@pytest.mark.kafka_cluster(scenario=OUTAGE)
def test_the_outage_is_recovered_by_electing_3_everywhere(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    assert [_ends(kafka_cluster, number) for number in range(3)] == [{4: 1000, 3: 1500}] * 3
    rows = _recover(kafka_cluster, tmp_path)
    assert {n: row["leader"] for n, row in rows.items()} == {0: 3, 1: 3, 2: 3}
    assert [_ends(kafka_cluster, number) for number in range(3)] == [{4: 1500, 3: 1500}] * 3


@pytest.mark.kafka_cluster(scenario=OUTAGE)
def test_in_the_outage_a_blind_election_loses_500_records(kafka_cluster: Cluster) -> None:
    kafka_cluster.elect_leaders("unclean")
    assert [kafka_cluster.partition("orders", n).leader for n in range(3)] == [4, 4, 3]
    assert _ends(kafka_cluster) == {4: 1000, 3: 1000}


@pytest.mark.kafka_cluster(scenario=STALE_TAIL)
def test_the_newer_epoch_is_elected_over_the_longer_log(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    logs = {log.broker: log for log in kafka_cluster.partition("orders", 0).logs}
    written = {b: (log.log_end_offset, log.last_written_leader_epoch) for b, log in logs.items()}
    assert written == {1: (1200, 0), 4: (1100, 2)}
    row = _recover(kafka_cluster, tmp_path)[0]
    assert (row["leader"], row["loss"]["certain"]) == (4, 200)
    assert _ends(kafka_cluster) == {1: 1100, 4: 1100}


@pytest.mark.kafka_cluster(scenario=PARTED)
def test_a_parted_leader_loses_what_it_took(kafka_cluster: Cluster) -> None:
    assert _ends(kafka_cluster) == {1: 1010, 2: 1010, 3: 1010}
    assert kafka_cluster.partition("orders", 0).leader == 2


@pytest.mark.kafka_cluster(scenario=GHOST)
def test_an_election_without_an_answer_is_done_all_the_same(kafka_cluster: Cluster) -> None:
    values = {"election_type": 1, "topic_partitions": None}
    with pytest.raises(ConnectionResetError):
        ask(kafka_cluster, 3, ElectLeadersRequest, 2, values)
    assert kafka_cluster.partition("orders", 0).leader == 2
    assert ask(kafka_cluster, 3, ElectLeadersRequest, 2, values).error_code == 0


def _start_order(cluster: Cluster) -> dict[str, Any]:
    disks = [word for b in range(1, 5) for word in ("--log-dirs", str(cluster.log_directory(b)))]
    done = invoke(RECOVERY, "start-order", *disks, "--format", "json")
    assert done.code == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.kafka_cluster(scenario=POWER_CUT)
def test_in_the_order_that_is_named_nothing_is_lost_to_the_power_cut(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    told = _start_order(kafka_cluster)
    steps = {start["broker"]: start["step"] for start in told["starts"]}
    assert (steps, told["costs"], told["worst"]) == ({2: 1, 3: 1, 4: 2}, 0, 300)
    kafka_cluster.start(3)
    kafka_cluster.start(2)
    rows = _recover(kafka_cluster, tmp_path)
    assert {n: row["leader"] for n, row in rows.items()} == {0: 2, 1: 2}
    kafka_cluster.start(4)
    assert [_ends(kafka_cluster, n) for n in range(2)] == [{2: 250, 3: 250, 4: 250}] * 2


@pytest.mark.kafka_cluster(scenario=POWER_CUT)
def test_started_too_early_the_last_known_leader_cuts_the_others(kafka_cluster: Cluster) -> None:
    kafka_cluster.start(3)
    kafka_cluster.start(2)
    kafka_cluster.start(4)
    assert [_ends(kafka_cluster, n) for n in range(2)] == [{2: 100, 3: 100, 4: 100}] * 2
