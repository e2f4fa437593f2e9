"""The probe against a replica that answers as LeaderEpochFileCache.endOffsetFor does."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_unclean_recovery.cluster.requests.replica_probe import NO_EPOCH, EpochEnd
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import EpochLineage, EpochSpan
from kafka_unclean_recovery.transport.lineage_probe import LineageProbe
from kafka_unclean_recovery.transport.read_lineages import known_offset


@dataclass(frozen=True)
class Replica:
    """cache: (epoch, start offset), both rising; the last entry may start at the log end."""

    cache: tuple[tuple[int, int], ...]
    log_start: int
    log_end: int

    def answer(self, epoch: int) -> EpochEnd:
        if not self.cache or epoch > self.cache[-1][0]:
            return EpochEnd(Errors.OFFSET_OUT_OF_RANGE, -1, -1, -1, -1)
        newest = self.cache[-1][0]
        if epoch == newest:
            return self._end(epoch, self.log_end)
        higher_start = min(start for e, start in self.cache if e > epoch)
        lower = [e for e, _ in self.cache if e <= epoch]
        return self._end(lower[-1] if lower else epoch, higher_start)

    def _end(self, epoch: int, end: int) -> EpochEnd:
        return EpochEnd(0, epoch, end, self.log_start, self.log_start)

    @property
    def lineage(self) -> EpochLineage:
        ends = [*(start for _, start in self.cache[1:]), self.log_end]
        return tuple(
            EpochSpan(epoch, max(start, self.log_start), end)
            for (epoch, start), end in zip(self.cache, ends, strict=True)
            if max(start, self.log_start) < end
        )


@st.composite
def replicas(draw: st.DrawFn) -> tuple[Replica, int]:
    epochs = sorted(draw(st.sets(st.integers(0, 60), min_size=1, max_size=8)))
    log_start = draw(st.integers(0, 50))
    steps = draw(st.lists(st.integers(1, 9), min_size=len(epochs), max_size=len(epochs)))
    starts = [log_start + sum(steps[:i]) for i in range(len(epochs))]
    log_end = starts[-1] + draw(st.integers(0, 9))
    leader_epoch = draw(st.integers(0, 80))
    return Replica(tuple(zip(epochs, starts, strict=True)), log_start, log_end), leader_epoch


def _read(replica: Replica, leader_epoch: int) -> tuple[LineageProbe, int]:
    probe, questions = LineageProbe(replica.log_end, leader_epoch), 0
    while probe.ask is not None:
        assert probe.unanswered
        probe.tell(replica.answer(probe.ask))
        questions += 1
        assert questions < 200, "the probe does not come to an end"
    return probe, questions


@given(replicas())
def test_the_whole_lineage_is_found_whatever_the_metadata_says(case: tuple[Replica, int]) -> None:
    replica, leader_epoch = case
    if replica.log_end == 0:
        return
    probe, _ = _read(replica, leader_epoch)
    assert probe.problem is None
    assert probe.epochs == replica.lineage
    assert probe.log_start_offset == replica.log_start
    expected = replica.lineage[-1].epoch if replica.lineage else replica.cache[-1][0]
    assert probe.last_written_leader_epoch == expected


@pytest.mark.parametrize(
    ("cache", "leader_epoch", "questions"),
    [
        (((0, 0),), 1, 1),
        (((0, 0),), 2, 1),
        (((0, 0),), 3, 2),
        (((0, 0), (2, 50)), 3, 2),
        (((0, 0), (1, 50)), 4, 3),
        (((50, 0), (54, 20), (55, 50)), 57, 4),
        # However far the newest is from the first guess: in doubling steps, then by halves.
        (((0, 0),), 1000, 11),
        (((1000, 0),), 2, 20),
    ],
)
def test_the_usual_outages_take_few_questions(
    cache: tuple[tuple[int, int], ...], leader_epoch: int, questions: int
) -> None:
    probe, asked = _read(Replica(cache, 0, 100), leader_epoch)
    assert probe.problem is None
    assert asked == questions


def test_a_leader_that_wrote_nothing_is_not_the_last_written_epoch() -> None:
    probe, _ = _read(Replica(((4, 0), (5, 100)), 0, 100), 7)
    assert probe.epochs == (EpochSpan(4, 0, 100),)
    assert probe.last_written_leader_epoch == 4


def test_an_empty_replica_is_asked_nothing() -> None:
    probe = LineageProbe(log_end_offset=0, leader_epoch=5)
    assert probe.ask is None
    assert probe.last_written_leader_epoch == -1


def test_a_log_whose_records_have_no_epoch_at_all_ends_the_questions() -> None:
    probe, _ = _read(Replica((), 0, 100), 6)
    assert (probe.ask, probe.epochs, probe.last_written_leader_epoch) == (None, None, None)


def test_records_older_than_the_oldest_known_epoch_have_none() -> None:
    # Records of message format 0 or 1 carry no epoch; the cache begins after them.
    probe, _ = _read(Replica(((5, 40),), 0, 100), 6)
    assert probe.epochs == (EpochSpan(5, 40, 100),)


def test_a_log_that_shrinks_meanwhile_is_a_problem_not_a_lineage() -> None:
    probe = LineageProbe(log_end_offset=100, leader_epoch=1)
    probe.tell(EpochEnd(0, 0, 90, 0, 0))
    probe.tell(EpochEnd(Errors.OFFSET_OUT_OF_RANGE, -1, -1, -1, -1))
    assert probe.ask is None
    assert probe.epochs is None
    assert probe.problem == "the log changed while it was read"


def test_a_log_that_is_written_anew_while_it_is_read_is_a_problem_too() -> None:
    probe = LineageProbe(log_end_offset=100, leader_epoch=7)
    probe.tell(EpochEnd(0, 5, 100, 0, 0))
    probe.tell(EpochEnd(0, 4, 120, 0, 0))
    assert (probe.ask, probe.epochs) == (None, None)
    assert probe.problem == "the log changed while it was read"


def test_a_failed_log_directory_is_named() -> None:
    probe = LineageProbe(log_end_offset=100, leader_epoch=1)
    probe.tell(EpochEnd(56, -1, -1, -1, -1))
    assert probe.problem == "KAFKA_STORAGE_ERROR"


@dataclass(frozen=True)
class Foreign(Replica):
    """Of a broker that is not Apache's: what it does not know ends nowhere, at the log end; and it
    need not tell where the log starts."""

    tells_start: bool = True

    def answer(self, epoch: int) -> EpochEnd:
        found = super().answer(epoch)
        if found.error == Errors.OFFSET_OUT_OF_RANGE:
            found = EpochEnd(0, NO_EPOCH, self.log_end, self.log_end, self.log_start)
        return found if self.tells_start else replace(found, log_start_offset=-1)


@pytest.mark.parametrize("leader_epoch", [0, 1, 4, 9, 40])
def test_an_epoch_that_ends_nowhere_at_the_log_end_is_one_that_the_replica_lacks(
    leader_epoch: int,
) -> None:
    replica = Foreign(((1, 0), (5, 60)), 0, 100)
    probe, _ = _read(replica, leader_epoch)
    assert probe.problem is None
    assert probe.epochs == replica.lineage
    assert probe.last_written_leader_epoch == 5


def test_a_replica_that_knows_no_epoch_whatever_is_asked_compares_none() -> None:
    probe, _ = _read(Foreign((), 0, 100), 6)
    assert probe.problem == "the broker compares no leader epochs"
    assert probe.last_written_leader_epoch is None


def test_no_lineage_begins_at_a_log_start_that_is_not_told() -> None:
    probe, _ = _read(Foreign(((1, 0), (5, 60)), 0, 100, tells_start=False), 7)
    assert probe.epochs is None
    assert probe.problem is None
    assert probe.last_written_leader_epoch == 5, "60 to 100 lie above another epoch"


def test_an_offset_of_minus_one_is_none() -> None:
    assert [known_offset(told) for told in (-1, None, 0)] == [None, None, 0]


def test_without_a_log_start_one_epoch_may_be_that_of_an_emptied_log() -> None:
    probe, _ = _read(Foreign(((5, 100),), 100, 100, tells_start=False), 7)
    assert (probe.epochs, probe.last_written_leader_epoch) == (None, None)
