"""Who is cut to what under a leader that the controller elects by itself."""

from __future__ import annotations

from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    Divergence,
    EpochSpan,
    PartitionState,
    ReplicaLog,
    Scanned,
    WholeDisk,
)
from kafka_unclean_recovery.planning.led_on_return import led_on_return
from kafka_unclean_recovery.planning.log_trust import NAMELESS, cross_check
from kafka_unclean_recovery.planning.start_cuts import cuts_text, cuts_under
from kafka_unclean_recovery.planning.started_replica import (
    GONE,
    NO_SEGMENT,
    as_started,
    begins_empty,
    empty_log,
    with_gone,
)

STATE = PartitionState(
    *("orders", "t-1", 0, -1, 4, (1, 2, 3)), elr=(1,), last_known_elr=(1,), offline_replicas=(1,)
)


def log(
    broker: int, *epochs: EpochSpan, live: bool = True, topic_id: str | None = "t-1"
) -> ReplicaLog:
    scanned = None if live else Scanned(ScanMode.RECOVER, f"/data{broker}/orders-0", topic_id)
    return ReplicaLog(
        broker,
        live=live,
        last_written_leader_epoch=epochs[-1].epoch,
        log_start_offset=0,
        log_end_offset=epochs[-1].end_offset,
        epochs=epochs,
        scanned=scanned,
    )


def test_what_several_have_is_lost_once_and_each_is_named_with_where_it_is_cut() -> None:
    others = [log(2, EpochSpan(0, 0, 200)), log(3, EpochSpan(0, 0, 250))]
    cuts = cuts_under(log(1, EpochSpan(0, 0, 100), live=False), others)
    assert cuts.live == (Divergence(2, 100, 100), Divergence(3, 100, 150))
    assert (cuts.records, cuts.better) == (150, True)
    assert cuts_text(cuts) == "its log ends at 100, and 150 records of live brokers 2,3 are cut"


def test_who_is_cut_at_the_log_start_of_its_leader_may_be_within_a_batch_there() -> None:
    leader = replace(log(1, EpochSpan(2, 60, 100)), log_start_offset=60)
    other = log(2, EpochSpan(0, 0, 80))
    cuts = cuts_under(leader, [other, log(3, EpochSpan(0, 0, 40))])
    assert (cuts.live, cuts.stuck) == ((Divergence(2, 60, 20),), (2,))
    assert "broker 2 may then fetch it no more" in cuts_text(cuts)
    # As DeleteRecords leaves a disk until the log start is written down, which a live broker knows.
    unwritten = replace(log(1, EpochSpan(2, 60, 100), live=False), log_start_offset=0)
    assert cuts_under(unwritten, [other]).stuck == (2,)
    assert cuts_under(replace(unwritten, scanned=None), [other]).stuck == ()
    # What lies above its log start, or is all of it, is no batch that begins below.
    assert cuts_under(log(1, EpochSpan(0, 0, 50), EpochSpan(2, 50, 100)), [other]).stuck == ()
    assert cuts_under(empty_log(1), [other]).stuck == ()


def test_all_are_cut_to_nothing_by_an_empty_one() -> None:
    cuts = cuts_under(empty_log(1), [log(2, EpochSpan(0, 0, 90), EpochSpan(3, 90, 100))])
    assert (cuts.live, cuts.records) == ((Divergence(2, 0, 100),), 100)


def test_a_dead_disk_counts_where_it_reaches_further_and_not_where_it_was_given_up() -> None:
    leader = log(1, EpochSpan(0, 0, 50), EpochSpan(2, 50, 100), live=False)
    given_up = log(2, EpochSpan(0, 0, 200), live=False)
    further = log(3, EpochSpan(0, 0, 50), EpochSpan(2, 50, 120), live=False)
    cuts = cuts_under(leader, [given_up, further])
    assert (cuts.dead, cuts.live, cuts.records) == ((Divergence(3, 100, 20),), (), 20)
    assert "the disk of broker 3" in cuts_text(cuts)
    assert not cuts.better


