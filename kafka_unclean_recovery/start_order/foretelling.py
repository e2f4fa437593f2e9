"""Foretell what the controllers make of partitions by fencing every broker, as they do after a
power cut before any broker can start; no I/O.

The brokers are fenced one after the other in an order that the metadata log tells, and the
reference controller says what each step changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from msgspec import structs

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE
from kafka_unclean_recovery.kraft_rules.fencing_order import order_by_hash
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.registrations import fence
from kafka_unclean_recovery.kraft_rules.releases import KAFKA_3_9_1, KAFKA_4_4_0
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import (
    BrokerRegistration,
    HeartbeatState,
    State,
    Topic,
)
from kafka_unclean_recovery.model import Fencing, PartitionState, TopicPartition

_AGAIN = (
    ": start the controllers, wait for a session of broker.session.timeout.ms, and scan a"
    " controller's log directory again"
)
_WHICH_ORDER = (
    "who may lead depends on the order in which the controllers fence the brokers, and the metadata"
    f" log does not tell whether they are of 4.0 or later{_AGAIN}"
)
_WHICH_MIN_ISR = (
    "who may lead depends on min.insync.replicas, which the metadata log does not have" + _AGAIN
)
_STRANGERS = "its ISR or ELR names a broker that has no replica of it: scan again"
_NO_DIRECTORY = UUID(int=2)
# The first hundred ids name no directory.
_FIRST_DIRECTORY = 100


@dataclass(frozen=True, slots=True)
class Foretold:
    """Partitions as they will be. states: of those that can be foretold. unknown: why the others
    can't."""

    states: Mapping[TopicPartition, PartitionState]
    unknown: Mapping[TopicPartition, str] = field(default_factory=dict)


def foretold(states: Sequence[PartitionState], facts: Fencing, unclean: Iterable[str]) -> Foretold:
    """Return the partitions once every broker is fenced. states: as the metadata log has them.
    unclean: topics with unclean.leader.election.enable."""
    untold = {s.topic_partition: why for s in states if (why := _untold(s, facts)) is not None}
    known = [state for state in states if state.topic_partition not in untold]
    orders = (facts.by_hash,) if facts.by_hash is not None else (True, False)
    ends = [_ends(known, facts, set(unclean), by_hash=by_hash) for by_hash in orders]
    same = {tp: end for tp, end in ends[0].items() if all(each[tp] == end for each in ends)}
    differ = dict.fromkeys((tp for tp in ends[0] if tp not in same), _WHICH_ORDER)
    return Foretold(same, untold | differ)


def _untold(state: PartitionState, facts: Fencing) -> str | None:
    """Return why the partition's end can't be foretold, whatever the order; None where it can."""
    if not {*state.isr, *state.elr, *state.last_known_elr} <= {*state.replicas}:
        return _STRANGERS
    return _WHICH_MIN_ISR if facts.elr and _min_isr(facts, state) is None else None


def _min_isr(facts: Fencing, state: PartitionState) -> int | None:
    return facts.min_isr_of_topics.get(state.topic, facts.min_isr)


def _ends(
    states: Sequence[PartitionState], facts: Fencing, unclean: set[str], *, by_hash: bool
) -> dict[TopicPartition, PartitionState]:
    controller, keys = _controller(states, facts, unclean, by_hash=by_hash)
    for broker in _order(facts, by_hash=by_hash):
        for record in fence(controller, broker):
            replay(controller, record)
    fenced = {each.broker for each in facts.unfenced}
    return {
        state.topic_partition: _after(state, controller.partition(key), fenced)
        for state, key in zip(states, keys, strict=True)
    }


def _order(facts: Fencing, *, by_hash: bool) -> tuple[int, ...]:
    """Return the brokers in the order in which they are fenced. Controllers until 3.9 take them as
    they go through their registrations."""
    registered = [(each.broker, each.epoch) for each in facts.unfenced]
    return order_by_hash(registered) if by_hash else tuple(broker for broker, _ in registered)


def _after(state: PartitionState, found: PartitionRegistration, fenced: set[int]) -> PartitionState:
    offline = {*state.offline_replicas, *fenced}
    return structs.replace(
        state,
        replicas=found.replicas,
        adding_replicas=found.adding_replicas,
        removing_replicas=found.removing_replicas,
        leader=found.leader,
        leader_epoch=state.leader_epoch + found.leader_epoch,
        isr=found.isr,
        elr=found.elr,
        last_known_elr=found.last_known_elr,
        offline_replicas=tuple(broker for broker in found.replicas if broker in offline),
    )


def _controller(
    states: Sequence[PartitionState], facts: Fencing, unclean: set[str], *, by_hash: bool
) -> tuple[State, list[TopicIdPartition]]:
    """Return (a controller that has these partitions and the brokers that are not fenced, the name
    that each partition has there). Leader epochs begin at 0 there."""
    controller = State(replace(KAFKA_4_4_0, elr=facts.elr) if by_hash else KAFKA_3_9_1)
    for each in facts.unfenced:
        controller.brokers[each.broker] = BrokerRegistration(
            _directory(each.broker),
            each.epoch,
            (_directory(each.broker),),
            fenced=False,
            in_controlled_shutdown=each.in_controlled_shutdown,
            registered_at=0,
        )
        controller.heartbeats[each.broker] = HeartbeatState(fenced=False)
    topics: dict[str, Topic] = {}
    keys = [
        _add(controller, topics, state, dict(_configs(state, facts, unclean))) for state in states
    ]
    for topic in topics.values():
        # It bounds min.insync.replicas of them all.
        topic.partitions.setdefault(0, next(iter(topic.partitions.values())))
    return controller, keys


def _add(
    controller: State, topics: dict[str, Topic], state: PartitionState, configs: dict[str, str]
) -> TopicIdPartition:
    topic = topics.get(state.topic)
    if topic is None:
        topic = topics[state.topic] = Topic(state.topic, UUID(int=len(topics)), configs=configs)
        controller.topics[topic.topic_id] = topic
        controller.topic_ids[topic.name] = topic.topic_id
    key = TopicIdPartition(topic.topic_id, state.partition)
    topic.partitions[state.partition] = PartitionRegistration(
        state.replicas,
        tuple(
            _NO_DIRECTORY if replica in state.offline_replicas else _directory(replica)
            for replica in state.replicas
        ),
        state.isr,
        state.leader,
        elr=state.elr,
        last_known_elr=state.last_known_elr,
        adding_replicas=state.adding_replicas,
        removing_replicas=state.removing_replicas,
    )
    controller.isrs.update(key, (), state.isr)
    controller.leaders.update(key, (), (state.leader,))
    controller.elrs.update(key, (), state.elr)
    return key


def _configs(state: PartitionState, facts: Fencing, unclean: set[str]) -> Iterator[tuple[str, str]]:
    min_isr = _min_isr(facts, state)
    if min_isr is not None:
        yield MIN_INSYNC_REPLICAS, str(min_isr)
    if state.topic in unclean:
        yield UNCLEAN_LEADER_ELECTION_ENABLE, "true"


def _directory(broker: int) -> UUID:
    return UUID(int=_FIRST_DIRECTORY + broker)
