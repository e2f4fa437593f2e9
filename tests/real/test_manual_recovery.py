"""The manual way: a file of designated leaders, perhaps edited, fed to kafka-elect-leaders.

All tests of a version share one outage, and each takes partitions of its own from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.outages import last_replica_standing, restore
from tests.real.recipes import BROKERS, TOPIC
from tests.real.records import numbered
from tests.real.releases import TESTED
from tests.real.waiting import wait_until
from tests.real.witnesses import leaders, partitions_of, records_of, replica_orders, wait_until_led

BEST, SHORTER, DEAD, FOREIGN = 3, 4, 1, 9
# The outage has a partition for each order, in this sequence.
ORDERS = dict(enumerate(permutations(BROKERS)))
# In these the first replica is broker 4: whoever goes by the order loses 500 records.
MISLEADING = [number for number, order in ORDERS.items() if order[0] == SHORTER]
UNEDITED, EDITED, STOCK_SCRIPT, BLIND, REFUSED, FOR_PREFERRED = MISLEADING
UNTOUCHED = 0
WARNING = "kafka-leader-election.sh of today's Kafka accepts this file and ignores"
DESIGNATED = ("--election-type", "designated", "--format", "json", "--path-to-json-file")


@pytest.fixture(scope="module", params=TESTED)
def outage(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaCluster]:
    directory = tmp_path_factory.mktemp("outage")
    with restore(last_replica_standing(request.param), directory) as cluster:
        assert replica_orders(cluster, TOPIC) == ORDERS
        yield cluster


def test_the_file_designates_the_best_and_elects_nobody(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    manual = _written(outage, cli, tmp_path, UNTOUCHED, UNEDITED)
    assert json.loads(manual.read_text()) == {
        "partitions": [
            {"topic": TOPIC, "partition": number, "designatedLeader": BEST}
            for number in (UNTOUCHED, UNEDITED)
        ]
    }
    assert _offline(outage, UNTOUCHED, UNEDITED)


def test_the_file_goes_in_unchanged_and_the_best_is_elected(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    manual = _written(outage, cli, tmp_path, UNEDITED)
    done = cli.elect(outage, *DESIGNATED, str(manual))
    row = done.partitions(TOPIC)[UNEDITED]
    assert (done.code, done.stderr) == (0, "")
    assert (row["outcome"], row["leader"], row["designated_leader"]) == ("elected", BEST, BEST)
    assert {"certain": 0, "possible": None}.items() <= row["loss"].items()
    _led_with_records(outage, UNEDITED, BEST, 1500)


def test_a_leader_designated_by_hand_is_elected_and_what_it_loses_is_said(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    manual = _edited(_written(outage, cli, tmp_path, EDITED), EDITED, SHORTER)
    done = cli.elect(outage, *DESIGNATED, str(manual))
    row = done.partitions(TOPIC)[EDITED]
    assert done.code == 0, done
    assert (row["outcome"], row["leader"], row["designated_leader"]) == (
        "elected",
        SHORTER,
        SHORTER,
    )
    assert {"certain": 500, "possible": None}.items() <= row["loss"].items()
    codes = {finding["code"] for finding in row["findings"]}
    assert {"designated_by_hand", "live_records_truncated"} <= codes
    _led_with_records(outage, EDITED, SHORTER, 1000)


@pytest.mark.parametrize(
    ("leader", "why"), [(DEAD, "is dead or fenced"), (FOREIGN, "is no replica")]
)
def test_a_dead_or_foreign_leader_is_refused_and_nothing_changes(
    outage: KafkaCluster, cli: Cli, tmp_path: Path, leader: int, why: str
) -> None:
    before = partitions_of(outage, TOPIC)[REFUSED]
    manual = _edited(_written(outage, cli, tmp_path, REFUSED), REFUSED, leader)
    done = cli.elect(outage, *DESIGNATED, str(manual))
    row = done.partitions(TOPIC)[REFUSED]
    assert (done.code, row["outcome"], row["leader"]) == (1, "refused", -1)
    assert f"broker {leader} {why}" in row["reason"]
    assert f"{TOPIC}-{REFUSED}: refused: broker {leader} {why}" in done.stderr
    assert partitions_of(outage, TOPIC)[REFUSED] == before
    (journal,) = cli.journals
    noted = {json.loads(line)["event"] for line in journal.read_text().splitlines()}
    assert not noted & {"reorder", "elect"}


def test_an_existing_file_is_never_overwritten(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    manual = _written(outage, cli, tmp_path, UNTOUCHED)
    text = manual.read_text()
    flags = ("--all-offline-partitions", "--manual-recovery-output-file", str(manual))
    again = cli.recover(outage, *flags)
    assert (again.code, again.stdout) == (2, "")
    assert f"{manual}: the file exists and is never overwritten" in again.stderr
    assert manual.read_text() == text


def test_the_stock_script_accepts_the_file_and_elects_whoever_lives_and_comes_first(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    """Recorded, not wanted: it is what the warning on stderr is about."""
    manual = _written(outage, cli, tmp_path, STOCK_SCRIPT)
    servers = ",".join(map(outage.address, outage.live_brokers))
    election = ("--election-type", "unclean", "--path-to-json-file", str(manual))
    outage.script("kafka-leader-election", "--bootstrap-server", servers, *election)
    _led_with_records(outage, STOCK_SCRIPT, SHORTER, 1000)


def test_an_unclean_election_leaves_the_choice_to_the_controller(
    outage: KafkaCluster, cli: Cli
) -> None:
    one = ("--topic", TOPIC, "--partition", str(BLIND))
    done = cli.elect(outage, "--election-type", "unclean", *one, "--format", "json")
    assert (done.code, done.stderr) == (0, "")
    assert done.json["elections"] == [_done(BLIND)]
    _led_with_records(outage, BLIND, SHORTER, 1000)


def test_a_preferred_election_gives_the_lead_to_the_first_replica(
    outage: KafkaCluster, cli: Cli, tmp_path: Path
) -> None:
    manual = _written(outage, cli, tmp_path, FOR_PREFERRED)
    assert cli.elect(outage, *DESIGNATED, str(manual)).code == 0
    _led_with_records(outage, FOR_PREFERRED, BEST, 1500)
    one = ("--topic", TOPIC, "--partition", str(FOR_PREFERRED))
    done = cli.elect(outage, "--election-type", "preferred", *one)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout == f"preferred leader elected: {TOPIC}-{FOR_PREFERRED}\n"
    # Broker 4 had followed broker 3 by then, so that nothing is lost.
    _led_with_records(outage, FOR_PREFERRED, SHORTER, 1500)


def _done(partition: int) -> dict[str, Any]:
    return {"topic": TOPIC, "partition": partition, "error": None, "message": None}


def _written(cluster: KafkaCluster, cli: Cli, scratch: Path, *partitions: int) -> Path:
    """Return the file that the recovery command writes for these."""
    wanted, manual = scratch / "wanted.json", scratch / "manual.json"
    wanted.write_text(json.dumps({"partitions": [{"topic": TOPIC, "partitions": partitions}]}))
    flags = ("--path-to-json-file", str(wanted), "--manual-recovery-output-file", str(manual))
    done = cli.recover(cluster, *flags)
    assert done.code == 0, done
    assert WARNING in done.stderr
    return manual


def _edited(manual: Path, partition: int, leader: int) -> Path:
    """Return the file as somebody with an editor would change it."""
    line = f'"partition": {partition}, "designatedLeader": '
    text = manual.read_text()
    assert line + str(BEST) in text
    manual.write_text(text.replace(line + str(BEST), line + str(leader)))
    return manual


def _offline(cluster: KafkaCluster, *partitions: int) -> bool:
    seen = leaders(cluster, TOPIC)
    return all(seen[number] == -1 for number in partitions)


def _led_with_records(cluster: KafkaCluster, partition: int, leader: int, records: int) -> None:
    """Check leader, order, that the other live broker follows, and how many records are left."""
    wait_until_led(cluster, TOPIC, leader, {partition: ORDERS[partition]})
    _both_in_sync(cluster, partition)
    left = records_of(cluster, TOPIC, [partition])[partition]
    assert left == list(map(numbered, range(records)))


def _both_in_sync(cluster: KafkaCluster, partition: int) -> None:
    wait_until(
        lambda: set(partitions_of(cluster, TOPIC)[partition].isr) == {BEST, SHORTER},
        30.0,
        lambda: f"both in sync: {partitions_of(cluster, TOPIC)[partition]}",
    )
