"""--metrics-file: Prometheus' own parser reads what each run left, however it ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Delay
from tests.cli.disks import log_directory
from tests.cli.in_process import ELECTION, RECOVERY, Done, invoke
from tests.cli.run import RECOVERY as MODULE
from tests.cli.run import command_line

PREFIX = "kafka_unclean_recovery_"
FLAGS = ("--metrics-file", "run.prom")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: of orders-0 only a stale replica lives; spare-0 has its leader."""
    with Cluster(Options(brokers=3)) as made:
        made.create_topic("orders", assignment=[(1, 2)])
        made.create_topic("spare", assignment=[(3,)])
        made.produce("orders", 0, 10)
        made.kill(2)
        made.wait_until(lambda e: 2 not in e.state.partition(e.partition_key("orders", 0)).isr)
        made.produce("orders", 0, 20)
        made.kill(1)
        made.start(2)
        made.wait_until(lambda e: e.state.brokers[1].fenced and not e.state.brokers[2].fenced)
        yield made


def _read(path: Path) -> dict[str, float]:
    """Return values by name, with the labels but for the command's, which all have."""
    text = path.read_text()
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge"
        assert family.documentation
        assert family.name.startswith(PREFIX)
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("command").startswith("kafka-")
            name = sample.name.removeprefix(PREFIX)
            key = name + "".join(f" {label}={value}" for label, value in labels.items())
            assert key not in found
            found[key] = sample.value
    assert found["last_run_timestamp_seconds"] > 1_700_000_000
    assert found["duration_seconds"] >= 0
    return found


def _has(found: Mapping[str, float], expected: Mapping[str, float | None]) -> None:
    assert {key: found.get(key) for key in expected} == expected


def _recover(cluster: Cluster, place: Path, *flags: str) -> Done:
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    env = {"XDG_STATE_HOME": str(place / "state")}
    return invoke(RECOVERY, *where, "--all-offline-partitions", *flags, *FLAGS, cwd=place, env=env)


def test_a_recovery_its_look_and_its_aftercare(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "run.prom"
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    assert _recover(cluster, tmp_path, "--show-replica-info").code == 0
    looked = _read(file)
    unknown = {"possible_loss_records": None, "possible_loss_unknown_partitions": 1}
    _has(looked, {"exit_code": 0, "partitions state=offline": 1, "certain_loss_records": 0})
    _has(looked, {**unknown, "partition_outcomes outcome=elected": 0})
    assert looked["phase_duration_seconds phase=observe"] > 0

    # node_exporter, another user, reads it while it is replaced.
    assert file.stat().st_mode & 0o044 == 0o044
    before = file.stat().st_ino
    assert invoke(RECOVERY, "doctor", *where, *FLAGS, cwd=tmp_path).code == 1
    assert file.stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir() if "prom" in path.name] == ["run.prom"]
    checks = _read(file)
    assert checks["doctor_checks status=warning"] + checks["doctor_checks status=failure"] > 0

    assert _recover(cluster, tmp_path, "--automated-recovery").code == 0
    elected = _read(file)
    _has(elected, {"exit_code": 0, "partition_outcomes outcome=elected": 1, **unknown})
    _has(elected, {"partitions state=offline": 0, "partitions state=online": 1})
    phases = {f"phase_duration_seconds phase={name}" for name in ("observe", "elect", "verify")}
    assert elected.keys() >= phases

    flags = ("--watch", "--watch-duration-ms", "1", "--topics", "orders")
    assert invoke(RECOVERY, "aftercare", *where, *flags, *FLAGS, cwd=tmp_path).code == 1
    _has(_read(file), {"exit_code": 1, "aftercare_over": 0, "aftercare_out_of_sync_replicas": 1})

    chosen = ("--election-type", "preferred", "--topic", "spare", "--partition", "0")
    assert invoke(ELECTION, *where, *chosen, *FLAGS, cwd=tmp_path).code == 0
    _has(_read(file), {"exit_code": 0, "partition_outcomes outcome=already_online": 1})


