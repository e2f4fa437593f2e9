"""A cluster with a past of its own: made by chance, until partitions are offline."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from random import Random
from typing import Any

from kafka_unclean_recovery.emulator import administration
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules.events import ElectionType
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition

TOPICS = ("orders", "payments", "__consumer_offsets")
NOBODY = -1

Partition = tuple[str, int]


async def age(core: Core, random: Random) -> None:
    """Let leaders come and go with writes between; in the end all are killed, one after the other,
    and some of those that died first come back."""
    await _create(core, random)
    while not offline(core.emulation):
        await _one_day(core, random)


async def _one_day(core: Core, random: Random) -> None:
    for _ in range(random.randint(1, 4)):
        await _write(core, random)
        await _something(core, random)
    ids = sorted(core.emulation.brokers)
    for id_ in ids:
        if not core.broker(id_).running:
            await core.start(id_)
    random.shuffle(ids)
    for id_ in ids:
        await _write(core, random)
        await (core.stop(id_) if random.random() < 0.15 else _kill(core, id_))
    back = ids[: random.randint(1, len(ids) - 1)]
    random.shuffle(back)
    for id_ in back:
        await core.start(id_)


async def _create(core: Core, random: Random) -> None:
    ids = sorted(core.emulation.brokers)
    for topic in TOPICS[: random.randint(1, 3)]:
        assignment = [
            random.sample(ids, random.randint(min(2, len(ids)), len(ids)))
            for _ in range(random.randint(1, 4))
        ]
        factor = min(map(len, assignment))
        assignment = [replicas[:factor] for replicas in assignment]
        configs = {"min.insync.replicas": str(random.choice((1, 1, 2)))}
        anyone = core.control.anyone()
        await administration.create_topic(anyone, topic, None, None, assignment, configs)


async def _write(core: Core, random: Random) -> None:
    for (topic, number), leader in list(leaders(core.emulation)):
        if leader != NOBODY and core.broker(leader).running and random.random() < 0.8:
            count, batch = random.randint(1, 30), random.randint(1, 12)
            # Too few are in sync: nothing is acknowledged.
            with contextlib.suppress(ValueError):
                await core.control.produce(topic, number, count, "1", batch, None, 5.0)


async def _something(core: Core, random: Random) -> None:
    running = [b.id for b in core.emulation.brokers.values() if b.running]
    dead = [id_ for id_ in core.emulation.brokers if id_ not in running]
    if dead and (len(running) < 2 or random.random() < 0.5):
        await core.start(random.choice(dead))
    else:
        await _kill(core, random.choice(running))
    if random.random() < 0.5 and any(b.running for b in core.emulation.brokers.values()):
        # What had to be given up before: epochs part.
        with contextlib.suppress(ValueError):
            await administration.elect(core.control.anyone(), ElectionType.UNCLEAN, None, None)


async def _kill(core: Core, id_: int) -> None:
    await core.kill(id_)
    await core.fence(id_)


def leaders(emulation: Emulation) -> Iterator[tuple[Partition, int]]:
    for topic in emulation.state.topics.values():
        for number, partition in topic.partitions.items():
            yield (topic.name, number), partition.leader


def headless(emulation: Emulation) -> Iterator[tuple[TopicIdPartition, Any]]:
    """Yield the partitions without a leader, as the controller has them."""
    for topic in emulation.state.topics.values():
        for number, known in topic.partitions.items():
            if known.leader == NOBODY:
                yield TopicIdPartition(topic.topic_id, number), known


def offline(emulation: Emulation) -> list[Partition]:
    return sorted(partition for partition, leader in leaders(emulation) if leader == NOBODY)


def orders(emulation: Emulation) -> dict[Partition, tuple[int, ...]]:
    return {
        (topic.name, number): tuple(partition.replicas)
        for topic in emulation.state.topics.values()
        for number, partition in topic.partitions.items()
    }
