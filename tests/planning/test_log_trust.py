"""What the controller and the peers say against a log that reads well."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochSpan,
    PartitionState,
    ReplicaLog,
    Scanned,
)
from kafka_unclean_recovery.planning.log_trust import (
    NAMELESS,
    ZOOKEEPER_NAMELESS,
    cross_check,
)
from kafka_unclean_recovery.planning.started_replica import begins_empty
from tests.reports import logs as any_logs
from tests.reports import states as any_states

STATE = PartitionState("orders", "t-1", 0, -1, 7, (1, 2, 3, 4))
ALL = range(1000)
DISK = Scanned(ScanMode.DEEP, "/data/orders-0", "t-1")


def disk(broker: int, *spans: tuple[int, int, int], start: int | None = None) -> ReplicaLog:
    """Return a scanned log. spans: (epoch, start offset, end offset)."""
    epochs = tuple(EpochSpan(*span) for span in spans)
    log_start = spans[0][1] if start is None else start
    return ReplicaLog(
        broker, False, spans[-1][0], log_start, None, spans[-1][2], epochs, "log-dirs", scanned=DISK
    )


def suspects(*logs: ReplicaLog, compacted: bool = False) -> dict[int, int | None]:
    """Return broker to certain end of those that become suspect."""
    checked = cross_check(STATE, logs, compacted=compacted, covered=ALL)
    assert [log.broker for log in checked] == [log.broker for log in logs]
    return {log.broker: log.certain_end_offset for log in checked if log.suspect}


def test_replicas_that_agree_are_left_as_they_are() -> None:
    logs = (disk(1, (0, 0, 10), (2, 10, 30)), disk(2, (0, 0, 10), (2, 10, 20)), disk(3, (0, 0, 5)))
    assert cross_check(STATE, logs, compacted=False, covered=ALL) == logs


def test_an_epoch_that_the_controller_never_gave_is_suspect_from_its_start_on() -> None:
    (log,) = cross_check(
        STATE, [disk(1, (0, 0, 10), (7, 10, 20), (9, 20, 30))], compacted=False, covered=ALL
    )
    assert log.suspect == (
        "wrote in leader epoch 9, which the controller (leader epoch 7) never gave"
    )
    assert log.certain_end_offset == 20
    assert suspects(disk(1, (7, 10, 20))) == {}


def test_an_epoch_newer_than_metadata_that_may_be_old_is_not_suspect() -> None:
    log = disk(1, (9, 0, 30))
    assert cross_check(STATE, [log], compacted=False, covered=(2, 3)) == (log,)


def test_of_an_epoch_never_given_nothing_is_certain_when_all_is_of_it_or_its_lineage_unknown() -> (
    None
):
    assert suspects(disk(1, (9, 20, 30))) == {1: 20}
    unknown = replace(disk(1, (9, 20, 30)), epochs=None)
    assert suspects(unknown) == {1: None}
    assert cross_check(None, [unknown], compacted=False, covered=ALL) == (unknown,)


def test_another_topic_of_that_name_is_a_problem_and_no_witness() -> None:
    foreign = replace(disk(1, (0, 0, 8), (2, 8, 30)), scanned=replace(DISK, topic_id="t-2"))
    checked = cross_check(
        STATE, [foreign, disk(2, (0, 0, 10), (2, 10, 20))], compacted=False, covered=ALL
    )
    assert checked[0].problem == (
        "its disk holds another topic of that name (topic id t-2; the controller has t-1)"
    )
    assert checked[1].suspect is None


def test_a_disk_without_a_topic_id_is_put_aside_by_its_broker() -> None:
    unnamed = replace(disk(1, (0, 0, 8)), scanned=replace(DISK, topic_id=None))
    (checked,) = cross_check(STATE, [unnamed], compacted=False, covered=ALL)
    assert checked == replace(unnamed, problem=NAMELESS)
    assert cross_check(None, [unnamed], compacted=False, covered=ALL) == (unnamed,)


def test_a_disk_without_a_topic_id_of_a_broker_on_zookeeper_is_suspect_and_kept() -> None:
    kept = replace(disk(1, (0, 0, 8)), scanned=replace(DISK, topic_id=None))
    kept = replace(kept, suspect=ZOOKEEPER_NAMELESS, certain_end_offset=0)
    assert cross_check(STATE, [kept], compacted=False, covered=ALL) == (kept,)
    assert begins_empty(STATE, kept) is None


def test_a_topic_id_that_the_controller_does_not_know_is_no_contradiction() -> None:
    zero = replace(STATE, topic_id="00000000-0000-0000-0000-000000000000")
    assert cross_check(zero, [disk(1, (0, 0, 8))], compacted=False, covered=ALL) == (
        disk(1, (0, 0, 8)),
    )


def test_two_that_disagree_where_an_epoch_begins_are_both_suspect() -> None:
    logs = (disk(1, (0, 0, 10), (2, 10, 30)), disk(2, (0, 0, 12), (2, 12, 20)))
    assert suspects(*logs) == {1: 10, 2: 10}
    first, second = cross_check(STATE, logs, compacted=False, covered=ALL)
    assert first.suspect == "leader epoch 2 begins at offset 10 here, at 12 on broker 2"
    assert second.suspect == "leader epoch 2 begins at offset 12 here, at 10 on broker 1"


def test_of_three_the_one_that_disagrees_is_suspect() -> None:
    agreeing = (disk(1, (0, 0, 10), (2, 10, 30)), disk(2, (0, 0, 10), (2, 10, 20)))
    assert suspects(*agreeing, disk(3, (0, 0, 12), (2, 12, 20))) == {3: 10}
    assert suspects(disk(3, (0, 0, 7), (2, 7, 20)), *agreeing) == {3: 7}
    even = (disk(3, (0, 0, 7), (2, 7, 20)), disk(4, (0, 0, 7), (2, 7, 20)))
    assert suspects(*agreeing, *even) == {1: 7, 2: 7, 3: 7, 4: 7}


def test_the_first_disagreement_bounds_what_is_certain() -> None:
    agreeing = [disk(b, (0, 0, 10), (2, 10, 30), (4, 30, 50)) for b in (1, 2)]
    assert suspects(*agreeing, disk(3, (0, 0, 12), (2, 12, 33), (4, 33, 50))) == {3: 10}


def test_epochs_that_only_some_have_are_a_divergence_and_no_contradiction() -> None:
    assert suspects(disk(1, (0, 0, 1200)), disk(2, (0, 0, 1000), (2, 1000, 1100))) == {}


def test_replicas_are_compared_only_where_both_go_back_far_enough() -> None:
    whole = disk(1, (0, 0, 10), (2, 10, 30))
    assert suspects(whole, disk(2, (2, 15, 30))) == {}
    assert suspects(whole, disk(2, (1, 12, 15), (2, 15, 30))) == {}
    assert suspects(whole, disk(2, (0, 0, 15), (2, 15, 30), start=12)) == {}
    assert suspects(whole, disk(2, (0, 9, 15), (2, 15, 30))) == {1: 10, 2: 10}


def test_replicas_of_a_compacted_topic_are_held_against_the_controller_only() -> None:
    logs = (disk(1, (0, 0, 10), (2, 10, 30)), disk(2, (0, 0, 12), (2, 12, 20)))
    assert suspects(*logs, compacted=True) == {}
    assert suspects(disk(1, (0, 0, 10), (8, 10, 20)), compacted=True) == {1: 10}


def test_a_live_broker_is_a_witness_and_never_suspected() -> None:
    live = replace(disk(1, (0, 0, 10), (2, 10, 30)), live=True, scanned=None)
    assert suspects(live, disk(2, (0, 0, 12), (2, 12, 20))) == {2: 10}
    assert suspects(replace(live, last_written_leader_epoch=9)) == {}


def test_what_is_suspect_already_keeps_its_reason_and_accuses_nobody() -> None:
    known = replace(disk(1, (0, 0, 10), (9, 10, 30)), suspect="gap", certain_end_offset=3)
    other = disk(2, (0, 0, 12), (9, 12, 20))
    state = replace(STATE, leader_epoch=9)
    assert cross_check(state, [known, other], compacted=False, covered=ALL) == (known, other)
    broken = replace(known, suspect=None, problem="Input/output error")
    assert cross_check(state, [broken, other], compacted=False, covered=ALL) == (broken, other)


def test_without_a_state_peers_of_different_topics_are_not_compared() -> None:
    other = replace(disk(2, (0, 0, 12), (2, 12, 20)), scanned=replace(DISK, topic_id="t-2"))
    logs = (disk(1, (0, 0, 10), (2, 10, 30)), other)
    assert cross_check(None, logs, compacted=False, covered=ALL) == logs


@given(
    st.none() | any_states,
    st.lists(any_logs, max_size=4, unique_by=lambda log: log.broker),
    st.booleans(),
)
def test_any_logs_keep_their_figures_and_checking_twice_changes_nothing(
    state: PartitionState | None, logs: list[ReplicaLog], compacted: bool
) -> None:
    checked = cross_check(state, logs, compacted=compacted, covered=ALL)
    for before, after in zip(logs, checked, strict=True):
        same = replace(
            after,
            problem=before.problem,
            suspect=before.suspect,
            certain_end_offset=before.certain_end_offset,
        )
        assert same == before
        if before.problem or before.suspect or not before.scanned:
            assert after.suspect == before.suspect
    again = cross_check(state, checked, compacted=compacted, covered=ALL)
    assert all(a.suspect == b.suspect for a, b in zip(again, checked, strict=True) if b.suspect)
