"""The outages of recipes.py planned from the disks of the dead: alone, and beside the brokers
that are back. Both must designate whom the live cluster designates, and count what is truly lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.model import TopicPartition
from tests.real.archive import unpack
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, broker_truths
from tests.real.outages import Outage, last_replica_standing, stale_tail
from tests.real.properties import node_directory
from tests.real.recipes import TOPIC
from tests.real.releases import TESTED
from tests.real.witnesses import replica_orders, wait_until_led

Restored = Callable[[Outage], KafkaCluster]
Written = set[tuple[int, int]]
"""(leader epoch, offset) of records."""

HOLDS_MORE = re.compile(r"broker (\d+) is (?:down|excluded); its disk holds (\d+) records beyond")
# Brokers 3 and 4 are back, or 1 and 4; then who must lead, and what that gives up.
OUTAGES = (
    (last_replica_standing, 3, {"certain": 0, "possible": 1000}),
    (stale_tail, 4, {"certain": 200, "possible": 50}),
)
CASES = [(outage(version), best, loss) for outage, best, loss in OUTAGES for version in TESTED]


@dataclass(frozen=True, slots=True)
class AtRest:
    """An outage whose survivors have not come back; nothing runs. best: who must lead. loss: what
    that gives up of every partition, by the recipe."""

    outage: Outage
    best: int
    loss: dict[str, int]
    cluster: KafkaCluster
    truths: dict[int, dict[TopicPartition, ReplicaTruth]]

    @property
    def dead(self) -> list[int]:
        return [b for b in self.cluster.spec.broker_ids if b not in self.outage.survivors]

    @property
    def exclude(self) -> tuple[str, str]:
        return "--exclude-brokers", ",".join(map(str, self.dead))

    @property
    def partitions(self) -> list[int]:
        return sorted(tp.partition for tp in self.truths[self.best])

    @property
    def losses(self) -> dict[int, dict[str, int]]:
        """Return what electing the best gives up, by the spans of kafka-dump-log."""
        return {partition: self._loss(partition) for partition in self.partitions}

    def _loss(self, partition: int) -> dict[str, int]:
        kept = self.written(self.best, partition)
        live = self.written_by(self.outage.survivors, partition)
        dead = self.written_by(self.dead, partition)
        return {"certain": len(live - kept), "possible": len(dead - live - kept)}

    def written_by(self, brokers: Iterable[int], partition: int) -> Written:
        return {record for broker in brokers for record in self.written(broker, partition)}

    def written(self, broker: int, partition: int) -> Written:
        truth = self.truths[broker].get(TopicPartition(TOPIC, partition))
        spans = truth.lineage if truth else []
        return {(span.epoch, at) for span in spans for at in range(span.start, span.end)}


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].name}-{case[0].version}")
def at_rest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AtRest]:
    outage, best, loss = request.param
    directory = tmp_path_factory.mktemp(outage.name)
    unpack(outage.saved.archive(), directory)
    with KafkaCluster(directory) as cluster:
        truths = {broker: broker_truths(cluster, broker) for broker in cluster.spec.broker_ids}
        yield AtRest(outage, best, loss, cluster, truths)


def test_the_files_hold_what_the_recipe_tells(at_rest: AtRest) -> None:
    assert at_rest.losses == dict.fromkeys(at_rest.partitions, at_rest.loss)


def test_disks_alone_designate_whom_the_live_cluster_designates(
    at_rest: AtRest, tmp_path: Path
) -> None:
    disks = ("--log-dirs", str(at_rest.cluster.directory))
    _plans_for_the_best(at_rest, tmp_path, *disks)


def test_scans_made_apart_and_brought_together_designate_the_same(
    at_rest: AtRest, tmp_path: Path
) -> None:
    files: list[str] = []
    for broker in at_rest.cluster.spec.broker_ids:
        written = _scanned(tmp_path, at_rest.cluster, broker)
        files += ["--replica-info-file", str(written)]
    _plans_for_the_best(at_rest, tmp_path, *files)


def test_the_disks_of_the_dead_bound_the_loss_beside_live_brokers(
    at_rest: AtRest, restored: Restored, tmp_path: Path
) -> None:
    cluster, cli = restored(at_rest.outage), Cli(tmp_path)
    orders = replica_orders(cluster, TOPIC)
    show = ("--all-offline-partitions", "--show-replica-info", "--format", "json")
    online = cli.recover(cluster, *show).partitions(TOPIC)
    assert {row["loss"]["possible"] for row in online.values()} == {None}
    directories: list[str] = []
    for broker in at_rest.dead:
        directories += ["--log-dirs", str(node_directory(cluster.directory, broker))]
    with_disks = cli.recover(cluster, *show, *directories)
    assert with_disks.code == 0, with_disks
    _agrees(at_rest, with_disks)
    _leaves_the_live_rows_alone(online, with_disks.partitions(TOPIC))
    _elects_the_best(at_rest, cluster, cli, tmp_path)
    wait_until_led(cluster, TOPIC, at_rest.best, orders)


def _elects_the_best(at_rest: AtRest, cluster: KafkaCluster, cli: Cli, home: Path) -> None:
    files: list[str] = []
    for broker in at_rest.dead:
        files += ["--replica-info-file", str(_scanned(home, cluster, broker))]
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = cli.recover(cluster, *flags, *files)
    assert done.code == 0, done
    rows = done.partitions(TOPIC)
    elected = {n: (row["outcome"], row["leader"]) for n, row in rows.items()}
    assert elected == dict.fromkeys(at_rest.partitions, ("elected", at_rest.best))
    _agrees(at_rest, done)


def _scanned(home: Path, cluster: KafkaCluster, broker: int) -> Path:
    """Return what scan-log-dirs wrote of one broker's directories."""
    output = home / f"broker-{broker}.json"
    directory = node_directory(cluster.directory, broker)
    done = Cli(home).offline("scan-log-dirs", str(directory), "--output", str(output))
    assert done.code == 0, done
    return output


