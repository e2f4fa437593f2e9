"""The faults of tests/real, on the emulator: by the probes, and by the new RPCs."""

from __future__ import annotations

import time

import pytest

from kafka_unclean_recovery.transport.reorder_elector import SOON_SECONDS
from tests.mission.conftest import PROBES
from tests.real.faults import Trouble
from tests.real.recipes import TOPIC
from tests.real.tap import ALTER_PARTITION_REASSIGNMENTS, LIST_PARTITION_REASSIGNMENTS, Gate
from tests.real.test_faults_meanwhile import (  # noqa: F401
    at_the_prompt,
    test_a_designated_broker_that_died_meanwhile_is_not_elected_nor_is_another,
    test_a_last_leader_that_an_unclean_start_took_out_of_the_elr_comes_back_all_the_same,
    test_a_partition_whose_last_leader_returned_meanwhile_is_already_online,
    test_topics_deleted_or_made_anew_meanwhile_are_refused_and_the_others_elected,
)
from tests.real.test_faults_reassignment import (  # noqa: F401
    moving_to_an_empty_replica,
    test_a_reassignment_that_begins_at_the_prompt_is_noticed,
    test_an_adding_replica_is_never_elected,
)
from tests.real.test_faults_signals import (  # noqa: F401
    test_a_signal_at_the_prompt_elects_nothing,
    test_a_signal_during_an_election_lets_it_finish,
    test_a_signal_while_gathering_ends_it_with_the_report_so_far,
)
from tests.real.test_faults_silent import (  # noqa: F401
    seconds_with_a_broker_stopped,
    test_a_loss_limit_elects_nobody_while_a_live_broker_is_silent,
    test_the_best_replica_is_waited_for_until_it_answers,
    test_what_a_silent_live_broker_loses_is_said_to_be_unknown_everywhere,
    test_who_is_asked_is_told_that_a_silent_live_broker_may_lose_records,
)
from tests.real.waiting import wait_until
from tests.real.watching import TIMEOUT, Commands, outcomes


def test_a_broker_stopped_while_gathering_is_named_and_holds_nobody_up(
    troubled: Trouble, commands: Commands
) -> None:
    """For ever, that is; tests/real has the seconds."""
    before = Gate(LIST_PARTITION_REASSIGNMENTS, answer=True)
    seconds = seconds_with_a_broker_stopped(troubled, commands, 4, before, all_offline=True)
    assert seconds < TIMEOUT


BACK = "broker 2 has come back since, and may hold more; plan again"


@pytest.mark.parametrize("means", [PROBES], ids=lambda means: means.name, indirect=True)
def test_a_replica_that_came_back_while_the_order_was_written_may_hold_more(
    troubled: Trouble, commands: Commands
) -> None:
    cluster = troubled.cluster
    partitions = troubled.take(2)
    before = troubled.orders(partitions)
    gate = Gate(ALTER_PARTITION_REASSIGNMENTS, answer=True)
    with troubled.tapped(4, gate) as address:
        wanted = ("--path-to-json-file", str(commands.partitions_file({TOPIC: partitions})))
        how = ("--automated-recovery", "--yes", "--format", "json")
        run = commands.start("--bootstrap-server", address, *wanted, *how)
        gate.wait()
        late = time.monotonic() + SOON_SECONDS
        cluster.start_node(2)
        wait_until(lambda: time.monotonic() > late, TIMEOUT, lambda: "the answer to be late")
        gate.open()
        done = run.finish()
    cluster.kill(2)
    assert done.code == 1
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("failed", BACK))
    assert troubled.leaders(partitions) == {-1}
    troubled.wait_for_orders(before)


def test_a_replica_that_came_back_since_may_hold_more_than_the_designated_one(
    troubled: Trouble, commands: Commands
) -> None:
    """Broker 2 is in neither ISR nor ELR: the controller leaves it alone, as the election would."""
    cluster = troubled.cluster
    partitions = troubled.take(2)
    run = at_the_prompt(commands, cluster.address(4), {TOPIC: partitions})
    cluster.start_node(2)
    run.agree()
    done = run.finish()
    cluster.kill(2)
    assert done.code == 1
    assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("refused", BACK))
    assert troubled.leaders(partitions) == {-1}
