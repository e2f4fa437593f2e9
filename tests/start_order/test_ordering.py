"""The order that is named costs no more than any other, by the reference controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import NO_LEADER, EpochSpan, ReplicaLog
from kafka_unclean_recovery.start_order.ordering import least, worst
from kafka_unclean_recovery.start_order.situation import Part, Situation
from kafka_unclean_recovery.start_order.weighing import Price, Scales
from tests.planning.test_self_election import BROKERS, Controller, leaderless

SITUATIONS = 60


def _log(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(
        broker,
        live=True,
        last_written_leader_epoch=1,
        log_start_offset=0,
        log_end_offset=end,
        epochs=(EpochSpan(1, 0, end),) if end else (),
    )


def _cut(ends: Mapping[int, int], leader: int) -> int:
    """Return what the others lose: all that any of them has beyond the leader, each record once."""
    return max(0, max(ends.values()) - ends[leader])


def situations(release: str) -> Iterator[tuple[Situation, list[Controller]]]:
    """Yield situations of some partitions, each with the controller that has it."""
    chance, found = Random(3), leaderless(release)
    while True:
        controllers: list[Controller] = []
        parts: list[Part] = []
        for _ in range(chance.randint(1, 4)):
            controller, state = next(found)
            while len(controller.dead()) < len(BROKERS):
                for broker in set(BROKERS) - set(controller.dead()):
                    controller.expire(broker)
            state = controller.seen()
            if not state.offline:
                continue
            ends = {broker: chance.choice((0, 100, 200, 300)) for broker in state.replicas}
            logs = {broker: _log(broker, end) for broker, end in ends.items()}
            named = replace(state, topic=f"t{len(parts)}")
            parts.append(Part(named, logs, controller.unclean))
            controllers.append(controller)
        if parts:
            clean = {broker: chance.random() < 0.3 for broker in BROKERS}
            yield Situation("c", tuple(parts), BROKERS, clean=clean), controllers


def _cost(
    part: Part, controller: Controller, order: Sequence[int], clean: Mapping[int, bool]
) -> tuple[int, int]:
    """Return (what the partition costs at the least, what it costs with no election in between),
    with the brokers started in this order on a copy of the controller."""
    trial = controller.copy()
    ends = {broker: log.log_end_offset or 0 for broker, log in part.logs.items()}
    options: list[int] = []
    for number, broker in enumerate(order):
        up = [b for b in order[:number] if b in ends]
        if up:
            options.append(min(_cut(ends, b) for b in up))
        trial.start(broker, clean=clean[broker])
        leader = trial.seen().leader
        if leader != NO_LEADER:
            return min([*options, _cut(ends, leader)]), _cut(ends, leader)
    return min([*options, 0]), 0


@pytest.mark.parametrize("release", ["4.4.0", "3.9.1"])
def test_no_order_loses_less_than_the_one_that_is_named(release: str) -> None:
    kinds: Counter[str] = Counter()
    for _, (situation, controllers) in zip(range(SITUATIONS), situations(release), strict=False):
        clean = {broker: bool(situation.clean[broker]) for broker in BROKERS}
        pairs = list(zip(situation.parts, controllers, strict=True))
        costs = {
            order: [_cost(part, controller, order, clean) for part, controller in pairs]
            for order in permutations(BROKERS)
        }
        best = min(sum(mine for mine, _ in row) for row in costs.values())
        most = max(sum(blind for _, blind in row) for row in costs.values())
        scales = Scales()
        found = least(situation, scales)
        assert found.price == Price(records=best), (situation, found)
        assert worst(situation, scales) == Price(records=most)
        assert sorted(broker for group in found.groups for broker in group) == list(BROKERS)
        kinds["one group" if len(found.groups) == 1 else "several"] += 1
        kinds["some order loses"] += most > 0
        kinds["every order loses"] += best > 0
    assert kinds["several"] > 5
    assert kinds["one group"] > 5
    assert kinds["some order loses"] > 10
    assert kinds["every order loses"]
