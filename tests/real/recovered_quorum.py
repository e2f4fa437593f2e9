"""A cluster that lost every controller while its brokers ran on, recovered by our command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.cluster_state import ClusterState, records, state_of_cluster
from tests.real.new_controllers import NewControllers, bring_back, lose, make_patient
from tests.real.quorum_recipe import ORDERS, RECORDS, three_controllers_and_two_brokers
from tests.real.quorum_recovery import NEW, QuorumRecovery
from tests.real.quorum_view import QuorumView, quorum_view
from tests.real.records import create_topic, produce
from tests.real.steady_producer import Produced, producing
from tests.real.waiting import wait_until

# Two of the lost three: a majority of the old quorum. The new one has the address of 101.
OLD_MAJORITY = (102, 103)
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class RecoveredQuorum:
    """What was before the loss, what the command said, and the cluster as it runs now.

    produced: To partition 0 of ORDERS all the while. planned_too_early: While controllers answered.
    untouched: Disks of OLD_MAJORITY as they were when they were lost. kept: The same, after these
    had elected a leader among themselves, unseen. made: Topics of the tests.
    """

    recovery: QuorumRecovery
    before: ClusterState
    records_before: dict[tuple[str, int], list[bytes]]
    produced: Produced
    planned_too_early: Finished
    verified: Finished
    led: QuorumView
    states: tuple[ClusterState, ...]
    untouched: Path
    kept: Path
    made: list[str] = field(default_factory=list)

    @property
    def new(self) -> NewControllers:
        return self.recovery.new

    @property
    def cluster(self) -> KafkaCluster:
        return self.new.cluster

    @property
    def state(self) -> ClusterState:
        """Return the state as broker 2 has it now, without topics of the tests."""
        state = state_of_cluster(self.cluster, 2)
        for topic in self.made:
            state = state.without(topic)
        return state

    def make_topic(self, topic: str) -> None:
        """Make a topic: the controller can write, and the brokers take what it wrote."""
        create_topic(self.cluster.connection(), topic, [(1, 2)])
        self.cluster.wait_until_partitions(topic, lambda p: len(p.isr) == 2)
        produce(self.cluster.connection(), topic, 0, 10)
        self.made.append(topic)

    def assert_undisturbed(self, now: QuorumView) -> None:
        """Check that the new one leads on, its quorum works, and nothing else has changed."""
        led = self.led
        assert (now.leader, now.epoch, set(now.voters)) == (led.leader, led.epoch, set(led.voters))
        self.make_topic(f"made-{len(self.made)}")
        assert self.state == self.before

    def assert_not_proven_beside(self, lost: Sequence[int]) -> None:
        """Check that the command proves nothing while these, who may lead, follow."""
        verified = self.recovery.verify()
        assert verified.code == 1, verified
        (open_,) = (proof for proof in verified.json["proofs"] if not proof["holds"])
        assert open_["found"].startswith(f"{sorted(lost)} follow"), open_

    @contextmanager
    def back(self, nodes: Sequence[int], disks: Path) -> Iterator[QuorumView]:
        """Yield the quorum once these of the lost ones follow; they are dead again afterwards."""
        make_patient(self.cluster, nodes)
        bring_back(self.cluster, nodes, disks)
        try:
            followers = (*nodes, *self.cluster.spec.broker_ids)
            yield self.new.wait_until_followed(self.recovery.node, followers)
        finally:
            for node in nodes:
                self.cluster.kill(node)


@contextmanager
def recovered_quorum(
    directory: Path, version: str, *, dynamic_quorum: bool
) -> Iterator[RecoveredQuorum]:
    made = three_controllers_and_two_brokers(
        directory / "cluster", version, dynamic_quorum=dynamic_quorum
    )
    with made as cluster, NewControllers(cluster) as new:
        node = NEW if dynamic_quorum else cluster.spec.controller_ids[0]
        yield _recovered(QuorumRecovery(Cli(directory), new, node), directory)


def _recovered(recovery: QuorumRecovery, directory: Path) -> RecoveredQuorum:
    untouched, kept = directory / "untouched", directory / "kept"
    cluster = recovery.new.cluster
    brokers = cluster.spec.broker_ids
    before = state_of_cluster(cluster, 1)
    everything = records(cluster, before)
    disks = [cluster.log_dir(broker) for broker in brokers]
    early = recovery.plan(disks)
    lose(cluster, cluster.spec.controller_ids, untouched)
    elect_unseen(cluster, untouched, kept)
    with producing(cluster.connection(), ORDERS, RECORDS) as produced:
        recovery.recover(disks)
        led = recovery.new.wait_until_followed(recovery.node, brokers)
        looked_at = (word for disk in disks for word in ("--log-dirs", str(disk)))
        verified = recovery.verify(*looked_at)
        states = tuple(state_of_cluster(cluster, broker) for broker in brokers)
    return RecoveredQuorum(
        recovery, before, everything, produced, early, verified, led, states, untouched, kept
    )


def leader_epochs(disks: Path) -> list[int]:
    """Return the epochs that the old majority's disks tell, the least first."""
    files = (disks / str(n) / "__cluster_metadata-0" / "quorum-state" for n in OLD_MAJORITY)
    return sorted(json.loads(file.read_text())["leaderEpoch"] for file in files)


def elect_unseen(cluster: KafkaCluster, untouched: Path, kept: Path) -> None:
    """Let two of the lost controllers lead a quorum of their own for a while, on their disks as
    they were, and the brokers hear nothing of it; `kept` gets their disks as they are then."""
    for broker in cluster.live_brokers:
        cluster.pause(broker)
    bring_back(cluster, OLD_MAJORITY, untouched)
    addresses = [cluster.controller_address(node) for node in OLD_MAJORITY]

    def led() -> bool:
        views = filter(None, map(quorum_view, addresses))
        return any(view.high_watermark >= 0 for view in views)

    wait_until(led, TIMEOUT, lambda: f"a leader among {OLD_MAJORITY}")
    lose(cluster, OLD_MAJORITY, kept)
    for broker in cluster.spec.broker_ids:
        cluster.resume(broker)
