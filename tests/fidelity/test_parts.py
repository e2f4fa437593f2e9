"""What the comparison itself is made of, without a real controller."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest

from kafka_unclean_recovery.kafka_names import ELR_VERSION, Errors
from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS as MIN_ISR
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    PartitionRegistration,
)
from tests.fidelity import relative
from tests.fidelity.comparing import first_difference, related
from tests.fidelity.generating import Generator
from tests.fidelity.invariants import broken
from tests.fidelity.metadata_tail import whole_batches
from tests.fidelity.requests import REQUESTS, Context
from tests.fidelity.shrinking import shrink
from tests.fidelity.states import FAILED, BrokerView, ClusterState, PartitionView, state_of

TOPIC_ID = uuid.UUID(int=42)
LED = PartitionRegistration(
    replicas=(1, 2, 3), isr=(1,), leader=1, leader_epoch=4, partition_epoch=9, elr=(2,)
)


def image(partition: PartitionRegistration = LED) -> MetadataImage:
    found = MetadataImage(topics={TOPIC_ID: "t"}, partitions={TOPIC_ID: {0: partition}})
    found.features[ELR_VERSION] = 1
    for broker in (1, 2, 3):
        incarnation = uuid.UUID(int=broker)
        found.brokers[broker] = BrokerRegistration(
            broker, 70 + broker, incarnation, False, False, ()
        )
    found.configs[4, ""] = {MIN_ISR: "2"}
    return found


STATE = state_of(image(), 100)


class Now:
    last_offset = 99

    def broker_epoch(self, broker: int) -> int | None:
        found = image().brokers.get(broker)
        return None if found is None else found.epoch

    def partition_epochs(self, topic: str, partition: int) -> tuple[int, int] | None:
        return (4, 9) if (topic, partition) == ("t", 0) else None


def altered(**changes: Any) -> PartitionView:
    return STATE.partitions["t", 0]._replace(**changes)


def test_relative_epochs_count_from_the_present() -> None:
    isr = ((1, relative.NOW), (2, -1), (3, relative.UNCHECKED))
    event = ev.AlterPartition(1, 1, "t", 0, -1, 0, isr)
    sent = relative.absolute(event, Now())
    assert sent == ev.AlterPartition(1, 72, "t", 0, 3, 9, ((1, 71), (2, 71), (3, -1)))


@pytest.mark.parametrize(("broker", "previous"), [(2, 72), (5, -1)])
def test_a_broker_that_shut_down_cleanly_names_its_own_epoch(broker: int, previous: int) -> None:
    event = ev.RegisterBroker(broker, TOPIC_ID, relative.OWN, ())
    assert relative.absolute(event, Now()) == replace(event, previous_broker_epoch=previous)


@pytest.mark.parametrize(
    ("offset", "sent"),
    [(relative.CAUGHT_UP, 99), (relative.AT_REGISTRATION, 73), (relative.BEHIND_REGISTRATION, 72)],
)
def test_a_heartbeat_says_how_far_its_broker_has_read(offset: int, sent: int) -> None:
    assert relative.absolute(ev.Heartbeat(3, 0, offset), Now()) == ev.Heartbeat(3, 73, sent)


def test_the_same_seed_gives_the_same_events() -> None:
    def events(seed: int) -> list[ev.Event]:
        generator = Generator(seed)
        return [generator.next(image()) for _ in range(300)]

    assert events(5) == events(5)
    assert events(5) != events(6)


@pytest.mark.parametrize(
    "clearing", [ev.AlterTopicConfig("t", MIN_ISR, "3"), ev.AlterClusterConfig(MIN_ISR, "3")]
)
def test_a_topic_is_not_deleted_once_its_elr_was_cleared(clearing: ev.Event) -> None:
    without_elr = image(LED._replace(elr=()))
    fresh, warned = Generator(1), Generator(1)
    warned.remember(clearing, image())
    assert ev.DeleteTopic("t") in [fresh.next(without_elr) for _ in range(1_000)]
    assert ev.DeleteTopic("t") not in [warned.next(without_elr) for _ in range(1_000)]


def test_a_partition_with_a_stranger_in_its_elr_goes_at_once() -> None:
    haunted = image(PartitionRegistration((1, 3), (1,), 1, 4, 9, elr=(2,)))
    assert Generator(1).next(haunted) == ev.DeleteTopic("t")


@pytest.mark.parametrize("event", [kind for kind in get_args(ev.Event) if kind in REQUESTS])
def test_every_generated_event_can_be_sent(event: type) -> None:
    build, version, _ = REQUESTS[event]
    context = Context("id", {"metadata.version": 30}, {"t": TOPIC_ID})
    found: list[ev.Event] = []
    for seed in range(1, 40):
        generator = Generator(seed)
        found += [e for e in (generator.next(image()) for _ in range(200)) if type(e) is event]
    assert found
    for each in found:
        assert build(relative.absolute(each, Now()), context).encode(version=version)


def test_only_whole_batches_are_read() -> None:
    batch = bytes(8) + (5).to_bytes(4, "big") + b"12345"
    assert whole_batches(batch + batch + batch[:-1]) == 2 * len(batch)
    assert whole_batches(batch[:11]) == 0


def test_shrinking_leaves_what_it_takes_and_the_last_event() -> None:
    asked: list[Sequence[int]] = []

    def differs(events: Sequence[int]) -> bool:
        asked.append(events)
        return {3, 17, 40} <= {*events}

    assert list(shrink(range(100), differs)) == [3, 17, 40, 99]
    assert all(events[-1] == 99 for events in asked)


BROKEN = {
    "ValidControllerIsrAndElr: apart": altered(elr=(1, 2)),
    "ValidControllerIsrAndElr: beside": altered(isr=(1, 3), elr=(2,)),
    "the ISR are replicas": altered(isr=(1, 4)),
    "the leader is of the ISR": altered(isr=(3,)),
    "the leader is unfenced": altered(leader=4, isr=(4,), replicas=(4,), leader_epoch=5),
    "at most one leader an epoch": altered(leader=2, isr=(2,), elr=(1,), partition_epoch=10),
    "epochs do not fall": altered(leader_epoch=3),
    "every change is a partition epoch": altered(elr=(2, 3)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_invariant_is_named(name: str) -> None:
    after = STATE._replace(partitions={("t", 0): BROKEN[name]})
    sentences = list(broken(STATE, after, image()))
    assert any(sentence.startswith(name.partition(": ")[0]) for sentence in sentences)


def test_a_sound_step_breaks_no_invariant() -> None:
    after = STATE._replace(
        partitions={("t", 0): altered(isr=(1, 3), elr=(), partition_epoch=10)},
    )
    assert list(broken(STATE, after, image())) == []


class Side:
    """Says what it was made to say, and is in a new state after each event."""

    def __init__(self, answers: Sequence[ev.AnyResponse], states: Sequence[ClusterState]) -> None:
        self._answers = iter(answers)
        self._states = iter(states)

    def state(self) -> ClusterState:
        return next(self._states)


class RealSide(Side):
    def happen(self, event: ev.Event) -> tuple[ev.Event, ev.AnyResponse]:
        return event, next(self._answers)


class OurSide(Side):
    def happen(self, _: ev.Event) -> ev.AnyResponse:
        return next(self._answers)


OK, REFUSED = ev.Response(), ev.Response(Errors.INVALID_REQUEST)
OTHER_PARTITION = STATE._replace(partitions={("t", 0): altered(leader=-1)})
OTHER_BROKER = STATE._replace(brokers={**STATE.brokers, 2: BrokerView(72, True, False)})
EVENT = ev.DeleteTopic("t")


@pytest.mark.parametrize(
    ("answer", "state", "said"),
    [
        (REFUSED, STATE, "INVALID_REQUEST"),
        (OK, OTHER_PARTITION, "('t', 0)"),
        (OK, OTHER_BROKER, "fenced=True"),
        (OK, STATE._replace(end_offset=101), "records written: real 0, ours 1"),
    ],
)
def test_any_difference_is_found_and_said(
    answer: ev.AnyResponse, state: ClusterState, said: str
) -> None:
    real = RealSide([OK, OK], [STATE, STATE, STATE])
    difference = first_difference([EVENT] * 2, real, OurSide([OK, answer], [STATE, state]))
    assert difference is not None
    assert difference.step == 1
    assert said in str(difference)


def test_where_both_fail_nothing_that_follows_is_compared() -> None:
    real, ours = RealSide([FAILED, OK], [STATE] * 3), OurSide([FAILED, REFUSED], [STATE] * 2)
    assert first_difference([EVENT] * 2, real, ours) is None


def test_a_failure_of_one_side_is_a_difference() -> None:
    real, ours = RealSide([FAILED], [STATE] * 2), OurSide([OK], [STATE])
    assert first_difference([EVENT], real, ours) is not None


def test_equal_sides_do_not_differ() -> None:
    real, ours = RealSide([OK, OK], [STATE] * 3), OurSide([OK, OK], [STATE] * 2)
    assert first_difference([EVENT] * 2, real, ours) is None


def test_events_of_other_topics_are_not_related_to_a_difference() -> None:
    of_all: ev.Event = ev.UnregisterBroker(1)
    events = [of_all, ev.DeleteTopic("u"), ev.DeleteTopic("t"), EVENT]
    real = RealSide([OK], [STATE, STATE])
    difference = first_difference([EVENT], real, OurSide([OK], [OTHER_PARTITION]))
    assert difference is not None
    assert related(events, difference) == [of_all, EVENT, EVENT]
