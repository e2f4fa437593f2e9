"""A group's commits that an election lost are found on the disk of the dead broker, brought back,
and consumers go on where they were."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.commits import commit
from tests.real.metadata import QUIETLY, SILENT
from tests.real.records import create_topic, produce, wait_until_replicated
from tests.real.waiting import wait_until

TOPIC, OFFSETS, GROUP = "orders", "__consumer_offsets", "readers"
# The election loses records of this one, and others take their places.
REPLACED, PASSING = "payments", "payers"
# Its client tells no leader epoch.
OLD = "old-readers"
SURVIVOR, DEAD = 1, 2
RECORDS, KNOWN, LOST = 500, 100, 400
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Recovered:
    cluster: KafkaCluster
    home: Path

    def offsets(self, *flags: str) -> Finished:
        servers = ("--bootstrap-server", self.cluster.address(SURVIVOR))
        saved = str(self.home / "saved")
        return Cli(self.home).offline("salvage", "offsets", saved, *servers, *flags)

    def decisions(self, *flags: str, code: int = 0) -> dict[str, tuple[int | None, str]]:
        """Return what is committed now, and what becomes of the saved commit, by group."""
        done = self.offsets("--format", "json", *flags)
        assert done.code == code, done
        return {c["group"]: (c["committed"], c["decision"]) for c in done.json["commits"]}


@pytest.fixture(scope="module")
def recovered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recovered]:
    """Yield a cluster whose leader has all records that were read, and not the last commit."""
    home = tmp_path_factory.mktemp("offsets")
    with KafkaCluster.create(home / "cluster", brokers=2) as cluster:
        cluster.start()
        create_topic(cluster.connection(), TOPIC, [(SURVIVOR, DEAD)])
        create_topic(cluster.connection(), REPLACED, [(SURVIVOR, DEAD)])
        produce(cluster.connection(), TOPIC, 0, RECORDS)
        produce(cluster.connection(), REPLACED, 0, KNOWN)
        wait_until_replicated(cluster.connection(), TOPIC, {0: RECORDS})
        wait_until_replicated(cluster.connection(), REPLACED, {0: KNOWN})
        _commit_all(cluster, KNOWN, epoch_of_replaced=0)
        for topic in (TOPIC, REPLACED, OFFSETS):
            cluster.wait_until_partitions(topic, lambda seen: len(seen.isr) == 2)
        cluster.kill(SURVIVOR)
        cluster.wait_until_fenced({SURVIVOR})
        produce(cluster.connection(), REPLACED, 0, LOST - KNOWN)
        # The dead broker led since the epoch of the first leader.
        _commit_all(cluster, LOST, epoch_of_replaced=1)
        cluster.kill(DEAD)
        cluster.wait_until_fenced({DEAD})
        cluster.start_node(SURVIVOR)
        for topic in (TOPIC, REPLACED, OFFSETS):
            cluster.wait_until_partitions(topic, lambda seen: seen.offline)
        plan = str(home / "plan.json")
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes")
        done = Cli(home).recover(cluster, *elect, "--plan-output-file", plan)
        assert done.code == 0, done
        produce(cluster.connection(), REPLACED, 0, RECORDS)
        disk = str(cluster.log_dir(DEAD))
        flags = ("--log-dirs", disk, "--plan", plan, "--output", str(home / "saved"))
        done = Cli(home).offline("salvage", *flags)
        assert done.code == 0, done
        wait_until(lambda: _committed(cluster) == KNOWN, TIMEOUT, lambda: str(_committed(cluster)))
        yield Recovered(cluster, home)


def test_what_is_lost_is_shown_and_nothing_is_changed(recovered: Recovered) -> None:
    wanted = {
        GROUP: (KNOWN, "bring_back"),
        OLD: (KNOWN, "not_sure"),
        PASSING: (KNOWN, "other_records"),
    }
    assert recovered.decisions(code=1) == wanted
    assert recovered.decisions("--plan", code=1) == wanted
    done = recovered.offsets()
    assert "to be brought back" in done.stdout
    assert "nothing was changed; --execute does it" in done.stderr
    assert _committed(recovered.cluster) == KNOWN


def test_to_change_something_and_nothing_is_refused(recovered: Recovered) -> None:
    done = recovered.offsets("--plan", "--execute")
    assert (done.code, done.stdout) == (2, "")
    assert "give one of them" in done.stderr


def test_no_group_passes_over_records_that_took_the_place_of_those_it_read(
    recovered: Recovered,
) -> None:
    asked = ("--execute", "--yes", "--backwards", "--without-epoch", "--group", PASSING)
    assert recovered.decisions(*asked, code=1) == {PASSING: (KNOWN, "other_records")}
    assert _committed(recovered.cluster, PASSING, REPLACED) == KNOWN


def test_a_commit_without_a_leader_epoch_is_brought_back_where_that_is_asked(
    recovered: Recovered,
) -> None:
    assert recovered.decisions("--execute", "--yes", "--group", OLD, code=1)[OLD][1] == "not_sure"
    assert _committed(recovered.cluster, OLD) == KNOWN
    asked = ("--execute", "--yes", "--without-epoch", "--group", OLD)
    assert recovered.decisions(*asked) == {OLD: (KNOWN, "bring_back")}
    assert _committed(recovered.cluster, OLD) == LOST


def test_a_group_that_was_not_saved_is_named(recovered: Recovered) -> None:
    done = recovered.offsets("--group", "writers")
    assert done.code == 1
    assert "writers" in done.stderr


def test_nothing_is_brought_back_while_the_group_has_members(recovered: Recovered) -> None:
    consumer = Consumer(
        {
            **recovered.cluster.connection(),
            **QUIETLY,
            "group.id": GROUP,
            "enable.auto.commit": False,
        },
        logger=SILENT,
    )
    try:
        consumer.subscribe([TOPIC])
        wait_until(
            lambda: consumer.poll(0.1) is not None, TIMEOUT, lambda: "the member has read nothing"
        )
        done = recovered.offsets("--execute", "--yes", "--format", "json", "--group", GROUP)
        assert done.code == 1
        assert [c["decision"] for c in done.json["commits"]] == ["in_use"]
    finally:
        consumer.close()
    assert _committed(recovered.cluster) == KNOWN


def test_consumers_go_on_where_they_were(recovered: Recovered) -> None:
    done = recovered.offsets("--execute", "--yes", "--format", "json", "--group", GROUP)
    assert (done.code, done.json["brought_back"], done.stderr) == (0, 1, "")
    assert _committed(recovered.cluster) == LOST
    consumer = Consumer(
        {
            **recovered.cluster.connection(),
            **QUIETLY,
            "group.id": GROUP,
            "auto.offset.reset": "error",
        },
        logger=SILENT,
    )
    try:
        consumer.subscribe([TOPIC])
        read: list[Any] = []

        def some() -> bool:
            message = consumer.poll(0.1)
            read.extend([] if message is None else [message])
            return bool(read)

        wait_until(some, TIMEOUT, lambda: "nothing was read")
        assert (read[0].error(), read[0].offset()) == (None, LOST)
    finally:
        consumer.close()


def test_running_it_again_finds_that_the_group_has_gone_on(recovered: Recovered) -> None:
    found = recovered.decisions("--execute", "--yes", "--group", GROUP)
    assert found[GROUP][1] == "gone_on"


def _consumer(cluster: KafkaCluster, group: str) -> Consumer:
    settings: dict[str, Any] = {**cluster.connection(), **QUIETLY, "group.id": group}
    return Consumer(settings, logger=SILENT)


def _commit_all(cluster: KafkaCluster, offset: int, *, epoch_of_replaced: int) -> None:
    """Commit this for the groups; all records of the first topic are of its first leader epoch."""
    connection = cluster.connection()
    commit(connection, GROUP, TopicPartition(TOPIC, 0, offset, "by the test", 0))
    commit(connection, OLD, TopicPartition(TOPIC, 0, offset, "by the test"))
    replaced = TopicPartition(REPLACED, 0, offset, "by the test", epoch_of_replaced)
    commit(connection, PASSING, replaced)


def _committed(cluster: KafkaCluster, group: str = GROUP, topic: str = TOPIC) -> int:
    consumer = _consumer(cluster, group)
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], timeout=TIMEOUT)
        return int(found.offset)
    finally:
        consumer.close()
