"""What all brokers of a cluster hold: by Kafka's own word where they live, and by their files."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.cluster import KafkaCluster
from tests.real.held_records import Record, held_records
from tests.real.metadata import PartitionView
from tests.real.replica_offsets import Offsets, replica_offsets
from tests.real.waiting import POLL_SECONDS

Records = frozenset[Record]
Place = tuple[int, str]
"""A broker and a topic, each of one partition."""

_STRAY = re.compile(r"(.+)-0\.[0-9a-f]{32}-stray")
# What fetches from a leader that can't be read, or is cut within a batch of its leader, never comes
# into the ISR; on a loaded machine a replica that is cut may not fetch for more than 8 s.
_SETTLED, _STILL = 60.0, 0.4


@dataclass(frozen=True, slots=True)
class Seen:
    """partitions: as a live broker describes them; none where nobody lives. offsets: of each
    replica on a live broker. records: of each replica that is in use."""

    live: frozenset[int]
    partitions: Mapping[str, PartitionView] = field(default_factory=dict)
    offsets: Mapping[Place, Offsets] = field(default_factory=dict)
    records: Mapping[Place, Records] = field(default_factory=dict)

    def held(self, broker: int, topic: str) -> Records:
        return self.records.get((broker, topic), frozenset())

    def at_rest(self) -> bool:
        """Return whether no live replica has to fetch or to cut anything any more."""
        return all(
            view.offline or broker in view.isr or self._is_offline(broker, topic)
            for topic, view in self.partitions.items()
            for broker in view.replicas
            if broker in self.live
        )

    def _is_offline(self, broker: int, topic: str) -> bool:
        found = self.offsets.get((broker, topic))
        return found is None or found.error is not None


def settled(cluster: KafkaCluster, topics: Collection[str]) -> Seen:
    """Return the state of a cluster to which nobody writes, once nothing moves in it any more."""
    until = time.monotonic() + _SETTLED
    last, since = _told(cluster, topics), time.monotonic()
    while time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        now = _told(cluster, topics)
        if now != last:
            last, since = now, time.monotonic()
        elif now.at_rest() and time.monotonic() > since + _STILL:
            break
    return seen(cluster, topics)


def seen(cluster: KafkaCluster, topics: Collection[str]) -> Seen:
    told = _told(cluster, topics)
    records = dict(_on_disks(cluster, topics))
    return Seen(told.live, told.partitions, told.offsets, records)


def _told(cluster: KafkaCluster, topics: Collection[str]) -> Seen:
    live = cluster.live_brokers
    if not live:
        return Seen(frozenset())
    view = cluster.view(live[-1])
    partitions = {t: view.topics[t][0] for t in topics if t in view.topics}
    offsets: dict[Place, Offsets] = {}
    for broker in live:
        # One may end just now.
        with suppress(OSError):
            told = replica_offsets(cluster.address(broker), partitions)
            offsets |= {(broker, topic): found for topic, found in told.items()}
    return Seen(frozenset(live), partitions, offsets)


def _on_disks(cluster: KafkaCluster, topics: Collection[str]) -> Iterator[tuple[Place, Records]]:
    for broker in cluster.spec.broker_ids:
        for topic in topics:
            found = [held_records(root / f"{topic}-0") for root in cluster.log_dirs(broker)]
            yield (broker, topic), frozenset[Record]().union(*found)


def written_log_starts(
    cluster: KafkaCluster, broker: int, deleted: Mapping[str, int]
) -> dict[str, int]:
    """Return the log starts on the broker's disk, by topic; none of a damaged file. deleted: below
    which offset records were deleted on purpose, by topic. Where the leader epochs begin there the
    broker has deleted them too, and has not yet written the log start down."""
    found: dict[str, int] = {}
    for root in cluster.log_dirs(broker):
        with suppress(OSError, ValueError):
            _, _, *lines = (root / "log-start-offset-checkpoint").read_text().splitlines()
            for topic, _, start in map(str.split, lines):
                found[topic] = int(start)
        for topic, offset in deleted.items():
            path = root / f"{topic}-0" / "leader-epoch-checkpoint"
            with suppress(OSError, ValueError, IndexError):
                if int(path.read_text().split()[3]) == offset:
                    found[topic] = max(found.get(topic, 0), offset)
    return found


def stuck(said: Mapping[int, str], topics: Collection[str]) -> frozenset[Place]:
    """Return the replicas that fetch no more: the broker got a batch of which its log has the begin
    (test_before_start.py shows how), or, seen on 4.3.1, its time index had no room where it rolled
    a segment right after the cut. said: what each broker said since, by broker."""
    return frozenset(
        (broker, topic)
        for broker, text in said.items()
        for topic in topics
        if f"Unexpected offset in append to {topic}-0." in text
        or f"Partition {topic}-0 marked as failed" in text
    )


def put_aside(cluster: KafkaCluster, broker: int) -> dict[str, list[Records]]:
    """Return what each `-stray` directory of the broker holds, by topic."""
    strays: dict[str, list[Records]] = {}
    for root in filter(Path.is_dir, cluster.log_dirs(broker)):
        for path in root.iterdir():
            if match := _STRAY.fullmatch(path.name):
                strays.setdefault(match[1], []).append(held_records(path))
    return strays
