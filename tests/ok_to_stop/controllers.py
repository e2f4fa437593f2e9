"""Controllers in random states, of whom is asked what a stop does, and which then see it: real
ones, whose brokers we are, and ours."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Protocol

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
    VoterStateJson,
)
from kafka_unclean_recovery.kafka_names import (
    ELR_VERSION,
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    Errors,
)
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.machine import step
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration as Ruled
from kafka_unclean_recovery.kraft_rules.releases import RELEASES
from kafka_unclean_recovery.kraft_rules.state import DEFAULTS, ControllerFault, State
from kafka_unclean_recovery.log_dir.metadata.image import (
    BROKER_RESOURCE,
    TOPIC_RESOURCE,
    BrokerRegistration,
    MetadataImage,
    PartitionRegistration,
)
from kafka_unclean_recovery.model import NO_LEADER, TopicPartition
from tests.fidelity.choosing import places
from tests.fidelity.generating import Generator
from tests.fidelity.relative import CAUGHT_UP, NOW, absolute

STEPS_BETWEEN = 30


class Controller(Protocol):
    """A controller that relative events happen on."""

    @property
    def image(self) -> MetadataImage: ...
    def happen(self, event: ev.Event) -> tuple[ev.Event, ev.AnyResponse]: ...


class OurController:
    """Ours in the place of a real one."""

    def __init__(self, version: str) -> None:
        self.state = State(RELEASES[version], end_offset=1)
        self._ids = count(10_000)

    @property
    def image(self) -> MetadataImage:
        state = self.state
        configs = {(TOPIC_RESOURCE, t.name): t.configs for t in state.topics.values() if t.configs}
        configs[BROKER_RESOURCE, ""] = state.cluster_configs
        return MetadataImage(
            brokers={
                id_: BrokerRegistration(
                    id_,
                    found.epoch,
                    found.incarnation_id,
                    found.fenced,
                    found.in_controlled_shutdown,
                    (),
                    None,
                    found.log_dirs,
                )
                for id_, found in state.brokers.items()
            },
            topics={topic_id: topic.name for topic_id, topic in state.topics.items()},
            partitions={
                id_: {number: _as_read(found) for number, found in topic.partitions.items()}
                for id_, topic in state.topics.items()
            },
            configs=configs,
            features={ELR_VERSION: 1} if state.release.elr else {},
        )

    def happen(self, event: ev.Event) -> tuple[ev.Event, ev.AnyResponse]:
        sent = absolute(event, self)
        if isinstance(sent, ev.CreateTopic):
            sent = replace(sent, topic_id=uuid.UUID(int=next(self._ids)))
        try:
            return sent, step(self.state, sent)
        except ControllerFault:
            return sent, ev.Response(Errors.UNKNOWN_SERVER_ERROR)

    def restart_after_kill(self, brokers: Iterable[int]) -> None:
        """Restart brokers that find no file of a clean shutdown; a real controller has them wait
        for the end of their sessions first."""
        for broker in brokers:
            log_dirs = self.state.brokers[broker].log_dirs
            incarnation = uuid.UUID(int=next(self._ids))
            step(self.state, ev.SessionExpired(broker))
            step(
                self.state,
                ev.RegisterBroker(broker, incarnation, ev.UNKNOWN_BROKER_EPOCH, log_dirs),
            )

    @property
    def last_offset(self) -> int:
        return self.state.end_offset - 1

    def broker_epoch(self, broker: int) -> int | None:
        found = self.state.brokers.get(broker)
        return None if found is None else found.epoch

    def partition_epochs(self, topic: str, partition: int) -> tuple[int, int] | None:
        found = self.state.topic(topic)
        if found is None or partition not in found.partitions:
            return None
        now = found.partitions[partition]
        return now.leader_epoch, now.partition_epoch


def observed(image: MetadataImage, release: str) -> ObservationJson:
    """Return what a broker tells of it: that another one is shutting down is not among that."""
    topics: dict[str, list[ObservedPartitionJson]] = {}
    for place in places(image):
        topics.setdefault(place.topic, []).append(_partition(image, place.partition, place.now))
    return ObservationJson(
        cluster_id="c",
        observed_at="2026-11-25T00:00:00+00:00",
        release=release,
        elr=image.features.get(ELR_VERSION, 0) > 0,
        brokers=tuple(
            ObservedBrokerJson(id_, None, found.fenced, None, None)
            for id_, found in sorted(image.brokers.items())
        ),
        voters=(VoterStateJson(3000, True),),
        topics=tuple(_topic(image, name, tuple(found)) for name, found in topics.items()),
        problems=(),
    )


def _topic(
    image: MetadataImage, name: str, partitions: tuple[ObservedPartitionJson, ...]
) -> ObservedTopicJson:
    own = image.configs.get((TOPIC_RESOURCE, name), {})
    everybody = image.configs.get((BROKER_RESOURCE, ""), {})

    def value(key: str) -> str:
        return own.get(key) or everybody.get(key) or DEFAULTS[key]

    return ObservedTopicJson(
        name,
        "",
        int(value(MIN_INSYNC_REPLICAS)),
        "topic" if MIN_INSYNC_REPLICAS in own else "all_brokers",
        value(UNCLEAN_LEADER_ELECTION_ENABLE) == "true",
        None,
        partitions,
    )


def _partition(
    image: MetadataImage, number: int, now: PartitionRegistration
) -> ObservedPartitionJson:
    return ObservedPartitionJson(
        number,
        now.leader,
        now.replicas,
        now.isr,
        now.elr,
        now.last_known_elr,
        tuple(
            replica
            for replica, directory in zip(now.replicas, now.directories, strict=True)
            if (found := image.brokers.get(replica)) is None
            or found.fenced
            or not found.directory_works(directory)
        ),
        now.adding_replicas,
        now.removing_replicas,
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A state, whom it is asked about, and in which order they then stop. shutting_down: brokers
    that are, which no request tells."""

    observation: ObservationJson
    brokers: tuple[int, ...]
    shutting_down: frozenset[int]


