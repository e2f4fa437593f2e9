"""Log directories of nodes with metadata logs, as small as the tests of `quorum` need them."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from tests.log_dir.cluster_metadata_encoder import (
    NO_OP,
    Written,
    array,
    batch,
    control,
    feature,
    leader_change,
    partition,
    register,
    snapshot,
    string,
    tagged,
    topic,
)

CLUSTER = "0123456789abcdefghijkl"
METADATA = "__cluster_metadata-0"
SEGMENT = f"{0:020}.log"
BROKERS = (1, 2)
CONTROLLERS = (101, 102, 103)
# Port 1 of the loopback: nobody listens there.
NOBODY = ("127.0.0.1", 1)
TIME_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Batches:
    """The parts of a log, each a batch, as (epoch, what is written)."""

    parts: tuple[tuple[int, tuple[Written, ...]], ...]

    def and_then(self, epoch: int, *written: Written) -> Batches:
        return Batches((*self.parts, (epoch, written)))

    @property
    def end(self) -> int:
        return sum(len(written) for _, written in self.parts)

    def encoded(self, begun_ms: int = TIME_MS) -> list[bytes]:
        """Return the batches, with a record a millisecond."""
        found, base = [], 0
        for epoch, written in self.parts:
            found.append(batch(base, *written, epoch=epoch, time_ms=begun_ms + base))
            base += len(written)
        return found


def voter_records(voters: Iterable[tuple[int, uuid.UUID, int]]) -> tuple[bytes, bytes]:
    """Return a VotersRecord of (id, directory id, port)."""
    listed = []
    for id_, directory, port in voters:
        listener = string("CONTROLLER") + string("127.0.0.1") + struct.pack(">H", port) + tagged()
        version = struct.pack(">hh", 0, 1) + tagged()
        endpoints = array([listener])
        listed.append(struct.pack(">i", id_) + directory.bytes + endpoints + version + tagged())
    return control(6, struct.pack(">h", 0) + array(listed) + tagged())


def kraft_version(level: int) -> tuple[bytes, bytes]:
    return control(5, struct.pack(">hh", 0, level) + tagged())


def static_log(level: int = 30) -> Batches:
    """Return epoch 1 of a static quorum: two brokers, one topic of one partition."""
    return Batches(
        (
            (1, (leader_change(101, CONTROLLERS),)),
            (1, (feature("metadata.version", level),)),
            (1, tuple(register(broker, 10 + broker, at=NOBODY) for broker in BROKERS)),
            (1, (topic("orders"), partition(0, BROKERS))),
        )
    )


def dynamic_log(ports: Sequence[int] = (1, 1, 1)) -> Batches:
    """Return epoch 1 of a dynamic quorum: two brokers, one topic of one partition."""
    voters = [(id_, directory_id(id_), port) for id_, port in zip(CONTROLLERS, ports, strict=True)]
    first = (1, (leader_change(101, CONTROLLERS), kraft_version(1), voter_records(voters)))
    return Batches((first, *static_log().parts[1:]))


def directory_id(node: int) -> uuid.UUID:
    return uuid.UUID(int=(0x8000 << 64) + node)


def write_node(
    parent: Path,
    node: int,
    log: Batches,
    *,
    cluster: str = CLUSTER,
    quorum_epoch: int | None = None,
    data: bytes | None = None,
) -> Path:
    """Write a log directory, and return its path. data: of its segment, if not what `log` says."""
    home = parent / f"node-{node}"
    metadata = home / METADATA
    metadata.mkdir(parents=True)
    (home / "meta.properties").write_text(
        f"version=1\ncluster.id={cluster}\nnode.id={node}\n"
        f"directory.id={kafka_uuid(directory_id(node))}\n"
    )
    (metadata / SEGMENT).write_bytes(b"".join(log.encoded()) if data is None else data)
    if quorum_epoch is not None:
        (metadata / "quorum-state").write_text(
            f'{{"leaderId":-1,"leaderEpoch":{quorum_epoch},"votedId":-1,'
            '"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
        )
    return home


def move_up(home: Path, offset: int, epoch: int, *state: bytes) -> None:
    """Have the log of this node begin at `offset`, behind a checkpoint that holds this state."""
    metadata = home / METADATA
    checkpoint = snapshot(offset, *state, epoch=epoch, time_ms=TIME_MS)
    (metadata / checkpoint.name).write_bytes(checkpoint.read_at(0, checkpoint.size))
    (metadata / SEGMENT).unlink()
    first = batch(offset, NO_OP, epoch=epoch, time_ms=TIME_MS + offset)
    (metadata / f"{offset:020}.log").write_bytes(first)


def write_replica(
    home: Path, name: str, topic_id: uuid.UUID, epochs: Sequence[tuple[int, int]] = ()
) -> Path:
    """Write a replica's directory with nothing but what tells of the metadata log."""
    replica = home / name
    replica.mkdir()
    (replica / "partition.metadata").write_text(f"version: 0\ntopic_id: {kafka_uuid(topic_id)}")
    lines = "".join(f"{epoch} {start}\n" for epoch, start in epochs)
    (replica / "leader-epoch-checkpoint").write_text(f"0\n{len(epochs)}\n{lines}")
    return replica
