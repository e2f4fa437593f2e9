"""The order of starting, what each broker would do if it started too early, and what a disk that is
gone holds up; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka_unclean_recovery.model import PartitionState, ReplicaLog, TopicPartition
from kafka_unclean_recovery.start_order.ordering import (
    Order,
    Played,
    harmful,
    least,
    play,
    worst,
)
from kafka_unclean_recovery.start_order.returns import after
from kafka_unclean_recovery.start_order.situation import Part, Situation
from kafka_unclean_recovery.start_order.weighing import (
    NOTHING,
    Price,
    Scales,
    cuts_of,
    cuts_of_empty,
)
from kafka_unclean_recovery.wording import count_text


@dataclass(frozen=True, slots=True)
class Harm:
    """What a broker costs that leads by itself. records: of all these partitions, more than their
    best leaders would cost; None where that is not known of some. leader_end: the end of its log in
    the first of them, exclusive, None unknown; best and best_end: of the best leader there."""

    partitions: tuple[TopicPartition, ...]
    records: int | None
    leader_end: int | None
    best: int | None
    best_end: int | None


@dataclass(frozen=True, slots=True)
class Start:
    """One broker that is started. step: with which group, from 1 on. too_early: what its start may
    cost before the elections of the steps before."""

    broker: int
    step: int
    too_early: Harm | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """A broker whose disk is lost. trap: what an empty disk under its id costs where it leads;
    frees: partitions that the controller would lead again once an empty disk registers, at no cost.
    """

    broker: int
    trap: Harm | None
    frees: int


@dataclass(frozen=True, slots=True)
class PartitionEnd:
    """What becomes of one partition. step: after the start of that group it has its leader, None
    where it gets none; 0 is before any start. elected: by an election of ours. records: what that
    costs beyond the best leader, None unknown."""

    topic_partition: TopicPartition
    leader: int | None
    elected: bool
    step: int | None
    records: int | None


@dataclass(frozen=True, slots=True)
class StartOrder:
    """The answer. loses: some order loses records that this one keeps, or an empty disk would.
    worst: what the worst order costs where nobody elects in between, None where it was not tried.
    tried_all: no order costs less. unknown: sentences on what is not known. foretold: brokers are
    yet to be fenced, and who may lead is what that will make of it."""

    cluster_id: str | None
    starts: tuple[Start, ...]
    gone: tuple[Gone, ...]
    partitions: tuple[PartitionEnd, ...]
    worst: int | None
    tried_all: bool
    unknown: tuple[str, ...]
    rests_on: str | None
    foretold: bool = False

    @property
    def steps(self) -> int:
        return max((start.step for start in self.starts), default=0)

    @property
    def loses(self) -> bool:
        # The worst order is not tried where there are many brokers.
        early = any(start.too_early for start in self.starts)
        return early or bool(self.worst) or any(each.trap for each in self.gone)

    @property
    def costs(self) -> int | None:
        """Return how many records this order loses more than the best leaders would; None where
        that is not known of some partition."""
        told = [row.records for row in self.partitions if row.records is not None]
        return sum(told) if len(told) == len(self.partitions) else None

    def elected_after(self, step: int) -> tuple[TopicPartition, ...]:
        """Return the partitions to elect once the brokers of this step have started."""
        return tuple(p.topic_partition for p in self.partitions if p.elected and p.step == step)

    def all_elected_after(self, step: int) -> bool:
        """Return True where what is elected after this step is all that has no leader then."""
        return not any(p.step is None or p.step > step for p in self.partitions)

    def led_after(self, step: int) -> int:
        """Return how many partitions the controller leads again by that start."""
        return sum(not p.elected and p.step == step for p in self.partitions)


def start_order(situation: Situation) -> StartOrder:
    """Return the order of starting that loses least."""
    scales = Scales()
    order = least(situation, scales)
    ends = [
        _end(part, play(part, order.groups, situation.clean, scales)) for part in situation.parts
    ]
    return StartOrder(
        situation.cluster_id,
        tuple(_starts(situation, order, scales)),
        tuple(_gone(situation, broker, scales) for broker in situation.gone),
        tuple(ends),
        _records(worst(situation, scales)),
        order.tried_all,
        (*situation.unknown, *_unsure(situation), *_many(order)),
        situation.rests_on,
        situation.foretold,
    )


def _end(part: Part, played: Played) -> PartitionEnd:
    return PartitionEnd(
        part.state.topic_partition,
        played.leader,
        played.elected,
        played.at,
        _records(played.price),
    )


def _records(price: Price | None) -> int | None:
    return None if price is None or price.unknown else price.records


def _starts(situation: Situation, order: Order, scales: Scales) -> Iterator[Start]:
    every = (*situation.startable, *situation.later)
    found = {
        part.state.topic_partition: harmful(part, every, situation, scales)
        for part in situation.parts
    }
    for number, group in enumerate(order.groups, start=1):
        for broker in group:
            yield Start(broker, number, _too_early(broker, situation.parts, found, scales))


def _too_early(
    broker: int,
    parts: Iterable[Part],
    found: Mapping[TopicPartition, Mapping[int, Price]],
    scales: Scales,
) -> Harm | None:
    by_it = [part for part in parts if broker in found[part.state.topic_partition]]
    if not by_it:
        return None
    prices = [found[part.state.topic_partition][broker] for part in by_it]
    cuts = cuts_of(by_it[0], broker)
    return _harm(by_it, prices, cuts.leader_end if cuts else None, scales)


def _harm(parts: list[Part], prices: list[Price], leader_end: int | None, scales: Scales) -> Harm:
    first = parts[0]
    best = scales.best(first, first.logs)
    untold = any(price.unknown for price in prices)
    return Harm(
        tuple(part.state.topic_partition for part in parts),
        None if untold else sum(price.records for price in prices),
        leader_end,
        best,
        first.logs[best].log_end_offset if best is not None else None,
    )


def _gone(situation: Situation, broker: int, scales: Scales) -> Gone:
    """Return what an empty disk under the id of a broker does whose disk is lost."""
    brokers = (*situation.startable, *situation.later)
    clean = {**situation.clean, broker: False}
    led, prices, frees = [], [], 0
    for part in situation.parts:
        with_it = after(part, part.alike, (*brokers, broker), clean).leaders
        cuts = cuts_of_empty(part, broker)
        if broker in with_it and (cuts.records or cuts.untold):
            led.append(part)
            prices.append(Price(unknown=1) if cuts.untold else Price(records=cuts.records))
        elif with_it and not after(part, part.alike, brokers, clean).leaders:
            frees += all(scales.price(part, leader) == NOTHING for leader in with_it - {broker})
    return Gone(broker, _harm(led, prices, 0, scales) if led else None, frees)


def _unsure(situation: Situation) -> Iterator[str]:
    """Yield what is not known of logs: a sentence for each kind, with its first partition."""
    found: dict[str, list[Part]] = {}
    for part in situation.parts:
        if part.state.tiered is not None:
            found.setdefault(part.state.tiered, []).append(part)
        for broker in sorted(set(part.state.replicas) - set(situation.gone)):
            why = _why_unsure(part.logs.get(broker), part.state)
            if why is not None:
                found.setdefault(f"the log of broker {broker} {why}", []).append(part)
    for sentence, parts in found.items():
        more = f" and {count_text(len(parts) - 1, 'more partition')}" if len(parts) > 1 else ""
        yield f"{parts[0].name}{more}: {sentence}"


def _why_unsure(log: ReplicaLog | None, state: PartitionState) -> str | None:
    if log is None:
        return "was not read by anybody, so what is lost without it is not known"
    newest = -1 if log.last_written_leader_epoch is None else log.last_written_leader_epoch
    if newest > state.leader_epoch:
        return (
            f"has leader epoch {newest}, and the controllers have {state.leader_epoch}: the"
            " metadata is older, or has lost records"
        )
    if log.sure:
        return None
    return f"is not sure: {log.problem or log.suspect or log.unproven or 'it was scanned fast'}"


def _many(order: Order) -> Iterator[str]:
    if not order.tried_all:
        yield "there are too many brokers to try every order; another one may lose less"
