"""Who was elected loses the end of its log, and leads again before the run has ended."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from tests.cli.in_process import RECOVERY, invoke
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, Gate, tapped

TOPIC = "orders"
DEAD, WORSE, BETTER = 1, 4, 3
LEFT, LOST = 10, 15


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# Without an ELR whoever is alone in the ISR leads again whatever it lost.
@pytest.fixture
def outage() -> Iterator[Cluster]:
    """Broker 1 led last and is dead; 3 holds more than 4, and has synced the first records."""
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=4, release="3.9.1", settings=settings)) as cluster:
        configs = {"min.insync.replicas": "1"}
        cluster.create_topic(TOPIC, assignment=[(DEAD, WORSE, BETTER)], configs=configs)
        cluster.produce(TOPIC, 0, LEFT)
        cluster.flush(BETTER)
        _lose(cluster, WORSE)
        cluster.produce(TOPIC, 0, LOST)
        _lose(cluster, BETTER)
        _lose(cluster, DEAD)
        cluster.start(BETTER)
        cluster.start(WORSE)
        yield cluster


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


@dataclass(frozen=True)
class Told:
    code: int
    row: dict[str, Any]
    stderr: str


def _recover(cluster: Cluster, meanwhile: Callable[[], None]) -> Told:
    """Recover, and do something when the leader is elected and its order is to be put back."""
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, 2)

    def act() -> None:
        gate.wait()
        try:
            meanwhile()
        finally:
            gate.open()

    servers = [a for b, a in enumerate(cluster.bootstrap_servers.split(","), 1) if b != DEAD]
    with tapped(servers, gate) as address:
        acting = threading.Thread(target=act)
        acting.start()
        how = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = invoke(RECOVERY, "--bootstrap-server", address, *how)
        acting.join()
    (row,) = json.loads(done.stdout)["partitions"]
    return Told(done.code, row, done.stderr)


def _leads_again(cluster: Cluster, records: int) -> None:
    """Cut off the power of the leader, which is alone in sync; it leads again and gets records."""
    _lose(cluster, WORSE)
    cluster.power_off(BETTER)
    cluster.fence(BETTER)
    cluster.start(BETTER)
    cluster.wait_until(lambda e: e.state.partition(e.partition_key(TOPIC, 0)).leader == BETTER)
    if records:
        cluster.produce(TOPIC, 0, records, acks="1")


@pytest.mark.parametrize("new", [0, LOST, 3 * LOST], ids=["shorter", "as long", "longer"])
def test_who_leads_again_without_the_end_of_its_log_has_lost_records(
    outage: Cluster, new: int
) -> None:
    told = _recover(outage, lambda: _leads_again(outage, new))
    assert (told.code, told.row["leader"], told.row["outcome"]) == (1, BETTER, "failed"), told
    said = f"{LOST} records that brokers told of in this run are not in the log of broker {BETTER}"
    assert said in told.row["reason"]
    assert said in told.stderr


def test_who_leads_again_with_all_of_its_log_has_lost_nothing(outage: Cluster) -> None:
    outage.flush(BETTER)
    told = _recover(outage, lambda: _leads_again(outage, LOST))
    assert (told.code, told.row["leader"], told.row["outcome"]) == (0, BETTER, "elected"), told
