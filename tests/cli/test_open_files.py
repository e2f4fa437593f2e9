"""Few file descriptors: as many as the process may have are taken, and what was done is told."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.flags import ReplicaFormat
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.listener.intercepts import Seen
from tests.cli.in_process import RECOVERY as IN_PROCESS
from tests.cli.in_process import invoke
from tests.cli.run import RECOVERY, command_line

FEW = 16
BROKERS = 24
DOCUMENT = "kafka_unclean_recovery.report.document"


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def outage() -> Iterator[Cluster]:
    """Yield an outage: each of many brokers hosts an offline replica, and is to be asked."""
    with Cluster(Options(brokers=BROKERS)) as cluster:
        replicas = range(1, BROKERS + 1)
        cluster.create_topic("orders", assignment=[replicas], configs={"min.insync.replicas": "1"})
        cluster.produce("orders", 0, 10)
        for broker in replicas:
            cluster.kill(broker)
            cluster.fence(broker)
        for broker in replicas[:-1]:
            cluster.start(broker)
        yield cluster


def _flags(cluster: Cluster) -> tuple[str, ...]:
    servers = ("--bootstrap-server", cluster.bootstrap_servers.split(",")[0])
    how = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    return (*servers, *how)


def test_a_low_soft_limit_of_open_files_keeps_no_broker_from_being_asked(outage: Cluster) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, hard))

    done = subprocess.run(
        command_line(RECOVERY, *_flags(outage)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=few,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["silent_brokers"] == {}
    assert told["partitions"][0]["outcome"] == "elected"


def test_what_the_report_needs_is_imported_before_the_election(
    outage: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, DOCUMENT, raising=False)
    imported = []

    def see(_: Seen) -> None:
        imported.append(DOCUMENT in sys.modules)

    outage.intercept("AlterPartitionReassignments", see)
    outage.intercept("ElectLeaders", see)
    done = invoke(IN_PROCESS, *_flags(outage))
    assert done.code == 0, done.stderr
    assert imported
    assert all(imported)


PRINTED = """\
import errno
import os
import resource
from kafka_unclean_recovery.cli.terminal import output
from kafka_unclean_recovery.cli.terminal.console import Console
from kafka_unclean_recovery.cli.flags import ReplicaFormat
from kafka_unclean_recovery.model import Cluster, Report
how = ReplicaFormat({how!r})
output.import_report(how)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError as error:
    assert error.errno == errno.EMFILE
output.print_report(Console("here"), Report(Cluster("c", {{}}), ()), how, False)
"""


@pytest.mark.parametrize("how", list(ReplicaFormat))
def test_without_any_file_descriptor_left_the_report_is_printed(how: ReplicaFormat) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINTED.format(how=how.value)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
