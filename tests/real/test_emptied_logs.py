"""Records deleted on purpose: a log without any is no worse than a stale one that has some."""

from __future__ import annotations

import json
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.recipes import TOPIC
from tests.real.records import create_topic, produce
from tests.real.test_replica_info_is_the_truth import log_of
from tests.real.waiting import wait_until
from tests.real.witnesses import wait_until_led

STALE_END, END = 100, 1000
LAST, EMPTIED, STALE = REPLICAS = (1, 2, 3)
TIMEOUT = 60.0


def test_a_stale_log_never_beats_a_longer_one_whose_records_were_deleted(
    new_cluster: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    cluster = new_cluster
    _delete_all_records(cluster)
    flags = ("--all-offline-partitions", "--automated-recovery", "--accept-loss", "*")
    done = cli.recover(cluster, *flags, "--format", "json")
    row = done.partitions(TOPIC)[0]
    assert (done.code, row["outcome"], row["leader"]) == (1, "refused", -1)
    assert f"the log of broker {EMPTIED} ends further" in row["reason"]
    assert [log_of(row, EMPTIED)[key] for key in ("log_start_offset", "log_end_offset")] == [
        END
    ] * 2
    assert log_of(row, STALE)["log_end_offset"] == STALE_END
    assert "longer_log_lost_to_newer_epoch" not in {f["code"] for f in row["findings"]}
    assert [candidate["loss"]["at_least"] for candidate in row["candidates"]] == [None, None]

    by_hand = tmp_path / "by-hand.json"
    chosen = {"topic": TOPIC, "partition": 0, "designatedLeader": EMPTIED}
    by_hand.write_text(json.dumps({"partitions": [chosen]}))
    which = ("--election-type", "designated", "--path-to-json-file", str(by_hand))
    done = cli.elect(cluster, *which, "--format", "json")
    row = done.partitions(TOPIC)[0]
    assert (done.code, row["outcome"], row["leader"]) == (0, "elected", EMPTIED)
    assert row["loss"]["at_least"] is None
    wait_until_led(cluster, TOPIC, EMPTIED, {0: REPLICAS})
    _nothing_came_back(cluster)


def _delete_all_records(cluster: KafkaCluster) -> None:
    """Delete all: broker 3 misses 900 records and that; 2 knows of both; 1 is dead."""
    create_topic(cluster.connection(), TOPIC, [REPLICAS], {"min.insync.replicas": "1"})
    produce(cluster.connection(), TOPIC, 0, STALE_END)
    cluster.kill(STALE)
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == {LAST, EMPTIED})
    produce(cluster.connection(), TOPIC, 0, END - STALE_END, first=STALE_END)
    admin = AdminClient({**cluster.connection(), **QUIETLY}, logger=SILENT)
    for deleted in admin.delete_records([Position(TOPIC, 0, END)]).values():
        assert deleted.result(TIMEOUT).low_watermark == END
    # In order, for its log start is in a checkpoint then.
    cluster.stop(EMPTIED)
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == {LAST})
    cluster.kill(LAST)
    cluster.wait_until_fenced({LAST})
    cluster.start([EMPTIED, STALE])
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.offline)


def _nothing_came_back(cluster: KafkaCluster) -> None:
    """Check that the stale replica drops what it had and goes on where the leader's log begins."""
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == {EMPTIED, STALE})
    cluster.kill(EMPTIED)
    cluster.wait_until_fenced({EMPTIED})
    cluster.wait_until_partitions(TOPIC, lambda seen: seen.leader == STALE)
    consumer = Consumer({**cluster.connection(), **QUIETLY, "group.id": "looking"}, logger=SILENT)

    def bounds() -> tuple[int, int]:
        found: tuple[int, int] = consumer.get_watermark_offsets(Position(TOPIC, 0), TIMEOUT)
        return found

    try:
        wait_until(lambda: bounds() == (END, END), TIMEOUT, lambda: f"{END} twice: {bounds()}")
    finally:
        consumer.close()
