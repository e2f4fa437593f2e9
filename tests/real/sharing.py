"""Running clusters that several tests look at, two at a time: four JVMs take a twentieth of a core
even where nobody asks them anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.cluster import KafkaCluster
from tests.real.outages import Outage, restore
from tests.real.releases import ONE


@dataclass(slots=True)
class SharedClusters:
    """Ask again for the same and get the same, as long as no two others came between: a test may
    look at two.

    Whoever takes one leaves it as it was: topics of its own at most, no broker killed.
    """

    new_directory: Callable[[], Path]
    capacity: int = 2
    _running: dict[object, KafkaCluster] = field(default_factory=dict)

    def plain(self, version: str = ONE, brokers: int = 4, *, secured: bool = False) -> KafkaCluster:
        """Return a healthy cluster."""

        def start() -> KafkaCluster:
            directory = self.new_directory()
            cluster = KafkaCluster.create(directory, version, brokers, secured=secured)
            try:
                cluster.start()
            except BaseException:
                cluster.close()
                raise
            return cluster

        return self._get((version, brokers, secured), start)

    def outage(self, outage: Outage) -> KafkaCluster:
        """Return a cluster in an outage, to be looked at and not repaired."""
        return self._get(outage, lambda: restore(outage, self.new_directory()))

    def renew(self, outage: Outage) -> KafkaCluster:
        """Return another one, for what was there has been repaired."""
        self._running.pop(outage).close()
        return self.outage(outage)

    def keep(self, how_many: int) -> None:
        """Let those that were asked for last run on, and end the others."""
        while len(self._running) > how_many:
            oldest = next(iter(self._running))
            self._running.pop(oldest).close()

    def _get(self, key: object, start: Callable[[], KafkaCluster]) -> KafkaCluster:
        cluster = self._running.pop(key, None)
        if cluster is None:
            self.keep(self.capacity - 1)
            cluster = start()
        self._running[key] = cluster  # Newest last.
        return cluster
