"""Disks of dead brokers and the plan beside them, as small as salvage allows. Cluster c1, topic
`orders` of topic id TOPIC_ID, partition 0 on brokers 1 (dead) and 2, which is to lead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from kafka_unclean_recovery.documents.plan import plan_json
from kafka_unclean_recovery.model import (
    Cluster,
    EpochLineage,
    EpochSpan,
    PartitionState,
    ReplicaLog,
    Scanned,
)
from kafka_unclean_recovery.planning.plan import plan_partition
from tests.log_dir.replica_directories import text_of
from tests.log_dir.segments import checkpoint

TOPIC_ID = UUID(int=1)
_LEADER = (EpochSpan(0, 0, 10),)
Epochs = Sequence[tuple[int, int]]
"""(leader epoch, start offset) pairs."""


def disk(
    root: Path,
    segments: dict[int, bytes],
    epochs: Epochs = ((0, 0),),
    *,
    broker: int = 1,
    partition: str = "orders-0",
    cluster: str = "c1",
    topic_id: UUID = TOPIC_ID,
) -> Path:
    """Write the replica's directory, in a log directory of its broker."""
    log_directory = root / f"broker-{broker}"
    directory = log_directory / partition
    directory.mkdir(parents=True)
    known = f"version=1\nnode.id={broker}\ncluster.id={cluster}\n"
    (log_directory / "meta.properties").write_text(known)
    for base, content in segments.items():
        (directory / f"{base:020}.log").write_bytes(content)
    lines = [f"{epoch} {start}" for epoch, start in epochs]
    (directory / "leader-epoch-checkpoint").write_bytes(checkpoint(*lines))
    (directory / "partition.metadata").write_text(f"version: 0\ntopic_id: {text_of(topic_id)}\n")
    return directory


def plan_text(
    lineage: EpochLineage | None = _LEADER,
    *,
    log_start: int = 0,
    log_end: int = 10,
    suspect: str | None = None,
    leader_lives: bool = True,
    scanned: Scanned | None = None,
) -> str:
    """Return a plan by which broker 2 is to lead if it lives; broker 1 and 3 are dead."""
    state = PartitionState(
        "orders",
        str(TOPIC_ID),
        0,
        -1,
        0,
        (1, 2, 3),
        offline_replicas=(1, 3) if leader_lives else (1, 2, 3),
    )
    leader = ReplicaLog(
        2,
        live=leader_lives,
        last_written_leader_epoch=lineage[-1].epoch if lineage else 0,
        log_start_offset=log_start,
        log_end_offset=log_end,
        epochs=lineage,
        suspect=suspect,
        scanned=scanned,
        certain_end_offset=None if suspect is None else log_end,
    )
    plan = plan_partition(state, [leader])
    return plan_json(Cluster("c1", {}), [plan], "2026-01-02T03:04:05+00:00")
