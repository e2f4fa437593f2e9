"""The longest log can be the wrong one: an earlier unclean election gave up its tail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, Span, replica_truth
from tests.real.outages import Outage, stale_tail
from tests.real.recipes import TOPIC
from tests.real.releases import TESTED
from tests.real.witnesses import records_of, replica_orders, wait_until_led

Restored = Callable[[Outage], KafkaCluster]

# Broker 1: 1200 records of epoch 0. Broker 4: 1000 of them, then 100 of epoch 2, led by broker 2.
LONGER, NEWER = 1, 4
LINEAGE_OF_THE_NEWER = [Span(0, 0, 1000), Span(2, 1000, 1100)]


@pytest.mark.parametrize("version", TESTED)
def test_the_newer_epoch_is_elected_over_the_longer_log(
    restored: Restored, cli: Cli, version: str
) -> None:
    cluster = restored(stale_tail(version))
    orders = replica_orders(cluster, TOPIC)
    flags = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
    done = cli.recover(cluster, *flags)
    row = done.partitions(TOPIC)[0]
    assert (done.code, row["outcome"], row["leader"]) == (0, "elected", NEWER)
    assert row["designated_leader"] == NEWER
    assert {"certain": 200, "possible": None}.items() <= row["loss"].items()
    assert "longer_log_lost_to_newer_epoch" in {finding["code"] for finding in row["findings"]}
    _the_journal_tells_the_same(cli, done.report)
    wait_until_led(cluster, TOPIC, NEWER, orders)
    _the_longer_log_follows(cluster)


def _the_journal_tells_the_same(cli: Cli, report: dict[str, Any]) -> None:
    (journal,) = cli.journals
    told = cli.offline("report", str(journal), "--json").json
    (row,), (election,) = report["partitions"], told["partitions"]
    assert election["plan"]["replica_logs"] == row["replica_logs"]
    assert election["plan"]["findings"] == row["findings"]
    for key in ("outcome", "leader", "leader_epoch", "loss", "isr"):
        assert election[key] == row[key]
    total, summary = told["losses"]["total"], report["summary"]
    assert total["certain"]["records"] == summary["certain_loss"] == 200
    assert total["possible"]["records"] is summary["possible_loss"] is None
    assert told["ended"]
    assert told["unfinished"] == []


def _the_longer_log_follows(cluster: KafkaCluster) -> None:
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == {LONGER, NEWER})
    led_by_1 = [f"{number} led by 1".encode() for number in range(1000)]
    led_by_2 = [f"{number} led by 2".encode() for number in range(1000, 1100)]
    assert records_of(cluster, TOPIC, [0]) == {0: led_by_1 + led_by_2}
    cluster.kill_all()
    # Cut to 1000 and refilled: its 200 records of epoch 0 beyond are gone.
    assert replica_truth(cluster, LONGER, TOPIC, 0) == ReplicaTruth(0, 1100, LINEAGE_OF_THE_NEWER)
