"""Every replica of a partition is on brokers that are lost for good."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_unclean_recovery.emulator import Cluster, Options, Settings
from tests.cli.run import RECOVERY, run

TOPIC = "solo"
NO_LEADER = -1


@pytest.fixture(params=["4.4.0", "4.3.1", "3.9.1"])
def lost(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    settings = Settings(session_timeout=600.0)
    with Cluster(Options(brokers=2, release=request.param, settings=settings)) as cluster:
        cluster.create_topic(TOPIC, assignment=[(1,)])
        cluster.produce(TOPIC, 0, 1000)
        cluster.kill(1)
        cluster.fence(1)
        yield cluster


def test_the_label_has_a_page_and_what_the_page_says_gives_the_partition_back_empty(
    lost: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    servers = ("--bootstrap-server", lost.bootstrap_servers)
    done = run(RECOVERY, *servers, "--all-offline-partitions", "--show-replica-info")
    assert f"{TOPIC}-0 no_designated_leader: " in done.stdout
    page = run(RECOVERY, "explain", "no_designated_leader")
    assert page.returncode == 0
    assert "reassign it to live brokers" in " ".join(page.stdout.split())

    lost.reassign(TOPIC, 0, (2,))
    assert lost.partition(TOPIC, 0).leader == NO_LEADER
    lost.elect_leaders("unclean", TOPIC)
    lost.reassign(TOPIC, 0, (2,))
    found = lost.partition(TOPIC, 0)
    assert (found.leader, found.replicas, found.isr) == (2, (2,), (2,))
    assert lost.produce(TOPIC, 0, 1) == 0

    again = run(RECOVERY, *servers, "--all-offline-partitions", "--automated-recovery", "--yes")
    assert again.returncode == 0
    assert again.stdout == "no offline partitions found\n"
