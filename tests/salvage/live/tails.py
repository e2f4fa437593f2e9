"""An outage in which live replicas lose tails, on the emulator."""

from __future__ import annotations

from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster, Options
from tests.real.records import create_topic

TOPIC = "orders"
# The partition's loser, and who led before the winner, which is 4.
LOSERS = {0: 1, 1: 1, 2: 3}
DEAD, WINNER = 2, 4
SHARED, TAIL, NEWER = 100, 300, 50


def make_tails(directory: Path) -> None:
    """Write the tails: 1 and 3 wrote on alone, 2 was elected without them; 4 has 2's records."""
    with Cluster(Options(data_dir=directory)) as cluster:
        assignment = [(loser, DEAD, WINNER) for loser in LOSERS.values()]
        # What the losers write alone stays above their high watermarks.
        create_topic(cluster.bootstrap_servers, TOPIC, assignment, {"min.insync.replicas": "2"})
        _write(cluster, SHARED, "all")
        lose(cluster, DEAD, WINNER)
        _write(cluster, TAIL, "1")
        lose(cluster, *set(LOSERS.values()))
        cluster.start(DEAD)
        cluster.elect_leaders("unclean")
        cluster.start(WINNER)
        _write(cluster, NEWER, "all")
        lose(cluster, WINNER, DEAD)


def _write(cluster: Cluster, records: int, acks: str) -> None:
    for partition in LOSERS:
        cluster.produce(TOPIC, partition, records, acks=acks, batch=20)


def lose(cluster: Cluster, *brokers: int) -> None:
    for broker in brokers:
        cluster.kill(broker)
        cluster.fence(broker)
