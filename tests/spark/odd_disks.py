"""Log directories with everything that a site's disks have wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import UUID

from kafka_unclean_recovery.emulator import Cluster, Options
from tests.log_dir import replica_directories as disks
from tests.log_dir.mutations import seeded
from tests.log_dir.segments import checkpoint, v2
from tests.log_dir.test_scan import log_directory

LOGS = (disks.plain_log(), disks.compacted_log(), disks.upgraded_log(), disks.old_log())
UNIQUE = "0123456789abcdef0123456789abcdef"


def odd_disks(path: Path) -> list[Path]:
    """Return roots, all of one cluster, nothing of it with a metadata log."""
    for broker in (1, 2, 3, 4):
        disks.write_log_directory(path / "farm" / f"broker-{broker}", broker, LOGS)
    for broker, log in enumerate(LOGS, 1):
        for seed in range(broker, 8 * broker, broker):
            of = path / "farm" / f"broker-{broker}" / f"damaged.{broker}-{seed}"
            files = disks.replica_files(log)
            disks.write_files(of, {**files, **seeded(log, files, seed).files})
    cluster = disks.CLUSTER
    names = {"__consumer_offsets-3": 4, "a.b_c-d-0": 5, "_x-1": 1, f"put.by-0.{UNIQUE}-stray": 3}
    names |= {f"copied-0.{UNIQUE}-future": 3, f"twice-0.{UNIQUE}-future": 3}
    two = log_directory(path / "b5" / "d0", 5, {**names, "twice-0": 9}, cluster=cluster)
    log_directory(path / "b5" / "d1", 5, {"twice-0": 7}, cluster=cluster, directory=77)
    log_directory(path / "copy", 5, {"twice-0": 7}, cluster=cluster, directory=77)
    other = log_directory(path / "other", 6, {"a.b_c-d-0": 7}, cluster=cluster)
    (other / "replication-offset-checkpoint").write_bytes(checkpoint("a.b_c-d 0 9"))
    nobodys = log_directory(path / "farm" / "nobodys", 8, {"orders-0": 7}, cluster=cluster)
    (nobodys / "meta.properties").unlink()
    (path / "farm" / "linked").symlink_to(path / "bad")
    (path / "farm" / "unseen").symlink_to(path)
    bad = log_directory(path / "bad", 7, {"orders-0": 7}, cluster=cluster)
    (bad / "meta.properties").write_text("version=9\n")
    (two / "replication-offset-checkpoint").write_bytes(b"\0\1garbage")
    unreadable = path / "b5" / "d0" / "unreadable-0"
    (unreadable / f"{0:020}.log").mkdir(parents=True)
    (path / "again").symlink_to(path / "b5")
    return [path / "farm", path / "b5", path / "again", two, path / "copy", path / "other", bad]


def outage(path: Path) -> list[Path]:
    """Return roots of an emulated cluster, metadata logs and all; two disks a broker."""
    with Cluster(Options(brokers=3, log_directories=2, data_dir=path)) as cluster:
        assignment = [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 2, 3)]
        cluster.create_topic("orders.by_day", assignment=assignment)
        cluster.create_topic("empty", assignment=[(1, 2)])
        cluster.create_topic("users", assignment=[(2, 3)], configs={"cleanup.policy": "compact"})
        for partition in range(4):
            cluster.produce("orders.by_day", partition, 300 + partition)
        cluster.kill(3)
        cluster.produce("orders.by_day", 0, 50)
        cluster.produce("users", 0, 40)
        roots = [one for broker in (1, 2, 3) for one in cluster.log_directories(broker)]
        cluster.kill(2)
        cluster.kill(1)
        _, second = cluster.log_directories(2)
    _from_the_future(roots[1] / FUTURE)
    _twice(roots[0] / TWICE, roots[1] / TWICE)
    (moved,) = (root / COPIED for root in roots[4:] if (root / COPIED).exists())
    moved.rename(moved.with_name(f"{COPIED}.{UNIQUE}-future"))
    for root in roots[:2]:
        shutil.rmtree(root / ABSENT, ignore_errors=True)
    # Unlike what the broker registered.
    meta = second / "meta.properties"
    lines = meta.read_text().splitlines()
    other = f"directory.id={disks.text_of(UUID(int=4711))}"
    kept = [line for line in lines if not line.startswith("directory.id=")]
    meta.write_text("\n".join([*kept, other, ""]))
    return roots


FUTURE, TWICE = "orders.by_day-3", "orders.by_day-2"
COPIED, ABSENT = "orders.by_day-1", "empty-0"
"""Of brokers 3, whose start takes the copy into use, and 1."""


def _from_the_future(replica: Path) -> None:
    """Give it a leader epoch that was never given."""
    for segment in replica.glob("*.log"):
        segment.write_bytes(v2(0, 5, epoch=99))
    (replica / "leader-epoch-checkpoint").write_bytes(checkpoint("99 0"))


def _twice(one: Path, other: Path) -> None:
    """Put a replica on both disks of its broker; the metadata names that of the longer log."""
    shutil.copytree(one, other)
    for segment in other.glob("*.log"):
        segment.write_bytes(b"")
