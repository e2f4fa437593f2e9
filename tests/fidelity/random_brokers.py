"""Random events of brokers that come and go. None where there is nobody to whom it could happen."""

from __future__ import annotations

import uuid
from dataclasses import replace
from random import Random

from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.state import UNASSIGNED
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from tests.fidelity.choosing import (
    BROKERS,
    NO_TOPIC,
    STRANGER,
    any_broker,
    any_place,
    log_dirs,
)
from tests.fidelity.relative import (
    AT_REGISTRATION,
    BEHIND_REGISTRATION,
    CAUGHT_UP,
    NOW,
    OWN,
)

NOWHERE = uuid.UUID(int=3_000)
"""A directory that no broker ever has."""
CLEAN = ev.NO_PREVIOUS_REGISTRATION
UNCLEAN = ev.UNKNOWN_BROKER_EPOCH


def register(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Register a broker that was unregistered before, so that -2 is a clean shutdown."""
    gone = [broker for broker in BROKERS if broker not in image.brokers]
    return _registration(chance, chance.choice(gone)) if gone else None


def register_again(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Register the same incarnation once more, or another one, which a live session forbids."""
    found = any_broker(chance, image)
    if found is None:
        return None
    event = _registration(chance, found.id)
    if chance.random() < 0.6:
        event = replace(event, previous_broker_epoch=OWN)
    if chance.random() < 0.3:
        event = replace(event, incarnation_id=found.incarnation_id)
    return event


def register_wrongly(chance: Random, _: MetadataImage) -> ev.Event:
    """Register with no log directory, one twice, a reserved one, or another broker's."""
    event = _registration(chance, chance.choice(BROKERS))
    one, two = log_dirs(event.broker)
    other = log_dirs(event.broker % len(BROKERS) + 1)[0]
    wrongs = ((), (one, one), (one, uuid.UUID(int=7)), (two, other))
    return replace(event, log_dirs=chance.choice(wrongs))


def unregister(chance: Random, _: MetadataImage) -> ev.Event:
    return ev.UnregisterBroker(chance.choice(BROKERS))


def unfence(chance: Random, image: MetadataImage) -> ev.Event | None:
    found = any_broker(chance, image, lambda broker: broker.fenced)
    if found is None:
        return None
    offsets = CAUGHT_UP, AT_REGISTRATION, BEHIND_REGISTRATION
    return ev.Heartbeat(found.id, NOW, chance.choices(offsets, (20, 4, 1))[0])


def fence(chance: Random, image: MetadataImage) -> ev.Event | None:
    found = any_broker(chance, image, lambda broker: not broker.fenced)
    return None if found is None else ev.Heartbeat(found.id, NOW, CAUGHT_UP, want_fence=True)


def beat(chance: Random, image: MetadataImage) -> ev.Event | None:
    found = any_broker(chance, image)
    return None if found is None else ev.Heartbeat(found.id, NOW, CAUGHT_UP)


def shut_down(chance: Random, image: MetadataImage) -> ev.Event | None:
    found = any_broker(chance, image)
    if found is None:
        return None
    at_once = chance.random() < 0.1
    return ev.Heartbeat(found.id, NOW, CAUGHT_UP, want_fence=at_once, want_shut_down=True)


def lose_log_dir(chance: Random, image: MetadataImage) -> ev.Event | None:
    found = any_broker(chance, image)
    if found is None:
        return None
    lost = chance.choice(log_dirs(found.id))
    return ev.Heartbeat(found.id, NOW, CAUGHT_UP, offline_log_dirs=(lost,))


def assign_to_dir(chance: Random, image: MetadataImage) -> ev.Event | None:
    """Assign mostly a replica of its own, to a directory that it may or may not have registered."""
    found = any_broker(chance, image)
    if found is None:
        return None
    its_own = chance.random() < 0.9
    place = any_place(chance, image, lambda now: not its_own or found.id in now.replicas)
    if place is None:
        return None
    return ev.AssignReplicaToDir(
        broker=found.id,
        broker_epoch=chance.choices((NOW, -1, 1), (40, 1, 1))[0],
        topic=NO_TOPIC if chance.random() < 0.02 else place.topic,
        partition=7 if chance.random() < 0.02 else place.partition,
        log_dir=chance.choices((*log_dirs(found.id), UNASSIGNED, NOWHERE), (10, 10, 2, 1))[0],
    )


def beat_stale(chance: Random, _: MetadataImage) -> ev.Event:
    return ev.Heartbeat(chance.choice((*BROKERS, STRANGER)), chance.choice((-1, 1)), CAUGHT_UP)


def _registration(chance: Random, broker: int) -> ev.RegisterBroker:
    return ev.RegisterBroker(
        broker=broker,
        incarnation_id=uuid.UUID(int=chance.getrandbits(128)),
        previous_broker_epoch=chance.choice((CLEAN, UNCLEAN)),
        log_dirs=log_dirs(broker)[: chance.choices((1, 2), (3, 1))[0]],
    )