def _plans_for_the_best(at_rest: AtRest, home: Path, *disks: str) -> None:
    manual, rich = home / "manual.json", home / "plan.json"
    files = ("--manual-recovery-output-file", str(manual), "--plan-output-file", str(rich))
    done = Cli(home).offline("plan", *disks, *at_rest.exclude, *files, "--format", "json")
    assert done.code == 0, done
    chosen = {"topic": TOPIC, "designatedLeader": at_rest.best}
    assert json.loads(manual.read_text())["partitions"] == [
        {**chosen, "partition": partition} for partition in at_rest.partitions
    ]
    rows = json.loads(rich.read_text())["partitions"]
    assert [row["designated_leader"] for row in rows] == [at_rest.best] * len(at_rest.partitions)
    _agrees(at_rest, done)


def _agrees(at_rest: AtRest, done: Finished) -> None:
    """Check that the report's leaders, losses and warnings are those that the files give."""
    rows = done.partitions(TOPIC)
    leaders = {partition: row["designated_leader"] for partition, row in rows.items()}
    assert leaders == dict.fromkeys(at_rest.partitions, at_rest.best)
    kinds = ("certain", "possible")
    losses = {partition: {k: row["loss"][k] for k in kinds} for partition, row in rows.items()}
    assert losses == at_rest.losses
    for partition, row in rows.items():
        assert _named(row) == _holding_more(at_rest, partition)


def _named(row: dict[str, Any]) -> dict[int, int]:
    """Return the records beyond the best, by dead broker, as the findings say."""
    found = [f["message"] for f in row["findings"] if f["code"] == "dead_disk_holds_more"]
    return {int(said[1]): int(said[2]) for said in map(HOLDS_MORE.match, found) if said}


def _holding_more(at_rest: AtRest, partition: int) -> dict[int, int]:
    """Return the records beyond the best, by dead broker, as the files have them."""
    kept = at_rest.written(at_rest.best, partition)
    beyond = {b: len(at_rest.written(b, partition) - kept) for b in at_rest.dead}
    return {broker: records for broker, records in beyond.items() if records}


def _leaves_the_live_rows_alone(
    online: dict[int, dict[str, Any]], with_disks: dict[int, dict[str, Any]]
) -> None:
    """Check that what a live broker said of itself stands as it was."""
    for partition, row in online.items():
        live = [log for log in row["replica_logs"] if log["live"]]
        assert [log for log in with_disks[partition]["replica_logs"] if log["live"]] == live
