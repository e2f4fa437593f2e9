"""GetReplicaLogInfo against a node that speaks it, well and badly."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.asking import NOT_ANSWERED
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from kafka_unclean_recovery.model import EpochSpan, PartitionState, ReplicaLog
from kafka_unclean_recovery.transport import replica_log_info
from kafka_unclean_recovery.transport.replica_log_info import ReplicaLogInfoSource
from tests.cluster.fake_node import ample, in_loop
from tests.transport.scripted import (
    DIALECT_KEYS,
    EVERYTHING,
    Row,
    Scripted,
    by_partition,
    offline,
    reached,
)
from tests.transport.test_lineage_probe import Replica

BOTH_EPOCHS = [Dialect.KIP_966, Dialect.REVERTED]
REFUSED = 29  # TOPIC_AUTHORIZATION_FAILED


def _seen(
    scripted: Scripted,
    dialect: Dialect = Dialect.REVERTED,
    states: list[PartitionState] | None = None,
    deadline: Deadline | None = None,
) -> dict[int, ReplicaLog]:
    logs: dict[int, ReplicaLog] = {}

    @in_loop
    async def look() -> None:
        async with reached(scripted) as cluster:
            source = ReplicaLogInfoSource(cluster.nodes, dialect)
            logs.update(
                by_partition(
                    await source.replica_logs(
                        cluster.broker, states or [offline()], deadline or ample()
                    )
                )
            )

    look()
    return logs


def _one(scripted: Scripted, dialect: Dialect = Dialect.REVERTED) -> ReplicaLog:
    return _seen(scripted, dialect)[0]


@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_and_the_lineage_together_tell_the_whole_log(dialect: Dialect) -> None:
    replica = Replica(((2, 10), (5, 60)), 10, 100)
    assert _one(Scripted(rows={0: Row()}, replicas={0: replica}), dialect) == ReplicaLog(
        broker=3,
        live=True,
        last_written_leader_epoch=5,
        log_start_offset=10,
        high_watermark=10,
        log_end_offset=100,
        epochs=(EpochSpan(2, 10, 60), EpochSpan(5, 60, 100)),
        source="replica-log-info",
        broker_epoch=17,
    )


def test_the_broker_that_is_asked_is_named_where_the_dialect_has_it() -> None:
    scripted = Scripted(rows={0: Row()})
    _one(scripted, Dialect.KIP_966)
    asked = [r.message for r in scripted.node.received if r.key == DIALECT_KEYS[Dialect.KIP_966]]
    assert [message.broker_id for message in asked] == [3]


@pytest.mark.parametrize("dialect", Dialect)
def test_an_epoch_without_a_record_is_not_the_last_written_one(dialect: Dialect) -> None:
    # A leader enters its epoch before it writes, and an RPC that reads the cache answers that.
    replica = Replica(((2, 0), (5, 100)), 0, 100)
    log = _one(Scripted(rows={0: Row(last_written=5)}, replicas={0: replica}), dialect)
    assert log.last_written_leader_epoch == 2


@pytest.mark.parametrize("dialect", BOTH_EPOCHS)
def test_without_a_lineage_the_word_of_the_rpc_stands(dialect: Dialect) -> None:
    log = _one(Scripted(rows={0: Row(last_written=4)}, fetch_error=REFUSED), dialect)
    assert (log.last_written_leader_epoch, log.log_end_offset) == (4, 100)
    assert (log.epochs, log.log_start_offset, log.problem) == (None, None, None)


def test_where_only_the_current_epoch_is_told_no_lineage_is_a_problem() -> None:
    log = _one(Scripted(rows={0: Row()}, fetch_error=REFUSED), Dialect.KIP_1275)
    assert log.last_written_leader_epoch is None
    assert log.problem is not None
    assert "only the partition's current leader epoch" in log.problem
    assert "TOPIC_AUTHORIZATION_FAILED" in log.problem


@pytest.mark.parametrize("dialect", BOTH_EPOCHS)
def test_a_current_epoch_that_poses_as_the_last_written_one_counts_for_nothing(
    dialect: Dialect,
) -> None:
    # Nothing was written in the epoch in which the partition lost its leader.
    posing = Row(last_written=7, current=7)
    refused = _one(Scripted(rows={0: posing}, fetch_error=REFUSED), dialect)
    assert refused.problem is not None
    assert _one(Scripted(rows={0: posing}), dialect).last_written_leader_epoch == 5


@pytest.mark.parametrize("dialect", Dialect)
def test_a_replica_that_never_held_a_record_wrote_in_no_epoch(dialect: Dialect) -> None:
    row = Row(log_end_offset=0, last_written=-1)
    log = _one(Scripted(rows={0: row}, replicas={0: Replica((), 0, 0)}), dialect)
    assert (log.last_written_leader_epoch, log.log_end_offset) == (-1, 0)


def test_a_silent_fetch_does_not_cost_what_the_rpc_told() -> None:
    scripted = Scripted(rows={0: Row()}, fetch_error=None)
    log = _seen(scripted, deadline=Deadline.after(0.6))[0]
    assert (log.last_written_leader_epoch, log.log_end_offset, log.problem) == (5, 100, None)


def test_a_node_without_fetch_12_is_believed_by_the_rpc_alone() -> None:
    versions = EVERYTHING | {DIALECT_KEYS[Dialect.REVERTED]: (0, 0), 1: (13, 17)}
    scripted = Scripted(rows={0: Row()}, versions=versions)
    assert _one(scripted).last_written_leader_epoch == 5
    assert 1 not in scripted.keys


def test_no_more_than_a_thousand_partitions_are_asked_for_at_once() -> None:
    scripted = Scripted(rows=dict.fromkeys(range(2500), Row()))
    logs = _seen(scripted, states=[offline(p) for p in range(2500)])
    assert sorted(scripted.sizes) == [500, 1000, 1000]
    assert {log.problem for log in logs.values()} == {None}
    assert len(logs) == 2500


@pytest.mark.parametrize(
    ("dialect", "left_out"),
    [(Dialect.REVERTED, None), (Dialect.KIP_1275, None), (Dialect.KIP_966, 139)],
)
def test_what_a_node_leaves_out_is_asked_for_again(dialect: Dialect, left_out: int | None) -> None:
    scripted = Scripted(rows=dict.fromkeys(range(10), Row()), limit=4, left_out=left_out)
    logs = _seen(scripted, dialect, [offline(p) for p in range(10)])
    assert scripted.sizes == [10, 6, 2]
    assert [log.problem for log in logs.values()] == [None] * 10


def test_a_node_that_never_serves_a_partition_is_not_asked_for_ever() -> None:
    scripted = Scripted(rows={0: Row()})
    logs = _seen(scripted, states=[offline(0), offline(1)], deadline=Deadline.after(2))
    assert logs[0].problem is None
    assert logs[1].problem == NOT_ANSWERED
    # For as long as there is time, the one alone.
    assert scripted.sizes[0] == 2
    assert set(scripted.sizes[1:]) == {1}


def test_an_error_is_named_with_the_words_of_the_broker() -> None:
    rows = {0: Row(error=56, message="disk 2 is gone"), 1: Row()}
    logs = _seen(Scripted(rows=rows), Dialect.KIP_966, [offline(0), offline(1)])
    assert logs[0].problem == "KAFKA_STORAGE_ERROR (disk 2 is gone)"
    assert logs[0].log_end_offset is None
    assert logs[1].problem is None


@pytest.mark.parametrize("row", [Row(error=100), Row(error=3), Row(current=6)])
def test_an_answer_that_a_broker_gets_over_is_asked_for_again(row: Row) -> None:
    scripted = Scripted(rows={0: row})
    turn = iter(range(3))

    class Turning(dict[int, Row]):
        def __getitem__(self, partition: int) -> Row:
            return row if next(turn, 9) < 2 else Row()

    scripted.rows = Turning(scripted.rows)
    log = _one(scripted)
    assert (log.problem, log.log_end_offset) == (None, 100)
    assert len(scripted.sizes) == 3


def test_a_broker_whose_metadata_stays_behind_has_a_stale_answer() -> None:
    log = _seen(Scripted(rows={0: Row(current=6)}), deadline=Deadline.after(0.4))[0]
    assert log.problem == "its answer is stale: the broker has leader epoch 6, the controller 7"
    assert log.log_end_offset is None


def test_a_broker_that_started_again_between_two_batches_is_asked_again() -> None:
    scripted = Scripted(rows=dict.fromkeys(range(1500), Row()), broker_epochs=[17, 18])
    logs = _seen(scripted, states=[offline(p) for p in range(1500)])
    assert {log.broker_epoch for log in logs.values()} == {18}
    assert {log.problem for log in logs.values()} == {None}
    assert len(scripted.sizes) == 3


def test_an_answer_of_an_earlier_process_that_stays_is_stale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replica_log_info, "_PASSING_SECONDS", 0.2)
    scripted = Scripted(rows=dict.fromkeys(range(1500), Row()), broker_epochs=[18, 17])
    logs = _seen(scripted, states=[offline(p) for p in range(1500)])
    stale = {p for p, log in logs.items() if log.problem is not None}
    assert stale == set(range(1000, 1500))
    assert logs[1000].problem == "its answer is stale: the broker has started again since"


def test_a_dialect_that_is_not_advertised_is_not_sent() -> None:
    scripted = Scripted(rows={0: Row()}, versions=EVERYTHING)
    log = _one(scripted)
    assert log.problem is not None
    assert "does not speak GetReplicaLogInfo (reverted), nothing was sent" in log.problem
    assert not set(scripted.keys) & {request.API_KEY for request in REQUESTS.values()}


def test_a_topic_without_an_id_has_no_name_in_the_request() -> None:
    nameless = replace(offline(1), topic_id="00000000-0000-0000-0000-000000000000")
    logs = _seen(Scripted(rows={0: Row()}), states=[offline(), nameless])
    assert logs[0].problem is None
    assert logs[1].problem == "its topic has no id"


def test_a_log_that_changes_while_it_is_read_is_a_problem() -> None:
    log = _one(Scripted(rows={0: Row(log_end_offset=90)}))
    assert log.problem == "the log grew while it was read"


@in_loop
async def test_log_ends_are_read_without_lineages() -> None:
    scripted = Scripted(rows={0: Row()})
    async with reached(scripted) as cluster:
        source = ReplicaLogInfoSource(cluster.nodes, Dialect.REVERTED)
        logs = by_partition(await source.log_ends(cluster.broker, [offline()], ample()))
    assert (logs[0].log_end_offset, logs[0].broker_epoch, logs[0].problem) == (100, 17, None)
    assert 1 not in scripted.keys
