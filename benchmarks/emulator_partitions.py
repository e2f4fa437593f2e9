"""Partitions by the ten thousand: created, one of four brokers killed, all led again.

The real side is a whole cluster, of which the machine has to hold the log directories in memory:
three replicas a partition, and nothing written to them. Both sides take a broker for dead after
the same time without a heartbeat, and clients ask the live brokers by Metadata.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.compared import at_most
from benchmarks.emulated_cluster import emulated
from benchmarks.installed import told_of_processes
from tests.real.cache import CACHE, quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.metadata import PartitionView, cluster_view
from tests.real.records import create_topic

VERSION = "4.3.1"
BROKERS = (1, 2, 3, 4)
VICTIM = 4
REPLICAS = 3
# A request may not come to more than 10,000 records (4.3.1, QuorumController).
PARTITIONS_EACH = 1_000
TIMEOUT = 600.0
POLL = 0.02
SESSION_MS = 3_000
PROPERTIES: Mapping[str, str] = {
    "broker.session.timeout.ms": str(SESSION_MS),
    "broker.heartbeat.interval.ms": "500",
    # Two indexes a replica would be 20 MiB of address space each.
    "log.index.size.max.bytes": "4096",
}
HEAP_MB = 1024
MEMORY_NEEDED = 4 << 30


@dataclass(frozen=True, slots=True)
class Side:
    """A running cluster: HOST:PORT by broker, where each keeps its replicas, and how one dies."""

    addresses: Mapping[int, str]
    directories: Sequence[Path]
    kill: Callable[[int], None]


def measure(partitions: int) -> dict[str, object]:
    figures = {}
    for name, side in (("emulator", _emulated), ("real cluster", _real)):
        with quick_scratch(CACHE, MEMORY_NEEDED) as scratch, side(scratch) as running:
            figures[name] = _measured(running, partitions)
    return {
        "benchmark": "emulator-partitions",
        **told_of_processes(),
        "partitions": partitions,
        "replicas": partitions * REPLICAS,
        "session_s": SESSION_MS / 1000,
        "real side": f"{len(BROKERS)} brokers of {VERSION} with {HEAP_MB} MiB of heap each",
        "figures": figures,
        "compared": [
            at_most(
                1.0 if name in ("led_again_s", "led_again_beyond_session_s") else None,
                f"emulator, {partitions:,} partitions: {name.removesuffix('_s').replace('_', ' ')}",
                f"a real cluster ({VERSION})",
                figure,
                figures["real cluster"][name],
            )
            for name, figure in figures["emulator"].items()
        ],
    }


@contextmanager
def _emulated(scratch: Path) -> Iterator[Side]:
    with emulated(SESSION_MS / 1000, scratch / "cluster") as cluster:
        addresses = dict(zip(BROKERS, cluster.addresses, strict=True))
        directories = [scratch / "cluster" / f"broker-{broker}" for broker in BROKERS]
        yield Side(addresses, directories, cluster.kill)


@contextmanager
def _real(scratch: Path) -> Iterator[Side]:
    with KafkaCluster.create(
        scratch / "cluster", VERSION, len(BROKERS), properties=PROPERTIES, heap_mb=HEAP_MB
    ) as cluster:
        cluster.start()
        addresses = {broker: cluster.address(broker) for broker in BROKERS}
        yield Side(addresses, [cluster.log_dir(b) for b in BROKERS], cluster.kill)


def _measured(side: Side, partitions: int) -> dict[str, float]:
    begun = time.perf_counter()
    for number in range(partitions // PARTITIONS_EACH):
        settings = {"bootstrap.servers": side.addresses[1]}
        create_topic(settings, f"topic-{number}", _assignment(), {})
    requested = time.perf_counter()
    _wait_for(side, BROKERS, partitions, lambda p: len(p.isr) == REPLICAS and not p.offline)
    _wait_until(lambda: _replicas_on_disk(side) == partitions * REPLICAS)
    created = time.perf_counter()
    side.kill(VICTIM)
    live = [broker for broker in BROKERS if broker != VICTIM]
    _wait_for(side, live, partitions, lambda p: p.leader in live and VICTIM not in p.isr)
    seconds = time.perf_counter() - created
    return {
        "create_requests_s": round(requested - begun, 2),
        "created_everywhere_s": round(created - begun, 2),
        "led_again_s": round(seconds, 2),
        "led_again_beyond_session_s": round(seconds - SESSION_MS / 1000, 2),
    }


def _assignment() -> list[list[int]]:
    """Return the replicas of the partitions, in turns: each broker leads a quarter."""
    return [
        [BROKERS[(number + place) % len(BROKERS)] for place in range(REPLICAS)]
        for number in range(PARTITIONS_EACH)
    ]


def _wait_for(
    side: Side,
    brokers: Sequence[int],
    partitions: int,
    wanted: Callable[[PartitionView], bool],
) -> None:
    """Wait until each of these brokers describes so many partitions, every one as it is wanted."""
    for broker in brokers:
        _wait_until(partial(_sees, side.addresses[broker], partitions, wanted))


def _sees(address: str, partitions: int, wanted: Callable[[PartitionView], bool]) -> bool:
    topics = cluster_view({"bootstrap.servers": address}, TIMEOUT).topics
    found = [partition for topic in topics.values() for partition in topic.values()]
    return len(found) == partitions and all(map(wanted, found))


def _replicas_on_disk(side: Side) -> int:
    return sum(len(list(directory.glob("topic-*"))) for directory in side.directories)


def _wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + TIMEOUT
    while not holds():
        if time.monotonic() > give_up:
            raise TimeoutError(f"not within {TIMEOUT} s")
        time.sleep(POLL)
