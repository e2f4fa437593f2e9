"""The main job on a real Kafka, told step by step: `make demo-kafka`.

Makes the outage of the README (or starts it from .cache, where an earlier run left it), shows the
replicas, recovers, and reads the records back.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.real.cluster import KafkaCluster
from tests.real.outages import last_replica_standing, restore
from tests.real.recipes import TOPIC
from tests.real.records import consume_all
from tests.real.releases import NEWEST

VERSION = NEWEST
PARTITION = 1  # replicas 1, 2, 4, 3: the stock script would elect 4


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="kafka-unclean-recovery-") as directory:
        print(
            f"A cluster of Kafka {VERSION}: brokers die by SIGKILL in the order 4, 3, 2, 1 with"
            "\nwrites between; then 3 and 4 come back. Neither is in ISR or ELR.\n"
        )
        with restore(last_replica_standing(VERSION), Path(directory) / "cluster") as cluster:
            return _recover(cluster, Path(directory))


def _recover(cluster: KafkaCluster, directory: Path) -> int:
    servers = ",".join(cluster.address(broker) for broker in cluster.live_brokers)
    _run(directory, servers, "--all-offline-partitions", "--show-replica-info")
    code = _run(directory, servers, "--all-offline-partitions", "--automated-recovery", "--yes")
    records = consume_all(cluster.connection(), TOPIC, PARTITION)
    print(f"{TOPIC}-{PARTITION} can be read again: {len(records)} records, to {records[-1]!r}.")
    return code


def _run(directory: Path, servers: str, *flags: str) -> int:
    command = ["kafka-unclean-recovery", "--bootstrap-server", servers, *flags]
    print("$", *command, flush=True)
    program = Path(sys.executable).with_name(command[0])
    state = {**os.environ, "XDG_STATE_HOME": str(directory / "state")}
    done = subprocess.run([program, *command[1:]], env=state, check=False)
    print(flush=True)
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
