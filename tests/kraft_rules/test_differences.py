"""What sets the releases and KIP-966's text apart: each field of Release, and where it is seen.

The table in docs/rehearse.md has a row for each of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from kafka_unclean_recovery.kraft_rules.releases import RELEASES, LastKnown, Release
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from tests.kraft_rules.script import Script, scenario, show

SHOWN_BY = {
    "elr": ("with_elr_the_last_replica_standing_does_not_lead_again", "fence 1"),
    "highest_elr_version": ("release_3.9.1_can_not_switch_elr_on", "elr on"),
    "elr_ends_when_off": (
        "kip_966_elr_switched_off_elects_nobody_and_is_gone_with_the_next_change",
        "unfence 1",
    ),
    "election_may_end_elr": (
        "election_from_the_elr_ends_it_when_min_isr_is_1_by_now",
        "unfence 1",
    ),
    "last_known": ("former_elr_members_are_remembered", "fence 3"),
    "new_incarnation_is_fenced": ("registration_in_3.9.1_elects_nobody", "register 1"),
    "session_outlives_fencing": ("fenced_broker_may_register_again_in_3.9.1", "register 1"),
    "reassignment_awaits_target": (
        "without_elr_a_reassignment_awaits_its_whole_target",
        "isr 1,2,4",
    ),
    "reassignment_needs_min_isr": ("reassignment_completes_only_at_min_isr", "isr 1,4"),
    "min_isr_change_clears_elr": (
        "min_isr_change_keeps_an_elr_that_is_still_needed",
        "set min.insync.replicas=2",
    ),
    "leaderless_topic_stays_in_directories": (
        "kip_966_forgets_a_deleted_topic_that_had_no_leader",
        "fail 1 0",
    ),
    "min_isr_of_partition_0": (
        "min_isr_of_a_reassignment_is_that_of_its_target",
        "isr 1,2,3",
    ),
    "cluster_min_isr_stays": (
        "switching_elr_on_gives_all_brokers_a_min_isr",
        "cluster min.insync.replicas",
    ),
    "designated_elections": (
        "designated_leader_is_elected_when_there_is_none",
        "elect designated 2",
    ),
    "unclean_recovery": (
        "balanced_recovery_begins_when_all_last_known_elr_members_are_unfenced",
        "restart 2 unclean",
    ),
}
"""Field to transcript, and the first line of it that comes to something else without the field."""


def test_every_difference_is_shown() -> None:
    # What requests may name is no rule of the controller: tests/emulator/test_apis.py shows it, and
    # test_group_apis.py beside it.
    others = ("name", "names_nodes", "share_groups", "share_state_needs_epoch")
    assert list(SHOWN_BY) == [field.name for field in fields(Release) if field.name not in others]


@pytest.mark.parametrize("field", SHOWN_BY)
def test_a_difference_sets_releases_apart_and_is_seen_where_the_list_says(field: str) -> None:
    assert len({getattr(release, field) for release in RELEASES.values()}) == 2
    transcript, line = SHOWN_BY[field]
    name, lines = scenario(transcript)
    release = RELEASES[name]
    flipped = replace(release, **{field: _other(getattr(release, field))})
    both = zip(_played(release, lines), _played(flipped, lines), strict=True)
    assert next(was for was, now in both if was != now)[0] == line


def _other(value: Any) -> Any:
    if isinstance(value, LastKnown):
        return next(other for other in LastKnown if other is not value)
    return not value if isinstance(value, bool) else 1 - value


def _played(release: Release, lines: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield each line with what it comes to; nothing after the end of the controller."""
    script = Script(State(release))
    for line in lines:
        try:
            said = script.play(line)
        except ControllerFault as fault:
            said = f"ControllerFault: {fault}"
        yield (line, said, *show(script.state))
