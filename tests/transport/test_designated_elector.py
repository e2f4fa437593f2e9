"""Elections of designated leaders by a controller that does as it is told to."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.boot_clock import boot_time
from kafka_unclean_recovery.cluster.controller import Patience
from kafka_unclean_recovery.documents.journal_lines import half_done
from kafka_unclean_recovery.files.journal import Journal
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.model import (
    Outcome,
    OutcomeKind,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.planning.election_rules import designate
from kafka_unclean_recovery.planning.plan import plan_partition
from kafka_unclean_recovery.shutdown import Stop
from kafka_unclean_recovery.transport.designated_elector import DesignatedElector
from kafka_unclean_recovery.transport.electing import Means
from kafka_unclean_recovery.transport.replica_log_info import ReplicaLogInfoSource
from tests.cluster.fake_node import in_loop
from tests.transport.scripted import Row, Scripted, Silence, by_partition, offline, reached

ELECT_LEADERS = 43
# A busy machine may take a second over an answer that comes.
AMPLE = Patience(answer=30.0, ghost=0.1, settle=5.0)
SOON_GIVEN_UP = Patience(answer=1.0, ghost=0.1, settle=5.0)
NEVER_SETTLED = Patience(answer=1.0, ghost=60.0, settle=0.1)


def _plan(state: PartitionState, leader: int = 3, **fields: Any) -> PartitionPlan:
    log = replace(ReplicaLog(leader, True, 5, 0, 100, 100, (), broker_epoch=17), **fields)
    others = (replace(log, broker=r) for r in state.online_replicas if r != leader)
    return designate(plan_partition(state, [log, *others]), leader)


@dataclass
class Run:
    outcomes: dict[int, Outcome]
    lines: list[dict[str, Any]]
    said: list[str] = field(default_factory=list)


@pytest.fixture
def elect(tmp_path: Path) -> Callable[..., Run]:
    def run(
        scripted: Scripted,
        plans: list[PartitionPlan],
        patience: Patience = AMPLE,
        retries: int = 1,
        stop_after: int | None = None,
    ) -> Run:
        """Elect. stop_after: as when a signal comes once so many elections were sent."""
        result = Run({}, [])

        @in_loop
        async def go() -> None:
            stop = Stop(result.said.append)

            def stop_soon() -> None:
                sent = scripted.keys.count(ELECT_LEADERS)
                if stop_after is not None and sent >= stop_after and not stop.requested:
                    stop._receive(15)

            answered = scripted.elect

            def stopped_while_electing(leaders: Mapping[int, int]) -> Mapping[int, int]:
                stop_soon()
                return answered(leaders)

            scripted.elect = stopped_while_electing
            stop_soon()

            with Journal.open(tmp_path / "journal") as journal:
                async with reached(scripted) as cluster:
                    means = Means(
                        cluster.reader,
                        ReplicaLogInfoSource(cluster.nodes, Dialect.REVERTED),
                        cluster.controller(patience),
                        journal,
                        stop,
                        result.said.append,
                        lambda _: None,
                        retries,
                    )
                    made = await DesignatedElector(means).elect(plans)
                result.outcomes = by_partition(made.outcomes)
                result.lines = list(journal.lines)

        go()
        return result

    return run


def _cluster(partitions: int = 1, **fields: Any) -> Scripted:
    states = {p: offline(p) for p in range(partitions)}
    scripted = Scripted(states=states, rows=dict.fromkeys(states, Row()), **fields)

    def obey(leaders: Mapping[int, int]) -> Mapping[int, int]:
        for partition, leader in leaders.items():
            scripted.lead(partition, leader)
        return dict.fromkeys(leaders, 0)

    scripted.elect = obey
    return scripted


def _elections(scripted: Scripted) -> list[Any]:
    return [r.message for r in scripted.node.received if r.key == ELECT_LEADERS]


def test_the_designated_leader_is_named_and_no_order_is_touched(elect: Callable[..., Run]) -> None:
    scripted = _cluster()
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes == {0: Outcome(OutcomeKind.ELECTED)}
    (message,) = _elections(scripted)
    assert message.election_type == 2
    assert [(t.partitions, t.designated_leaders) for t in message.topic_partitions] == [([0], [3])]
    # Metadata names the controller, for there is no quorum to describe here.
    assert set(scripted.keys) <= {3, 18, 75, 60, 46, 93, ELECT_LEADERS}


def test_what_is_done_is_in_the_journal_and_leaves_nothing_to_finish(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    run = elect(scripted, [_plan(scripted.states[0])])
    first, sent, answered, last = run.lines
    assert (sent["event"], sent["request"], sent["partitions"]) == ("sent", "ElectLeaders", 1)
    assert (answered["event"], answered["number"], sent["number"]) == ("answered", 1, 1)
    now = boot_time()
    assert now is not None
    assert sent["boot_id"] == now.boot_id
    row = {"topic": "orders", "partition": 0, "designated_leader": 3}
    assert (first["event"], first["method"], first["partitions"]) == ("elect", "designated", [row])
    assert (last["event"], last["partitions"][0]["outcome"]) == ("outcome", "elected")
    assert not half_done(run.lines)


def test_a_leader_that_cannot_be_elected_is_an_error_and_nobody_else_leads(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    scripted.elect = lambda leaders: dict.fromkeys(leaders, 83)
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes[0].kind is OutcomeKind.FAILED
    assert "ELIGIBLE_LEADERS_NOT_AVAILABLE" in (run.outcomes[0].reason or "")
    assert scripted.states[0].offline
    assert len(_elections(scripted)) == 2, "one retry, as asked for"
    assert {m.election_type for m in _elections(scripted)} == {2}


def test_nothing_is_sent_that_the_journal_can_not_note(
    elect: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = _cluster(2)
    write, lines = os.write, iter([True])

    def fill(descriptor: int, data: bytes) -> int:
        if next(lines, False):
            return write(descriptor, data)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kafka_unclean_recovery.files.journal.os.write", fill)
    run = elect(scripted, [_plan(s) for s in scripted.states.values()])
    assert [line["event"] for line in run.lines] == ["elect"]
    assert not _elections(scripted)
    assert set(run.outcomes) == {0, 1}
    for outcome in run.outcomes.values():
        assert outcome.kind is OutcomeKind.FAILED
        assert "No space left on device" in (outcome.reason or "")


def test_a_designated_broker_that_nobody_lists_any_more_is_not_elected(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    scripted.states[0] = offline(0, replicas=(1, 2, 4))
    run = elect(scripted, [_plan(scripted.states[0], leader=4)])
    assert run.outcomes == {0: Outcome(OutcomeKind.REFUSED, "broker 4 is not live any more")}
    assert not _elections(scripted)


def test_one_failure_does_not_hold_up_the_others(elect: Callable[..., Run]) -> None:
    scripted = _cluster(3)

    def all_but_one(leaders: Mapping[int, int]) -> Mapping[int, int]:
        for partition in leaders.keys() - {1}:
            scripted.lead(partition, 3)
        return {p: 83 if p == 1 else 0 for p in leaders}

    scripted.elect = all_but_one
    run = elect(scripted, [_plan(s) for s in scripted.states.values()])
    assert [o.kind.value for o in run.outcomes.values()] == ["elected", "failed", "elected"]


def test_a_partition_left_out_of_the_answer_is_tried_again_and_then_an_error(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    scripted.elect = lambda _: {}
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes[0] == Outcome(
        OutcomeKind.FAILED, "the controller left it out of its answer"
    )
    assert len(_elections(scripted)) == 2


def test_another_leader_than_the_designated_one_is_a_failure(elect: Callable[..., Run]) -> None:
    scripted = _cluster()

    def disobey(leaders: Mapping[int, int]) -> Mapping[int, int]:
        scripted.lead(0, 2)
        return dict.fromkeys(leaders, 0)

    scripted.elect = disobey
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes[0].reason == "broker 2 leads instead of the designated 3"


def test_no_more_than_a_thousand_are_elected_at_once(elect: Callable[..., Run]) -> None:
    scripted = _cluster(1200)
    run = elect(scripted, [_plan(s) for s in scripted.states.values()])
    sizes = [sum(len(t.partitions) for t in m.topic_partitions) for m in _elections(scripted)]
    assert sizes == [1000, 200]
    assert {o.kind for o in run.outcomes.values()} == {OutcomeKind.ELECTED}


def test_a_signal_lets_the_batch_in_hand_finish_and_begins_no_other(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster(1200)
    run = elect(scripted, [_plan(s) for s in scripted.states.values()], stop_after=1)
    assert len(_elections(scripted)) == 1
    elected = [p for p, o in run.outcomes.items() if o.kind is OutcomeKind.ELECTED]
    assert elected == list(range(1000))
    assert run.outcomes[1000].reason == "interrupted before its election began"


def test_a_signal_before_a_request_is_sent_keeps_it_back(elect: Callable[..., Run]) -> None:
    scripted = _cluster()
    run = elect(scripted, [_plan(scripted.states[0])], stop_after=0)
    assert not _elections(scripted)
    assert run.outcomes[0].kind is OutcomeKind.FAILED


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Row(log_end_offset=90), "the log of broker 3 ended at 100, now at 90; plan again"),
        (Row(error=56), "broker 3 does not tell its log end any more: KAFKA_STORAGE_ERROR"),
    ],
)
def test_a_log_that_is_not_the_planned_one_is_refused(
    elect: Callable[..., Run], row: Row, reason: str
) -> None:
    scripted = _cluster()
    plan = _plan(scripted.states[0])
    scripted.rows[0] = row
    run = elect(scripted, [plan])
    assert run.outcomes[0] == Outcome(OutcomeKind.REFUSED, reason)
    assert not _elections(scripted)


def test_a_broker_that_started_again_since_is_refused_whatever_its_log_says(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster(broker_epochs=[18])
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes[0].kind is OutcomeKind.REFUSED
    assert "started again since (broker epoch 17, now 18)" in (run.outcomes[0].reason or "")
    assert not _elections(scripted)


def test_a_partition_that_moved_on_is_refused(elect: Callable[..., Run]) -> None:
    scripted = _cluster()
    plan = _plan(scripted.states[0])
    scripted.states[0] = replace(scripted.states[0], leader_epoch=8)
    run = elect(scripted, [plan])
    assert "its leader epoch moved from 7 to 8" in (run.outcomes[0].reason or "")
    assert not _elections(scripted)


def test_a_live_last_known_leader_does_not_overrule_a_designated_one(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    scripted.states[0] = offline(0, last_known_elr=(1,))
    run = elect(scripted, [_plan(scripted.states[0])])
    assert run.outcomes == {0: Outcome(OutcomeKind.ELECTED)}


def test_a_request_without_an_answer_is_found_out_by_reading(elect: Callable[..., Run]) -> None:
    scripted = _cluster()

    def elect_in_silence(leaders: Mapping[int, int]) -> Mapping[int, int]:
        scripted.lead(0, leaders[0])
        raise Silence

    scripted.elect = elect_in_silence
    run = elect(scripted, [_plan(scripted.states[0])], SOON_GIVEN_UP)
    assert run.outcomes == {0: Outcome(OutcomeKind.ELECTED)}
    assert len(_elections(scripted)) == 1, "it leads: nothing to try again"


def test_a_request_that_was_lost_is_sent_again_once_it_is_certain(
    elect: Callable[..., Run],
) -> None:
    scripted = _cluster()
    obey, lost = scripted.elect, iter([True])

    def lose_the_first(leaders: Mapping[int, int]) -> Mapping[int, int]:
        if next(lost, False):
            raise Silence
        return obey(leaders)

    scripted.elect = lose_the_first
    run = elect(scripted, [_plan(scripted.states[0])], SOON_GIVEN_UP)
    assert run.outcomes == {0: Outcome(OutcomeKind.ELECTED)}
    assert len(_elections(scripted)) == 2


@pytest.mark.parametrize(
    ("dead", "reason"),
    [
        ((1, 3), "broker 3 is dead or fenced, or its log directory failed"),
        ((), "broker 1 has come back since, and may hold more; plan again"),
    ],
)
def test_what_changed_while_it_was_not_certain_is_not_tried_again(
    elect: Callable[..., Run], dead: tuple[int, ...], reason: str
) -> None:
    scripted = _cluster()
    scripted.states[0] = offline(0, offline_replicas=(1,))
    plan = _plan(scripted.states[0])

    def lose(_: Mapping[int, int]) -> Mapping[int, int]:
        scripted.states[0] = offline(0, offline_replicas=dead)
        raise Silence

    scripted.elect = lose
    run = elect(scripted, [plan], SOON_GIVEN_UP)
    assert run.outcomes == {0: Outcome(OutcomeKind.FAILED, reason)}
    assert len(_elections(scripted)) == 1


@pytest.mark.parametrize("answer", [7, 41, None])
def test_while_it_is_not_certain_what_the_controller_does_nothing_more_is_begun(
    elect: Callable[..., Run], answer: int | None
) -> None:
    scripted = _cluster(1200)

    def unsure(leaders: Mapping[int, int]) -> Mapping[int, int]:
        if answer is None:
            raise Silence
        return dict.fromkeys(leaders, answer)

    scripted.elect = unsure
    plans = [_plan(s) for s in scripted.states.values()]
    run = elect(scripted, plans, patience=NEVER_SETTLED)
    assert len(_elections(scripted)) == 1
    assert (run.outcomes[0].reason or "").endswith("it may still be carried out")
    assert any(sentence.startswith("giving up: ") for sentence in run.said)
    assert run.outcomes[1000].reason == "not begun: what the controller does is not certain"
    assert {o.kind for o in run.outcomes.values()} == {OutcomeKind.FAILED}
