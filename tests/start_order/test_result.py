"""What is told of a power cut: too early a start, disks that are gone, and what is not known."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    Fencing,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    TopicPartition,
    Unfenced,
)
from kafka_unclean_recovery.start_order.report import render_json
from kafka_unclean_recovery.start_order.result import StartOrder, start_order
from kafka_unclean_recovery.start_order.screen import render_start_order
from kafka_unclean_recovery.start_order.situation import from_disks

COMMAND = "kafka-unclean-recovery --bootstrap-server HOST:PORT " + "--log-dirs /very/long " * 9


def _command(_: int) -> str:
    return COMMAND


def _log(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=1,
        log_start_offset=0,
        log_end_offset=end,
        epochs=(EpochSpan(1, 0, end),),
        source="log-dirs",
        scanned=Scanned(ScanMode.RECOVER, f"/b{broker}", "t-1", stopped_clean=False),
    )


def _row(number: int, ends: Mapping[int, int], last: int, leader: int = -1) -> PartitionInfo:
    """Return a partition of brokers 1, 2 and 3 whose last known leader is `last`."""
    elr = tuple(broker for broker in (1, 2, 3) if broker in (last, last % 3 + 1))
    state = PartitionState(
        *("orders", "t-1", number, leader, 3, (1, 2, 3)),
        isr=() if leader < 0 else (leader,),
        elr=elr,
        last_known_elr=(last,),
        offline_replicas=(1, 2, 3),
    )
    logs = tuple(_log(*each) for each in ends.items())
    return PartitionInfo(TopicPartition("orders", number), state, logs)


def _info(*rows: PartitionInfo, fencing: Fencing | None = None) -> ReplicaInfo:
    scanned = {log.broker for row in rows for log in row.replica_logs}
    return ReplicaInfo(
        *("c", "2026-11-27T00:00:00+00:00", tuple(sorted(scanned)), rows, 2, 100),
        unclean_topics=(),
        fencing=fencing,
    )


def _groups(found: StartOrder) -> list[list[int]]:
    return [
        [start.broker for start in found.starts if start.step == step]
        for step in range(1, found.steps + 1)
    ]


def test_the_last_known_leader_with_the_shortest_log_starts_after_an_election() -> None:
    found = start_order(from_disks(_info(_row(0, {1: 100, 2: 200, 3: 250}, last=1))))
    assert _groups(found) == [[2, 3], [1]]
    assert found.elected_after(1) == (TopicPartition("orders", 0),)
    assert (found.loses, found.costs, found.worst) == (True, 0, 150)
    early = found.starts[2].too_early
    assert early is not None
    assert (early.records, early.leader_end, early.best, early.best_end) == (150, 100, 3, 250)
    assert not found.unknown


def test_any_order_is_safe_where_the_last_known_leader_has_the_longest_log() -> None:
    found = start_order(from_disks(_info(_row(0, {1: 300, 2: 200, 3: 250}, last=1))))
    assert _groups(found) == [[1, 2, 3]]
    assert (found.loses, found.costs, found.worst, found.led_after(1)) == (False, 0, 0, 1)


def test_an_empty_disk_under_the_id_of_the_last_known_leader_is_a_trap() -> None:
    rows = [_row(0, {2: 200, 3: 250}, last=1), _row(1, {2: 250, 3: 250}, last=3)]
    found = start_order(from_disks(_info(*rows), gone=[1]))
    (gone,) = found.gone
    assert gone.trap is not None
    assert (gone.trap.partitions, gone.trap.records) == ((TopicPartition("orders", 0),), 250)
    # The other waits in vain for 1, which is in its ELR, and its last known leader is the best.
    assert gone.frees == 1
    assert found.loses
    assert len(found.elected_after(1)) == 2


def test_what_was_once_read_of_a_disk_that_is_gone_counts_for_nothing() -> None:
    row = _row(0, {1: 900, 2: 200, 3: 250}, last=2)
    found = start_order(from_disks(_info(row), gone=[1]))
    assert {start.broker for start in found.starts} == {2, 3}
    assert found.costs == 0
    assert found.partitions[0].leader == 3


def test_a_broker_that_comes_later_is_last_unless_another_must_wait_for_it() -> None:
    last = _info(_row(0, {1: 250, 2: 200, 3: 300}, last=3))
    assert _groups(start_order(from_disks(last, later=[1]))) == [[2, 3], [1]]
    # 2 would lead by itself, and 1 has more.
    before = _info(_row(0, {1: 300, 2: 200, 3: 250}, last=2))
    found = start_order(from_disks(before, later=[1]))
    assert _groups(found)[-1] == [2]
    assert (found.partitions[0].leader, found.costs) == (1, 0)


def test_nothing_is_called_safe_while_something_is_not_known() -> None:
    whole = _info(_row(0, {1: 300, 2: 200, 3: 250}, last=1))
    unread = _info(_row(0, {1: 300, 2: 200}, last=1))
    led = _info(_row(0, {1: 300, 2: 200, 3: 250}, last=1, leader=2))
    unsure = replace(_log(3, 250), problem="a batch is damaged")
    row = replace(whole.partitions[0], replica_logs=(_log(1, 300), _log(2, 200), unsure))
    newer = replace(_log(3, 250), last_written_leader_epoch=9, epochs=(EpochSpan(9, 0, 250),))
    older = replace(whole.partitions[0], replica_logs=(_log(1, 300), _log(2, 200), newer))
    for info, told in (
        (replace(whole, metadata_end_offset=None), "no metadata log was read"),
        (replace(whole, unclean_topics=None), "unclean.leader.election.enable"),
        (replace(whole, problems=("a disk could not be read",)), "a disk could not be read"),
        (unread, "the log of broker 3 was not read by anybody"),
        (led, "still has a leader"),
        (_info(older), "has leader epoch 9, and the controllers have 3"),
        (_info(row), "the log of broker 3 is not sure: a batch is damaged"),
    ):
        found = start_order(from_disks(info))
        assert any(told in sentence for sentence in found.unknown), (told, found.unknown)
        assert (
            "the best log leads" not in render_start_order(found, _command)
            or not found.starts[0].too_early
        )


def _pair(number: int, ends: Mapping[int, int], last: int) -> PartitionInfo:
    replicas = tuple(ends)
    state = PartitionState(
        *("orders", "t-1", number, -1, 3, replicas),
        last_known_elr=(last,),
        offline_replicas=replicas,
    )
    logs = tuple(_log(*each) for each in ends.items())
    return PartitionInfo(TopicPartition("orders", number), state, logs)


def test_a_partition_is_elected_as_soon_as_its_best_log_is_up() -> None:
    rows = (
        _pair(0, {2: 200, 3: 250}, last=2),
        _pair(1, {1: 100, 2: 200}, last=1),
        # Nothing of it is on broker 2.
        _pair(2, {1: 100, 3: 250}, last=1),
    )
    found = start_order(from_disks(_info(*rows)))
    assert _groups(found) == [[3], [2], [1]]
    assert [tp.partition for tp in found.elected_after(1)] == [0, 2]
    assert [tp.partition for tp in found.elected_after(2)] == [1]


def test_of_stops_that_nobody_knows_each_may_have_been_clean() -> None:
    row = _row(0, {1: 100, 2: 200, 3: 250}, last=3)
    state = replace(row.state, elr=(1, 2), last_known_elr=(3,)) if row.state else None
    logs = tuple(
        replace(log, scanned=replace(log.scanned, stopped_clean=None))
        for log in row.replica_logs
        if log.scanned
    )
    found = start_order(from_disks(_info(replace(row, state=state, replica_logs=logs))))
    assert {start.broker for start in found.starts if start.too_early} == {1, 2}
    assert _groups(found)[0] == [3]


def test_a_topic_with_unclean_elections_is_led_by_whoever_comes_first() -> None:
    info = _info(_row(0, {1: 100, 2: 200, 3: 250}, last=1))
    found = start_order(from_disks(replace(info, unclean_topics=("orders",))))
    assert _groups(found)[0] == [3]
    assert (found.costs, found.led_after(1)) == (0, 1)


def test_the_screen_is_as_long_for_3000_partitions_as_for_three_and_80_columns_wide() -> None:
    ends = ({1: 100, 2: 200, 3: 250}, {1: 300, 2: 200, 3: 250}, {1: 100, 2: 300, 3: 250})
    few, many = (
        render_start_order(
            start_order(
                from_disks(_info(*(_row(n, ends[n % 3], last=n % 2 + 1) for n in range(count))))
            ),
            _command,
        )
        for count in (6, 3000)
    )
    assert len(many.splitlines()) == len(few.splitlines())
    for line in many.splitlines():
        assert len(line) <= 80 or line.strip() == COMMAND.strip()


def test_json_says_of_each_partition_who_leads_it_in_the_end() -> None:
    found = start_order(from_disks(_info(_row(0, {1: 100, 2: 200, 3: 250}, last=1))))
    assert '"leader": 3, "elected": true, "step": 1, "records": 0' in render_json(found)


def test_before_the_controllers_have_fenced_anybody_the_order_is_foretold() -> None:
    row = _row(0, {1: 100, 2: 200, 3: 250}, last=2, leader=1)
    assert row.state is not None
    led = replace(
        row.state, isr=(1, 2, 3), elr=(), last_known_elr=(), offline_replicas=(), leader_epoch=2
    )
    # 1 is fenced last.
    unfenced = (Unfenced(1, 4), Unfenced(2, 2), Unfenced(3, 4))
    fencing = Fencing(unfenced, elr=True, by_hash=True, min_isr=2)
    situation = from_disks(_info(replace(row, state=led), fencing=fencing))
    found = start_order(situation)
    assert (situation.foretold, found.unknown) == (True, ())
    assert situation.parts[0].state.last_known_elr == (1,)
    assert _groups(found) == [[2, 3], [1]]
    assert "foretold: the controllers have yet to fence brokers" in render_start_order(
        found, _command
    )
    assert json.loads(render_json(found))["foretold"] is True


def test_what_is_not_foretold_is_no_row_and_unknown() -> None:
    row = _row(0, {1: 100, 2: 200, 3: 250}, last=1, leader=1)
    none = Fencing((Unfenced(1, 1),), elr=True, by_hash=True)
    found = start_order(from_disks(_info(row, fencing=none)))
    assert found.partitions == ()
    assert [each for each in found.unknown if "min.insync.replicas" in each]
    assert "foretold" not in json.loads(render_json(found))
