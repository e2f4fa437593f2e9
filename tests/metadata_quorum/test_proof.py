"""What `quorum verify` takes for a proof, and what not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs
from msgspec.structs import replace as replaced

from kafka_unclean_recovery.cluster.requests.describe import Topic
from kafka_unclean_recovery.cluster.requests.quorum_state import Fetcher, Quorum
from kafka_unclean_recovery.documents.quorum import ProspectJson, VoterJson
from kafka_unclean_recovery.metadata_quorum.live import Live
from kafka_unclean_recovery.metadata_quorum.proof import verdict
from kafka_unclean_recovery.model import PartitionState
from tests.metadata_quorum.golden import QUORUM, QUORUM_PLAN

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


def test_of_a_partition_without_a_leader_it_is_told_who_shows_what_can_lead() -> None:
    topics = (replace(LIVE.topics[0], partitions=(structs.replace(LED, leader=-1),)),)
    found = [row.found for row in verdict(PLAN, QUORUM, replace(LIVE, topics=topics)).proofs]
    says = "orders-0: kafka-unclean-recovery --all-offline-partitions shows what can lead"
    assert says in found


@pytest.mark.parametrize(
    "live",
    [
        None,
        Live(None, frozenset(), (), "no broker answers"),
        replace(LIVE, brokers=frozenset()),
        replace(LIVE, cluster_id="another"),
        replace(LIVE, topics=()),
        replace(
            LIVE, topics=(replace(LIVE.topics[0], partitions=(structs.replace(LED, leader=-1),)),)
        ),
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


def test_topics_that_are_not_described_are_counted() -> None:
    what = "brokers describe as many topics as the copy has"

    def found(topics: tuple[Topic, ...]) -> str:
        proofs = verdict(PLAN, QUORUM, replace(LIVE, topics=topics)).proofs
        return next(proof.found for proof in proofs if proof.what == what)

    assert found(LIVE.topics) == "1 of 1"
    assert found(()) == "0 of 1: some are gone, or hidden from this user"


def test_a_partition_whose_replicas_are_all_dead_is_not_the_quorums_fault() -> None:
    dead = structs.replace(LED, leader=-1, offline_replicas=(1, 2))
    live = replace(LIVE, topics=(replace(LIVE.topics[0], partitions=(dead,)),))
    assert verdict(PLAN, QUORUM, live).proven


class TestABrokerThatIsRegisteredAndDead:
    """It may have died of the seed: it knew more, and was told to truncate what it had applied."""

    @pytest.mark.parametrize(
        "live",
        [replace(LIVE, fenced=frozenset({2})), LIVE],
        ids=["listed as fenced", "not listed, as before 4.0"],
    )
    def test_it_is_not_proven(self, live: Live) -> None:
        plan = replaced(PLAN, brokers=(1, 2))
        (proof,) = (p for p in verdict(plan, QUORUM, live).proofs if not p.holds)
        assert (proof.what, proof.holds) == ("every registered broker lives", None)
        assert "[2] are registered and do not live" in proof.found

    def test_one_that_ran_when_the_plan_was_made_has_died_since(self) -> None:
        ran = ProspectJson(2, "broker", True, "follows, and keeps all that it has")
        plan = replaced(PLAN, brokers=(1, 2), prospects=(ran,))
        (proof,) = (p for p in verdict(plan, QUORUM, LIVE).proofs if not p.holds)
        assert proof.holds is False

    def test_one_that_fetches_lives(self) -> None:
        observers = (*QUORUM.observers, Fetcher(2, 1, 124))
        live = replace(LIVE, fenced=frozenset({2}))
        assert verdict(PLAN, replace(QUORUM, observers=observers), live).proven

    def test_one_that_follows_as_a_voter_lives(self) -> None:
        quorum = replace(QUORUM, voters=(*QUORUM.voters, Fetcher(2, 1, 124)))
        proofs = verdict(PLAN, quorum, replace(LIVE, fenced=frozenset({2}))).proofs
        (proof,) = (p for p in proofs if p.what == "every registered broker lives")
        assert proof.holds

    def test_one_that_was_named_as_lost_is_not_looked_for(self) -> None:
        plan = replaced(PLAN, brokers=(1, 101))
        assert verdict(plan, QUORUM, LIVE).proven


class TestAfterGrowingBackWithTheOldIds:
    OLD = VoterJson(101, "00000000-0000-8000-0000-000000000065", ())

    @pytest.mark.parametrize(
        ("directory", "proven"),
        [("00000000-0000-8000-0000-000000000999", True), (OLD.directory_id, False), (None, False)],
        ids=["made anew", "with its old disk", "not told"],
    )
    def test_the_directory_id_tells_who_was_made_anew(
        self, directory: str | None, proven: bool
    ) -> None:
        plan = replaced(PLAN, voters_before=(self.OLD,))
        voters = (*QUORUM.voters, Fetcher(101, 1, 124, directory))
        assert verdict(plan, replace(QUORUM, voters=voters), LIVE).proven is proven

    @pytest.mark.parametrize(("end", "proven"), [(124, True), (100, False)])
    def test_a_voter_of_a_static_quorum_that_is_not_behind_has_the_new_log(
        self, end: int, proven: bool
    ) -> None:
        plan = replaced(PLAN, seed=replaced(PLAN.seed, kraft_version=0))
        voters = (*QUORUM.voters, Fetcher(101, 1, end))
        assert verdict(plan, replace(QUORUM, voters=voters), LIVE).proven is proven


def test_a_survivor_that_has_no_vote_is_told_to_join() -> None:
    plan = replaced(PLAN, voters_before=(VoterJson(103, None, ()),), lost=(101,))
    observers = (*QUORUM.observers, Fetcher(103, 1, 124))
    found = verdict(plan, replace(QUORUM, observers=observers), LIVE)
    assert found.proven
    assert any("[103] live and have no vote: " in p.found for p in found.proofs)
