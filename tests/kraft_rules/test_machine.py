"""What transcripts don't say: malformed events, and the corners of an index."""

from __future__ import annotations

from copy import deepcopy
from uuid import UUID

import pytest

from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import handle, step
from kafka_unclean_recovery.kraft_rules.partition_index import BrokersToElrs
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.releases import KAFKA_4_3_1, KIP_966
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from tests.kraft_rules.script import Script

TOPIC = UUID(int=7)
DIRECTORY = UUID(int=900)


def _script(*lines: str) -> Script:
    script = Script(State(KAFKA_4_3_1))
    for line in lines:
        script.play(line)
    return script


@pytest.mark.parametrize(
    "log_dirs",
    [
        pytest.param((), id="none"),
        pytest.param((UUID(int=99),), id="reserved"),
        pytest.param((DIRECTORY, DIRECTORY), id="twice the same"),
        pytest.param((DIRECTORY, UUID(int=510)), id="another broker's"),
    ],
)
def test_registration_with_impossible_directories_is_refused(log_dirs: tuple[UUID, ...]) -> None:
    script = _script("brokers 1")
    assert script.state.brokers[1].log_dirs == (UUID(int=510),)
    event = ev.RegisterBroker(2, UUID(int=1), -1, log_dirs)
    assert handle(script.state, event) == (
        [],
        ev.RegisterBrokerResponse(Errors.INVALID_REGISTRATION),
    )


def test_broker_may_register_with_the_directories_that_it_had() -> None:
    script = _script("brokers 1", "unregister 1")
    event = ev.RegisterBroker(1, UUID(int=1), -1, (DIRECTORY, UUID(int=510)))
    assert step(script.state, event).error is Errors.NONE
    amended = ev.RegisterBroker(1, UUID(int=1), -1, (UUID(int=510),))
    assert step(script.state, amended).error is Errors.NONE
    assert script.state.brokers[1].log_dirs == (UUID(int=510),)


@pytest.mark.parametrize("assignment", [{1: (1,)}, {0: (1,), 2: (1,)}, {}])
def test_partitions_that_are_not_numbered_from_0_are_refused(
    assignment: dict[int, tuple[int, ...]],
) -> None:
    script = _script("brokers 1")
    answered = step(script.state, ev.CreateTopic("foo", TOPIC, assignment))
    assert answered.error is Errors.INVALID_REPLICA_ASSIGNMENT


def test_unknown_leader_recovery_state_is_the_end_of_the_controller() -> None:
    script = _script("brokers 1", "topic foo 1")
    before = deepcopy(script.state)
    event = ev.AlterPartition(1, script.epoch(1), "foo", 0, 0, 0, ((1, -1),), 2)
    with pytest.raises(ControllerFault):
        step(script.state, event)
    assert script.state == before


@pytest.mark.parametrize(
    "meanwhile", [ev.DeleteTopic("foo"), ev.ElectLeaders(ev.ElectionType.UNCLEAN, None)]
)
def test_answers_and_time_outs_of_a_recovery_that_is_over_change_nothing(
    meanwhile: ev.Event,
) -> None:
    """What comes in before the manager has looked at what has happened."""
    script = Script(State(KIP_966))
    for line in ("recover", "brokers 1 2", "topic foo 1,2", "fence 2", "fence 1"):
        script.play(line)
    topic_id = script.state.topic_ids["foo"]
    script.play("set unclean.recovery.strategy=Aggressive")
    step(script.state, ev.Heartbeat(2, script.epoch(2), script.state.end_offset))
    assert list(script.state.recoveries) == [(topic_id, 0)]
    step(script.state, meanwhile)
    for late in (
        ev.ReplicaLogInfo(2, script.epoch(2), topic_id, 0, 1, 0, 9),
        ev.RecoveryTimeout(topic_id, 0),
    ):
        assert handle(script.state, late) == ([], ev.Response(Errors.ELECTION_NOT_NEEDED))


def test_designated_leaders_must_be_parallel_to_the_partitions() -> None:
    script = _script("brokers 1", "topic foo 1")
    event = ev.ElectLeaders(ev.ElectionType.UNCLEAN, (("foo", 0),), (1, 2))
    assert step(script.state, event).error is Errors.NONE
    script.state.release = KIP_966
    with pytest.raises(ValueError, match="shorter"):
        step(script.state, ev.ElectLeaders(ev.ElectionType.DESIGNATED, (("foo", 0),), ()))
    all_partitions = ev.ElectLeaders(ev.ElectionType.DESIGNATED, None, ())
    assert step(script.state, all_partitions).error is Errors.INVALID_REQUEST


def test_entry_that_was_added_twice_to_the_index_leaves_a_partition_0() -> None:
    # As the arrays of Kafka's BrokersToElrs do.
    index = BrokersToElrs()
    index.update(TopicIdPartition(TOPIC, 3), (), (1,))
    index.update(TopicIdPartition(TOPIC, 3), (), (1,))
    assert list(index.of(1)) == [TopicIdPartition(TOPIC, 3)] * 2
    index.update(TopicIdPartition(TOPIC, 3), (1,), ())
    assert list(index.of(1)) == [TopicIdPartition(TOPIC, 0)]


def test_records_of_memory_take_no_offset() -> None:
    script = _script("brokers 1")
    end = script.state.end_offset
    assert end == 2
    script.play("heartbeat 1 offset=7")
    assert script.state.heartbeats[1].metadata_offset == 7
    assert script.state.end_offset == end


def test_heartbeat_that_says_nothing_new_writes_nothing() -> None:
    script = _script("brokers 1", "heartbeat 1 offset=7")
    records, _ = handle(script.state, ev.Heartbeat(1, script.epoch(1), 7))
    assert records == []
