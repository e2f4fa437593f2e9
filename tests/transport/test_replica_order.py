"""What is written is believed when brokers show it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.cluster.requests.describe import Described
from kafka_unclean_recovery.documents.journal_lines import Reordered
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import PartitionState, TopicPartition
from kafka_unclean_recovery.transport import coming, replica_order
from kafka_unclean_recovery.transport.gate import Gate
from kafka_unclean_recovery.transport.replica_order import NotSeen, Orders, PutBack, ReplicaOrder
from tests.cluster.fake_node import in_loop
from tests.transport.scripted import offline

OURS = (3, 2, 1)
RESTORED = (1, 2, 3)
NOTHING: Mapping[TopicPartition, str] = {}


def _tp(number: int) -> TopicPartition:
    return TopicPartition("orders", number)


def _states(count: int, replicas: tuple[int, ...]) -> dict[TopicPartition, PartitionState]:
    return {_tp(n): replace(offline(n), replicas=replicas) for n in range(count)}


@dataclass
class Reader:
    """Answers one after the other, and the last for ever."""

    answers: list[Described]
    asked: list[Sequence[TopicPartition]] = field(default_factory=list)

    async def described(self, wanted: Sequence[TopicPartition]) -> Described:
        self.asked.append(wanted)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    async def described_with_reassignments(self, wanted: Sequence[TopicPartition]) -> Described:
        return await self.described(wanted)

    async def current(self, read: Callable[[], Awaitable[Described]], **_: object) -> Described:
        return await read()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coming, "_STILL_SECONDS", 0.1)
    monkeypatch.setattr(coming, "_STILL_SECONDS_EACH", 0.0)


def _step(number: int) -> Reordered:
    return Reordered(_tp(number), offline(0).topic_id, RESTORED, OURS, at_ms=0)


def _see(reader: Reader, count: int, changed: Mapping[TopicPartition, str] = NOTHING) -> None:
    @in_loop
    async def go() -> None:
        order = ReplicaOrder(cast(Any, None), cast(Any, reader), cast(Any, None))
        assert await order.see([_step(n) for n in range(count)]) == changed

    go()


def test_an_order_that_comes_late_is_waited_for() -> None:
    reader = Reader([Described(_states(2, (1, 2, 3))), Described(_states(2, OURS))])
    _see(reader, 2)
    assert len(reader.asked) == 2


def test_one_order_of_several_that_is_not_shown_is_enough_to_elect_nobody() -> None:
    shown = {**_states(2, OURS), _tp(1): offline(1)}
    with pytest.raises(
        NotSeen, match=r"\[3, 2, 1\] of orders-1, but the cluster shows \[1, 2, 3\]"
    ):
        _see(Reader([Described(shown)]), 2)


def test_an_order_that_can_not_be_described_is_not_seen() -> None:
    untold = {_tp(0): "could not be described"}
    with pytest.raises(NotSeen, match="but the cluster could not be described"):
        _see(Reader([Described({}, untold=untold)]), 1)


def test_the_order_of_a_topic_that_was_deleted_meanwhile_is_not_waited_for() -> None:
    reader = Reader([Described(_states(1, OURS), gone=frozenset({_tp(1)}))])
    _see(reader, 2, {_tp(1): "it no longer exists"})
    assert len(reader.asked) == 1


def test_a_topic_that_was_made_anew_meanwhile_is_not_elected() -> None:
    anew = {tp: replace(state, topic_id="another") for tp, state in _states(2, OURS).items()}
    seen = Described({**_states(1, OURS), _tp(1): anew[_tp(1)]})
    _see(Reader([seen]), 2, {_tp(1): "its topic was deleted and created again"})


def test_a_partition_that_got_other_replicas_meanwhile_is_not_elected() -> None:
    seen = Described({**_states(1, OURS), _tp(1): replace(offline(1), replicas=(3, 4))})
    _see(Reader([seen]), 2, {_tp(1): "its replica set changed from [1, 2, 3] to [3, 4]"})


@pytest.mark.parametrize(("count", "asked"), [(100, 100), (101, 1)])
def test_of_many_orders_the_last_one_is_read_back(count: int, asked: int) -> None:
    reader = Reader([Described(_states(count, OURS))])
    _see(reader, count)
    assert [len(wanted) for wanted in reader.asked] == [asked]
    assert reader.asked[0][-1] == _tp(count - 1)


@dataclass
class Haunted:
    """A controller with a request given up, until it is settled. answers: error codes, one after
    the other, of all that is asked."""

    answers: list[int] = field(default_factory=list)
    haunted: bool = True
    settled: list[str] = field(default_factory=list)

    async def settle(self, reason: str) -> None:
        self.settled.append(reason)
        self.haunted = False

    async def ask(self, request: Any, _: object) -> dict[TopicPartition, PartitionResult]:
        code = self.answers.pop(0)
        self.haunted = code != 0
        return {_tp(0): PartitionResult(code)}

    def unsure(self, code: int) -> bool:
        return code != 0


def _put_back(controller: Haunted, *seen: Described, written: bool = False) -> PutBack:
    """Put orders back. written: the order may be there, by a request of this run."""
    found: list[PutBack] = []
    journal = SimpleNamespace(lines=[], count=lambda _: 0, note=lambda *_, **__: True)

    @in_loop
    async def go() -> None:
        order = ReplicaOrder(cast(Any, controller), cast(Any, Reader([*seen])), cast(Any, journal))
        order.maybe_written |= {_tp(0)} if written else set()
        found.append(await order.put_back([_step(0)]))

    go()
    return found[0]


def test_what_a_late_answer_leaves_open_is_settled_and_written_again() -> None:
    controller = Haunted([Errors.REQUEST_TIMED_OUT, 0], haunted=False)
    assert _put_back(controller, Described(_states(1, OURS))) == PutBack(None, {})
    assert controller.settled == ["REQUEST_TIMED_OUT"]
    assert not controller.answers


@dataclass
class Reached(Haunted):
    """A controller that a request reaches at these times by the clock, one after the other."""

    times: list[float] = field(default_factory=list)
    now: float = 0.0

    async def ask(self, request: Any, sending: Any) -> dict[TopicPartition, PartitionResult]:
        self.now = self.times.pop(0)
        await sending("broker")
        return await super().ask(request, sending)


def test_an_order_is_not_put_back_by_an_old_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-Z and fg: somebody else may have been at work since."""
    controller = Reached([0], haunted=False, times=[60.0, 61.0])
    seen = [Described(_states(1, OURS)), Described({}, gone=frozenset({_tp(0)}))]
    monkeypatch.setattr(replica_order, "Gate", lambda: Gate(lambda: controller.now))
    assert _put_back(controller, *seen) == GONE
    assert controller.answers == [0]


