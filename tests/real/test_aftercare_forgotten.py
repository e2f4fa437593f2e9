"""A hanging transaction that every coordinator has forgotten: its end lies on a dead disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.real.aftercare_outage import (
    ABORTED,
    COMMITTED,
    DEAD,
    HELD,
    OPEN,
    TIMEOUT,
    new_cluster,
    outage,
    read_committed,
)
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.records import numbered
from tests.real.waiting import wait_until

# A transactional id of which nothing is under way is forgotten after so long.
FORGOTTEN = {
    "transactional.id.expiration.ms": "4000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
}


def _endings(done: Finished) -> dict[int, tuple[str, str]]:
    rows: list[dict[str, Any]] = done.json["partitions"]
    told = {row["partition"]: row["transactions"] for row in rows}
    return {n: (found[0]["ending"], found[0]["reason"]) for n, found in told.items() if found}


def test_a_transaction_that_every_coordinator_has_forgotten_ends_as_the_dead_disk_says(
    tmp_path: Path,
) -> None:
    with new_cluster(tmp_path / "cluster", properties=FORGOTTEN) as cluster:
        outage(cluster)
        journal = ("--journal", str(tmp_path / "journal.jsonl"))
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes")
        assert Cli(tmp_path).recover(cluster, *elect, *journal).code == 0

        def care(*flags: str) -> Finished:
            servers = ("--bootstrap-server", cluster.bootstrap_servers)
            asked = ("aftercare", *servers, *journal, "--format", "json", *flags)
            return Cli(tmp_path).offline(*asked)

        unknown = ("unknown", "no coordinator tells of its producer id")
        told: dict[int, tuple[str, str]] = {}

        def forgotten() -> bool:
            told.update(_endings(care()))
            return told[COMMITTED] == told[ABORTED] == unknown

        wait_until(forgotten, TIMEOUT, lambda: f"forgotten: {told}")
        assert f"disks that nobody has read, of broker {DEAD}," in care().stderr
        disk = ("--log-dirs", str(cluster.log_dir(DEAD)))
        assert _endings(care(*disk)) == {
            COMMITTED: ("commit", f"the disk of broker {DEAD} holds its COMMIT marker"),
            ABORTED: ("abort", f"the disk of broker {DEAD} holds its ABORT marker"),
            OPEN: ("open", "its producer ends it, or its time-out"),
        }
        _end(cluster, care(*disk, "--end-transactions"))


def _end(cluster: KafkaCluster, done: Finished) -> None:
    assert done.stderr.count(": done\n") == 2, done
    assert _endings(done).keys() == {OPEN}
    assert read_committed(cluster, (COMMITTED, ABORTED)) == {
        COMMITTED: [numbered(number) for number in range(HELD)],
        ABORTED: [],
    }
