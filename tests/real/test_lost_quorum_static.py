"""Every controller is lost for good where the voters are in the configuration: a new one takes
over with the id and the address of a lost one.

The tests stand in the order in which they leave the cluster changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.real.cluster_state import records
from tests.real.quorum_recipe import ORDERS
from tests.real.recovered_quorum import (
    OLD_MAJORITY,
    RecoveredQuorum,
    leader_epochs,
    recovered_quorum,
)
from tests.real.releases import TESTED

# In this order the others join the one that begins.
SUCCESSORS = (102, 103)


@pytest.fixture(scope="module", params=TESTED)
def recovered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RecoveredQuorum]:
    directory = tmp_path_factory.mktemp("static")
    with recovered_quorum(directory, request.param, dynamic_quorum=False) as found:
        yield found


def test_nothing_that_the_cluster_knew_is_lost(recovered: RecoveredQuorum) -> None:
    assert recovered.states == (recovered.before, recovered.before)
    assert recovered.produced.failed == []
    now = records(recovered.cluster, recovered.before)
    more = {(ORDERS, 0): recovered.produced.acknowledged}
    assert now == {k: v + more.get(k, []) for k, v in recovered.records_before.items()}


def test_the_command_proves_it(recovered: RecoveredQuorum) -> None:
    assert recovered.led.epoch > 1000
    assert recovered.verified.code == 0, recovered.verified
    assert recovered.verified.json["proven"] is True
    assert recovered.verified.json["not_looked_at"] == []


def test_lost_controllers_that_elected_nobody_follow(recovered: RecoveredQuorum) -> None:
    """One alone, which can't elect, then another beside it: two of three, which could."""
    assert max(leader_epochs(recovered.untouched)) < min(leader_epochs(recovered.kept))
    with ExitStack() as running:
        for node in OLD_MAJORITY:
            now = running.enter_context(recovered.back([node], recovered.untouched))
            recovered.assert_undisturbed(now)


def test_lost_controllers_that_come_back_follow(recovered: RecoveredQuorum) -> None:
    """Even two of three, which led a quorum of their own in the meantime."""
    with recovered.back(OLD_MAJORITY, recovered.kept) as now:
        recovered.assert_undisturbed(now)
        recovered.assert_not_proven_beside(OLD_MAJORITY)


def test_it_grows_to_three_voters_one_at_a_time(recovered: RecoveredQuorum) -> None:
    new = recovered.new
    voters = [recovered.recovery.node]
    for node in SUCCESSORS:
        voters.append(node)
        new.vote(voters)
    leader = new.leader_of(voters)
    new.wait_until_followed(leader, [*voters, *recovered.cluster.spec.broker_ids])
    # Any one may go now.
    new.kill(recovered.recovery.node)
    leader = new.leader_of(SUCCESSORS)
    new.wait_until_followed(leader, recovered.cluster.spec.broker_ids)
    recovered.make_topic("without-the-first")
    assert recovered.state == recovered.before
