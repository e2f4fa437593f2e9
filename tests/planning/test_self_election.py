"""Whom a controller elects by itself once a broker is back, held against the reference one."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from random import Random

import pytest

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.state import State
from kafka_unclean_recovery.model import NO_LEADER, PartitionState
from kafka_unclean_recovery.planning.self_election import (
    ByItself,
    elected_by_return,
    may_lead_by_itself,
    returned,
)

TOPIC, TOPIC_ID = "orders", uuid.UUID(int=0x0AD3B5)
BROKERS = (1, 2, 3, 4)
TRIES = 400


class Controller:
    """The reference controller, whose brokers we are."""

    def __init__(self, release: str, chance: Random) -> None:
        self.state = State(RELEASES[release], end_offset=1)
        self.chance = chance
        self.incarnations = count(1000)
        for broker in BROKERS:
            self.start(broker, clean=False)
        replicas = tuple(chance.sample(BROKERS, 3))
        configs = {"min.insync.replicas": str(chance.choice((1, 2, 3)))}
        if chance.random() < 0.2:
            configs["unclean.leader.election.enable"] = "true"
        self.unclean = len(configs) > 1
        step(self.state, ev.CreateTopic(TOPIC, TOPIC_ID, {0: replicas}, configs))

    def start(self, broker: int, *, clean: bool) -> None:
        known = self.state.brokers.get(broker)
        epoch = known.epoch if known is not None and clean else ev.UNKNOWN_BROKER_EPOCH
        log_dirs = (uuid.UUID(int=10_000 + broker),)
        incarnation = uuid.UUID(int=next(self.incarnations))
        step(self.state, ev.RegisterBroker(broker, incarnation, epoch, log_dirs))
        now = self.state.brokers[broker].epoch
        step(self.state, ev.Heartbeat(broker, now, self.state.end_offset))

    def dead(self) -> list[int]:
        return [b for b in BROKERS if self.state.brokers[b].fenced]

    def expire(self, broker: int) -> None:
        step(self.state, ev.SessionExpired(broker))

    def copy(self) -> Controller:
        """Return another controller that knows the same."""
        return deepcopy(self)

    def random_step(self) -> None:
        part = self.state.topics[TOPIC_ID].partitions[0]
        dead = self.dead()
        if dead and self.chance.random() < 0.3:
            self.start(self.chance.choice(dead), clean=self.chance.random() < 0.5)
        elif part.leader != NO_LEADER and self.chance.random() < 0.4:
            live = [r for r in part.replicas if r not in dead]
            chosen = {part.leader, *self.chance.sample(live, self.chance.randint(0, len(live)))}
            members = tuple((b, self.state.brokers[b].epoch) for b in sorted(chosen))
            sender = self.state.brokers[part.leader].epoch
            epochs = part.leader_epoch, part.partition_epoch
            step(self.state, ev.AlterPartition(part.leader, sender, TOPIC, 0, *epochs, members))
        else:
            self.expire(self.chance.choice(BROKERS))

    def seen(self) -> PartitionState:
        part = self.state.topics[TOPIC_ID].partitions[0]
        return PartitionState(
            TOPIC,
            str(TOPIC_ID),
            0,
            part.leader,
            part.leader_epoch,
            part.replicas,
            part.isr,
            part.elr,
            part.last_known_elr,
            tuple(b for b in part.replicas if b in self.dead()),
        )


def leaderless(release: str) -> Iterator[tuple[Controller, PartitionState]]:
    chance = Random(7)
    while True:
        controller = Controller(release, chance)
        for _ in range(chance.randint(3, 15)):
            controller.random_step()
            if controller.seen().offline and chance.random() < 0.5:
                break
        if (state := controller.seen()).offline:
            yield controller, state


@pytest.mark.parametrize("release", ["4.4.0", "4.3.1", "3.9.1"])
def test_who_leads_once_a_broker_is_back_is_who_the_controller_elects(release: str) -> None:
    chance, ways = Random(8), Counter[str]()
    for _, (controller, state) in zip(range(TRIES), leaderless(release), strict=False):
        broker = chance.choice(state.offline_replicas)
        clean = chance.random() < 0.5
        told = elected_by_return(state, broker, clean, controller.unclean)
        controller.start(broker, clean=clean)
        leader = controller.seen().leader
        assert (NO_LEADER if told is None else told.leader) == leader, (state, broker, clean, told)
        if told is None:
            ways["nobody"] += 1
        else:
            ways["itself" if told.leader == broker else "another"] += 1
    # Else nothing was tried.
    assert min(ways["nobody"], ways["itself"]) > 10
    assert release == "3.9.1" or ways["another"]


@pytest.mark.parametrize("release", ["4.4.0", "4.3.1", "3.9.1"])
def test_one_return_after_the_other_leaves_what_the_controller_has(release: str) -> None:
    chance, returns = Random(9), Counter[int]()
    for _, (controller, state) in zip(range(TRIES), leaderless(release), strict=False):
        order = chance.sample(state.offline_replicas, len(state.offline_replicas))
        for number, broker in enumerate(order):
            clean = chance.random() < 0.3
            state = returned(state, broker, clean, controller.unclean)
            controller.start(broker, clean=clean)
            seen = controller.seen()
            returns[number] += 1
            assert (state.leader, state.online_replicas) == (seen.leader, seen.online_replicas)
            if not state.offline:
                break
            assert (set(state.isr), set(state.elr)) == (set(seen.isr), set(seen.elr))
    # Else no return but the first was tried.
    assert returns[1] > 50
    assert returns[2] > 10


def test_of_a_stop_that_nobody_knows_to_be_clean_it_is_not_sure() -> None:
    state = PartitionState(
        *("orders", "t-1", 0, -1, 4, (1, 2, 3)),
        elr=(1, 2),
        last_known_elr=(2,),
        offline_replicas=(1, 2, 3),
    )
    assert elected_by_return(state, 1, None) == ByItself(
        1, "it is in the ELR, if its stop was clean", sure=False
    )
    assert elected_by_return(state, 3, None) is None
    alone = PartitionState(
        *("orders", "t-1", 0, -1, 4, (1, 2)),
        elr=(1,),
        last_known_elr=(1,),
        offline_replicas=(1, 2),
    )
    found = elected_by_return(alone, 1, None)
    assert found is not None
    assert (found.leader, found.sure) == (1, True)


def test_who_may_lead_once_all_start_is_every_member_and_the_leader_that_is_written_down() -> None:
    state = PartitionState("orders", "t-1", 0, 2, 4, (1, 2, 3, 4), (2,), (3, 4))
    assert may_lead_by_itself(state, {3: False, 4: True}) == (2, 4)
    leaderless = PartitionState("orders", "t-1", 0, -1, 4, (1, 2, 3), (), (1,), (3,))
    assert may_lead_by_itself(leaderless, {1: False}) == (3,)
    two = PartitionState("orders", "t-1", 0, -1, 4, (1, 2, 3), (), (), (2, 3))
    assert may_lead_by_itself(two, {}) == ()
