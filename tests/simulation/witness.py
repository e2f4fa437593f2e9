"""What really happened: elections and changed orders as the controller made them, and what each
live replica held at that moment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_unclean_recovery.emulator.broker.broker import Process
from kafka_unclean_recovery.emulator.broker.log import Log
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from tests.simulation.clock import CLOCK
from tests.simulation.outage import NOBODY, Partition, leaders
from tests.simulation.somebody_else import FOREIGN

Records = frozenset[tuple[int, int]]
"""(leader epoch, offset) of each record that a replica holds."""


@dataclass(frozen=True, slots=True)
class Election:
    """at: seconds since boot. held: by each replica that lived for the controller, the leader
    included. since: how long each had lived for it. clean: the leader was in ISR or ELR, or the
    last known leader, so the controller chose it. foreign: somebody else asked for it."""

    at: float
    partition: Partition
    leader: int
    held: Mapping[int, Records]
    since: Mapping[int, float]
    clean: bool
    foreign: bool

    def __str__(self) -> str:
        held = ", ".join(f"{len(of)} on {broker}" for broker, of in self.held.items())
        return f"{self.partition} led by {self.leader} at {self.at:.3f} ({held})"

    def lost(self, long_enough: float, unweighed: Collection[int] = ()) -> int:
        """Return how many records of replicas that had lived so long the leader lacks, but for
        those of brokers that are `unweighed`."""
        lost: set[tuple[int, int]] = set()
        for broker, records in self.held.items():
            if self.at - self.since[broker] >= long_enough and broker not in unweighed:
                lost |= records - self.held[self.leader]
        return len(lost)

    def lacks(self, told: Iterable[Records]) -> int:
        """Return how many records that brokers had told of the leader lacks. What a log has beyond
        a newer one was given up by an election before."""
        own = self.held[self.leader]
        newer = (records for records in told if _reach(records) > _reach(own))
        return len(frozenset[tuple[int, int]]().union(*newer) - own)


def _reach(records: Records) -> tuple[int, int]:
    return max(records, default=(-1, -1))


@dataclass(frozen=True, slots=True)
class Told:
    """What a broker held when it told the lineages of its logs. at: seconds since boot."""

    at: float
    broker: int
    held: Mapping[Partition, Records]


@dataclass
class Witness:
    """elections: by requests. blind: those that the controller made by itself. changed: when the
    controller carried out an election or an order that was not somebody else's. ordered: each such
    order, with its time. left: when a partition last lost its leader. balanced: when the controller
    last gave it another one of the ISR by itself. told: by brokers, of partitions without a leader.
    Times are seconds since boot."""

    emulation: Emulation
    elections: list[Election] = field(default_factory=list)
    blind: list[Election] = field(default_factory=list)
    changed: list[float] = field(default_factory=list)
    ordered: list[tuple[float, Partition, tuple[int, ...]]] = field(default_factory=list)
    left: dict[Partition, float] = field(default_factory=dict)
    balanced: dict[Partition, float] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    _live_since: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        happen = self.emulation.happen

        def seen(event: Any) -> Any:
            self.look()
            if isinstance(event, ev.AlterReassignment) and not FOREIGN.get():
                self.changed.append(CLOCK.boot)
                ordered = (event.topic, event.partition), tuple(event.replicas or ())
                self.ordered.append((CLOCK.boot, *ordered))
            if not isinstance(event, ev.ElectLeaders):
                led = {each for each in leaders(self.emulation) if each[1] != NOBODY}
                headless = dict(self._headless())
                response = happen(event)
                self._note_blind(headless)
                now = dict(leaders(self.emulation))
                moved = {p: CLOCK.boot for p, leader in led if now.get(p, leader) != leader}
                self.left |= {p: at for p, at in moved.items() if now[p] == NOBODY}
                if isinstance(event, ev.BalanceLeaders):
                    self.balanced |= moved
                return response
            if not FOREIGN.get():
                self.changed.append(CLOCK.boot)
            before = self._offline()
            response = happen(event)
            self._note(before)
            return response

        self.emulation.happen = seen  # type: ignore[method-assign]

    def answered(self, api: str, broker: int) -> None:
        if api == "Fetch":
            replicas = self.emulation.brokers[broker].replicas
            held = {
                partition: records_of(replicas[key].log)
                for key, (partition, _) in self._headless()
                if key in replicas
            }
            self.told.append(Told(CLOCK.boot, broker, held))

    def look(self) -> None:
        """Note who lives, as the controller has it."""
        live = self._live()
        self._live_since = {id_: self._live_since.get(id_, CLOCK.boot) for id_ in live}

    def _live(self) -> list[int]:
        registered = self.emulation.state.brokers
        return [
            id_
            for id_, broker in self.emulation.brokers.items()
            if id_ in registered
            and not registered[id_].fenced
            and broker.process is not Process.DEAD
        ]

    def _headless(self) -> Iterator[tuple[TopicIdPartition, tuple[Partition, Any]]]:
        for topic in self.emulation.state.topics.values():
            for number, known in topic.partitions.items():
                if known.leader == NOBODY:
                    yield TopicIdPartition(topic.topic_id, number), ((topic.name, number), known)

    def _note_blind(self, before: Mapping[TopicIdPartition, tuple[Partition, Any]]) -> None:
        """Note who follows, and may have been truncated by now: what is lost is told by `told`."""
        for key, (partition, known) in before.items():
            leader = self._leader(key)
            if leader == NOBODY:
                continue
            self.look()
            held = self._held(key, known.replicas)
            if leader in held:
                self.blind.append(self._election(partition, leader, held, known))

    def _leader(self, key: TopicIdPartition) -> int:
        topic = self.emulation.state.topics.get(key.topic_id)
        return NOBODY if topic is None else topic.partitions[key.partition].leader

    def _election(
        self, partition: Partition, leader: int, held: Mapping[int, Records], known: Any
    ) -> Election:
        clean = leader in (*known.isr, *known.elr, *known.last_known_elr)
        since = {id_: self._live_since[id_] for id_ in held}
        return Election(CLOCK.boot, partition, leader, held, since, clean, FOREIGN.get())

    def _offline(self) -> dict[TopicIdPartition, tuple[Partition, dict[int, Records], Any]]:
        return {
            key: (partition, self._held(key, known.replicas), known)
            for key, (partition, known) in self._headless()
        }

    def _held(self, key: TopicIdPartition, replicas: Any) -> dict[int, Records]:
        live = self._live()
        found = {}
        for id_ in replicas:
            replica = self.emulation.brokers[id_].replicas.get(key)
            if id_ in live and replica is not None:
                found[id_] = records_of(replica.log)
        return found

    def _note(self, before: Mapping[TopicIdPartition, Any]) -> None:
        for key, (partition, held, known) in before.items():
            leader = self._leader(key)
            if leader != NOBODY and leader in held:
                self.elections.append(self._election(partition, leader, held, known))


def held_by_all(emulation: Emulation) -> dict[Partition, dict[int, Records]]:
    """Return what each broker holds of each partition, the dead included."""
    return {
        (topic.name, number): {
            id_: records_of(replica.log)
            for id_, broker in emulation.brokers.items()
            if (replica := broker.replicas.get(TopicIdPartition(topic.topic_id, number)))
        }
        for topic in emulation.state.topics.values()
        for number in topic.partitions
    }


def records_of(log: Log) -> Records:
    return frozenset(
        (batch.leader_epoch, offset)
        for batch in log.batches
        for offset in range(batch.base_offset, batch.last_offset + 1)
    )
