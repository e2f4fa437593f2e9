"""A cluster whose metadata log has seen much, made once and kept: its directories at rest, what
a broker answered just before the end, and a copy of the logs before their beginnings were deleted.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from confluent_kafka import Producer
from msgspec import structs

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import (
    describe_topics,
    list_reassignments,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import PartitionState
from tests.real.archive import pack, unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.faults import reassign
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import create_topic
from tests.real.saved import Saved, digest_of
from tests.real.waiting import wait_until

T = TypeVar("T")
METADATA = "__cluster_metadata-0"
BEFORE = "before-deletion"
# Snapshots every few records, segments of seconds, and nothing kept that a snapshot holds.
PROPERTIES: Mapping[str, str] = {
    "log.index.size.max.bytes": "4096",
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "metadata.log.segment.ms": "4000",
    "metadata.max.retention.ms": "500",
}
LOOK_SECONDS = 0.2
# A node deletes what is old once a minute.
DELETION_TIMEOUT = 150.0
_SOURCES = ("cluster_metadata_recipe.py", "properties.py", "records.py")


@dataclass(frozen=True, slots=True)
class MetadataAtRest:
    """Nodes 101 (the controller) and brokers 1, 2, 3; broker 1 was the last one alive."""

    version: str
    directory: Path
    states: tuple[PartitionState, ...]

    def logs(self, *, before_deletion: bool = False) -> dict[int, Path]:
        """The metadata directory of each node."""
        if before_deletion:
            return {int(d.name): d for d in sorted((self.directory / BEFORE).iterdir())}
        nodes = {int(d.name[5:]): d for d in sorted(self.directory.glob("node-*"))}
        return {node: next(d.glob(f"*/{METADATA}")) for node, d in nodes.items()}


def metadata_at_rest(version: str, directory: Path) -> MetadataAtRest:
    unpack(saved(version).archive(), directory)
    states = json.loads((directory / "states.json").read_text())
    return MetadataAtRest(version, directory, tuple(_state(found) for found in states))


def saved(version: str) -> Saved:
    digest = digest_of(_SOURCES)
    return Saved(f"metadata-at-rest-{version}", digest, lambda made: _make(version, made))


def _state(found: Mapping[str, Any]) -> PartitionState:
    as_tuples: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in found.items()
    }
    return PartitionState(**as_tuples)


def _make(version: str, target: Path) -> None:
    with (
        quick_scratch(target.parent) as scratch,
        KafkaCluster.create(
            scratch, version, brokers=3, properties=PROPERTIES, log_dirs_per_broker=2
        ) as cluster,
    ):
        cluster.start()
        with _everything_kept(cluster):
            _ordinary_days(cluster)
        _until_the_beginning_is_deleted(cluster)
        _brokers_die(cluster)
        states = _settled(cluster)
        cluster.kill_all()
        (scratch / "states.json").write_text(
            json.dumps([structs.asdict(state) for state in states])
        )
        pack(scratch, target)


def _ordinary_days(cluster: KafkaCluster) -> None:
    connection = cluster.connection()
    create_topic(connection, "doomed", [(1, 2)], {"retention.ms": "1000000"})
    create_topic(connection, "moved", [(1, 2)])
    create_topic(connection, "growing", [(1,)])
    two = {"min.insync.replicas": "2"}
    create_topic(connection, "orders", [(1, 2, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)], two)
    create_topic(connection, "cleared", [(1, 2, 3), (2, 1, 3)], two)
    create_topic(connection, "pair", [(2, 3), (3, 2)])
    create_topic(connection, "alone", [(3,), (2,)])
    _produce_idempotently(connection, "orders")
    _configure(cluster, "topics", "orders", "--add-config", "max.message.bytes=2000000")
    _configure(cluster, "topics", "orders", "--delete-config", "max.message.bytes")
    _configure(cluster, "brokers", "1", "--add-config", "background.threads=3")
    _configure(cluster, "users", "alice", "--add-config", "producer_byte_rate=1024")
    _configure(cluster, "users", "bob", "--add-config", "SCRAM-SHA-512=[password=secret]")
    _configure(cluster, "users", "bob", "--delete-config", "SCRAM-SHA-512")
    reassign(cluster, "moved", (3, 2))
    cluster.wait_until_partitions("moved", lambda p: set(p.replicas) == {3, 2})
    servers = ("--bootstrap-server", cluster.address(1))
    cluster.script("kafka-topics", *servers, "--delete", "--topic", "doomed")
    # A second epoch of the quorum, and of broker 3.
    cluster.kill(101)
    cluster.start_node(101)
    cluster.wait_until_unfenced({1, 2, 3})
    cluster.kill(3)
    cluster.wait_until_fenced({3})
    cluster.start_node(3)
    cluster.wait_until_partitions("orders", lambda p: len(p.isr) == 3)
    wait_until(lambda: all(_snapshots(cluster)), 60.0, lambda: f"snapshots: {_snapshots(cluster)}")


def _produce_idempotently(connection: Mapping[str, str], topic: str) -> None:
    """A producer with an id of its own; the records are beside the point."""
    settings: dict[str, Any] = {**connection, **QUIETLY, "enable.idempotence": True}
    producer = Producer(settings, logger=SILENT)
    producer.produce(topic, b"1", partition=0)
    assert producer.flush(30) == 0


def _configure(cluster: KafkaCluster, kind: str, name: str, *change: str) -> None:
    which = ("--alter", "--entity-type", kind, "--entity-name", name)
    cluster.script("kafka-configs", "--bootstrap-server", cluster.address(1), *which, *change)


def _metadata_directory(cluster: KafkaCluster, node: int) -> Path:
    return cluster.log_dir(node) / METADATA


def _snapshots(cluster: KafkaCluster) -> list[int]:
    return [
        len(list(_metadata_directory(cluster, node).glob("*.checkpoint")))
        for node in cluster.node_ids
    ]


@contextmanager
def _everything_kept(cluster: KafkaCluster) -> Iterator[None]:
    """Copy the logs as they are at the end, with what was deleted meanwhile: a node deletes once a
    minute what a snapshot holds, and on a busy machine the days last longer than that."""
    links = cluster.directory / "kept"
    over = Event()
    with ThreadPoolExecutor(1) as pool:
        keeping = pool.submit(_link_until, over, cluster, links)
        try:
            yield
        finally:
            over.set()
        keeping.result()
    shutil.copytree(links, cluster.directory / BEFORE)
    shutil.rmtree(links)


def _link_until(over: Event, cluster: KafkaCluster, links: Path) -> None:
    """Link every file that appears: it keeps its content where the node deletes it. A segment lasts
    four seconds and more."""
    while True:
        last = over.wait(LOOK_SECONDS)
        for node in cluster.node_ids:
            _link_new(_metadata_directory(cluster, node), links / str(node))
        if last:
            return


def _link_new(log: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for path in log.iterdir() if log.exists() else ():
        # A file that is being written gets another name when it is done.
        if path.suffix in (".log", ".checkpoint") and not (target / path.name).exists():
            with suppress(FileNotFoundError):
                (target / path.name).hardlink_to(path)


def _until_the_beginning_is_deleted(cluster: KafkaCluster) -> None:
    """Wait until what was written in the days is gone but for their last segments. On a busy
    machine the first segment goes while the days last, and later elections are in the next."""
    last = {node: _segments(cluster, node)[-1] for node in cluster.node_ids}
    wait_until(
        lambda: all(_segments(cluster, node)[0] >= offset for node, offset in last.items()),
        DELETION_TIMEOUT,
        lambda: f"all before {last} deleted; {PROPERTIES}",
    )
    # A node deletes once a minute. What broker 1 has in common with those that die before it must
    # be there in the end, so they die right after it has deleted.
    first = _segments(cluster, 1)[0]
    wait_until(
        lambda: _segments(cluster, 1)[0] > first,
        DELETION_TIMEOUT,
        lambda: f"more than what is before {first} deleted",
    )


def _segments(cluster: KafkaCluster, node: int) -> list[int]:
    """Their base offsets."""
    return sorted(int(path.stem) for path in _metadata_directory(cluster, node).glob("*.log"))


def _brokers_die(cluster: KafkaCluster) -> None:
    """Broker 3 in peace and broker 2 suddenly; then what changes ELRs, and what can't end."""
    cluster.stop(3)
    cluster.wait_until_fenced({3})
    cluster.kill(2)
    cluster.wait_until_fenced({2})
    _configure(cluster, "topics", "cleared", "--add-config", "min.insync.replicas=1")
    reassign(cluster, "growing", (1, 2))
    reassign(cluster, "moved", (1, 3))
    create_topic(cluster.connection(), "late", [(1,)])


