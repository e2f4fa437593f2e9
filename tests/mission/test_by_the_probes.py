"""Faults that only a reorder has, whose order of the replicas is to be put back, and what is the
same by any mechanism: on the emulator, with what Kafka of today has.
"""

from __future__ import annotations

import pytest

from tests.mission.conftest import PROBES, Means
from tests.real.faults import Trouble
from tests.real.test_faults_crash import (  # noqa: F401
    test_a_journal_elsewhere_is_finished_by_the_next_run_too,
    test_a_journal_of_another_cluster_is_not_resumed,
    test_resume_puts_back_what_a_crash_after_the_election_left,
)
from tests.real.test_faults_meanwhile import (  # noqa: F401
    test_a_designated_broker_that_dies_in_the_last_moment_is_never_reported_as_elected,
)
from tests.real.test_faults_quorum import seconds_to_look_and_not_elect
from tests.real.test_faults_signals import (  # noqa: F401
    test_a_second_signal_stops_at_once_and_the_journal_can_be_resumed,
)
from tests.real.test_manual_recovery import (  # noqa: F401
    test_a_preferred_election_gives_the_lead_to_the_first_replica,
    test_an_existing_file_is_never_overwritten,
    test_an_unclean_election_leaves_the_choice_to_the_controller,
    test_the_file_designates_the_best_and_elects_nobody,
)
from tests.real.watching import TIMEOUT, Commands


@pytest.fixture(scope="session", params=[PROBES], ids=lambda means: means.name)
def means(request: pytest.FixtureRequest) -> Means:
    found: Means = request.param
    return found


def test_without_a_quorum_one_can_look_and_not_elect(troubled: Trouble, commands: Commands) -> None:
    """And nobody waits for it for ever; tests/real has the seconds."""
    config = commands.directory / "impatient.properties"
    config.write_text("request.timeout.ms=2000\n")
    troubled.cluster.lose_quorum()
    more = ("--command-config", str(config))
    assert seconds_to_look_and_not_elect(troubled, commands, *more) < TIMEOUT