def states(controller: Controller, release: str, seed: int, number: int) -> Iterator[Asked]:
    """Yield so many random states, each some random steps after what came of the last one."""
    generator, chance = Generator(seed), Random(seed)
    for _ in range(number):
        for _ in range(STEPS_BETWEEN):
            controller.happen(generator.next(controller.image))
        image = controller.image
        unfenced = [b for b, found in sorted(image.brokers.items()) if not found.fenced]
        brokers = chance.sample(
            unfenced, min(len(unfenced), chance.choices((1, 2, 3), (5, 3, 1))[0])
        )
        yield Asked(
            observed(image, release),
            tuple(brokers),
            frozenset(b.id for b in image.brokers.values() if b.in_controlled_shutdown),
        )


def stop(controller: Controller, brokers: Iterable[int]) -> None:
    """Stop the brokers in order: each asks until it may, and then is gone."""
    for broker in brokers:
        controller.happen(ev.Heartbeat(broker, NOW, CAUGHT_UP, want_shut_down=True))
    kill(controller, brokers)


def kill(controller: Controller, brokers: Iterable[int]) -> None:
    """Fence the brokers, which does what the end of a session does."""
    for broker in brokers:
        controller.happen(ev.Heartbeat(broker, NOW, CAUGHT_UP, want_fence=True))


def _as_read(partition: Ruled) -> PartitionRegistration:
    """Return the partition as a metadata log would tell it; both name its fields alike."""
    return PartitionRegistration(
        *(getattr(partition, name) for name in PartitionRegistration._fields)
    )


def partitions(controller: Controller) -> dict[TopicPartition, PartitionRegistration]:
    """Return the partitions as they are; a leader that is not there any more is none."""
    image = controller.image
    unfenced = {id_ for id_, broker in image.brokers.items() if not broker.fenced}
    return {
        TopicPartition(p.topic, p.partition): p.now
        if p.now.leader in unfenced
        else p.now._replace(leader=NO_LEADER)
        for p in places(image)
    }
