"""Empty disks under the id of a broker whose disks are lost, on real brokers: a loss before another
one leads, and none once aftercare says so."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.held_records import held_records
from tests.real.properties import new_uuid
from tests.real.records import create_topic, produce_many, wait_until_replicated
from tests.real.releases import ONE

TOPIC, PARTITIONS, RECORDS = "orders", 3, 40
GONE = 1
TIMEOUT = 60.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KafkaCluster]:
    """Yield a cluster whose last leader is dead, and its disk gone; 2 and 3 are back."""
    with KafkaCluster.create(tmp_path / "cluster", ONE, brokers=3) as cluster:
        cluster.start()
        connection = cluster.connection()
        create_topic(connection, TOPIC, [[GONE, 2, 3]] * PARTITIONS)
        produce_many(connection, TOPIC, dict.fromkeys(range(PARTITIONS), range(RECORDS)))
        wait_until_replicated(connection, TOPIC, dict.fromkeys(range(PARTITIONS), RECORDS))
        for broker in (2, 3, GONE):
            cluster.kill(broker)
            if broker != GONE:
                cluster.wait_until_fenced([broker])
        _exchange_disk(cluster, tmp_path / "old")
        cluster.start([2, 3])
        cluster.wait_until_partitions(TOPIC, lambda p: p.offline, TIMEOUT)
        yield cluster


def _exchange_disk(cluster: KafkaCluster, old: Path) -> None:
    root = cluster.log_dir(GONE)
    shutil.move(root, old)
    root.mkdir()
    properties = (old / "meta.properties").read_text()
    new = re.sub(r"(?m)^directory\.id=.*$", f"directory.id={new_uuid()}", properties)
    (root / "meta.properties").write_text(new)


def _held(cluster: KafkaCluster, broker: int) -> list[int]:
    roots = [cluster.log_dir(broker) / f"{TOPIC}-{number}" for number in range(PARTITIONS)]
    return [len(list(held_records(root))) for root in roots]


def test_empty_disks_lose_nothing_once_aftercare_says_so(
    cluster: KafkaCluster, tmp_path: Path
) -> None:
    cli, servers = Cli(tmp_path), ("--bootstrap-server", cluster.bootstrap_servers)
    controller = cluster.controller_address(cluster.spec.controller_ids[0])
    for words in (("aftercare",), ("doctor",), ("--all-offline-partitions", "--show-replica-info")):
        wrong = cli.offline(*words, "--bootstrap-server", controller)
        assert wrong.code == 3, wrong.stderr
        assert "where this is a controller's address, give a broker's; where every broker is" in (
            wrong.stderr
        )

    early = cli.offline("aftercare", *servers, "--gone", str(GONE))
    assert (early.code, "no empty disks under its id yet" in early.stderr) == (1, True)

    flags = ("--all-offline-partitions", "--automated-recovery", "--yes", "--gone", str(GONE))
    done = cli.recover(cluster, *flags, "--format", "json")
    assert done.code == 0, done.stderr
    for row in done.partitions(TOPIC).values():
        (lost,) = (f for f in row["findings"] if f["code"] == "disk_is_lost")
        assert (
            "Start no broker with empty disks under its id before another one leads"
            in (lost["message"])
        )

    assert cli.offline("aftercare", *servers).code == 1
    over = cli.offline("aftercare", *servers, "--gone", str(GONE), "--watch")
    assert over.code == 0, over.stderr
    assert "start a broker with empty disks under its id" in over.stderr

    cluster.start([GONE])
    whole = cli.offline("aftercare", *servers, "--watch")
    assert whole.code == 0, whole.stderr
    assert [_held(cluster, broker) for broker in (1, 2, 3)] == [[RECORDS] * PARTITIONS] * 3