def test_what_fails_has_its_metrics_too(tmp_path: Path) -> None:
    file = tmp_path / "run.prom"
    nowhere = ("--bootstrap-server", "127.0.0.1:1", "--all-offline-partitions")
    done = invoke(RECOVERY, *nowhere, "--show-replica-info", *FLAGS, cwd=tmp_path)
    assert done.code == 3
    _has(_read(file), {"exit_code": 3, "partitions state=offline": None, "problems": None})
    # A usage error that the command itself finds is the run's result, too.
    assert invoke(RECOVERY, *nowhere, *FLAGS, cwd=tmp_path).code == 2
    _has(_read(file), {"exit_code": 2})


def test_disks(tmp_path: Path) -> None:
    log_directory(tmp_path / "disk", 1, {"orders-0": 5, "orders-1": 7})
    assert invoke(RECOVERY, "scan-log-dirs", "disk", *FLAGS, cwd=tmp_path).code == 0
    scanned = _read(tmp_path / "run.prom")
    _has(scanned, {"scanned_replicas trust=trusted": 2, "exit_code": 0, "problems": 0})
    flags = ("--log-dirs", "disk", "--manual-recovery-output-file", "new.json")
    done = invoke(RECOVERY, "plan", *flags, *FLAGS, cwd=tmp_path)
    planned = _read(tmp_path / "run.prom")
    _has(planned, {"exit_code": done.code, "partition_outcomes outcome=failed": 0})


def test_ctrl_c_has_its_metrics_too(cluster: Cluster, tmp_path: Path) -> None:
    # The answer comes later than the signal.
    asked = cluster.intercept("ApiVersions", Delay(60.0))
    flags = ("--all-offline-partitions", "--show-replica-info", "--wait-for-brokers", "1")
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    process = subprocess.Popen(
        command_line(MODULE, *where, *flags, "--recovery-duration-ms", "600000", *FLAGS),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path)},
    )
    try:
        cluster.wait_until(lambda _: bool(asked.requests), 60)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    finally:
        process.kill()
        process.wait()
    assert _read(tmp_path / "run.prom")["exit_code"] == 130


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere/x.prom", "--metrics-file nowhere/x.prom: nowhere is no directory that can be"),
        (
            "plan.json",
            "--metrics-file plan.json: the file holds something else than metrics of this tool",
        ),
        ("disk", "--metrics-file disk: Is a directory"),
        ("disk/x.prom", "--metrics-file disk/x.prom: lies in log directory"),
        ("fifo", "--metrics-file fifo: not a plain file"),
    ],
)
def test_a_bad_path_is_told_before_anything_is_asked(tmp_path: Path, path: str, says: str) -> None:
    log_directory(tmp_path / "disk", 1, {})
    (tmp_path / "plan.json").write_text("mine")
    os.mkfifo(tmp_path / "fifo")
    where = ("--bootstrap-server", "127.0.0.1:1")
    done = invoke(RECOVERY, "doctor", *where, "--metrics-file", path, cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert says in done.stderr
    assert (tmp_path / "plan.json").read_text() == "mine"


def test_no_other_file_of_the_run_is_replaced(tmp_path: Path) -> None:
    log_directory(tmp_path / "disk", 1, {"orders-0": 5})
    flags = ("--log-dirs", "disk", "--manual-recovery-output-file", "same")
    done = invoke(RECOVERY, "plan", *flags, "--metrics-file", "same", cwd=tmp_path)
    assert "--metrics-file same: the file holds something else" in done.stderr
    assert (tmp_path / "same").read_text().startswith("{")


def test_another_account_may_read_it(tmp_path: Path) -> None:
    """That of the collector; all else that a command writes is private."""
    log_directory(tmp_path / "disk", 1, {"orders-0": 10})
    before = os.umask(0o022)
    try:
        invoke(RECOVERY, "scan-log-dirs", "disk", *FLAGS, "--output", "scan.json", cwd=tmp_path)
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("run.prom", "scan.json")]
    assert modes == [0o644, 0o600]
