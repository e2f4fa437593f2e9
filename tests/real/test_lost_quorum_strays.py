"""A new quorum begins from a copy that lacks a topic, by somebody who left the better copy out: the
broker puts that topic aside when it starts, and `quorum verify` says so."""

from __future__ import annotations

from pathlib import Path

from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.new_controllers import NewControllers, bring_back, lose
from tests.real.quorum_recovery import NEW, QuorumRecovery
from tests.real.records import create_topic, produce
from tests.real.waiting import wait_until

KEPT, LATE = "kept", "late"
TIMEOUT = 60.0
UNREGISTERED = "Unable to register the broker"
STRAYS = "no broker whose log directories were given has put partitions aside"


def test_a_topic_that_the_seed_lacks_is_put_aside_and_nothing_is_proven(tmp_path: Path) -> None:
    made = KafkaCluster.create(tmp_path / "cluster", brokers=1, controllers=1, dynamic_quorum=True)
    with made as cluster, NewControllers(cluster) as new:
        cluster.start()
        _make(cluster, KEPT)
        lose(cluster, [101], tmp_path / "kept")
        bring_back(cluster, [101], tmp_path / "kept")
        _make(cluster, LATE)
        cluster.kill_all()
        lose(cluster, [101])

        recovery = QuorumRecovery(Cli(tmp_path), new, lost=(101,))
        recovery.recover([tmp_path / "kept"], "--without-copies-of", "1")
        disk = ("--log-dirs", str(cluster.log_dir(1)))
        _start_twice(recovery)

        unseen = recovery.verify()
        assert (unseen.code, unseen.json["proven"]) == (0, True), unseen
        assert [STRAYS in each for each in unseen.json["not_looked_at"]] == [True]
        seen = recovery.verify(*disk)
        assert (seen.code, seen.json["proven"]) == (1, False), seen
        (bad,) = (proof for proof in seen.json["proofs"] if proof["holds"] is not True)
        (stray,) = cluster.log_dir(1).glob("*-stray")
        assert (bad["what"], bad["holds"]) == (STRAYS, False)
        assert str(stray) in bad["found"]
        assert stray.name.startswith(f"{LATE}-0.")


def _start_twice(recovery: QuorumRecovery) -> None:
    """Start brokers twice: one that has truncated does not read the voters that came in place of
    its own records, and knows no controller to register with until it starts again, as the plan
    says."""
    cluster = recovery.new.cluster
    (left_out,) = (each for each in recovery.planned["prospects"] if each["node"] == 1)
    assert "start it again" in left_out["will"]
    cluster.start_node(1, wait=False)
    recovery.new.wait_until_followed(NEW, [1])
    wait_until(
        lambda: UNREGISTERED in cluster.output(1).read_text(errors="replace"),
        TIMEOUT,
        lambda: "broker 1 in vain",
    )
    cluster.kill(1)
    cluster.start([1])


def _make(cluster: KafkaCluster, topic: str) -> None:
    create_topic(cluster.connection(), topic, [(1,)])
    cluster.wait_until_partitions(topic, lambda p: not p.offline)
    produce(cluster.connection(), topic, 0, 10)
