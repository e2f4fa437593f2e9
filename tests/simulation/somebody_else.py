"""Somebody else works on the same cluster: elects, reassigns, makes a topic anew, alters configs.

What is done is remembered with its time, for whoever judges what the tool did after it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random

from kafka_unclean_recovery.emulator import administration
from kafka_unclean_recovery.emulator.core import Core
from kafka_unclean_recovery.kraft_rules.events import ElectionType
from tests.simulation.clock import CLOCK
from tests.simulation.outage import Partition, offline, orders

IN_THE_MOMENT = 3.0
"""What we ask for within so many seconds was on its way when somebody else changed the same."""
ON_ITS_WAY = 0.01
"""So many seconds lie at most between our last look at a topic and an order that is not held up."""

Orders = Mapping[Partition, tuple[int, ...]]
Ordered = Sequence[tuple[float, Partition, tuple[int, ...]]]
"""The orders that the controller carried out for us, with their times."""
FOREIGN: ContextVar[bool] = ContextVar("foreign", default=False)
"""Set by whoever asks the controller in somebody else's name."""


@dataclass(frozen=True, slots=True)
class Reassigned:
    """at: seconds since boot. replicas: those that the partition was to have, or that it was made
    anew with."""

    at: float
    replicas: tuple[int, ...]


@dataclass
class Others:
    """deleted: topics that somebody deleted. reassigned: what somebody last wanted a partition to
    be. anew: partitions of topics that were deleted and made anew."""

    deleted: set[str] = field(default_factory=set)
    reassigned: dict[Partition, Reassigned] = field(default_factory=dict)
    anew: dict[Partition, Reassigned] = field(default_factory=dict)

    def orders(self, before: Orders, ordered: Ordered) -> Orders:
        """Return what nobody but us may have changed, as it was before, or as it was made anew. No
        request names a topic by its id: an order of ours that is on its way comes to the new
        one."""
        found = {**before, **{each: made.replicas for each, made in self.anew.items()}}
        for at, partition, order in ordered:
            made = self.anew.get(partition)
            if made is None or set(order) != set(made.replicas):
                continue
            if made.at <= at < made.at + ON_ITS_WAY:
                found[partition] = order
        return {each: order for each, order in found.items() if each not in self.reassigned}


Work = Callable[[Core, Others, Random], Awaitable[None]]


async def work(kind: str, core: Core, others: Others, seed: int) -> None:
    """Do one thing. Raises ValueError where the cluster refuses it, or has no topic left."""
    if not orders(core.emulation):
        raise ValueError("every topic is deleted")
    FOREIGN.set(True)  # in this task only
    await WORK[kind](core, others, Random(seed))


async def _delete_topic(core: Core, others: Others, _: Random) -> None:
    # First, for the answer comes when it is done.
    others.deleted.add("payments")
    await administration.delete_topic(core.control.anyone(), "payments")


async def _make_topic_anew(core: Core, others: Others, random: Random) -> None:
    """Make the topic anew, with the same brokers in other places, so that it shows when somebody
    writes the old ones."""
    before = orders(core.emulation)
    name = random.choice(sorted({topic for topic, _ in before}))
    made = {p: _turned(order) for p, order in sorted(before.items()) if p[0] == name}
    others.deleted.add(name)
    await administration.delete_topic(core.control.anyone(), name)
    await administration.create_topic(
        core.control.anyone(), name, None, None, list(made.values()), {}
    )
    others.anew |= {each: Reassigned(CLOCK.boot, order) for each, order in made.items()}


def _turned(order: Sequence[int]) -> tuple[int, ...]:
    return (*order[1:], order[0])


async def _elect(core: Core, _: Others, random: Random) -> None:
    """Elect uncleanly, by the order of replicas."""
    if found := offline(core.emulation):
        anyone = core.control.anyone()
        await administration.elect(anyone, ElectionType.UNCLEAN, random.choice(found), None)


async def _reassign(core: Core, others: Others, random: Random) -> None:
    """Move a replica, often one that is dead, to a broker that had none."""
    now = orders(core.emulation)
    partition = random.choice(sorted(now))
    order = list(now[partition])
    idle = sorted(set(core.emulation.brokers) - set(order))
    if idle:
        order[random.randrange(len(order))] = random.choice(idle)
    elif len(order) > 1:
        order.remove(random.choice(order))
    await administration.reassign(core.control.anyone(), partition, order)
    others.reassigned[partition] = Reassigned(CLOCK.boot, tuple(order))


async def _alter_configs(core: Core, _: Others, random: Random) -> None:
    topic, _number = random.choice(sorted(orders(core.emulation)))
    name, value = random.choice(
        (
            ("unclean.leader.election.enable", "true"),
            ("unclean.leader.election.enable", "true"),
            ("min.insync.replicas", "1"),
            ("min.insync.replicas", "2"),
        )
    )
    await administration.alter_configs(core.control.anyone(), topic, {name: value})
    if value == "true":
        await _let_kafka_elect(core, topic, random)


async def _let_kafka_elect(core: Core, topic: str, random: Random) -> None:
    """Let Kafka elect: the controller looks at such a partition when a broker of its comes or goes.
    One is fenced for a moment, as in a pause of its process."""
    replicas = {r for p, order in orders(core.emulation).items() if p[0] == topic for r in order}
    live = [id_ for id_ in sorted(replicas) if core.broker(id_).running]
    if live:
        broker = random.choice(live)
        await core.fence(broker)
        await core.unfence(broker)


WORK: Mapping[str, Work] = {
    "a topic is deleted": _delete_topic,
    "somebody else makes a topic anew": _make_topic_anew,
    "somebody else elects": _elect,
    "somebody else reassigns": _reassign,
    "somebody else changes configs": _alter_configs,
}
