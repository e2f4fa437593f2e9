"""Every controller is lost for good while the brokers run on: a new one takes over from the copy of
the metadata log on a broker's disk, and nothing that the cluster knew is lost.

The tests stand in the order in which they leave the cluster changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.real.cluster_state import records
from tests.real.quorum_recipe import LAST, NAMES, ORDERS
from tests.real.quorum_recovery import REFUSED
from tests.real.recovered_quorum import (
    OLD_MAJORITY,
    RecoveredQuorum,
    leader_epochs,
    recovered_quorum,
)
from tests.real.releases import TESTED


@pytest.fixture(scope="module", params=TESTED)
def recovered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RecoveredQuorum]:
    directory = tmp_path_factory.mktemp("dynamic")
    with recovered_quorum(directory, request.param, dynamic_quorum=True) as found:
        yield found


def test_no_quorum_is_planned_while_its_controllers_answer(recovered: RecoveredQuorum) -> None:
    assert recovered.planned_too_early.code == REFUSED
    for controller in recovered.cluster.spec.controller_ids:
        address = recovered.cluster.controller_address(controller)
        assert address in recovered.planned_too_early.stderr


def test_the_brokers_take_and_give_records_all_the_while(recovered: RecoveredQuorum) -> None:
    assert recovered.produced.failed == []
    assert len(recovered.produced.acknowledged) > 20
    now = records(recovered.cluster, recovered.before)
    more = {(ORDERS, 0): recovered.produced.acknowledged}
    assert now == {k: v + more.get(k, []) for k, v in recovered.records_before.items()}


def test_topics_leaders_configs_acls_and_users_are_as_before(recovered: RecoveredQuorum) -> None:
    assert recovered.states == (recovered.before, recovered.before)
    # Nothing would be equal to nothing.
    assert set(recovered.before.ids) == {ORDERS, NAMES, LAST}
    assert recovered.before.configs[ORDERS]
    assert recovered.before.acls
    assert recovered.before.users


def test_it_leads_in_an_epoch_far_above_all_that_were(recovered: RecoveredQuorum) -> None:
    assert recovered.led.leader == recovered.recovery.node
    assert recovered.led.epoch > 1000
    assert set(recovered.led.voters) == {recovered.recovery.node}


def test_the_command_proves_it(recovered: RecoveredQuorum) -> None:
    assert recovered.verified.code == 0, recovered.verified
    assert recovered.verified.json["proven"] is True
    assert recovered.verified.json["not_looked_at"] == []


def test_no_broker_truncated_or_moved_anything_aside(recovered: RecoveredQuorum) -> None:
    for node, output in recovered.recovery.outputs().items():
        for bad in ("stray", "below high watermark", "fatal fault"):
            assert bad not in output, f"node {node}: {bad}"


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


def test_it_grows_to_three_voters_and_outlives_the_first(recovered: RecoveredQuorum) -> None:
    first = recovered.recovery.node
    successors = {202: 102, 203: 103}
    for node, lost in successors.items():
        # Brokers look for the quorum where the lost ones were.
        recovered.new.add_voter(node, recovered.cluster.controller_address(lost), first)
    recovered.new.kill(first)
    leader = recovered.new.leader_of(tuple(successors))
    recovered.new.wait_until_followed(leader, recovered.cluster.spec.broker_ids)
    recovered.make_topic("without-the-first")
    assert recovered.state == recovered.before
