"""`before-start` asked of a broker that is down: with the cluster, and from disks alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.whole_starts_damage import META
from tests.real.whole_starts_history import BROKERS

# What a run without log directories ends with.
BAD_INPUT = 2


@dataclass(frozen=True, slots=True)
class Asking:
    """home: of the commands, and of what they write."""

    cluster: KafkaCluster
    cli: Cli
    home: Path

    def documents(self, broker: int, *, disks: bool) -> dict[str, Any]:
        """Return what is told, by who was asked; None where nothing was, for no log directory is
        left. disks: ask from disks alone too, which is done anyway where no broker lives.
        Controllers that were down run afterwards."""
        return {who: _document(done) for who, done in self._asked(broker, disks)}

    def _asked(self, broker: int, disks: bool) -> Iterator[tuple[str, Finished]]:
        live = self.cluster.live_brokers
        if disks or not live:
            yield "disks", self._before_start(broker, *self._scans(broker))
        controllers = self.cluster.spec.controller_ids
        if not all(map(self.cluster.alive, controllers)):
            self.cluster.start(controllers)
            if self.cluster.spec.version >= "4":
                # Before, a controller notices only once a broker is there.
                self.cluster.wait_until_fenced(BROKERS)
            yield "disks later", self._before_start(broker, *self._scans(broker))
        if live:
            servers = ",".join(map(self.cluster.address, live))
            yield "cluster", self._before_start(broker, "--bootstrap-server", servers)

    def _before_start(self, broker: int, *flags: str) -> Finished:
        own = [word for root in self.given(broker) for word in ("--log-dirs", str(root))]
        return self.cli.offline("before-start", *own, *flags, "--format", "json")

    def given(self, broker: int) -> list[Path]:
        """Return the directories that are given. One that was lost can't be: without its
        meta.properties it is none."""
        return [root for root in self.cluster.log_dirs(broker) if (root / META).is_file()]

    def _scans(self, broker: int) -> list[str]:
        """Return the scans of all other disks, and the controllers'."""
        roots = [root for other in BROKERS if other != broker for root in self.given(other)]
        roots += map(self.cluster.log_dir, self.cluster.spec.controller_ids)
        scan = self.home / "scan.json"
        scan.unlink(missing_ok=True)
        self.cli.offline("scan-log-dirs", *map(str, roots), "--output", str(scan))
        return ["--replica-info-file", str(scan)]


def _document(done: Finished) -> Any:
    if done.code == BAD_INPUT and "--log-dirs" in done.stderr:
        return None
    expected = 1 if done.json["destroys"] else 4 if done.json["untold"] else 0
    assert done.code == expected, done
    return done.json
