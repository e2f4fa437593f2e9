"""plan as a process: designated leaders out of disks alone, and the files that tell them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.documents.manual_recovery import STOCK_SCRIPT_WARNING, parse_elections
from kafka_unclean_recovery.documents.plan import parse_plan
from tests.cli.disks import info, log_directory, partition, replica_log, write_info
from tests.cli.run import RECOVERY, run


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """Return a scan of orders-0 and orders-1, which broker 2 knows most of, and led last."""
    return write_info(
        tmp_path / "info.json",
        info(
            partition(0, replica_log(1, 5), replica_log(2, 7), leader=2, isr=(2,)),
            partition(1, replica_log(2, 9), replica_log(1, 3), leader=2),
        ),
    )


def _plan(tmp_path: Path, *args: object) -> subprocess.CompletedProcess[str]:
    new = ("--manual-recovery-output-file", "manual.json")
    return run(RECOVERY, "plan", *new, *map(str, args), cwd=tmp_path)


def _designated(tmp_path: Path) -> dict[str, int | None]:
    text = (tmp_path / "manual.json").read_text()
    return {str(tp): leader for tp, leader in parse_elections(text, "manual.json")}


def test_the_replica_that_goes_furthest_is_designated(tmp_path: Path, scan: Path) -> None:
    done = _plan(tmp_path, "--replica-info-file", scan)
    assert done.returncode == 0, done.stderr
    assert _designated(tmp_path) == {"orders-0": 2, "orders-1": 2}
    assert f"manual.json: {STOCK_SCRIPT_WARNING}" in done.stderr
    assert (
        "next, once brokers are started: kafka-elect-leaders --bootstrap-server HOST:PORT"
        " --election-type designated --path-to-json-file manual.json\n"
    ) in done.stderr
    assert "orders" in done.stdout


def test_a_member_that_would_lead_by_itself_with_less_is_to_be_started_last(
    tmp_path: Path,
) -> None:
    shorter = partition(0, replica_log(1, 5), replica_log(2, 7), leader=1, isr=(1,))
    done = _plan(tmp_path, "--replica-info-file", write_info(tmp_path / "f.json", info(shorter)))
    assert done.returncode == 0, done.stderr
    assert "orders-0: a broker would lead by itself and cut the others" in done.stderr
    assert "start that one last, after the election" in done.stderr
    assert "next, once the others are started: kafka-elect-leaders" in done.stderr
    assert "leads_by_itself_and_cuts: broker 1 leads by itself" in done.stdout


def test_the_rich_plan_and_the_report_tell_the_same(tmp_path: Path, scan: Path) -> None:
    done = _plan(
        tmp_path, "--replica-info-file", scan, "--plan-output-file", "plan.json", "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    document: Any = parse_plan((tmp_path / "plan.json").read_text(), "plan.json")
    assert document["cluster_id"] == report["cluster_id"] == "c1"
    for told in (report, document):
        leaders = [(row["partition"], row["designated_leader"]) for row in told["partitions"]]
        assert leaders == [(0, 2), (1, 2)]


def test_an_excluded_broker_never_leads_and_its_disk_tells_the_loss(
    tmp_path: Path, scan: Path
) -> None:
    args = ("--replica-info-file", scan, "--exclude-brokers", "2", "--format", "json")
    done = _plan(tmp_path, *args)
    assert done.returncode == 0, done.stderr
    assert _designated(tmp_path) == {"orders-0": 1, "orders-1": 1}
    losses = [row["loss"]["possible"] for row in json.loads(done.stdout)["partitions"]]
    assert losses == [2, 6]


def test_files_and_log_directories_are_brought_together(tmp_path: Path) -> None:
    log_directory(tmp_path / "disk", 3, {"orders-0": 11})
    logs = (replica_log(1, 5), replica_log(2, 7))
    part = partition(0, *logs, replicas=(1, 2, 3))
    scan = write_info(tmp_path / "info.json", info(part))
    done = _plan(tmp_path, "--replica-info-file", scan, "--log-dirs", tmp_path / "disk")
    assert done.returncode == 0, done.stderr
    assert _designated(tmp_path) == {"orders-0": 3}


def test_only_the_partitions_chosen_are_planned(tmp_path: Path, scan: Path) -> None:
    chosen = tmp_path / "partitions.json"
    chosen.write_text('{"partitions": [{"topic": "orders", "partitions": [1, 8]}]}')
    args = ("--replica-info-file", scan, "--path-to-json-file", chosen)
    done = _plan(tmp_path, *args)
    assert done.returncode == 1
    assert _designated(tmp_path) == {"orders-1": 2}
    assert "1 partition has no designated leader: orders-8: nothing that was read" in done.stderr
    (tmp_path / "manual.json").unlink()
    assert _plan(tmp_path, "--replica-info-file", scan, "--topics", "ord").returncode == 1
    (tmp_path / "manual.json").unlink()
    assert _plan(tmp_path, "--replica-info-file", scan, "--topics", "ord.*").returncode == 0


def test_a_partition_without_a_leader_is_named_and_left_out(tmp_path: Path) -> None:
    part = partition(1, replica_log(1, 5, problem="bad"), replica_log(2, 7, problem="worse"))
    scan = write_info(tmp_path / "info.json", info(partition(0, replica_log(1, 5)), part))
    done = _plan(tmp_path, "--replica-info-file", scan)
    assert done.returncode == 1
    assert _designated(tmp_path) == {"orders-0": 1}
    assert "1 partition has no designated leader: orders-1:" in done.stderr
    assert "2 replicas can't be used, the first: orders-1 of broker 1: bad" in done.stderr


def test_a_scan_that_was_interrupted_is_no_success(tmp_path: Path) -> None:
    scan = write_info(
        tmp_path / "info.json", info(partition(0, replica_log(1, 5)), interrupted=True)
    )
    done = _plan(tmp_path, "--replica-info-file", scan)
    assert done.returncode == 1
    assert _designated(tmp_path) == {"orders-0": 1}
    assert "its scan was interrupted" in done.stderr
    assert "its scan was interrupted" in done.stdout
