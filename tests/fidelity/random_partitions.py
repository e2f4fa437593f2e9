"""Random events of partitions: what their leaders report, and what admins do to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.log_dir.metadata.image import (
    MetadataImage,
    PartitionRegistration,
)
from tests.fidelity.choosing import (
    BROKERS,
    NO_TOPIC,
    STRANGER,
    Place,
    active,
    any_place,
    places,
    shuffled,
)
from tests.fidelity.relative import NOW, UNCHECKED

WRONG = 0.12
"""How often an AlterPartition request has something wrong with it."""


def alter_partition(chance: Random, image: MetadataImage) -> ev.Event | None:
    place = any_place(chance, image, lambda found: found.leader >= 0)
    if place is None:
        return None
    event = _alteration(chance, image, place)
    return _made_wrong(chance, event) if chance.random() < WRONG else event


def alter_partitions(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Alter up to three in one request, of one leader mostly.

    None comes twice: where the first completes a reassignment, the second brings back whom it has
    removed, and the next reassignment fails.
    """
    led = [place for place in places(image) if place.now.leader >= 0]
    if not led:
        return None
    sender = chance.choice(led).now.leader
    if chance.random() < 0.9:
        led = [place for place in led if place.now.leader == sender]
    epoch = chance.choices((NOW, -1, 1), (40, 1, 1))[0]
    events = [_alteration(chance, image, place) for place in chance.sample(led, min(len(led), 3))]
    return ev.AlterPartitions(
        tuple(replace(event, broker=sender, broker_epoch=epoch) for event in events)
    )


def _alteration(chance: Random, image: MetadataImage, place: Place) -> ev.AlterPartition:
    recovering = place.now.leader_recovery_state == 1 and chance.random() < 0.3
    return ev.AlterPartition(
        broker=place.now.leader,
        broker_epoch=NOW,
        topic=place.topic,
        partition=place.partition,
        leader_epoch=NOW,
        partition_epoch=NOW,
        new_isr=tuple((broker, NOW) for broker in _new_isr(chance, image, place.now)),
        leader_recovery_state=int(recovering),
    )


def _new_isr(chance: Random, image: MetadataImage, now: PartitionRegistration) -> Sequence[int]:
    """Return an ISR shrunk or grown by one, everyone there, or any that holds the leader."""
    there = [broker for broker in now.replicas if active(image, broker)]
    others = [broker for broker in now.isr if broker != now.leader]
    missing = [broker for broker in there if broker not in now.isr]
    kind = chance.random()
    if kind < 0.35 and others:
        gone = chance.choice(others)
        return [broker for broker in now.isr if broker != gone]
    if kind < 0.7 and missing:
        return shuffled(chance, [*now.isr, chance.choice(missing)])
    if kind < 0.85:
        return shuffled(chance, {now.leader, *there})
    some = chance.sample(now.replicas, chance.randint(0, len(now.replicas)))
    return shuffled(chance, {now.leader, *some})


def _made_wrong(chance: Random, event: ev.AlterPartition) -> ev.AlterPartition:
    member, rest = event.new_isr[0], event.new_isr[1:]
    off_by_one = chance.choice((-1, 1))
    other = chance.choice((*BROKERS, STRANGER))
    wrongs: list[Callable[[], ev.AlterPartition]] = [
        lambda: replace(event, leader_epoch=off_by_one),
        lambda: replace(event, partition_epoch=off_by_one),
        lambda: replace(event, broker_epoch=off_by_one),
        lambda: replace(event, new_isr=((member[0], off_by_one), *rest)),
        lambda: replace(event, new_isr=tuple((b, UNCHECKED) for b, _ in event.new_isr)),
        lambda: replace(event, broker=other),
        lambda: replace(event, new_isr=()),
        lambda: replace(event, new_isr=(*event.new_isr, (other, NOW))),
        lambda: replace(event, new_isr=rest),
        # 2, which is no state at all, makes a real controller resign.
        lambda: replace(event, leader_recovery_state=1),
        lambda: replace(event, topic=NO_TOPIC),
        lambda: replace(event, partition=7),
    ]
    return chance.choice(wrongs)()


def elect(chance: Random, image: MetadataImage) -> ev.Event:
    """Elect for all, one or two; an unclean election is mostly of partitions without a leader."""
    unclean, designated = ev.ElectionType.UNCLEAN, ev.ElectionType.DESIGNATED
    kinds = ev.ElectionType.PREFERRED, unclean, designated
    kind = chance.choices(kinds, (10, 10, 1))[0]
    if chance.random() < 0.1:
        return ev.ElectLeaders(kind, None)
    found = list(places(image))
    if kind is unclean and chance.random() < 0.8:
        found = [place for place in found if place.now.leader < 0] or found
    chosen = chance.sample(found, min(len(found), chance.randint(1, 2)))
    named = [(place.topic, place.partition) for place in chosen]
    if not named or chance.random() < 0.05:
        named.append((NO_TOPIC, 0))
    leaders = chance.choices(BROKERS, k=len(named)) if kind is designated else ()
    return ev.ElectLeaders(kind, tuple(named), tuple(leaders))


def reassign(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Name the same replicas in another order, others, or what can't be."""
    place = any_place(chance, image)
    if place is None:
        return None
    kind = chance.random()
    if kind < 0.25:
        replicas = shuffled(chance, place.now.replicas)
    elif kind < 0.97:
        replicas = chance.sample(BROKERS, chance.randint(1, 4))
    else:
        replicas = chance.choice(([], [STRANGER], [1, 1], [-1]))
    return ev.AlterReassignment(place.topic, place.partition, tuple(replicas))


def cancel(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Cancel a reassignment in progress; now and then, where there is none."""
    place = any_place(
        chance, image, lambda found: bool(found.adding_replicas or found.removing_replicas)
    )
    if place is None and chance.random() < 0.1:
        place = any_place(chance, image)
    return None if place is None else ev.AlterReassignment(place.topic, place.partition, None)
