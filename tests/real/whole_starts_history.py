"""What happens to a cluster of three brokers before one of them is to start: partitions of which it
is in the ISR, in the ELR, the last known leader, or out of all of these; led by others, or by
nobody; cut by an election, moved away, made anew."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from confluent_kafka import ElectionType, KafkaException, Producer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.real.cluster import KafkaCluster
from tests.real.faults import reassign
from tests.real.metadata import NO_LEADER, QUIETLY, SILENT, PartitionView
from tests.real.waiting import wait_until

BROKERS = (1, 2, 3)
TOPICS = 18
TIMEOUT = 40.0


@dataclass(slots=True)
class History:
    """One round of a cluster. snapshots: of disks as they were when their brokers were down, by
    broker. deleted: below which offset records were deleted on purpose, by topic. told: all that
    was done, in words."""

    cluster: KafkaCluster
    chance: Random
    name: str
    scratch: Path
    topics: list[str] = field(default_factory=list)
    snapshots: dict[int, Path] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    written: int = 0

    def happen(self) -> None:
        """Make a history, after which one broker at least is down."""
        self._create()
        self.write()
        chance = self.chance
        self.take_down(chance.sample(BROKERS, chance.choice((1, 2, 2))))
        self._snapshot()
        self.write()
        if chance.random() < 0.5:
            self._change_of_guard()
        for step in chance.sample((self._forget, self._make_anew, self._move), 1):
            if self.cluster.live_brokers and chance.random() < 0.5:
                step()
        if chance.random() < 0.45:
            (self._power_cut if chance.random() < 0.5 else self._all_down)()

    def take_down(self, brokers: Collection[int]) -> None:
        """Kill all at once, or stop or kill one after the other."""
        if not brokers:
            return
        at_once = self.chance.random() < 0.4
        for broker in list(brokers):
            way = "kill" if at_once or self.chance.random() < 0.6 else "stop"
            (self.cluster.kill if way == "kill" else self.cluster.stop)(broker)
            self.told.append(f"{way} {broker}")
            if not at_once:
                self.cluster.wait_until_fenced([broker])
                if self.chance.random() < 0.4:
                    self.write()
        self.cluster.wait_until_fenced(brokers)

    def kill(self, brokers: Collection[int]) -> None:
        """Kill them at once; nothing is written meanwhile."""
        for broker in brokers:
            self.cluster.kill(broker)
        if brokers:
            self.told.append(f"kill {sorted(brokers)}")
            self.cluster.wait_until_fenced(brokers)

    def write(self) -> None:
        """Write to every topic that has a leader, most of the time."""
        live = self.cluster.live_brokers
        if not live:
            return
        led = [t for t, p in self.partitions().items() if p.leader in live]
        producer = Producer(
            {
                **self.cluster.connection(),
                **QUIETLY,
                "acks": "1",
                "linger.ms": 5,
                "batch.num.messages": 10,
                "message.timeout.ms": 8000,
            },
            logger=SILENT,
        )
        for topic in led:
            for _ in range(self.chance.choice((0, 20, 45, 60))):
                value = f"{topic} {self.written} ".encode()
                value += self.chance.randbytes(self.chance.randrange(40, 260))
                producer.produce(topic, value, partition=0)
                self.written += 1
        producer.flush(TIMEOUT)
        self._wait_until_fetched()

    def partitions(self) -> dict[str, PartitionView]:
        view = self.cluster.view(self.cluster.live_brokers[0])
        return {t: view.topics[t][0] for t in self.topics if t in view.topics}

    def _create(self) -> None:
        new = []
        for number in range(TOPICS):
            name = f"{self.name}x{number}"
            self.topics.append(name)
            new.append(self._new(name, self.chance.choice((1, 2, 2, 3, 3, 3))))
        client = self._admin()
        for done in client.create_topics(new, operation_timeout=TIMEOUT).values():
            done.result(TIMEOUT)
        self._wait(
            lambda: all(
                self._agreed(t, lambda p: set(p.isr) == set(p.replicas)) for t in self.topics
            ),
            "all replicas in the ISR",
        )

    def _new(self, name: str, factor: int) -> NewTopic:
        config = {
            "min.insync.replicas": str(self.chance.randint(1, factor)),
            "unclean.leader.election.enable": str(self.chance.random() < 0.12).lower(),
        }
        replicas = self.chance.sample(BROKERS, factor)
        return NewTopic(name, num_partitions=1, replica_assignment=[replicas], config=config)

    def _snapshot(self) -> None:
        """Copy the disks of those that are down now, some time before their last start."""
        for broker in BROKERS:
            if broker not in self.cluster.live_brokers:
                kept = self.scratch / f"snapshot-{broker}"
                shutil.rmtree(kept, ignore_errors=True)
                for root in self.cluster.log_dirs(broker):
                    shutil.copytree(root, kept / root.name)
                self.snapshots[broker] = kept

    def _change_of_guard(self) -> None:
        """Let those that are down take over from the others, some of them by unclean elections."""
        down = [broker for broker in BROKERS if broker not in self.cluster.live_brokers]
        self.take_down(self.cluster.live_brokers)
        self.told.append(f"start {down}")
        self.cluster.start(down)
        self._wait_until_fetched()
        lost = [t for t, p in self.partitions().items() if p.leader == NO_LEADER]
        chosen = [topic for topic in lost if self.chance.random() < 0.6]
        if chosen:
            self.told.append(f"unclean elections of {chosen}")
            positions = [Position(topic, 0) for topic in chosen]
            client = self._admin()
            client.elect_leaders(ElectionType.UNCLEAN, positions).result(TIMEOUT)
            self._wait_until_fetched()
        self.write()

    def _forget(self) -> None:
        """Delete records on purpose."""
        led = [t for t, p in self.partitions().items() if p.leader in self.cluster.live_brokers]
        client = self._admin()
        ends = [Position(topic, 0, self.chance.randrange(10, 60)) for topic in led[:4]]
        for position, done in client.delete_records(ends).items():
            # Not beyond the high watermark.
            with suppress(KafkaException):
                self.deleted[position.topic] = done.result(TIMEOUT).low_watermark
        self.told.append(f"records deleted below {self.deleted}")

    def _make_anew(self) -> None:
        chosen = self.chance.sample(self.topics, 3)
        client = self._admin()
        for done in client.delete_topics(chosen, operation_timeout=TIMEOUT).values():
            done.result(TIMEOUT)
        self._wait(
            lambda: not any(set(chosen) & self._topics_of(b) for b in self.cluster.live_brokers),
            f"{chosen} deleted",
        )
        again = chosen[1:]
        self.topics.remove(chosen[0])
        live = list(self.cluster.live_brokers)
        new = [
            NewTopic(name, num_partitions=1, replica_assignment=[[live[0], *self._down()[:1]]])
            for name in again
        ]
        for done in client.create_topics(new, operation_timeout=TIMEOUT).values():
            done.result(TIMEOUT)
        self._wait(
            lambda: all(set(again) <= self._topics_of(b) for b in self.cluster.live_brokers),
            f"{again} made anew",
        )
        self.told.append(f"{chosen[0]} deleted, {again} made anew")
        self.write()

    def _move(self) -> None:
        """Move replicas away from those that are down."""
        live = self.cluster.live_brokers
        held = [
            topic
            for topic, p in self.partitions().items()
            if p.leader in live and not set(p.replicas) <= set(live)
        ]
        for topic in held[:3]:
            reassign(self.cluster, topic, live)
        self._wait_until_fetched()
        self.told.append(f"{held[:3]} moved to {live}")

    def _all_down(self) -> None:
        self.take_down(self.cluster.live_brokers)

    def _power_cut(self) -> None:
        """Let whoever lives die at the same moment; the metadata log has their leaders."""
        self.cluster.kill_all()
        self.told.append("power cut")

    def _down(self) -> list[int]:
        return [broker for broker in BROKERS if broker not in self.cluster.live_brokers]

    def _topics_of(self, broker: int) -> set[str]:
        return set(self.cluster.view(broker).topics)

    def _agreed(self, topic: str, condition: Callable[[PartitionView], bool]) -> bool:
        views = [self.cluster.view(b).topics.get(topic, {}) for b in self.cluster.live_brokers]
        return all(0 in view and condition(view[0]) for view in views)

    def _wait_until_fetched(self) -> None:
        """Wait until whoever lives and has a leader is in the ISR."""
        live = set(self.cluster.live_brokers)

        def fetched() -> bool:
            return all(
                p.leader == NO_LEADER or set(p.replicas) & live <= set(p.isr)
                for p in self.partitions().values()
            )

        self._wait(fetched, "live replicas in the ISR")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        wait_until(condition, TIMEOUT, lambda: f"{what}: {self.partitions()}")

    def _admin(self) -> AdminClient:
        return AdminClient({**self.cluster.connection(), **QUIETLY}, logger=SILENT)
