"""What brokers answered counts for as long as it must still be so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import (
    NO_LEADER,
    Broker,
    PartitionState,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.recovery.collect import Gathering
from tests.cluster.fake_node import ample, in_loop

FIRST = PartitionState("orders", "id-1", 0, NO_LEADER, 7, (1, 2))
OTHER = replace(FIRST, partition=1)
BROKERS = {id_: Broker(id_, "127.0.0.1", 9092) for id_ in (1, 2)}
ONLY_1 = {1: BROKERS[1]}


@dataclass
class Brokers:
    """A ReplicaLogSource. ends: log end offsets by broker; silent: those that answer nothing."""

    ends: dict[int, int] = field(default_factory=lambda: {1: 100, 2: 200})
    epochs: dict[int, int] = field(default_factory=dict)
    silent: set[int] = field(default_factory=set)
    asked: list[tuple[int, list[int]]] = field(default_factory=list)

    async def replica_logs(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        if broker.id in self.silent:
            await asyncio.sleep(deadline.remaining())
        self.asked.append((broker.id, [state.partition for state in states]))
        log = ReplicaLog(broker.id, live=True, log_end_offset=self.ends[broker.id])
        log = replace(log, broker_epoch=self.epochs.get(broker.id))
        return {state.topic_partition: log for state in states}

    async def log_ends(
        self, broker: Broker, states: Sequence[PartitionState], deadline: Deadline
    ) -> Mapping[TopicPartition, ReplicaLog]:
        raise AssertionError("not asked here")


@dataclass
class Run:
    brokers: Brokers
    gathering: Gathering
    live: Mapping[int, Broker] = field(default_factory=lambda: BROKERS)

    async def look(self, *states: PartitionState, live: Mapping[int, Broker] = BROKERS) -> None:
        """Look once around: whoever has something to answer is asked, and does."""
        self.live = live
        self.gathering.ask(live, {state.topic_partition: state for state in states}, {})
        await self.gathering.wait(0.05 if self.brokers.silent else 30)

    def ends(self, state: PartitionState) -> dict[int, int | None]:
        return {log.broker: log.log_end_offset for log in self._logs(state)}

    def problems(self, state: PartitionState) -> dict[int, str | None]:
        return {log.broker: log.problem for log in self._logs(state)}

    def _logs(self, state: PartitionState) -> list[ReplicaLog]:
        return self.gathering.replica_logs(state, self.live, {})


def gathering(test: Callable[[Run], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @in_loop
    async def run() -> None:
        brokers = Brokers()
        made = Gathering(brokers, ample(), lambda _: None)
        try:
            await test(Run(brokers, made))
        finally:
            await made.end()

    def named() -> None:
        run()

    named.__name__, named.__doc__ = test.__name__, test.__doc__
    return named


@gathering
async def test_who_has_answered_is_asked_no_more(run: Run) -> None:
    for _ in range(3):
        await run.look(FIRST, OTHER)
    assert sorted(run.brokers.asked) == [(1, [0, 1]), (2, [0, 1])]
    assert run.ends(FIRST) == {1: 100, 2: 200}


@gathering
async def test_a_partition_that_was_led_meanwhile_is_asked_for_again(run: Run) -> None:
    await run.look(FIRST, OTHER)
    run.brokers.ends[1] = 150
    led_again = replace(FIRST, leader_epoch=9)
    await run.look(led_again, OTHER)
    assert run.ends(led_again) == {1: 150, 2: 200}
    assert run.ends(OTHER) == {1: 100, 2: 200}
    assert sorted(run.brokers.asked[2:]) == [(1, [0]), (2, [0])]


@gathering
async def test_a_topic_that_was_made_anew_meanwhile_is_asked_for_again(run: Run) -> None:
    await run.look(FIRST)
    run.brokers.ends[1] = 0
    anew = replace(FIRST, topic_id="id-2")
    await run.look(anew)
    assert run.ends(anew) == {1: 0, 2: 200}


@gathering
async def test_old_answers_are_no_ground_for_a_plan_where_new_ones_do_not_come(run: Run) -> None:
    await run.look(FIRST)
    run.brokers.silent = {1}
    led_again = replace(FIRST, leader_epoch=9)
    await run.look(led_again)
    assert run.ends(led_again) == {1: None, 2: 200}
    assert run.problems(led_again) == {
        1: "has not answered since it was away or the partition was led again",
        2: None,
    }


@gathering
async def test_a_broker_that_was_away_is_asked_again(run: Run) -> None:
    await run.look(FIRST)
    await run.look(FIRST, live=ONLY_1)
    # What it said before it died is all that is known of it.
    assert run.ends(FIRST) == {1: 100, 2: 200}
    run.brokers.ends[2] = 180
    await run.look(FIRST)
    assert run.ends(FIRST) == {1: 100, 2: 180}


@gathering
async def test_a_broker_that_was_away_and_is_silent_since_is_not_taken_by_its_old_word(
    run: Run,
) -> None:
    await run.look(FIRST)
    await run.look(FIRST, live=ONLY_1)
    run.brokers.silent = {2}
    await run.look(FIRST)
    assert run.ends(FIRST) == {1: 100, 2: None}


@gathering
async def test_what_an_earlier_process_of_a_broker_answered_is_asked_for_again(run: Run) -> None:
    run.brokers.epochs[1] = 17
    await run.look(FIRST)
    run.brokers.epochs[1], run.brokers.ends[1] = 18, 90
    for _ in range(2):
        await run.look(FIRST, OTHER)
    assert run.ends(FIRST) == run.ends(OTHER) == {1: 90, 2: 200}
