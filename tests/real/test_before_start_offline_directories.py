"""What before-start says of replicas of which one log directory goes offline at the start, and what
their broker does with them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.real.cluster import KafkaCluster
from tests.real.foretelling import foretold, said_since
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce, wait_until_replicated
from tests.real.start_outage import lose_broker
from tests.real.waiting import wait_until

TIMEOUT = 60.0
OWN, LEADER = 1, 2
CONFIG = {"min.insync.replicas": "1"}
PARTITIONS = 4
NO_CHECKPOINT = bytes(9)


def test_replicas_beside_the_directory_that_the_metadata_names(tmp_path: Path) -> None:
    with KafkaCluster.create(tmp_path / "cluster", brokers=2, log_dirs_per_broker=2) as cluster:
        cluster.start()
        create_topic(cluster.connection(), TOPIC, [(OWN, LEADER)] * PARTITIONS, CONFIG)
        for number in range(PARTITIONS):
            produce(cluster.connection(), TOPIC, number, 10)
        ends = dict.fromkeys(range(PARTITIONS), 10)
        wait_until_replicated(cluster.connection(), TOPIC, ends, TIMEOUT)
        # The first has the metadata log, without which a broker ends.
        first, second = cluster.log_dirs(OWN)
        moved, beside = sorted(first.glob(f"{TOPIC}-*"))
        lose_broker(cluster, OWN)
        _a_copy_where_no_log_is_loaded(tmp_path, cluster, moved, second / moved.name)
        _moved_where_the_replica_is_loaded(tmp_path, cluster, moved, second / moved.name)
        _moved_where_it_is_taken_into_use(tmp_path, cluster, moved, second / moved.name, beside)


def _a_copy_where_no_log_is_loaded(
    home: Path, cluster: KafkaCluster, replica: Path, copy: Path
) -> None:
    """Copy a replica into a directory without an owner, which is offline before logs are loaded."""
    shutil.copytree(replica, copy)
    meta = copy.parent / "meta.properties"
    whole = meta.read_text()
    meta.write_text(whole.replace("directory.id=", "directory.id=?"))
    assert _told(home, cluster, replica, copy) == {replica: "kept", copy: "offline"}
    _starts(cluster)
    _wait_until_in_sync(cluster, replica)
    lose_broker(cluster, OWN)
    meta.write_text(whole)
    shutil.rmtree(copy)


def _moved_where_the_replica_is_loaded(
    home: Path, cluster: KafkaCluster, replica: Path, moved: Path
) -> None:
    """Move it into a directory that goes offline while logs are loaded: a thread of its own notices
    that. Where it comes late, the replica that was loaded goes offline with it, and none begins."""
    replica.rename(moved)
    damaged = moved.parent / "recovery-point-offset-checkpoint"
    damaged.write_bytes(NO_CHECKPOINT)
    assert _told(home, cluster, replica, moved) == {replica: "begins_empty", moved: "offline"}
    since = _starts(cluster)
    went_offline = re.compile(rf"\[LogDirFailureHandler\] .*Removed fetcher .*\b{replica.name}\b")

    def seen() -> bool:
        said = said_since(cluster, OWN, since)
        return _is_in_sync(cluster, replica) or went_offline.search(said) is not None

    wait_until(seen, TIMEOUT, lambda: f"{replica.name} in sync, or offline")
    began_empty = replica.is_dir()
    assert _is_in_sync(cluster, replica) is began_empty
    lose_broker(cluster, OWN)
    damaged.unlink()
    if began_empty:
        shutil.rmtree(moved)
    else:
        moved.rename(replica)


def _moved_where_it_is_taken_into_use(
    home: Path, cluster: KafkaCluster, replica: Path, moved: Path, beside: Path
) -> None:
    """Move it into a directory that goes offline when the high watermark of a replica is read."""
    replica.rename(moved)
    (moved.parent / "replication-offset-checkpoint").write_bytes(NO_CHECKPOINT)
    assert _told(home, cluster, replica, moved) == {moved: "offline"}
    since = _starts(cluster)
    _wait_until_in_sync(cluster, beside)
    said = f"Unable to start fetching {replica.name} "
    wait_until(
        lambda: said in said_since(cluster, OWN, since),
        TIMEOUT,
        lambda: f"{said}: {said_since(cluster, OWN, since)[-2000:]}",
    )
    assert not replica.exists()


def _told(home: Path, cluster: KafkaCluster, *replicas: Path) -> dict[Path, str]:
    second = ("--log-dirs", str(cluster.log_dirs(OWN)[1]))
    _, done = foretold(home, cluster, OWN, *second)
    told = {Path(row["directory"]): row["effect"] for row in done.json["partitions"]}
    return {each: told[each] for each in replicas if each in told}


def _starts(cluster: KafkaCluster) -> int:
    """Start the broker, and return how many bytes it had printed before."""
    since = cluster.output(OWN).stat().st_size
    cluster.start_node(OWN)
    return since


def _is_in_sync(cluster: KafkaCluster, replica: Path) -> bool:
    number = int(replica.name.rpartition("-")[2])
    return OWN in cluster.view(LEADER).topics[TOPIC][number].isr


def _wait_until_in_sync(cluster: KafkaCluster, replica: Path) -> None:
    missing = f"{replica.name} in sync"
    wait_until(lambda: _is_in_sync(cluster, replica), TIMEOUT, lambda: missing)
