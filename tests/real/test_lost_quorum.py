"""Every controller is lost for good while the brokers run on: a new one takes over from the copy of
the metadata log on a broker's disk, and nothing that the cluster knew is lost.

The tests stand in the order in which they leave the cluster changed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.new_controllers import bring_back
from tests.real.quorum_recipe import ORDERS
from tests.real.quorum_view import quorum_view, wait_until_followed
from tests.real.records import consume_all
from tests.real.recovered_quorum import OLD_MAJORITY, RecoveredQuorum, recovered_quorum
from tests.real.releases import ONE
from tests.real.waiting import wait_until

# 3.9.1 has no tool that adds the first voter's successors as safely.
VERSIONS = tuple(dict.fromkeys((ONE, "4.4.0")))


@pytest.fixture(scope="module", params=VERSIONS)
def recovered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RecoveredQuorum]:
    directory = tmp_path_factory.mktemp("dynamic")
    with recovered_quorum(directory, request.param, dynamic_quorum=True) as found:
        yield found


def test_no_quorum_is_planned_while_its_controllers_answer(recovered: RecoveredQuorum) -> None:
    assert recovered.planned_too_early.code == 3
    for controller in recovered.cluster.spec.controller_ids:
        address = recovered.cluster.controller_address(controller)
        assert address in recovered.planned_too_early.stderr


def test_the_brokers_take_and_give_records_all_the_while(recovered: RecoveredQuorum) -> None:
    assert recovered.produced.failed == []
    assert len(recovered.produced.acknowledged) > 20
    for (topic, partition), before in recovered.records_before.items():
        more = recovered.produced.acknowledged if (topic, partition) == (ORDERS, 0) else []
        now = consume_all(recovered.cluster.connection(), topic, partition)
        assert now == before + more, f"{topic}-{partition}"


def test_topics_leaders_configs_acls_and_users_are_as_before(recovered: RecoveredQuorum) -> None:
    assert recovered.states == (recovered.before, recovered.before)
    # Nothing would be equal to nothing.
    assert all(recovered.before.configs.values())
    assert recovered.before.acls
    assert recovered.before.users


def test_it_leads_in_an_epoch_far_above_all_that_were(recovered: RecoveredQuorum) -> None:
    assert recovered.led.leader == recovered.recovery.node
    assert recovered.led.epoch > 1000
    assert set(recovered.led.voters) == {recovered.recovery.node}


def test_the_command_proves_it(recovered: RecoveredQuorum) -> None:
    assert recovered.verified.code == 0, recovered.verified
    assert recovered.verified.json["proven"] is True


def test_no_broker_truncated_or_moved_anything_aside(recovered: RecoveredQuorum) -> None:
    for node, output in recovered.recovery.outputs().items():
        for bad in ("stray", "below high watermark", "fatal fault"):
            assert bad not in output, f"node {node}: {bad}"


def test_lost_controllers_that_come_back_follow(recovered: RecoveredQuorum) -> None:
    """Even two of three, which led a quorum of their own in the meantime."""
    led = recovered.led
    followers = (*OLD_MAJORITY, *recovered.cluster.spec.broker_ids)
    bring_back(recovered.cluster, OLD_MAJORITY, recovered.kept)
    now = recovered.new.wait_until_followed(recovered.recovery.node, followers)
    assert (now.leader, now.epoch, set(now.voters)) == (led.leader, led.epoch, set(led.voters))
    recovered.make_topic("with-the-old-ones")
    assert recovered.state("with-the-old-ones") == recovered.before
    for node in OLD_MAJORITY:
        recovered.cluster.kill(node)


def test_it_grows_to_three_voters_and_outlives_the_first(recovered: RecoveredQuorum) -> None:
    first = recovered.recovery.node
    successors = {202: 102, 203: 103}
    for node, lost in successors.items():
        # Brokers look for the quorum where the lost ones were.
        recovered.new.add_voter(node, recovered.cluster.controller_address(lost), first)
    recovered.new.kill(first)
    addresses = [recovered.new.address(node) for node in successors]
    wait_until(lambda: any(map(quorum_view, addresses)), 60.0, lambda: "one of the two leads")
    leader = next(address for address in addresses if quorum_view(address))
    wait_until_followed(leader, recovered.cluster.spec.broker_ids)
    recovered.make_topic("without-the-first")
    assert recovered.state("with-the-old-ones", "without-the-first") == recovered.before
