"""A real controller alone: one JVM with the controller role, in memory, where time stands still.

Nothing happens on it by itself: sessions last for weeks, nothing elects or balances in the
background, and no batch waits for company. What is left is one answer to each request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real.cache import CACHE, quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.properties import FIRST_CONTROLLER

FOREVER_MS = "2000000000"
PROPERTIES: Mapping[str, str] = {
    "auto.leader.rebalance.enable": "false",
    "broker.session.timeout.ms": FOREVER_MS,
    # The default, 25 ms for each commit, is most of a step.
    "controller.quorum.append.linger.ms": "0",
    "metadata.log.max.record.bytes.between.snapshots": str(1 << 40),
    "metadata.log.max.snapshot.interval.ms": "0",
    "metadata.max.idle.interval.ms": "0",
    "unclean.leader.election.interval.ms": FOREVER_MS,
    # Topics of the broker role, which no node has.
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
}
_MEMORY_NEEDED = 1 << 30


@dataclass(frozen=True, slots=True)
class RealController:
    """Where it listens, and where it writes `__cluster_metadata-0`."""

    version: str
    cluster_id: str
    host: str
    port: int
    metadata_log: Path
    output: Path


@contextmanager
def real_controller(version: str, properties: Mapping[str, str] = {}) -> Iterator[RealController]:
    """Yield a new cluster of this Kafka that is one controller; it is gone afterwards."""
    settings = {**PROPERTIES, **properties}
    with (
        quick_scratch(CACHE, _MEMORY_NEEDED) as scratch,
        KafkaCluster.create(scratch / "it", version, 0, 1, settings, heap_mb=512) as cluster,
    ):
        cluster.start()
        log_dir = cluster.log_dir(FIRST_CONTROLLER)
        yield RealController(
            version=version,
            cluster_id=cluster.spec.cluster_id,
            host=cluster.spec.host,
            port=cluster.ports.listener[FIRST_CONTROLLER],
            metadata_log=log_dir / "__cluster_metadata-0" / f"{0:020}.log",
            output=cluster.output(FIRST_CONTROLLER),
        )
