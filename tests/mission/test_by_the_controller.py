"""Elections by the controller's choice, as Kafka's own script makes them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster
from kafka_unclean_recovery.emulator.listener.intercepts import Delay, Seen
from tests.cli.in_process import ELECTION, invoke


def test_who_stops_it_while_it_still_connects_has_nobody_elected(
    stale: Cluster, tmp_path: Path
) -> None:
    looked: list[Seen] = []
    stale.intercept("DescribeCluster", looked.append, times=99)
    stopped: list[Seen] = []

    def stop(seen: Seen) -> Delay | None:
        """Note the first connection after the cluster was described."""
        if not looked or stopped:
            return None
        stopped.append(seen)
        os.kill(os.getpid(), signal.SIGINT)
        return Delay(0.5)

    stale.intercept("ApiVersions", stop, times=99)
    elections: list[Seen] = []
    stale.intercept("ElectLeaders", elections.append, times=99)
    servers = ("--bootstrap-server", stale.bootstrap_servers.split(",")[1])
    which = ("--election-type", "unclean", "--all-topic-partitions")
    done = invoke(ELECTION, *servers, *which, cwd=tmp_path)
    assert stopped
    assert (done.code, elections) == (130, []), done.stderr
    assert "interrupted: no election was sent" in done.stderr
    assert stale.partition("orders", 0).leader == -1
