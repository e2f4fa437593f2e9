"""Clusters that take one step after the other: no thread, no socket, no time but what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from uuid import UUID

from kafka_unclean_recovery.emulator.broker.broker import Broker
from kafka_unclean_recovery.emulator.broker.replica import Replica
from kafka_unclean_recovery.emulator.disks.data_directory import open_cluster
from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from tests.log_dir.segments import v2

TOPIC = "orders"
TOPIC_ID = UUID(int=0x0AD3B5)
KEY = TopicIdPartition(TOPIC_ID, 0)

Opened = Callable[..., Emulation]


def opened(
    directory: Path, brokers: int = 4, start: Iterable[int] | None = None, release: str = "4.3.1"
) -> Emulation:
    """Return the cluster in a directory, with these brokers started: all if not named."""
    ids = range(1, brokers + 1)
    emulation = open_cluster(directory, ids, release, Settings())
    for id_ in ids if start is None else start:
        emulation.start(emulation.brokers[id_])
    return emulation


def create(emulation: Emulation, replicas: Sequence[int], min_isr: int = 1) -> None:
    """Create TOPIC with one partition."""
    configs = {"min.insync.replicas": str(min_isr)}
    response = emulation.happen(ev.CreateTopic(TOPIC, TOPIC_ID, {0: tuple(replicas)}, configs))
    assert response == ev.Response()


def write(emulation: Emulation, records: int) -> None:
    """Write one batch to the leader."""
    leader = emulation.brokers[partition(emulation).leader]
    leader.append_as_leader(leader.replicas[KEY], v2(count=records, epoch=-1))
    emulation.replicate(KEY)


def partition(emulation: Emulation) -> PartitionRegistration:
    return emulation.state.topics[TOPIC_ID].partitions[0]


def lose(emulation: Emulation, broker: int) -> None:
    """Kill the broker; it is fenced when its session ends."""
    emulation.kill(emulation.brokers[broker])
    emulation.expire(broker)


def restart(emulation: Emulation, broker: int) -> None:
    emulation.start(emulation.brokers[broker])


def elect_unclean(emulation: Emulation) -> None:
    emulation.happen(ev.ElectLeaders(ev.ElectionType.UNCLEAN, None))


def replica(emulation: Emulation, broker: int) -> Replica:
    return emulation.brokers[broker].replicas[KEY]


def segment(broker: Broker) -> bytes:
    return (broker.directory / f"{TOPIC}-0" / f"{0:020}.log").read_bytes()
