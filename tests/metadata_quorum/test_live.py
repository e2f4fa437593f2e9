"""Brokers that run without a quorum know different amounts: all of them are asked. On the
emulator."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.quorum_state import Quorum
from kafka_unclean_recovery.cluster.wire.bootstrap import parse_bootstrap
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.faults import STOPPED
from kafka_unclean_recovery.metadata_quorum import live
from kafka_unclean_recovery.metadata_quorum.live import Live, ask_brokers, ask_controller
from tests.metadata_quorum.golden import QUORUM

BEHIND, NEWER = 1, 2


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a cluster: broker 1 has read no metadata since 3 led; broker 2 has, and leads."""
    with Cluster(Options(brokers=3)) as cluster:
        cluster.create_topic("orders", assignment=[[3, NEWER]])
        cluster.lag_metadata(BEHIND, STOPPED)
        cluster.kill(3)
        cluster.fence(3)
        cluster.create_topic("later", assignment=[[NEWER]])
        yield cluster


def _ask(cluster: Cluster, *brokers: int) -> Live:
    addresses = parse_bootstrap(cluster.bootstrap_servers)
    named = [addresses[broker - 1] for broker in brokers]
    return asyncio.run(ask_brokers(named, ClientConfig(), Deadline.after(10.0)))


def test_the_broker_that_knows_most_is_asked_whoever_is_named(cluster: Cluster) -> None:
    found = _ask(cluster, BEHIND)
    assert {topic.name for topic in found.topics} == {"orders", "later"}
    (state,) = next(topic for topic in found.topics if topic.name == "orders").partitions
    assert state.leader == NEWER
    # Broker 1 lists the dead one.
    (sentence,) = found.untold
    assert sentence.startswith("broker 3 did not tell what it knows: ")


def test_a_broker_that_is_behind_hides_nothing_that_another_knows(cluster: Cluster) -> None:
    assert _ask(cluster, NEWER, BEHIND).topics == _ask(cluster, BEHIND, NEWER).topics


def test_an_address_that_leads_to_another_broker_is_no_answer(cluster: Cluster) -> None:
    cluster.lead_astray(NEWER, BEHIND)
    found = _ask(cluster, BEHIND)
    assert {topic.name for topic in found.topics} == {"orders"}
    assert any(f"not broker {NEWER}" in sentence for sentence in found.untold), found.untold


def test_brokers_of_two_clusters_are_none(cluster: Cluster) -> None:
    with Cluster(Options(brokers=1)) as other:
        addresses = parse_bootstrap(f"{cluster.bootstrap_servers},{other.bootstrap_servers}")
        found = asyncio.run(ask_brokers(addresses, ClientConfig(), Deadline.after(10.0)))
    assert found.problem is not None
    assert found.problem.startswith("they are of clusters ")


@pytest.mark.parametrize(
    ("answers", "leads"),
    [
        (("it does not lead", QUORUM), QUORUM),
        ((QUORUM, replace(QUORUM, leader=7, leader_epoch=2, high_watermark=-1)), QUORUM),
        ((QUORUM, replace(QUORUM, leader=7, leader_epoch=2000)), None),
        (("it does not lead", "no answer"), None),
    ],
    ids=["one does not lead", "one can't commit", "two lead", "none"],
)
def test_all_controllers_that_are_named_are_asked(
    answers: tuple[Quorum | str, ...], leads: Quorum | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def told(address: tuple[str, int], *_: object) -> Quorum | str:
        return answers[address[1]]

    monkeypatch.setattr(live, "_ask_one", told)
    addresses = [("c", number) for number in range(len(answers))]
    found = asyncio.run(ask_controller(addresses, ClientConfig(), Deadline.after(1.0)))
    assert found == leads if leads else isinstance(found, str)