def test_an_order_is_put_back_though_each_look_gets_old(monkeypatch: pytest.MonkeyPatch) -> None:
    controller = Reached([0], haunted=False, times=[60.0, 120.0, 180.0])
    monkeypatch.setattr(replica_order, "Gate", lambda: Gate(lambda: controller.now))
    assert _put_back(controller, Described(_states(1, OURS))) == PutBack(None, {})
    assert not controller.answers


# Our order came to [1, 2, 4], which somebody else had just written.
LANDED = replace(
    offline(0),
    leader=2,
    replicas=(3, 2, 1, 4),
    adding_replicas=(3,),
    removing_replicas=(4,),
    isr=(1, 2, 4),
)


BEGAN = "the reassignment that the order began"


@pytest.mark.parametrize(
    ("late", "told", "left"),
    [
        ([1.0], f"{BEGAN} was cancelled", []),
        ([60.0, 61.0], f"{BEGAN} was cancelled", []),
        ([60.0, 120.0, 180.0], f"{BEGAN} was not cancelled (what had been seen", [0]),
    ],
)
def test_a_reassignment_that_our_order_began_is_not_cancelled_by_an_old_look(
    monkeypatch: pytest.MonkeyPatch, late: list[float], told: str, left: list[int]
) -> None:
    """Its partition may have lost its leader since: a blind election would follow."""
    controller = Reached([0], haunted=False, times=late)
    monkeypatch.setattr(replica_order, "Gate", lambda: Gate(lambda: controller.now))
    back = _put_back(controller, Described({_tp(0): LANDED}), written=True)
    assert told in back.left_alone[_tp(0)]
    assert controller.answers == left


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (replace(LANDED, replicas=(4, 2, 5), adding_replicas=(5,)), "somebody else's by now"),
        (replace(LANDED, adding_replicas=(), removing_replicas=()), "is over"),
        (replace(LANDED, topic_id="another"), "somebody else's by now"),
        (replace(LANDED, leader=-1), "could not be cancelled, for it has no leader"),
    ],
    ids=["other replicas", "over", "made anew", "without a leader"],
)
def test_what_is_not_ours_any_more_by_the_time_of_the_request_is_not_cancelled(
    monkeypatch: pytest.MonkeyPatch, now: PartitionState, told: str
) -> None:
    controller = Reached([0], haunted=False, times=[60.0, 61.0])
    monkeypatch.setattr(replica_order, "Gate", lambda: Gate(lambda: controller.now))
    back = _put_back(
        controller, Described({_tp(0): LANDED}), Described({_tp(0): now}), written=True
    )
    assert told in back.left_alone[_tp(0)]
    assert controller.answers == [0]


LEFT_ALONE = "left alone (they were [1, 2, 3])"
GONE = PutBack(gone=frozenset({_tp(0)}))


def _foreign(why: str) -> PutBack:
    return PutBack(left_alone={_tp(0): f"orders-0: {why}; {LEFT_ALONE}"})


@pytest.mark.parametrize("haunted", [True, False], ids=["after minutes", "at once"])
@pytest.mark.parametrize(
    ("seen", "back"),
    [
        pytest.param(Described({}, gone=frozenset({_tp(0)})), GONE, id="it is gone"),
        pytest.param(
            Described(_states(1, RESTORED), topic_ids={"orders": "another"}),
            GONE,
            id="it was made anew",
        ),
        pytest.param(
            Described(_states(1, (1, 2, 4))),
            _foreign("somebody else gave it the replicas [1, 2, 4]"),
            id="somebody else changed it",
        ),
        pytest.param(
            Described({_tp(0): replace(offline(0), replicas=(3, 2, 1), removing_replicas=(1,))}),
            _foreign(
                "a reassignment that is not ours is in progress: removing [1], replicas [3, 2, 1]"
            ),
            id="somebody else is about to",
        ),
    ],
)
def test_only_what_is_still_ours_is_written(
    monkeypatch: pytest.MonkeyPatch, seen: Described, back: PutBack, haunted: bool
) -> None:
    written: list[Orders] = []

    async def write(
        _: ReplicaOrder, orders: Orders, **__: object
    ) -> dict[TopicPartition, PartitionResult]:
        written.append(orders)
        return {}

    monkeypatch.setattr(ReplicaOrder, "write", write)
    assert _put_back(Haunted(haunted=haunted), seen) == back
    assert not any(written)


def test_after_minutes_what_is_still_in_our_order_is_put_back() -> None:
    controller = Haunted([0])
    assert _put_back(controller, Described(_states(1, OURS))) == PutBack()
    assert not controller.answers
