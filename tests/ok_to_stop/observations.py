"""Clusters as ok-to-stop saw them, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_unclean_recovery.documents.observation import (
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
    VoterStateJson,
)

Ids = tuple[int, ...]


def partition(
    replicas: Ids,
    isr: Ids | None = None,
    elr: Ids = (),
    offline: Ids = (),
    leader: int | None = None,
    number: int = 0,
    adding: Ids = (),
) -> ObservedPartitionJson:
    """Return a partition, which the first of the ISR leads, unless another is named."""
    isr = replicas if isr is None else isr
    if leader is None:
        leader = isr[0] if isr else -1
    return ObservedPartitionJson(number, leader, replicas, isr, elr, (), offline, adding, ())


def topic(
    name: str,
    *partitions: ObservedPartitionJson,
    min_isr: int | None = 1,
    source: str = "topic",
    unclean: bool = False,
    problem: str | None = None,
) -> ObservedTopicJson:
    return ObservedTopicJson(name, "", min_isr, source, unclean, problem, partitions)


def cluster(
    *topics: ObservedTopicJson,
    brokers: Sequence[int] = (1, 2, 3, 4),
    fenced: Ids = (),
    racks: Mapping[int, str] = {},
    silent: Mapping[int, str] = {},
    own_min_isr: Mapping[int, int] = {},
    release: str = "4.3",
    elr: bool = True,
    voters: Mapping[int, bool | None] | None = {101: True, 102: True, 103: True},
    problems: tuple[str, ...] = (),
) -> ObservationJson:
    return ObservationJson(
        cluster_id="cluster-1",
        observed_at="2026-11-25T03:00:00+00:00",
        release=release,
        elr=elr,
        brokers=tuple(
            ObservedBrokerJson(
                id_, racks.get(id_), id_ in fenced, silent.get(id_), own_min_isr.get(id_)
            )
            for id_ in brokers
        ),
        voters=None
        if voters is None
        else tuple(VoterStateJson(id_, follows) for id_, follows in voters.items()),
        topics=topics,
        problems=problems,
    )
