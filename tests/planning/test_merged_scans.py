"""Several scans as one, and the disks of the dead beside live brokers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from msgspec import structs

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Cluster,
    Effect,
    EpochSpan,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
)
from kafka_unclean_recovery.planning.merged_scans import add_disks, merge_infos
from kafka_unclean_recovery.planning.started_replica import NO_DIRECTORY
from kafka_unclean_recovery.recovery.observe import Observation
from kafka_unclean_recovery.recovery.recover import plan_recovery, with_disks
from tests.infos import any_infos

ORDERS = TopicPartition("orders", 0)
STATE = PartitionState("orders", "t-1", 0, -1, 7, (1, 2, 3), elr=(1,), offline_replicas=(1,))
STRAY = Finding("stray_directory", Severity.NOTICE, "put aside")


def disk(broker: int, *spans: tuple[int, int, int], path: str = "/data/orders-0") -> ReplicaLog:
    """Return a scanned log. spans: (epoch, start offset, end offset)."""
    scanned = Scanned(ScanMode.RECOVER, path, "t-1")
    epochs = tuple(EpochSpan(*span) for span in spans)
    return ReplicaLog(
        broker,
        False,
        spans[-1][0],
        spans[0][1],
        None,
        spans[-1][2],
        epochs,
        "log-dirs",
        scanned=scanned,
    )


def scan(
    *logs: ReplicaLog,
    state: PartitionState | None = STATE,
    metadata: tuple[int, int] | None = (3, 100),
    minute: int = 0,
    cluster_id: str | None = "cluster-1",
    findings: tuple[Finding, ...] = (),
    problems: tuple[str, ...] = (),
) -> ReplicaInfo:
    return ReplicaInfo(
        cluster_id,
        f"2026-01-02T03:{minute:02}:00+00:00",
        tuple(sorted(log.broker for log in logs)),
        (PartitionInfo(ORDERS, state, logs, findings),),
        metadata[0] if metadata else None,
        metadata[1] if metadata else None,
        problems,
    )


def merged(*infos: ReplicaInfo) -> ReplicaInfo:
    return merge_infos([(f"{n}.json", info) for n, info in enumerate(infos)])


def of_a_compacted_topic(info: ReplicaInfo) -> ReplicaInfo:
    return structs.replace(
        info, partitions=tuple(structs.replace(r, compacted=True) for r in info.partitions)
    )


def test_scans_of_different_brokers_become_one() -> None:
    first = scan(disk(2, (0, 0, 10)), findings=(STRAY,), problems=("/d: left out",), minute=5)
    second = structs.replace(
        scan(disk(1, (0, 0, 20)), findings=(STRAY,), minute=4), interrupted=True
    )
    assert merged(first, second) == ReplicaInfo(
        cluster_id="cluster-1",
        scanned_at="2026-01-02T03:04:00+00:00",
        brokers=(1, 2),
        partitions=(
            PartitionInfo(ORDERS, STATE, (disk(1, (0, 0, 20)), disk(2, (0, 0, 10))), (STRAY,)),
        ),
        metadata_epoch=3,
        metadata_end_offset=100,
        problems=("0.json: /d: left out",),
        interrupted=True,
    )


def test_scans_of_different_clusters_are_refused_and_both_named() -> None:
    unnamed = scan(cluster_id=None)
    with pytest.raises(InputError) as caught:
        merged(unnamed, scan(), scan(cluster_id="cluster-2"))
    assert str(caught.value).startswith(
        "1.json is of cluster cluster-1, 2.json of cluster cluster-2; "
    )
    assert merged(unnamed, scan()).cluster_id == "cluster-1"
    assert merged(unnamed).cluster_id is None


@pytest.mark.parametrize("order", [1, -1])
def test_the_states_are_those_of_the_newest_metadata_log(order: int) -> None:
    newer = structs.replace(STATE, leader_epoch=8)
    infos = [
        scan(metadata=(3, 900), minute=9),
        scan(state=newer, metadata=(4, 100)),
        scan(state=None, metadata=None),
    ][::order]
    found = merged(*infos)
    assert found.partitions[0].state == newer
    assert (found.metadata_epoch, found.metadata_end_offset) == (4, 100)


def test_a_partition_that_only_an_older_metadata_log_has_is_told_and_has_no_state() -> None:
    (row,) = merged(scan(), scan(state=None, metadata=(3, 101))).partitions
    assert row.state is None
    (found,) = row.findings
    assert (found.code, found.severity) == ("not_in_newest_metadata", Severity.UNKNOWN)
    assert "that of 1.json, does not have this partition" in found.message


@pytest.mark.parametrize(
    ("older", "told"),
    [
        (
            structs.replace(STATE, leader_epoch=STATE.leader_epoch + 1),
            "was never committed, or two quorums",
        ),
        (structs.replace(STATE, topic_id="0" * 32), "deleted and made anew, or two quorums"),
    ],
)
def test_what_the_newest_metadata_log_can_not_have_forgotten_is_told(
    older: PartitionState, told: str
) -> None:
    (row,) = merged(scan(state=older), scan(metadata=(4, 10))).partitions
    assert row.state == STATE
    (found,) = row.findings
    assert (found.code, found.severity) == ("not_in_newest_metadata", Severity.UNKNOWN)
    assert told in found.message
    assert "that of 1.json, has" in found.message
    assert merged(scan(), scan(metadata=(4, 10))).partitions[0].findings == ()


@pytest.mark.parametrize("order", [1, -1])
def test_the_later_scan_of_a_replica_counts_and_a_difference_is_told(order: int) -> None:
    early, late = disk(1, (0, 0, 20)), disk(1, (0, 0, 10))
    infos = [scan(early, minute=1), scan(late, minute=2)][::order]
    (row,) = merged(*infos).partitions
    assert row.replica_logs == (late,)
    (found,) = row.findings
    assert (found.code, found.severity) == ("replica_scanned_twice", Severity.UNKNOWN)
    assert "log end offset 20 in /data/orders-0" in found.message
    assert found.message.index("offset 20") < found.message.index("offset 10")


def test_the_time_of_a_scan_is_told_by_its_offset_from_utc() -> None:
    early = structs.replace(scan(disk(1, (0, 0, 20))), scanned_at="2026-01-02T09:00:00+08:00")
    late = structs.replace(scan(disk(1, (0, 0, 10))), scanned_at="2026-01-02T02:00:00+00:00")
    (row,) = merged(late, early).partitions
    assert row.replica_logs == (disk(1, (0, 0, 10)),)


def test_a_replica_found_in_two_places_is_told_and_one_scanned_again_is_not() -> None:
    here, there = disk(1, (0, 0, 20)), disk(1, (0, 0, 20), path="/copy/orders-0")
    (row,) = merged(scan(here), scan(there, minute=1)).partitions
    assert [found.code for found in row.findings] == ["replica_scanned_twice"]
    (row,) = merged(scan(here), scan(here, minute=1)).partitions
    assert row.findings == ()


def test_what_is_merged_is_held_against_the_peers() -> None:
    one, other = [scan(disk(1, (0, 0, 10), (2, 10, 30))), scan(disk(2, (0, 0, 12), (2, 12, 20)))]

    def suspects(*infos: ReplicaInfo) -> list[int]:
        (row,) = merged(*infos).partitions
        return [log.broker for log in row.replica_logs if log.suspect]

    assert suspects(one, other) == [1, 2]
    assert suspects(one, of_a_compacted_topic(other)) == []
    old = scan(disk(1, (8, 0, 10)), state=None, metadata=None)
    assert suspects(old, scan()) == []


def test_of_two_scans_that_agree_the_deeper_counts() -> None:
    deep = disk(1, (0, 0, 20))
    assert deep.scanned
    fast = structs.replace(deep, scanned=structs.replace(deep.scanned, mode=ScanMode.FAST))
    for first, second in ((deep, fast), (fast, deep)):
        (row,) = merged(scan(first), scan(second, minute=1)).partitions
        assert (row.replica_logs, row.findings) == ((deep,), ())


@given(any_infos(), any_infos())
def test_merging_loses_no_replica_and_sorts(one: ReplicaInfo, other: ReplicaInfo) -> None:
    other = structs.replace(other, cluster_id=one.cluster_id)
    found = merge_infos([("a", one), ("b", other)])
    replicas = {
        (row.topic_partition, log.broker)
        for info in (one, other)
        for row in info.partitions
        for log in row.replica_logs
    }
    assert [(r.topic_partition, g.broker) for r in found.partitions for g in r.replica_logs] == (
        sorted(replicas)
    )
    assert found.brokers == tuple(sorted({*one.brokers, *other.brokers}))


LIVE = ReplicaLog(2, True, 0, 0, 300, 323, (EpochSpan(0, 0, 323),))
SILENT = ReplicaLog(3, True, problem="timed out")
DOWN = ReplicaLog(1, False, problem="broker is down")
SEEN = Observation(Cluster("cluster-1", {}), {ORDERS: STATE}, {}, {ORDERS: (DOWN, LIVE, SILENT)})


def joined(*logs: ReplicaLog) -> tuple[ReplicaLog, ...]:
    info = scan(*logs)
    return add_disks(SEEN.replica_logs, SEEN.states, "cluster-1", info)[ORDERS]


def test_the_disk_of_a_dead_replica_takes_the_place_of_its_silence() -> None:
    on_disk = disk(1, (0, 0, 900))
    assert joined(on_disk) == (on_disk, LIVE, SILENT)
    assert joined() == (DOWN, LIVE, SILENT)


def test_a_replica_that_is_in_no_directory_that_was_scanned_is_not_taken_as_whole() -> None:
    elsewhere = structs.replace(scan().partitions[0], topic_partition=TopicPartition("orders", 1))
    info = structs.replace(scan(), partitions=(elsewhere,), brokers=(1,))
    assert add_disks(SEEN.replica_logs, SEEN.states, "cluster-1", info)[ORDERS] == (
        structs.replace(DOWN, problem=NO_DIRECTORY),
        LIVE,
        SILENT,
    )
    plan = plan_recovery(with_disks(SEEN, info))[ORDERS]
    (waiting,) = plan.waiting
    assert waiting.effect is Effect.UNKNOWN
    assert "if it is in none of them, its broker begins it empty" in waiting.why
    assert "it may lead by itself, for it is in the ELR, if its stop was clean" in waiting.why
    assert "323 records of live broker 2 are cut" in waiting.why
    (told,) = (f for f in plan.findings if f.code == "dead_replica_may_hold_more")
    assert "wait for it" not in told.message
    assert told.message.endswith("Don't start it before that is known")


def test_a_broker_that_may_live_unseen_is_not_judged_by_its_directories() -> None:
    unseen = structs.replace(DOWN, unproven="was heard of 2 s ago")
    elsewhere = structs.replace(scan(), partitions=(), brokers=(1,))
    found = add_disks({ORDERS: (unseen, LIVE)}, SEEN.states, "cluster-1", elsewhere)
    assert found[ORDERS] == (unseen, LIVE)


def test_a_broker_stops_once_however_many_scans_its_directories_are_in() -> None:
    def stopped(log: ReplicaLog, clean: bool) -> ReplicaLog:
        assert log.scanned is not None
        return structs.replace(log, scanned=structs.replace(log.scanned, stopped_clean=clean))

    here, other = stopped(disk(1, (0, 0, 20)), True), stopped(disk(2, (0, 0, 20)), True)
    row = PartitionInfo(TopicPartition("orders", 1), None, (stopped(here, False),))
    both = merged(scan(here, other), structs.replace(scan(), partitions=(row,), brokers=(1,)))
    assert both.partitions[0].replica_logs == (stopped(here, False), other)
    assert merged(scan(here, other)).partitions[0].replica_logs == (here, other)


def test_a_live_broker_is_never_replaced_not_even_a_silent_one() -> None:
    assert joined(disk(2, (0, 0, 900)), disk(3, (0, 0, 900))) == (DOWN, LIVE, SILENT)


def test_disks_of_brokers_that_host_no_replica_and_of_other_partitions_are_left_out() -> None:
    assert joined(disk(9, (0, 0, 900))) == (DOWN, LIVE, SILENT)
    elsewhere = structs.replace(scan().partitions[0], topic_partition=TopicPartition("orders", 1))
    info = structs.replace(scan(), partitions=(elsewhere,))
    assert add_disks(SEEN.replica_logs, SEEN.states, "cluster-1", info).keys() == {ORDERS}


def test_the_disk_of_another_topic_of_that_name_is_not_used() -> None:
    foreign = structs.replace(
        disk(1, (0, 0, 900)), scanned=Scanned(ScanMode.DEEP, "/data/orders-0", "t-2")
    )
    (row, *_) = joined(foreign)
    assert row.problem is not None
    assert row.problem.startswith("its disk holds another topic of that name (topic id t-2; ")


def test_a_disk_that_contradicts_a_live_broker_is_suspect() -> None:
    live = structs.replace(
        LIVE, last_written_leader_epoch=2, epochs=(EpochSpan(0, 0, 10), EpochSpan(2, 10, 323))
    )
    logs = {ORDERS: (DOWN, live)}
    info = scan(disk(1, (0, 0, 12), (2, 12, 900)))
    row, same = add_disks(logs, SEEN.states, "cluster-1", info)[ORDERS]
    assert (row.certain_end_offset, same) == (10, live)
    gaps = of_a_compacted_topic(info)
    row, _ = add_disks(logs, SEEN.states, "cluster-1", gaps)[ORDERS]
    assert row.suspect is None


def test_disks_of_another_cluster_are_refused() -> None:
    with pytest.raises(InputError, match="of cluster other, the brokers of cluster cluster-1"):
        add_disks({}, {}, "cluster-1", scan(cluster_id="other"))
    assert add_disks({}, {}, "cluster-1", scan(cluster_id=None)) == {}


def test_the_plan_of_a_live_cluster_counts_what_dead_disks_hold() -> None:
    logs = {ORDERS: (DOWN, LIVE, structs.replace(LIVE, broker=3))}
    seen = replace(SEEN, replica_logs=logs, problems=("odd",))
    info = scan(disk(1, (0, 0, 900)), problems=("/d: left out",))
    with_them = with_disks(seen, info)
    assert with_them.problems == ("odd",)
    plan = plan_recovery(with_them)[ORDERS]
    assert (plan.designated_leader, plan.ranking[0].loss.possible) == (2, 577)
    message = "broker 1 is down; its disk holds 577 records beyond the best live replica"
    assert any(found.message.startswith(message) for found in plan.findings)
    assert plan_recovery(seen)[ORDERS].ranking[0].loss.possible is None
