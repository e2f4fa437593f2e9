"""An emulated cluster as a process of its own, as people run it; see emulated_cluster.

    python benchmarks/emulated_process.py SESSION_SECONDS DATA_DIR

It imports nothing but what the cluster needs, for its start-up is measured.
"""

import gc
import sys
from pathlib import Path

from kafka_unclean_recovery.emulator import Cluster, Options, Settings

if __name__ == "__main__":
    gc.set_threshold(100_000)  # As the command has it.
    settings = Settings(session_timeout=float(sys.argv[1]))
    with Cluster(Options(settings=settings, data_dir=Path(sys.argv[2]))) as cluster:
        print(f"bootstrap.servers={cluster.bootstrap_servers}", flush=True)
        for line in sys.stdin:
            cluster.kill(int(line))
