"""What only asks says the same in this process as in one of its own, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.signals import stopping_signals
from tests.real import in_process
from tests.real.cli import RECOVERY, Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.faults import healed, trouble
from tests.real.sharing import SharedClusters

TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00")
LOOK = ("--all-offline-partitions", "--show-replica-info")


@pytest.fixture
def outage(shared_clusters: SharedClusters) -> KafkaCluster:
    return healed(shared_clusters, trouble()).cluster


def test_a_look_is_the_same_in_a_process(outage: KafkaCluster, cli: Cli) -> None:
    assert in_process.suits(LOOK)
    handlers = list(map(signal.getsignal, stopping_signals()))
    environment = dict(os.environ)
    for more in ((), ("--format", "json"), ("--topic", "no-such-topic")):
        here = cli.recover(outage, *LOOK, *more)
        there = cli.start(RECOVERY, outage, *LOOK, *more).finish()
        assert here == there
    assert list(map(signal.getsignal, stopping_signals())) == handlers
    assert dict(os.environ) == environment


def test_ok_to_stop_is_the_same_in_a_process(outage: KafkaCluster, cli: Cli) -> None:
    for more in (("--brokers", "3"), ("--brokers", "9"), ("--brokers", "3", "--format", "json")):
        words = ("ok-to-stop", "--bootstrap-server", outage.bootstrap_servers, *more)
        assert in_process.suits(words)
        assert _untimed(cli.offline(*words)) == _untimed(cli.process(*words))


def _untimed(done: Finished) -> Finished:
    """Return it but for the time at which it looked, in seconds."""
    return replace(done, stdout=TIME.sub("TIME", done.stdout))


def test_a_plan_from_files_is_the_same_in_a_process(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    scan, leaders = str(tmp_path / "scan.json"), tmp_path / "leaders.json"
    disks = [str(outage.log_dir(broker)) for broker in (1, 2)]
    assert cli.offline("scan-log-dirs", *disks, "--output", scan).code == 0
    words = ("plan", "--replica-info-file", scan, "--manual-recovery-output-file", str(leaders))
    assert in_process.suits(words)
    here, written = cli.offline(*words), leaders.read_text()
    leaders.unlink()
    there = cli.process(*words)
    assert (here, written) == (there, leaders.read_text())


def test_what_reads_disks_or_changes_something_is_a_process() -> None:
    for arguments in (
        ("scan-log-dirs", "disk"),
        ("plan", "--log-dirs", "disk"),
        ("--all-offline-partitions", "--automated-recovery", "--yes"),
        ("--resume", "journal"),
    ):
        assert not in_process.suits(arguments)


def test_one_that_takes_too_long_is_ended() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with (
        pytest.raises(in_process.Overdue, match=r"not done within 0\.01 s"),
        in_process.at_most(0.01),
    ):
        threading.Event().wait(60)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
