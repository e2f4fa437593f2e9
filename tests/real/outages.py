"""Outages made once, kept as archives, and started from there in seconds.

The archive holds the cluster at rest: every process was killed, and the controllers had fenced
every broker. `restore` lets the survivors come back, which is the outage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.real import recipes, security
from tests.real.archive import pack, unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.recipes import TOPIC
from tests.real.releases import ONE
from tests.real.saved import Saved, digest_of

OFFLINE_TIMEOUT = 60.0
# What an archive depends on besides its parameters; a change here makes it anew.
SOURCES = ("properties.py", "records.py", "recipes.py")


@dataclass(frozen=True, slots=True)
class Outage:
    """A recipe with everything that decides its result, and who comes back."""

    name: str
    version: str
    survivors: tuple[int, ...]
    recipe: Callable[[KafkaCluster], None] = field(compare=False, repr=False)
    parameters: tuple[tuple[str, int], ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    heap_mb: int = 384
    # Where these differ from the default, the name says so.
    controllers: int = field(default=1, repr=False)
    secured: bool = field(default=False, repr=False)
    # Where the recipe is, as seen from here, unless it is in recipes.py.
    sources: tuple[str, ...] = field(default=(), repr=False)

    @property
    def saved(self) -> Saved:
        """Return where it is saved: its fields decide it, and the sources that make it."""
        users = ("security.py",) if self.secured else ()
        digest = digest_of((*SOURCES, *users, *self.sources), repr(self))
        return Saved(f"{self.name}-{self.version}", digest, lambda made: _make(self, made))


def last_replica_standing(version: str = ONE, min_isr: int = 1) -> Outage:
    """Return an outage of topic `orders`, a partition for each order of the replicas 1, 2, 3, 4.

    Brokers 3 (1500 records each) and 4 (1000) are back; 1 and 2 hold 2500 and 2000 and are dead.
    """
    return _standing("last-replica-standing", version, min_isr=min_isr)


def stale_tail(version: str = ONE) -> Outage:
    """Return an outage of topic `orders`, one partition on 1, 2, 4; brokers 1 and 4 are back.

    Broker 1 has 1200 records of epoch 0, broker 4 has 1100 up to epoch 2, which must win.
    """
    return Outage("stale-tail", version, (1, 4), recipes.stale_tail)


def many_partitions(version: str = ONE, count: int = 500) -> Outage:
    """Return `last_replica_standing` with `count` partitions: broker 3 has 15 records, 4 has 10."""
    # Two indexes a replica would be 20 MiB of address space each.
    small_indexes = {"log.index.size.max.bytes": "4096"}
    return _standing(
        "many-partitions",
        version,
        small_indexes,
        heap_mb=512,
        partitions=count,
        first=10,
        more=5,
    )


def restore(outage: Outage, directory: Path) -> KafkaCluster:
    """Return the outage, running: survivors unfenced, partitions offline. Close it when done."""
    unpack(outage.saved.archive(), directory)
    if outage.secured:
        security.write_certificates(directory)
    cluster = KafkaCluster(directory)
    try:
        cluster.start((*cluster.spec.controller_ids, *outage.survivors))
        cluster.wait_until_partitions(TOPIC, lambda p: p.offline, OFFLINE_TIMEOUT)
    except BaseException:
        cluster.close()
        raise
    return cluster


def _standing(
    name: str,
    version: str,
    properties: Mapping[str, str] = {},
    heap_mb: int = 384,
    **parameters: int,
) -> Outage:
    return Outage(
        name=name,
        version=version,
        survivors=(3, 4),
        recipe=lambda cluster: recipes.last_replica_standing(cluster, **parameters),
        parameters=tuple(sorted(parameters.items())),
        properties=tuple(sorted(properties.items())),
        heap_mb=heap_mb,
    )


def _make(outage: Outage, archive: Path) -> None:
    with quick_scratch(archive.parent) as scratch, _new_cluster(outage, scratch) as cluster:
        cluster.start()
        outage.recipe(cluster)
        cluster.kill_all()
        pack(cluster.directory, archive)


def _new_cluster(outage: Outage, directory: Path) -> KafkaCluster:
    return KafkaCluster.create(
        directory,
        outage.version,
        controllers=outage.controllers,
        properties=dict(outage.properties),
        secured=outage.secured,
        heap_mb=outage.heap_mb,
    )
