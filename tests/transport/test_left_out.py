"""What an answer leaves out was not answered. Kafka leaves all out of Fetch when over quota."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count

import pytest

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.asking import NOT_ANSWERED
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.model import EpochSpan, PartitionState, ReplicaLog
from kafka_unclean_recovery.transport import ReplicaLogSource
from kafka_unclean_recovery.transport.list_offsets import ListOffsetsSource
from kafka_unclean_recovery.transport.replica_log_info import ReplicaLogInfoSource
from tests.cluster.fake_node import ample, in_loop
from tests.transport.scripted import (
    FETCH,
    LIST_OFFSETS,
    Row,
    Scripted,
    by_partition,
    offline,
    reached,
)
from tests.transport.test_lineage_probe import Replica

Source = Callable[[Nodes], ReplicaLogSource]
PARTITIONS = range(10)
WHOLE = (EpochSpan(5, 0, 100),)


def by_the_rpc(nodes: Nodes) -> ReplicaLogSource:
    return ReplicaLogInfoSource(nodes, Dialect.REVERTED)


both = pytest.mark.parametrize("source", [ListOffsetsSource, by_the_rpc])


def _scripted(throttle: Callable[[int], int] = lambda _: 0) -> Scripted:
    return Scripted(rows=dict.fromkeys(PARTITIONS, Row()), throttle=throttle)


def _logs(
    scripted: Scripted, source: Source, deadline: Deadline | None = None, *, ends: bool = False
) -> Mapping[int, ReplicaLog]:
    logs: dict[int, ReplicaLog] = {}
    states: Sequence[PartitionState] = [offline(p) for p in PARTITIONS]

    @in_loop
    async def look() -> None:
        async with reached(scripted) as cluster:
            asked = source(cluster.nodes)
            ask = asked.log_ends if ends else asked.replica_logs
            logs.update(by_partition(await ask(cluster.broker, states, deadline or ample())))

    look()
    return logs


@both
def test_a_throttled_broker_is_asked_again_until_it_answers(source: Source) -> None:
    answers = count()
    scripted = _scripted(lambda _: 50 if next(answers) < 3 else 0)
    logs = _logs(scripted, source)
    assert {(log.problem, log.epochs) for log in logs.values()} == {(None, WHOLE)}


@both
def test_a_broker_whose_quota_lets_a_few_partitions_through_is_asked_for_so_many(
    source: Source,
) -> None:
    held_back: list[int] = []

    def throttle(asked: int) -> int:
        held_back.extend([asked] * (asked > 3))
        return 10 if asked > 3 else 0

    scripted = _scripted(throttle)
    logs = _logs(scripted, source)
    assert {(log.problem, log.epochs) for log in logs.values()} == {(None, WHOLE)}
    # Neither is it asked for more again, with the next question.
    assert held_back == [10, 5]


def test_a_broker_throttled_for_longer_than_there_is_time_is_not_pestered() -> None:
    scripted = _scripted(lambda _: 10**8)
    logs = _logs(scripted, ListOffsetsSource)
    assert {(log.problem, log.log_end_offset, log.epochs) for log in logs.values()} == {
        (NOT_ANSWERED, 100, None)
    }
    assert scripted.keys.count(FETCH) == 1


def test_a_throttled_broker_that_told_the_last_epochs_is_taken_by_its_word() -> None:
    logs = _logs(_scripted(lambda _: 10**8), by_the_rpc)
    assert {(log.problem, log.last_written_leader_epoch, log.epochs) for log in logs.values()} == {
        (None, 5, None)
    }


@both
def test_one_partition_missing_in_an_answer_is_asked_for_again(source: Source) -> None:
    scripted = _scripted()
    scripted.leave_out = {(FETCH, 3), (LIST_OFFSETS, 3), (LIST_OFFSETS, 4)}
    logs = _logs(scripted, source)
    assert {(log.problem, log.epochs) for log in logs.values()} == {(None, WHOLE)}


def test_a_log_end_missing_in_the_last_look_before_an_election_is_asked_for_again() -> None:
    scripted = _scripted()
    scripted.leave_out = {(LIST_OFFSETS, 3)}
    logs = _logs(scripted, ListOffsetsSource, ends=True)
    assert {(log.problem, log.log_end_offset) for log in logs.values()} == {(None, 100)}


def test_an_emptied_log_whose_directory_failed_is_no_empty_log() -> None:
    scripted = _scripted()
    scripted.replicas = dict.fromkeys(PARTITIONS, Replica((), 0, 0))
    scripted.fetch_error = 56
    for log in _logs(scripted, ListOffsetsSource).values():
        assert log.problem == "KAFKA_STORAGE_ERROR"
        assert log.log_start_offset is None


def test_what_was_never_answered_is_told_and_the_rest_is_known() -> None:
    never = 0
    scripted = _scripted(lambda asked: 10 if asked > 1 else 0)
    scripted.never = {never}
    logs = _logs(scripted, ListOffsetsSource, Deadline.after(6))
    assert logs[never].problem == NOT_ANSWERED
    assert {log.problem for p, log in logs.items() if p != never} == {None}
