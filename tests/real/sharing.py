"""A running cluster that several tests look at, one at a time: four JVMs take a core's twentieth
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
    """Ask again for the same and get the same, as long as no other came between.

    Whoever takes one leaves it as it was: topics of its own at most, no broker killed.
    """

    new_directory: Callable[[], Path]
    _running: dict[object, KafkaCluster] = field(default_factory=dict)

    def plain(self, version: str = ONE, brokers: int = 4, *, secured: bool = False) -> KafkaCluster:
        """A healthy cluster."""

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
        """A cluster in an outage, to be looked at and not repaired."""
        return self._get(outage, lambda: restore(outage, self.new_directory()))

    def renew(self, outage: Outage) -> KafkaCluster:
        """Another one, for what was there has been repaired."""
        self._running.pop(outage).close()
        return self.outage(outage)

    def close(self) -> None:
        for cluster in self._running.values():
            cluster.close()
        self._running.clear()

    def _get(self, key: object, start: Callable[[], KafkaCluster]) -> KafkaCluster:
        if key not in self._running:
            self.close()
            self._running[key] = start()
        return self._running[key]
