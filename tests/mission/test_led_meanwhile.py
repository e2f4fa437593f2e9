"""A partition that led, and lost its leader again, while a run still waited for a silent broker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_unclean_recovery.emulator import Cluster, Settings
from kafka_unclean_recovery.emulator.listener.intercepts import Seen
from tests.mission.conftest import PROBES, Means
from tests.real.releases import ONE
from tests.real.waiting import wait_until
from tests.real.watching import TIMEOUT, Commands

# HELD keeps the run waiting for broker 4; LED is led by broker 1 for a moment.
LED, HELD = "led", "held"
BEFORE, WRITTEN = 20, 5


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


@pytest.fixture
def cluster(means: Means) -> Iterator[Cluster]:
    """Yield a cluster: of LED 3 has 20 records and 1, the last leader, 30. 2, dead, led HELD."""
    options = replace(means.options(ONE), settings=Settings(session_timeout=60.0))
    with Cluster(options) as running:
        for topic, replicas in ((LED, (1, 3, 4)), (HELD, (2, 3, 4))):
            running.create_topic(topic, assignment=[replicas], configs={"min.insync.replicas": "1"})
            running.produce(topic, 0, BEFORE // 2)
        _lose(running, 4)
        running.produce(LED, 0, BEFORE // 2)
        _lose(running, 3)
        running.produce(LED, 0, 10)
        _lose(running, 2)
        _lose(running, 1)
        running.start(3)
        running.start(4)
        yield running


def _lose(cluster: Cluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.fence(broker)


def test_a_partition_that_was_led_meanwhile_is_planned_on_what_its_replicas_hold_now(
    cluster: Cluster, commands: Commands
) -> None:
    asked: list[int] = []
    cluster.intercept("ListOffsets", lambda seen: _note(seen, asked), broker=3, times=1000)
    cluster.pause(4)
    address = cluster.bootstrap_servers.split(",")[2]
    how = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    run = commands.start("--bootstrap-server", address, *how, terminal=True)
    run.wait_for("no answer yet from broker 4")
    wait_until(lambda: len(asked) > 0, TIMEOUT, lambda: "broker 3 asked")

    # So far behind that it never gets into the ISR.
    cluster.lag(3, WRITTEN)
    cluster.start(1)
    run.wait_for("has a leader again without an election here")
    cluster.produce(LED, 0, 2 * WRITTEN, acks="1", batch=1)
    wait_until(lambda: _end(cluster) > BEFORE, TIMEOUT, lambda: f"{cluster.partition(LED, 0)}")
    before = len(asked)
    _lose(cluster, 1)
    wait_until(lambda: len(asked) > before, TIMEOUT, lambda: f"broker 3 asked again: {run.stderr}")
    end = _end(cluster)
    cluster.resume(4)
    done = run.finish()
    (row,) = done.partitions(LED).values()
    assert (row["outcome"], row["leader"], done.code) == ("elected", 3, 0), done.stderr
    (log,) = (log for log in row["replica_logs"] if log["broker"] == 3)
    assert log["log_end_offset"] == end > BEFORE
    (unknown,) = (told for told in done.report["unknown"] if "committed since" in told)
    assert f"1 partition, the first: {LED}-0" in unknown


def _end(cluster: Cluster) -> int:
    """Return the log end of broker 3's replica."""
    (log,) = (log for log in cluster.partition(LED, 0).logs if log.broker == 3)
    return log.log_end_offset


def _note(seen: Seen, asked: list[int]) -> None:
    asked.append(seen.broker)
