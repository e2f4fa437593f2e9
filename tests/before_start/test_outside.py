"""The end of each of its own epochs in the leader's log is all that a follower asks for."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafka_unclean_recovery.before_start.outside import BY_EPOCHS, led_by_epochs, of_others
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    EpochLineage,
    EpochSpan,
    PartitionInfo,
    PartitionState,
    ReplicaLog,
    Scanned,
    TopicPartition,
)
from kafka_unclean_recovery.planning.lineage import end_offset_for, truncation_offset

STATE = PartitionState("orders", "t-1", 0, 2, 2, (1, 2, 3), (2,))


@st.composite
def _lineages(draw: st.DrawFn) -> EpochLineage:
    epochs = sorted(draw(st.sets(st.integers(0, 6), min_size=1)))
    size = len(epochs) + 1
    offsets = sorted(draw(st.sets(st.integers(0, 20), min_size=size, max_size=size)))
    return tuple(EpochSpan(e, a, b) for e, (a, b) in zip(epochs, pairwise(offsets), strict=True))


@given(_lineages(), _lineages())
def test_they_tell_where_it_is_truncated_as_the_whole_lineage_does(
    own: EpochLineage, leader: EpochLineage
) -> None:
    end, leader_end = own[-1].end_offset, leader[-1].end_offset
    answers = {span.epoch: end_offset_for(leader, leader_end, span.epoch) for span in own}
    told = led_by_epochs(2, answers, leader[0].start_offset)
    assert told.source == BY_EPOCHS
    assert told.epochs is not None
    assert told.log_end_offset is not None
    by_answers = truncation_offset(own, end, told.epochs, told.log_end_offset)
    assert by_answers == truncation_offset(own, end, leader, leader_end)


def test_what_another_broker_may_have_told_of_epochs_is_not_sure() -> None:
    unproven = "nothing proves that broker 2 answered"
    told = led_by_epochs(2, {1: (1, 10)}, 0, unproven)
    assert (told.unproven, told.sure) == (unproven, False)
    assert led_by_epochs(2, {1: (1, 10)}, 0).sure


def test_live_answers_come_before_disks_and_another_topics_disk_tells_nothing() -> None:
    live = {2: ReplicaLog(2, live=True, log_end_offset=5)}

    def disk(broker: int, topic_id: str) -> ReplicaLog:
        scanned = Scanned(ScanMode.RECOVER, "/d", topic_id)
        return ReplicaLog(broker, live=False, log_end_offset=9, scanned=scanned)

    logs = (disk(1, "t-1"), disk(2, "t-1"), disk(3, "t-1"), disk(4, "t-0"))
    info = PartitionInfo(TopicPartition("orders", 0), STATE, logs)
    found = of_others(1, STATE, live, info)
    assert {b: log.log_end_offset for b, log in found.items()} == {2: 5, 3: 9}