def test_a_live_tail_that_was_given_up_is_cut_and_no_other_leader_would_lose_less() -> None:
    leader = log(1, EpochSpan(0, 0, 50), EpochSpan(2, 50, 100), live=False)
    cuts = cuts_under(leader, [log(2, EpochSpan(0, 0, 200))])
    assert (cuts.live, cuts.records, cuts.better) == ((Divergence(2, 50, 150),), 150, False)


def test_a_live_log_that_nobody_could_read_leaves_it_unknown() -> None:
    silent = ReplicaLog(2, live=True, problem="it timed out")
    cuts = cuts_under(log(1, EpochSpan(0, 0, 100), live=False), [silent])
    assert (cuts.records, cuts.untold) == (0, (2,))
    assert "what broker 2 loses then is not known" in cuts_text(cuts)


def test_a_replica_whose_topic_id_is_missing_or_another_begins_empty() -> None:
    own = log(1, EpochSpan(0, 0, 100), live=False)
    assert begins_empty(STATE, own) is None
    assert as_started(STATE, own) == own
    (nameless,) = cross_check(
        STATE,
        [log(1, EpochSpan(0, 0, 100), live=False, topic_id=None)],
        compacted=False,
        covered=[1],
    )
    assert nameless.problem == NAMELESS
    other = log(1, EpochSpan(0, 0, 100), live=False, topic_id="t-2")
    for each in (nameless, other):
        assert begins_empty(STATE, each) is not None
        assert as_started(STATE, each) == empty_log(1)
    bare = replace(own, log_end_offset=0, epochs=(), suspect=NO_SEGMENT)
    assert as_started(STATE, bare) == empty_log(1)
    assert begins_empty(STATE, replace(bare, log_start_offset=7, log_end_offset=7)) is None
    # Brokers of before topic ids have none, and one that can't be read says nothing.
    assert begins_empty(replace(STATE, topic_id=""), other) is None
    unread = replace(nameless, problem=None, suspect="partition.metadata: it is cut short")
    (checked,) = cross_check(STATE, [unread], compacted=False, covered=[1])
    assert begins_empty(STATE, checked) is None


def test_what_is_not_on_a_disk_that_was_read_whole_begins_empty() -> None:
    whole = (WholeDisk(1, "/data1"), WholeDisk(9, "/data9"))
    live = log(2, EpochSpan(0, 0, 100), live=False)
    found = with_gone(STATE, (live,), whole)
    assert [(each.broker, each.problem) for each in found] == [(1, GONE), (2, None)]
    assert with_gone(STATE, (live,), ()) == (live,)
    assert with_gone(None, (live,), whole) == (live,)


def test_its_return_is_judged_by_what_its_start_makes_of_its_log() -> None:
    others = [log(2, EpochSpan(0, 0, 90)), log(3, EpochSpan(0, 0, 100))]
    whole = log(1, EpochSpan(0, 0, 110), live=False)
    led = led_on_return(STATE, whole, [whole, *others])
    assert led is not None
    assert (led.own, led.destroys) == (True, False)
    stray = replace(whole, scanned=replace(whole.scanned, topic_id="t-2"))  # type: ignore[type-var]
    led = led_on_return(STATE, stray, [stray, *others])
    assert led is not None
    assert (led.destroys, led.cuts.records, led.cuts.leader_end) == (True, 100, 0)
    assert "puts it aside as -stray" in led.text


def test_a_return_that_empties_the_elr_lets_the_last_known_leader_lead() -> None:
    state = replace(STATE, elr=(1,), last_known_elr=(2,))
    own = log(1, EpochSpan(0, 0, 110), live=False)
    others = [log(2, EpochSpan(0, 0, 90)), log(3, EpochSpan(0, 0, 100))]
    led = led_on_return(state, own, [own, *others], clean=False)
    assert led is not None
    assert (led.by_itself.leader, led.own, led.cuts.records) == (2, False, 20)
    assert led.text.startswith("then broker 2 leads by itself")
