"""The real controller state machine, asked what becomes of the seats of one partition.

It is pure, and so each of its answers is remembered. What it would count on and on (broker epochs,
leader and partition epochs, offsets of the metadata log) has fixed values here: an event needs to
know only whether what a broker goes by is the newest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import (
    NO_LEADER,
    Ids,
    TopicIdPartition,
)
from kafka_unclean_recovery.kraft_rules.releases import Release
from kafka_unclean_recovery.kraft_rules.state import (
    BrokerRegistration,
    HeartbeatState,
    State,
    Topic,
)
from tests.model_check.states import (
    ELR,
    ISR,
    NEWEST,
    OUT,
    STALE,
    UNCHECKED,
    Seat,
)

Seats = tuple[Seat, ...]

_TOPIC = "foo"
_KEY = TopicIdPartition(UUID(int=1000), 0)
_LEADER_EPOCH = 10
_PARTITION_EPOCH = 10
_END_OFFSET = 1000
_BROKER_EPOCH = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """changed: there is a new partition epoch. leader_epochs: how many new ones there are."""

    seats: Seats
    changed: bool
    leader_epochs: int


@dataclass(frozen=True, slots=True)
class Controller:
    """Of a release. `remembered` grows; it belongs to the rules as they are now."""

    release: Release
    min_isr: int
    remembered: dict[tuple[Seats, ev.Event], tuple[Outcome, ...]] = field(default_factory=dict)

    def outcomes(self, seats: Seats, event: ev.Event) -> tuple[Outcome, ...]:
        """Return what may come of an event, whatever the order of the replicas; nothing if refused.

        Kafka elects the first in the order, and a reassignment may change that at any time: each in
        turn is the first here. That makes brokers interchangeable.
        """
        known = self.remembered.get((seats, event))
        if known is None:
            found = [self._outcome(seats, event, first) for first in range(len(seats))]
            known = tuple(dict.fromkeys(outcome for outcome in found if outcome is not None))
            self.remembered[seats, event] = known
        return known

    def _outcome(self, seats: Seats, event: ev.Event, first: int) -> Outcome | None:
        state = _state(self, seats, first)
        if isinstance(event, ev.RegisterBroker):
            # While the old incarnation's session lasts it is refused. So this is later, when the
            # broker has been fenced, or is about to be.
            state.contacts.pop(event.broker, None)
        return None if _refused(step(state, event)) else _read(state, len(seats))


def _refused(response: ev.AnyResponse) -> bool:
    if isinstance(response, ev.AlterPartitionResponse) and response.partition_error:
        return True
    if isinstance(response, ev.ElectLeadersResponse):
        return any(error for _, _, error in response.results)
    return bool(response.error)


# The events, each of the broker at this place.


def session_expires(broker: int) -> ev.Event:
    return ev.SessionExpired(broker)


@cache
def heartbeat(broker: int) -> ev.Event:
    return ev.Heartbeat(broker, _BROKER_EPOCH, _END_OFFSET)


@cache
def last_heartbeat(broker: int) -> ev.Event:
    """Return the heartbeat of a broker that shuts down without waiting for new leaders."""
    return ev.Heartbeat(broker, _BROKER_EPOCH, _END_OFFSET, want_fence=True, want_shut_down=True)


@cache
def register(broker: int, clean: bool) -> ev.Event:
    previous = _BROKER_EPOCH if clean else ev.UNKNOWN_BROKER_EPOCH
    return ev.RegisterBroker(broker, UUID(int=_END_OFFSET), previous, _log_dirs(broker))


@dataclass(frozen=True, slots=True)
class Basis:
    """Whether the leader and partition epochs that a proposal goes by are the newest."""

    leader_epoch: bool
    partition_epoch: bool


@cache
def propose_isr(broker: int, basis: Basis, isr: tuple[tuple[int, int], ...]) -> ev.Event:
    """Propose an ISR of members and how their broker epochs are (NEWEST, STALE, UNCHECKED)."""
    epochs = {NEWEST: _BROKER_EPOCH, STALE: _BROKER_EPOCH - 1, UNCHECKED: ev.UNKNOWN_BROKER_EPOCH}
    return ev.AlterPartition(
        broker,
        _BROKER_EPOCH,
        _TOPIC,
        0,
        _LEADER_EPOCH if basis.leader_epoch else _LEADER_EPOCH - 1,
        _PARTITION_EPOCH if basis.partition_epoch else _PARTITION_EPOCH - 1,
        tuple((member, epochs[asked]) for member, asked in isr),
    )


PREFERRED_ELECTION = ev.ElectLeaders(ev.ElectionType.PREFERRED, ((_TOPIC, 0),))


# Seats as a state of the controller, and back.


def _log_dirs(broker: int) -> tuple[UUID, ...]:
    return (UUID(int=500 + broker),)


def _state(controller: Controller, seats: Seats, first: int) -> State:
    state = State(controller.release, end_offset=_END_OFFSET)
    for broker, seat in enumerate(seats):
        state.brokers[broker] = BrokerRegistration(
            UUID(int=broker), _BROKER_EPOCH, _log_dirs(broker), seat.fenced, False, 0
        )
        state.heartbeats[broker] = HeartbeatState(seat.fenced)
        if not seat.fenced:
            state.contacts[broker] = _BROKER_EPOCH
    partition = _partition(seats, first)
    configs = {MIN_INSYNC_REPLICAS: str(controller.min_isr)}
    state.topics[_KEY.topic_id] = Topic(_TOPIC, _KEY.topic_id, {0: partition}, configs)
    state.topic_ids[_TOPIC] = _KEY.topic_id
    state.isrs.update(_KEY, (), partition.isr)
    state.leaders.update(_KEY, (), (partition.leader,))
    state.elrs.update(_KEY, (), partition.elr)
    return state


def _partition(seats: Seats, first: int) -> PartitionRegistration:
    replicas = (first, *(broker for broker in range(len(seats)) if broker != first))
    return PartitionRegistration(
        replicas,
        tuple(_log_dirs(broker)[0] for broker in replicas),
        _those(seats, lambda seat: seat.member == ISR),
        _one(_those(seats, lambda seat: seat.leader)),
        _LEADER_EPOCH,
        _PARTITION_EPOCH,
        _those(seats, lambda seat: seat.member == ELR),
        _those(seats, lambda seat: seat.last_known),
        _one(_those(seats, lambda seat: seat.last_known_leader)),
    )


def _those(seats: Seats, are: Callable[[Seat], bool]) -> Ids:
    return tuple(broker for broker, seat in enumerate(seats) if are(seat))


def _one(brokers: Ids) -> int:
    return brokers[0] if brokers else NO_LEADER


def _read(state: State, brokers: int) -> Outcome:
    partition = state.partition(_KEY)
    seats = tuple(
        Seat(
            state.brokers[broker].fenced,
            ISR if broker in partition.isr else ELR if broker in partition.elr else OUT,
            broker == partition.leader,
            broker in partition.last_known_elr,
            broker == partition.last_known_leader,
        )
        for broker in range(brokers)
    )
    return Outcome(
        seats,
        partition.partition_epoch != _PARTITION_EPOCH,
        partition.leader_epoch - _LEADER_EPOCH,
    )
