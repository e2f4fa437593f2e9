"""Groups, step by step: no socket, and no time but what is said."""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.emulator.broker.groups import (
    NO_GENERATION,
    Group,
    GroupState,
    Subscription,
    commit_refusal,
    heartbeat,
    join,
    leave,
    refusal,
    sync,
    tick,
)
from kafka_unclean_recovery.kafka_names import Errors

SESSION, REBALANCE = 10.0, 60.0


def _subscribed(*protocols: str, kind: str = "consumer", session: float = SESSION) -> Subscription:
    named = tuple((name, name.encode()) for name in protocols or ("range",))
    return Subscription("client", session, REBALANCE, kind, named)


def _enter(
    group: Group, member: str, now: float = 0.0, subscription: Subscription | None = None
) -> int:
    """Let a new member in, with the id that it was given."""
    group.invited[member] = now + SESSION
    return join(group, member, subscription or _subscribed(), now)


def _stable(*members: str) -> Group:
    """Return a group whose members are all in generation 1, assigned their own names."""
    group = Group("g")
    group.invited = dict.fromkeys(members, SESSION)
    for member in members:
        join(group, member, _subscribed(), 0.0)
    for member in reversed(members):
        sync(group, member, {each: each.encode() for each in members}, 0.0)
    assert (group.state, group.generation) == (GroupState.STABLE, 1)
    return group


def test_the_first_member_leads_and_is_assigned_what_it_says() -> None:
    group = Group("g")
    assert _enter(group, "a") == Errors.NONE
    assert (group.state, group.generation, group.leader, group.protocol) == (
        GroupState.COMPLETING_REBALANCE,
        1,
        "a",
        "range",
    )
    assert sync(group, "a", {"a": b"all"}, 0.0) == Errors.NONE
    assert (group.state, group.members["a"].assignment) == (GroupState.STABLE, b"all")


def test_a_generation_begins_when_every_member_has_joined_again() -> None:
    group = _stable("a")
    assert _enter(group, "b") == Errors.NONE
    assert (group.state, group.generation) == (GroupState.PREPARING_REBALANCE, 1)
    assert heartbeat(group, "a", 1.0) == Errors.REBALANCE_IN_PROGRESS
    assert join(group, "a", _subscribed(), 1.0) == Errors.NONE
    assert (group.state, group.generation, group.leader) == (
        GroupState.COMPLETING_REBALANCE,
        2,
        "a",
    )


def test_followers_wait_until_the_leader_has_handed_out() -> None:
    group = Group("g", invited={"a": SESSION, "b": SESSION})
    join(group, "a", _subscribed(), 0.0)
    join(group, "b", _subscribed(), 0.0)
    assert sync(group, "b", {}, 0.0) == Errors.NONE
    assert group.state is GroupState.COMPLETING_REBALANCE
    sync(group, "a", {"b": b"mine"}, 0.0)
    assert (group.state, group.members["b"].assignment) == (GroupState.STABLE, b"mine")
    assert group.members["a"].assignment == b""


def test_who_was_given_an_id_is_waited_for_until_it_lapses() -> None:
    group = Group("g", invited={"a": SESSION, "b": SESSION})
    join(group, "a", _subscribed(), 0.0)
    assert group.state is GroupState.PREPARING_REBALANCE
    tick(group, SESSION + 1)
    assert (group.state, group.invited) == (GroupState.COMPLETING_REBALANCE, {})
    assert join(group, "b", _subscribed(), SESSION + 1) == Errors.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_join_again_in_time_is_given_up() -> None:
    group = _stable("a", "b")
    _enter(group, "c", now=1.0, subscription=_subscribed(session=1000.0))
    for at in range(1, int(REBALANCE)):
        heartbeat(group, "a", float(at))
        heartbeat(group, "b", float(at))
        tick(group, float(at))
        assert group.state is GroupState.PREPARING_REBALANCE
    join(group, "b", _subscribed(), REBALANCE)
    tick(group, REBALANCE + 1)
    assert (group.state, set(group.members), group.leader) == (
        GroupState.COMPLETING_REBALANCE,
        {"b", "c"},
        "b",
    )