def _settled(cluster: KafkaCluster) -> list[PartitionState]:
    """What broker 1 answers, once it has answered the same for two seconds."""
    seen: list[list[PartitionState]] = []

    def twice_the_same() -> bool:
        seen.append(_states(cluster))
        time.sleep(2)
        return len(seen) > 1 and seen[-1] == seen[-2]

    wait_until(twice_the_same, 60.0, lambda: f"the same states twice: {seen[-2:]}")
    return seen[-1]


def _states(cluster: KafkaCluster) -> list[PartitionState]:
    async def ask(connection: Connection, deadline: Deadline) -> list[PartitionState]:
        topics = await describe_topics(connection, None, deadline)
        moving = await list_reassignments(connection, deadline)
        every = [with_reassignment(p, moving) for topic in topics for p in topic.partitions]
        return sorted(every, key=lambda state: state.topic_partition)

    return _ask(cluster, ask)


def _ask(cluster: KafkaCluster, request: Callable[[Connection, Deadline], Awaitable[T]]) -> T:
    async def ask() -> T:
        host, _, port = cluster.address(cluster.live_brokers[0]).rpartition(":")
        deadline = Deadline.after(20)
        async with await Connection.open(host, int(port), ClientConfig(), deadline) as connection:
            return await request(connection, deadline)

    return asyncio.run(ask())
