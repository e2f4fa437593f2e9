"""What `quorum verify` takes for a proof, and what not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_unclean_recovery.cluster.requests.describe import Topic
from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.model import PartitionState
from kafka_unclean_recovery.quorum.live import Live
from kafka_unclean_recovery.quorum.proof import verdict
from tests.quorum.golden import QUORUM, QUORUM_PLAN

PLAN = QUORUM_PLAN
LED = PartitionState("orders", "id", 0, 1, 5, (1, 2), (1, 2))
LIVE = Live("cluster-1", frozenset({1}), (Topic("orders", "id", 0, frozenset(), (LED,)),))


def test_it_is_proven_where_all_holds() -> None:
    assert verdict(PLAN, QUORUM, LIVE).proven


@pytest.mark.parametrize(
    "quorum",
    [
        "nobody leads",
        replace(QUORUM, leader_epoch=1003),
        replace(QUORUM, high_watermark=120),
        replace(QUORUM, high_watermark=-1),
        replace(QUORUM, voters=(Fetcher(201, 1, 124),), leader=201),
        replace(QUORUM, voters=(Fetcher(200, 1, 124), Fetcher(101, 1, 124))),
        replace(QUORUM, observers=(*QUORUM.observers, Fetcher(101, 1, 124))),
        replace(QUORUM, observers=()),
        replace(QUORUM, observers=(Fetcher(1, 1, 100),)),
        replace(QUORUM, observers=(Fetcher(1, 1, None),)),
    ],
    ids=[
        *("no leader", "an older epoch", "nothing new committed", "nothing known as committed"),
        *("another voter", "a lost voter", "a lost one that follows"),
        *("a broker that does not follow", "one that is behind", "one that tells no end"),
    ],
)
def test_a_quorum_that_is_not_as_planned_is_not_proven(quorum: Quorum | str) -> None:
    assert not verdict(PLAN, quorum, LIVE).proven


@pytest.mark.parametrize(
    "live",
    [
        None,
        Live(None, frozenset(), (), "no broker answers"),
        replace(LIVE, brokers=frozenset()),
        replace(LIVE, cluster_id="another"),
        replace(LIVE, topics=()),
        replace(LIVE, topics=(replace(LIVE.topics[0], partitions=(replace(LED, leader=-1),)),)),
    ],
    ids=[
        "not asked",
        "silent",
        "no broker lives",
        "another cluster",
        "hidden topics",
        "a partition without leader",
    ],
)
def test_brokers_that_are_not_known_to_follow_prove_nothing(live: Live | None) -> None:
    assert not verdict(PLAN, QUORUM, live).proven


def test_a_partition_whose_replicas_are_all_dead_is_not_the_quorums_fault() -> None:
    dead = replace(LED, leader=-1, offline_replicas=(1, 2))
    live = replace(LIVE, topics=(replace(LIVE.topics[0], partitions=(dead,)),))
    assert verdict(PLAN, QUORUM, live).proven
