"""An emulated outage as a process of its own; see emulated_cluster.

    python benchmarks/outage_process.py DATA_DIR [PARTITIONS]

With PARTITIONS the outage is made in DATA_DIR. Brokers 2 and 3 are up, and broker 1, which was the
last in the ISR of every partition, is down.
"""

import gc
import sys
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster, Options, Settings

TOPIC_PARTITIONS = 1_000
SETTINGS = Settings(session_timeout=600.0)


def make(cluster: Cluster, partitions: int) -> None:
    """Make an outage: of each partition broker 3 has two records, 2 one, and 1 three."""
    topics = {
        f"topic-{number:03}": min(TOPIC_PARTITIONS, partitions - first)
        for number, first in enumerate(range(0, partitions, TOPIC_PARTITIONS))
    }
    for topic, count in topics.items():
        cluster.create_topic(topic, assignment=[(1, 2, 3)] * count)
    for victim in (2, 3, 1):
        for topic, count in topics.items():
            for partition in range(count):
                cluster.produce(topic, partition, 1)
        cluster.kill(victim)
        cluster.fence(victim)


def main(data_dir: Path, partitions: int | None) -> None:
    if partitions is not None:
        with Cluster(Options(brokers=3, data_dir=data_dir, settings=SETTINGS)) as made:
            make(made, partitions)
    survivors = Options(brokers=3, data_dir=data_dir, running=(2, 3), settings=SETTINGS)
    with Cluster(survivors) as cluster:
        cluster.wait_until(lambda e: all(map(e.state.active, (2, 3))), timeout=600.0)
        print(f"bootstrap.servers={cluster.bootstrap_servers}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    gc.set_threshold(100_000)  # As the command has it.
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
