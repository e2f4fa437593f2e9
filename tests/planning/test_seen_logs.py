"""Whoever leads is compared with the logs that were seen, as followers will be truncated to it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_unclean_recovery.model import EpochSpan, PartitionState, ReplicaLog
from kafka_unclean_recovery.planning.lineage import end_offset_for
from kafka_unclean_recovery.planning.seen_logs import (
    SeenLog,
    Shortfall,
    furthest_end_alone,
    next_epoch,
    of_this_topic,
    shortfall,
    shortfall_text,
)

# Nobody led in OFFLINE; who leads now leads in LED.
OFFLINE, LED = 5, 6
STATE = PartitionState("orders", "id-1", 0, 4, LED, (1, 3, 4), isr=(4,), offline_replicas=(1,))


def _log(broker: int, *spans: tuple[int, int, int]) -> ReplicaLog:
    epochs = tuple(EpochSpan(*span) for span in spans)
    end = epochs[-1].end_offset if epochs else 0
    written = epochs[-1].epoch if epochs else -1
    return ReplicaLog(
        broker,
        live=True,
        last_written_leader_epoch=written,
        log_start_offset=0,
        log_end_offset=end,
        epochs=epochs,
    )


def _seen(log: ReplicaLog, epoch: int = OFFLINE) -> SeenLog:
    return SeenLog("id-1", epoch, log)


BETTER = _seen(_log(3, (0, 0, 1500)))


def _short(leader: ReplicaLog, *seen: SeenLog) -> Shortfall | None:
    """Return the shortfall by a leader that knows its own epoch before it writes in it."""
    spans = leader.epochs or ()
    if not spans or spans[-1].epoch != LED:
        end = leader.log_end_offset or 0
        spans = (*spans, EpochSpan(LED, end, end))
    answers: dict[int, tuple[int, int]] = {}
    while (asked := next_epoch(LED, seen, answers)) is not None:
        assert asked not in answers
        answers[asked] = end_offset_for(spans, spans[-1].end_offset, asked)
    return shortfall(LED, seen, answers)


def test_a_shorter_leader_lacks_the_rest() -> None:
    assert _short(_log(4, (0, 0, 1000)), BETTER) == Shortfall(500, 3, 1500, 1000)


def test_a_leader_as_long_lacks_nothing() -> None:
    assert _short(_log(4, (0, 0, 1500)), BETTER) is None
    assert _short(_log(4, (0, 0, 1500), (LED, 1500, 9000)), BETTER) is None


def test_a_leader_that_has_grown_again_lacks_what_was_there() -> None:
    grown = _log(4, (0, 0, 1000), (LED, 1000, 9000))
    assert _short(grown, BETTER) == Shortfall(500, 3, 1500, 9000)


def test_a_leader_with_an_empty_disk_lacks_all() -> None:
    assert _short(_log(1), BETTER) == Shortfall(1500, 3, 1500, 0)
    assert _short(_log(1, (LED, 0, 20)), BETTER) == Shortfall(1500, 3, 1500, 20)


def test_a_broker_that_told_more_itself_has_another_disk() -> None:
    assert _short(_log(3, (0, 0, 1000)), BETTER) == Shortfall(500, 3, 1500, 1000)


def test_records_that_two_logs_held_are_lost_once() -> None:
    longer = _seen(_log(1, (0, 0, 1600)))
    assert _short(_log(4, (0, 0, 1000)), BETTER, longer) == Shortfall(600, 1, 1600, 1000)


def test_what_an_earlier_election_gave_up_was_not_lost_now() -> None:
    """The longer log wrote last in an older epoch than the leader's had when both were seen."""
    stale = _seen(_log(1, (0, 0, 1200)))
    assert _short(_log(4, (0, 0, 1000), (2, 1000, 1100)), stale) is None
    # Written only since: the same log was lost by this election.
    since = _log(4, (0, 0, 1000), (LED, 1000, 1100))
    assert _short(since, stale) == Shortfall(200, 1, 1200, 1100)


def test_what_was_seen_before_another_outage_counts_too() -> None:
    """In epoch 3 nobody led, 4 was led, in 5 nobody led again."""
    early = _seen(_log(3, (0, 0, 1500)), epoch=3)
    assert _short(_log(4, (0, 0, 1000), (4, 1000, 1010)), early) == Shortfall(500, 3, 1500, 1010)
    assert _short(_log(4, (0, 0, 1500), (4, 1500, 1510)), early) is None


def test_one_answer_is_enough_where_nothing_is_to_be_compared() -> None:
    assert next_epoch(LED, [], {}) == LED
    assert next_epoch(LED, [], {LED: (LED, 10)}) is None


@pytest.mark.parametrize(
    ("seen", "counts"),
    [
        (BETTER, True),
        (replace(BETTER, topic_id="id-2"), False),
        (replace(BETTER, log=replace(BETTER.log, problem="broker is down")), False),
        (replace(BETTER, log=replace(BETTER.log, epochs=None)), False),
        (replace(BETTER, log=replace(BETTER.log, unproven="it may be another")), True),
    ],
)
def test_only_what_tells_enough_of_this_very_topic_counts(seen: SeenLog, counts: bool) -> None:
    assert bool(of_this_topic([seen], STATE)) is counts


def test_an_end_alone_is_known_where_the_epochs_were_not_told_and_never_were() -> None:
    dim = replace(BETTER, log=replace(BETTER.log, epochs=None))
    assert furthest_end_alone([dim], STATE) == 1500
    assert furthest_end_alone([dim, BETTER], STATE) == 0
    assert furthest_end_alone([dim, _seen(_log(3, (0, 0, 1000)))], STATE) == 1500
    assert furthest_end_alone([replace(dim, topic_id="id-2")], STATE) == 0
    dead = replace(dim, log=replace(dim.log, live=False))
    assert furthest_end_alone([dead, _seen(_log(3))], STATE) == 0


def test_the_sentence_names_how_many_and_whom_not_to_start() -> None:
    short = Shortfall(500, 3, 1500, 1000)
    text = shortfall_text(short, STATE)
    assert text == (
        "500 records that brokers told of in this run are not in the log of broker 4, which leads:"
        " it ends at 1000, that of broker 3 ended at 1500; save the disk of broker 1 before you"
        " start it: it may still hold them, and would be truncated"
    )
    assert "start" not in shortfall_text(short, replace(STATE, offline_replicas=()))
    both = shortfall_text(short, replace(STATE, offline_replicas=(1, 3)))
    assert "save the disks of brokers 1,3 before you start them" in both