def test_a_member_that_never_syncs_is_given_up() -> None:
    group = Group("g", invited={"a": SESSION, "b": SESSION})
    for member in ("a", "b"):
        join(group, member, _subscribed(session=1000.0), 0.0)
    sync(group, "b", {}, 0.0)
    tick(group, REBALANCE)
    assert (group.state, set(group.members)) == (GroupState.PREPARING_REBALANCE, {"b"})


def test_a_silent_member_s_session_ends() -> None:
    group = _stable("a", "b")
    heartbeat(group, "a", SESSION)
    tick(group, SESSION + 1)
    assert (group.state, set(group.members)) == (GroupState.PREPARING_REBALANCE, {"a"})


def test_who_waits_for_an_answer_is_not_silent() -> None:
    group = _stable("a", "b")
    _enter(group, "c", now=0.0)
    join(group, "a", _subscribed(), 0.0)
    heartbeat(group, "b", SESSION)
    tick(group, SESSION + 1)
    assert set(group.members) == {"a", "b", "c"}


def test_the_last_one_leaves_an_empty_group_with_its_offsets() -> None:
    group = _stable("a")
    assert leave(group, "a", 1.0) == Errors.NONE
    assert (group.state, group.generation) == (GroupState.EMPTY, 2)
    assert leave(group, "a", 1.0) == Errors.UNKNOWN_MEMBER_ID


def test_the_protocol_is_the_first_choice_of_most_among_those_that_all_have() -> None:
    group = Group("g", invited=dict.fromkeys("abc", SESSION))
    join(group, "a", _subscribed("sticky", "range", "robin"), 0.0)
    join(group, "b", _subscribed("robin", "range"), 0.0)
    join(group, "c", _subscribed("other", "robin", "range"), 0.0)
    assert group.protocol == "robin"


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(_subscribed("robin"), id="no protocol that all have"),
        pytest.param(_subscribed(kind="connect"), id="another type"),
    ],
)
def test_who_does_not_fit_into_the_group_is_refused(wrong: Subscription) -> None:
    group = _stable("a")
    assert _enter(group, "b", subscription=wrong) == Errors.INCONSISTENT_GROUP_PROTOCOL
    assert (group.state, set(group.members)) == (GroupState.STABLE, {"a"})


def test_a_member_that_says_the_same_again_is_told_the_same_unless_it_leads() -> None:
    group = _stable("a", "b")
    join(group, "b", _subscribed(), 1.0)
    assert (group.state, group.generation) == (GroupState.STABLE, 1)
    join(group, "a", _subscribed(), 1.0)
    assert group.state is GroupState.PREPARING_REBALANCE


def test_a_changed_subscription_is_a_rebalance() -> None:
    group = _stable("a", "b")
    join(group, "b", _subscribed("range", "robin"), 1.0)
    assert group.state is GroupState.PREPARING_REBALANCE


def test_strangers_and_other_generations_are_refused() -> None:
    group = _stable("a")
    assert refusal(group, "b", 1) == Errors.UNKNOWN_MEMBER_ID
    assert refusal(group, "a", 0) == Errors.ILLEGAL_GENERATION
    assert refusal(group, "a", 1) == Errors.NONE


def test_a_sync_during_a_rebalance_is_to_join_again() -> None:
    group = _stable("a")
    _enter(group, "b")
    assert sync(group, "a", {}, 0.0) == Errors.REBALANCE_IN_PROGRESS


def test_who_may_commit_depends_on_the_group() -> None:
    assert commit_refusal(Group("g"), "", NO_GENERATION) == Errors.NONE
    group = _stable("a")
    assert commit_refusal(group, "", NO_GENERATION) == Errors.UNKNOWN_MEMBER_ID
    assert commit_refusal(group, "a", 1) == Errors.NONE
    assert commit_refusal(group, "a", 2) == Errors.ILLEGAL_GENERATION
    _enter(group, "b")
    # What was read before the rebalance may still be committed while the others are awaited.
    assert commit_refusal(group, "a", 1) == Errors.NONE
    join(group, "a", _subscribed(), 0.0)
    assert commit_refusal(group, "a", 2) == Errors.REBALANCE_IN_PROGRESS
