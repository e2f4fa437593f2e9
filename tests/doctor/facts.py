"""A cluster with which nothing is wrong, to be changed by dataclasses.replace."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.cluster.requests.configs import ConfigSource, ConfigValue
from kafka_unclean_recovery.cluster.requests.describe import Topic
from kafka_unclean_recovery.cluster.requests.log_dirs import LogDir
from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.doctor.facts import (
    BrokerSeen,
    ClockOffset,
    Facts,
    QuorumAnswer,
    Room,
    Space,
    Spoken,
)
from kafka_unclean_recovery.mechanisms import ElectionMethod
from kafka_unclean_recovery.model import Broker, Cluster, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.answer import Answer

NOW = 1_700_000_000_000
TOPIC = "orders"
ORDERS_0 = TopicPartition(TOPIC, 0)
FINALIZED = {"metadata.version": 30, "eligible.leader.replicas.version": 1}
GIB = 1 << 30
NO_ANSWER: Answer[Any] = Answer(problem="no answer in time")
REFUSED: Answer[Any] = Answer(problem="CLUSTER_AUTHORIZATION_FAILED", refused=True)


def partition(topic: str = TOPIC, leader: int = 1, **more: Any) -> PartitionState:
    return PartitionState(topic, "id", 0, leader, 5, (1, 2, 3), **{"isr": (1, 2, 3), **more})


def topics(*partitions: PartitionState) -> Answer[tuple[Topic, ...]]:
    return Answer(tuple(Topic(p.topic, "id", 0, frozenset(), (p,)) for p in partitions))


def quorum(
    voters: dict[int, int | None], observers: dict[int, int | None], *, tells_times: bool = True
) -> Answer[QuorumAnswer]:
    """Return a quorum led by 100; each id fetched so many ms ago, None for never."""
    found = Quorum(100, 50, _fetchers(voters), _fetchers(observers), tells_times)
    return Answer(QuorumAnswer(found, ClockOffset(20, 5)))


def _fetchers(ago: dict[int, int | None]) -> tuple[Fetcher, ...]:
    return tuple(Fetcher(id_, None if ms is None else NOW - ms) for id_, ms in ago.items())


def broker(id_: int, **more: Any) -> BrokerSeen:
    log_dir = LogDir(f"/data/{id_}", 0, 50 * GIB, 100 * GIB, {ORDERS_0: 1000})
    spoken = Spoken(metadata_version=30, finalized=FINALIZED)
    seen = {"spoken": Answer(spoken), "log_dirs": Answer((log_dir,))}
    return BrokerSeen(id_, f"host:{id_}", **{**seen, **more})


def tried(code: int = 0) -> dict[str, dict[TopicPartition, int]]:
    return {"ends": {ORDERS_0: code}, "reads": {ORDERS_0: code}}


HEALTHY = Facts(
    cluster=Cluster("cluster-id", {id_: Broker(id_, "host", id_) for id_ in (1, 2, 3)}),
    fenced_told=True,
    bootstrap={},
    brokers=(broker(1, **tried()), broker(2), broker(3)),
    method=Answer(ElectionMethod.REORDER),
    quorum=quorum({100: 0, 101: 300, 102: 500}, {1: 100, 2: 0, 3: 400}),
    reassignments=Answer({}),
    reordering=Answer(),
    electing=Answer(),
    topics=topics(partition()),
    configs=Answer({TOPIC: ConfigValue(0, "false", ConfigSource.DEFAULT)}),
    room=Room(Space("/state", 10 * GIB, True), Space("/salvage", 10 * GIB, True)),
)
