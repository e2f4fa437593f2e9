"""What stands between a plan and an election, and how its end is judged."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    NO_LEADER,
    EpochSpan,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.planning.election_rules import (
    by_whom,
    came_back_text,
    controller_choice,
    designate,
    designated_choice,
    judge,
    refuse_or_settle,
)
from kafka_unclean_recovery.planning.plan import plan_partition

# The outage of the README: 1 and 2 are dead, 3 holds more than 4.
OFFLINE = PartitionState(
    topic="orders",
    topic_id="id-1",
    partition=0,
    leader=NO_LEADER,
    leader_epoch=4,
    replicas=(1, 2, 4, 3),
    elr=(1, 2),
    offline_replicas=(1, 2),
)


def _log(broker: int, end: int) -> ReplicaLog:
    return ReplicaLog(
        broker,
        live=True,
        last_written_leader_epoch=0,
        log_start_offset=0,
        high_watermark=0,
        log_end_offset=end,
        epochs=(EpochSpan(0, 0, end),),
    )


def _plan(state: PartitionState = OFFLINE) -> PartitionPlan:
    return plan_partition(state, [_log(3, 1500), _log(4, 1000)])


def test_an_unchanged_partition_may_be_elected() -> None:
    assert refuse_or_settle(_plan(), OFFLINE) is None


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (None, "no longer exists"),
        (replace(OFFLINE, topic_id="id-2"), "deleted and created again"),
        (replace(OFFLINE, leader_epoch=5), "leader epoch moved from 4 to 5"),
        (replace(OFFLINE, replicas=(1, 2, 4, 3, 5)), "replica set changed"),
        (replace(OFFLINE, replicas=(1, 2, 4)), "replica set changed"),
        (replace(OFFLINE, adding_replicas=(5,)), "a reassignment has begun"),
        (replace(OFFLINE, removing_replicas=(1,)), "a reassignment has begun"),
        (replace(OFFLINE, offline_replicas=(1, 2, 3)), "broker 3 is dead or fenced"),
        (replace(OFFLINE, elr=(1,), offline_replicas=(1,)), "broker 2 has come back since"),
        (
            replace(OFFLINE, leader=4, leader_epoch=5),
            "broker 4 was elected meanwhile, not by this run",
        ),
        (replace(OFFLINE, elr=(), last_known_elr=(4,)), "would elect broker 4, the last known"),
    ],
)
def test_what_the_plan_rests_on_must_still_hold(now: PartitionState | None, reason: str) -> None:
    outcome = refuse_or_settle(_plan(), now)
    assert outcome is not None
    assert outcome.kind is OutcomeKind.REFUSED
    assert reason in (outcome.reason or "")


def test_another_order_of_the_same_replicas_is_no_change() -> None:
    assert refuse_or_settle(_plan(), replace(OFFLINE, replicas=(4, 3, 2, 1))) is None


@pytest.mark.parametrize("leader", [1, 3])
def test_a_partition_that_came_back_needs_no_election(leader: int) -> None:
    outcome = refuse_or_settle(_plan(), replace(OFFLINE, leader=leader, leader_epoch=5))
    assert outcome is not None
    assert outcome.kind is OutcomeKind.ALREADY_ONLINE


def test_a_partition_without_a_leader_is_told_with_what_kafka_said_of_it() -> None:
    assert judge(3, OFFLINE, OFFLINE, "NOT_NOW").reason == "NOT_NOW"
    said = judge(3, OFFLINE, OFFLINE, None).reason
    assert said == "Kafka reported success, yet it has no leader"


@pytest.mark.parametrize(
    ("before", "leader", "how"),
    [
        (OFFLINE, 1, "came back by itself: its leader was in the ISR or ELR"),
        (
            replace(OFFLINE, isr=(), elr=(1,), last_known_elr=(1,)),
            1,
            "came back by itself: its leader was in the ELR, or is the last known leader",
        ),
        (
            replace(OFFLINE, elr=(), last_known_elr=(3,)),
            3,
            "came back by itself: the controller elected the last known leader",
        ),
        (OFFLINE, 4, "broker 4 was elected meanwhile, not by this run"),
    ],
)
def test_of_a_leader_that_nobody_elected_here_it_is_told_how_it_came_to_lead(
    before: PartitionState, leader: int, how: str
) -> None:
    assert came_back_text(leader, before) == how


@pytest.mark.parametrize(
    ("unclean", "how"),
    [
        (None, ""),
        (True, "so Kafka elects such leaders by itself"),
        (False, "somebody else elected it"),
    ],
)
def test_who_elected_is_said_only_where_the_config_tells(unclean: bool | None, how: str) -> None:
    assert how in by_whom(unclean)
    assert ("somebody else" in by_whom(unclean)) is (unclean is False)


def test_the_controllers_may_have_elected_by_their_own_files_where_nothing_else_has_a_value() -> (
    None
):
    hint = "a controller's own file counts, and is not shown"
    assert hint in by_whom(False, as_a_broker_has_it=True)
    assert hint not in by_whom(False)
    assert hint not in by_whom(True, as_a_broker_has_it=True)


@pytest.mark.parametrize(
    ("on_1", "lacking"),
    [(0, "1500 records"), (1499, "1 record"), (1500, None), (2000, None)],
)
def test_a_member_of_the_isr_with_less_than_the_designated_one_is_not_made_leader(
    on_1: int, lacking: str | None
) -> None:
    """The controller elects it over any order."""
    state = replace(OFFLINE, elr=(), isr=(1,), offline_replicas=(2,))
    plan = designate(plan_partition(state, [_log(1, on_1), _log(3, 1500), _log(4, 1000)]), 3)
    outcome = refuse_or_settle(plan, state)
    assert (outcome is None) is (lacking is None)
    if outcome is not None:
        assert outcome.kind is OutcomeKind.REFUSED
        assert f"its log lacks {lacking} of the designated one" in (outcome.reason or "")


def test_a_live_elr_member_wins_cleanly_so_nothing_is_refused() -> None:
    assert refuse_or_settle(_plan(), replace(OFFLINE, offline_replicas=(1,))) is None


def test_no_candidate_is_said_before_anything_else() -> None:
    state = replace(OFFLINE, offline_replicas=(1, 2, 4))
    unread = ReplicaLog(3, live=True, problem="grant Topic(orders):READ")
    outcome = refuse_or_settle(plan_partition(state, [unread]), None)
    assert outcome is not None
    assert outcome.kind is OutcomeKind.NO_CANDIDATE
    assert outcome.reason == (
        "no replica can lead: broker 3: grant Topic(orders):READ; not live: brokers 1, 2, 4"
    )


@pytest.mark.parametrize(
    ("state", "choice"),
    [
        (OFFLINE, 4),
        (replace(OFFLINE, isr=(3,), elr=()), 3),
        (replace(OFFLINE, elr=(3,)), 3),
        (replace(OFFLINE, isr=(1,), elr=(3,)), 4),
        (replace(OFFLINE, elr=(), last_known_elr=(3,)), 3),
        (replace(OFFLINE, elr=(), last_known_elr=(1,)), 4),
        (replace(OFFLINE, elr=(), last_known_elr=(1, 3)), 4),
        (replace(OFFLINE, offline_replicas=(1, 2, 3, 4)), NO_LEADER),
    ],
)
def test_the_controller_takes_the_isr_then_the_elr_then_the_last_known_leader_then_the_first(
    state: PartitionState, choice: int
) -> None:
    assert controller_choice(state, state.replicas) == choice


@pytest.mark.parametrize(
    ("after", "said", "kind"),
    [
        (replace(OFFLINE, leader=3), None, OutcomeKind.ELECTED),
        (replace(OFFLINE, leader=3), "REQUEST_TIMED_OUT", OutcomeKind.ELECTED),
        (replace(OFFLINE, leader=2), None, OutcomeKind.ALREADY_ONLINE),
        (replace(OFFLINE, leader=4), None, OutcomeKind.FAILED),
        (OFFLINE, None, OutcomeKind.FAILED),
        (None, None, OutcomeKind.FAILED),
    ],
)
def test_only_the_designated_leader_or_a_clean_one_is_a_success(
    after: PartitionState | None, said: str | None, kind: OutcomeKind
) -> None:
    assert judge(3, OFFLINE, after, said).kind is kind


def test_a_replica_that_came_back_before_the_leader_was_seen_was_not_weighed() -> None:
    back = replace(OFFLINE, leader=3, offline_replicas=(1,))
    assert judge(3, OFFLINE, back, None).unweighed == (2,)
    assert judge(3, OFFLINE, replace(back, leader=4), None).unweighed == (2,)
    assert judge(3, OFFLINE, replace(back, offline_replicas=(1, 2)), None).unweighed == ()


def test_without_an_answer_any_replica_may_have_been_back_when_it_was_elected() -> None:
    led = replace(OFFLINE, leader=3)
    assert judge(3, OFFLINE, led, "REQUEST_TIMED_OUT", answered=False).unweighed == (1, 2)


def test_what_was_led_in_between_and_is_offline_again_is_in_doubt() -> None:
    assert not judge(3, OFFLINE, OFFLINE, None).in_doubt
    assert judge(3, OFFLINE, replace(OFFLINE, leader_epoch=6), None).in_doubt


def test_another_leader_is_named() -> None:
    outcome = judge(3, OFFLINE, replace(OFFLINE, leader=4), None)
    assert outcome.reason == "broker 4 leads instead of the designated 3"


def test_designating_by_hand_puts_the_ranking_behind_the_choice() -> None:
    plan = designate(_plan(), 4)
    assert plan.designated_leader == 4
    assert plan.order == (4, 3, 1, 2)
    assert plan.ranking[0].loss.certain == 500
    assert plan.findings[0].code == "designated_by_hand"


def test_designating_the_best_changes_nothing() -> None:
    assert designate(_plan(), 3) == _plan()


@pytest.mark.parametrize(
    ("leader", "reason"),
    [(7, "no replica"), (1, "dead or fenced")],
)
def test_a_foreign_or_dead_replica_is_never_designated(leader: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        designate(_plan(), leader)


def test_an_adding_replica_is_never_designated() -> None:
    with pytest.raises(ValueError, match="adding"):
        designate(_plan(replace(OFFLINE, adding_replicas=(4,))), 4)


def test_a_silent_replica_is_never_designated() -> None:
    silent = ReplicaLog(4, live=True, problem="timed out")
    with pytest.raises(ValueError, match="no answer that counts"):
        designate(plan_partition(OFFLINE, [_log(3, 1500), silent]), 4)


def _left_to_a_person(*logs: ReplicaLog) -> PartitionPlan:
    plan = plan_partition(OFFLINE, logs)
    assert plan.designated_leader is None
    assert plan.refusal is not None
    assert "choose one by hand" in plan.refusal
    return plan


NEVER_WROTE = replace(_log(4, 0), last_written_leader_epoch=-1, epochs=())
NO_EPOCH = replace(_log(3, 1500), last_written_leader_epoch=None, epochs=None)
EMPTIED = replace(NO_EPOCH, log_start_offset=1500, high_watermark=1500, epochs=())
END_ALONE = ReplicaLog(3, live=True, log_end_offset=1500, problem="KAFKA_STORAGE_ERROR")


@pytest.mark.parametrize("leader", [3, 4])
@pytest.mark.parametrize(
    "logs",
    [
        (NO_EPOCH, NEVER_WROTE),
        (END_ALONE, NEVER_WROTE),
        (NO_EPOCH, _log(4, 1000)),
        (EMPTIED, _log(4, 1000)),
        (END_ALONE, _log(4, 1000)),
        (replace(_log(3, 1500), suspect="offsets fall"), replace(_log(4, 9), suspect="they do")),
    ],
)
def test_whoever_a_person_chooses_where_the_choice_was_left_to_them_may_be_elected(
    logs: tuple[ReplicaLog, ...], leader: int
) -> None:
    refused = _left_to_a_person(*logs)
    assert refuse_or_settle(refused, OFFLINE) is not None
    plan = designate(refused, leader)
    assert (plan.designated_leader, plan.order[0]) == (leader, leader)
    assert refuse_or_settle(plan, OFFLINE) is None
    told = {finding.code: finding.message for finding in plan.findings}
    assert f"broker {leader} was designated by hand, since" in told["designated_by_hand"]


def test_nobody_chosen_by_hand_is_elected_while_a_reassignment_is_in_progress() -> None:
    moving = replace(OFFLINE, removing_replicas=(1,))
    plan = designate(plan_partition(moving, [NO_EPOCH, _log(4, 1000)]), 4)
    outcome = refuse_or_settle(plan, moving)
    assert outcome is not None
    assert outcome.kind is OutcomeKind.REFUSED
    assert "a reassignment is in progress" in (outcome.reason or "")


def test_a_last_known_leader_overrules_an_order_and_no_designated_election() -> None:
    now = replace(OFFLINE, elr=(), last_known_elr=(4,))
    outcome = refuse_or_settle(_plan(now), now)
    assert outcome is not None
    assert "would elect broker 4, the last known leader, over any order" in (outcome.reason or "")
    assert refuse_or_settle(_plan(now), now, designated_choice) is None


def test_a_leader_of_a_topic_that_was_created_again_is_nobodys_election() -> None:
    anew = replace(OFFLINE, leader=3, topic_id="another")
    found = judge(3, OFFLINE, anew, None)
    assert found.kind is OutcomeKind.FAILED
    assert found.reason is not None
    assert "deleted and created again" in found.reason
