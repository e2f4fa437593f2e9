"""Which live replicas of a partition without a leader have the best log."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Broker,
    Cluster,
    EpochSpan,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.ok_to_stop.survivors import Survivors, survivors

STATE = PartitionState("t", "id", 0, NO_LEADER, 4, (0, 1, 2, 3), offline_replicas=(3,))
HANGS = "hangs"
BROKERS = {id_: Broker(id_, "127.0.0.1", 1) for id_ in (0, 1, 2)}


def _log(broker: int, epoch: int, end: int) -> ReplicaLog:
    lineage = (EpochSpan(epoch, 0, end),)
    return ReplicaLog(
        broker,
        live=True,
        last_written_leader_epoch=epoch,
        log_start_offset=0,
        log_end_offset=end,
        epochs=lineage,
    )


class _Source:
    """A ReplicaLogSource that knows these logs."""

    def __init__(self, logs: Collection[ReplicaLog]) -> None:
        self._logs = {log.broker: log for log in logs}

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        if broker.id not in self._logs:
            taken = broker.host == HANGS
            raise ConnectionFailed(FailureKind.TIMED_OUT, broker.host, "no answer", taken=taken)
        return {state.topic_partition: self._logs[broker.id] for state in states}

    log_ends = replica_logs


def _best(
    *logs: ReplicaLog,
    state: PartitionState = STATE,
    no_read: str = "",
    fenced: str | None = None,
) -> Survivors:
    """Return the best survivors. fenced: where broker 3 is asked, None if it is not listed."""
    fenced_at = {} if fenced is None else {3: Broker(3, fenced, 1, fenced=True)}
    cluster = Cluster("c", BROKERS, tuple(fenced_at), lists_fenced=True, fenced_at=fenced_at)
    asking = survivors(_Source(logs), cluster, [state], {no_read}, Deadline.after(1))
    (found,) = asyncio.run(asking).values()
    return found


@pytest.mark.parametrize(
    ("logs", "best"),
    [
        ((_log(0, 1, 10), _log(1, 1, 15), _log(2, 1, 12)), (1,)),
        # The longest log may have been given up by an earlier election.
        ((_log(0, 1, 10), _log(1, 0, 15), _log(2, 1, 12)), (2,)),
        ((_log(0, 1, 15), _log(1, 1, 15), _log(2, 1, 12)), (0, 1)),
    ],
)
def test_the_best_log_survives(logs: tuple[ReplicaLog, ...], best: tuple[int, ...]) -> None:
    assert _best(*logs) == Survivors(best)


def test_a_replica_that_a_reassignment_adds_is_no_survivor() -> None:
    logs = _log(0, 1, 10), _log(1, 1, 15), _log(2, 1, 0)
    assert _best(*logs, state=replace(STATE, adding_replicas=(1,))) == Survivors((0,))


@pytest.mark.parametrize(
    "doubtful",
    [
        replace(_log(1, 1, 5), problem="who knows"),
        replace(_log(1, 1, 5), suspect="who knows"),
        replace(_log(1, 1, 5), unproven="who knows"),
    ],
    ids=["problem", "suspect", "unproven"],
)
def test_a_log_in_doubt_may_be_the_best(doubtful: ReplicaLog) -> None:
    logs = _log(0, 1, 10), doubtful, _log(2, 1, 12)
    assert _best(*logs) == Survivors(untold="broker 1: who knows")
    assert _best(*logs, no_read="t").untold == "broker 1: who knows; grant Topic(t):READ"


def test_a_replica_that_is_not_listed_may_be_the_best() -> None:
    state = replace(STATE, offline_replicas=())
    logs = _log(0, 1, 10), _log(1, 1, 15), _log(2, 1, 12)
    assert _best(*logs, state=state) == Survivors(untold="broker 3: it is not listed as live")


LIVE = _log(0, 1, 10), _log(1, 1, 15), _log(2, 1, 12)


def test_a_fenced_replica_that_answers_may_be_the_best() -> None:
    assert _best(*LIVE, _log(3, 1, 16), fenced="there") == Survivors((3,))
    assert _best(*LIVE, _log(3, 1, 14), fenced="there") == Survivors((1,))


def test_a_fenced_replica_that_is_down_is_no_survivor() -> None:
    assert _best(*LIVE, fenced="nowhere") == Survivors((1,))


def test_a_fenced_replica_that_hangs_may_be_the_best() -> None:
    assert _best(*LIVE, fenced=HANGS) == Survivors(untold=f"broker 3: {HANGS}: no answer")
