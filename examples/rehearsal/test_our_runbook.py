"""A test suite of your own, which rehearses an outage: copy it, and put your runbook in it.

    pip install kafka-unclean-recovery pytest
    python -m pytest test_our_runbook.py

The fixture `kafka_cluster` comes with the tool. It is an emulated cluster, up in a fraction of a
second, to which your own clients may connect as well.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.emulator import Cluster

# Brokers 4, 3, 2 and 1 die one after the other, and only 3 and 4 come back. `orders` is as we have
# it in production; that 4 comes before 3 is what makes a blind unclean election so costly.
OUTAGE = """
create-topic orders replica-assignment=1:2:4:3 min.insync.replicas=1
produce orders-0 1000
kill 4
fence 4
produce orders-0 500
kill 3
fence 3
produce orders-0 500
kill 1 2
fence 1 2
start 3 4
wait-until orders-0 leader=none
"""


def run(cluster: Cluster, home: Path, *flags: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code, and the report of the runbook's command."""
    done = subprocess.run(
        [
            *("kafka-unclean-recovery", "--bootstrap-server", cluster.bootstrap_servers),
            *("--all-offline-partitions", "--format", "json", *flags),
        ],
        env={**os.environ, "XDG_STATE_HOME": str(home)},
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


def ends(cluster: Cluster) -> dict[int, int]:
    """Return how many records each live broker holds."""
    return {log.broker: log.log_end_offset for log in cluster.partition("orders", 0).logs}


@pytest.mark.kafka_cluster(brokers=4, scenario=OUTAGE)
def test_looking_changes_nothing(kafka_cluster: Cluster, tmp_path: Path) -> None:
    code, report = run(kafka_cluster, tmp_path, "--show-replica-info")
    assert code == 0
    assert report["partitions"][0]["leader"] == -1
    assert kafka_cluster.partition("orders", 0).leader == -1
    assert ends(kafka_cluster) == {3: 1500, 4: 1000}


@pytest.mark.kafka_cluster(brokers=4, scenario=OUTAGE)
def test_the_runbook_keeps_all_that_a_live_broker_holds(
    kafka_cluster: Cluster, tmp_path: Path
) -> None:
    code, report = run(kafka_cluster, tmp_path, "--automated-recovery", "--yes")
    assert code == 0
    assert report["partitions"][0]["outcome"] == "elected"
    assert kafka_cluster.partition("orders", 0).leader == 3
    assert ends(kafka_cluster)[3] == 1500


@pytest.mark.kafka_cluster(brokers=4, scenario=OUTAGE)
def test_what_we_did_before_would_have_lost_500_records(kafka_cluster: Cluster) -> None:
    kafka_cluster.elect_leaders("unclean")
    assert kafka_cluster.partition("orders", 0).leader == 4
    assert ends(kafka_cluster) == {3: 1000, 4: 1000}
