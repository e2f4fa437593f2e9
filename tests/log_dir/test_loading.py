"""Which record of the metadata log ends a controller that loads it.

tests/real/test_seeds_by_kafkas_controller.py holds each of these against Kafka's own classes.
"""

from __future__ import annotations

import pytest

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import read_metadata
from kafka_unclean_recovery.log_dir.metadata.loading.replay import Fatal
from tests.log_dir.cluster_metadata_encoder import (
    ABORT,
    BEGIN,
    END,
    NO_OP,
    Written,
    batch,
    log,
    partition,
    snapshot,
    topic,
)
from tests.metadata_quorum.contradictions import (
    BEFORE,
    FATAL,
    OF_THE_QUORUM,
    SINCE_4_4,
    TAKEN,
    UNKNOWN,
)

EPOCH = 1
END_BEFORE = sum(map(len, BEFORE))


def _fatal(*files: MetadataFile) -> Fatal | None:
    return read_metadata(files, as_controller=True).fatal


def _behind(*batches: tuple[Written, ...]) -> Fatal | None:
    parts, base = [], 0
    for written in (*BEFORE, *batches):
        parts.append(batch(base, *written, epoch=EPOCH))
        base += len(written)
    return _fatal(log(0, *parts))


_ALL = {**FATAL, **SINCE_4_4, **OF_THE_QUORUM}


@pytest.mark.parametrize("written", _ALL.values(), ids=_ALL.keys())
def test_a_record_that_contradicts_what_is_before_it(written: tuple[Written, ...]) -> None:
    found = _behind(written)
    assert found is not None
    assert found.offset == END_BEFORE + len(written) - 1


@pytest.mark.parametrize("written", TAKEN.values(), ids=TAKEN.keys())
def test_what_kafka_takes_is_no_contradiction(written: tuple[Written, ...]) -> None:
    assert _behind(written) is None


class TestWhereTheRecordLies:
    BAD = partition(0, (1,), topic_id=UNKNOWN)

    def test_in_the_middle_of_a_batch(self) -> None:
        found = _behind((NO_OP, self.BAD, NO_OP))
        assert found is not None
        assert found.offset == END_BEFORE + 1

    def test_with_noops_behind_it(self) -> None:
        found = _behind((self.BAD,), (NO_OP,), (NO_OP,))
        assert found is not None
        assert found.offset == END_BEFORE

    @pytest.mark.parametrize("end", [(), (END,), (ABORT,)], ids=["open", "ended", "aborted"])
    def test_within_a_transaction_whatever_becomes_of_it(self, end: tuple[Written, ...]) -> None:
        found = _behind((BEGIN,), (topic("new", UNKNOWN), self.BAD, *end))
        assert found is None
        found = _behind((BEGIN,), (self.BAD, *end))
        assert found is not None
        assert found.offset == END_BEFORE + 1

    def test_an_aborted_transaction_is_taken_back(self) -> None:
        """What it made is not there, and what it took away is."""
        made, taken = (BEGIN, topic("new", UNKNOWN), ABORT), FATAL["a second topic of one name"]
        assert _behind(made, (topic("new", UNKNOWN),)) is None
        assert _behind(made, (self.BAD,)) is not None
        assert _behind((BEGIN, TAKEN["a topic removed"][0], ABORT), taken) is not None

    def test_in_a_checkpoint(self) -> None:
        found = _fatal(snapshot(500, self.BAD, epoch=EPOCH))
        assert found is not None
        assert (found.offset, found.in_snapshot) == (500, True)

    def test_a_transaction_in_a_checkpoint(self) -> None:
        assert _fatal(snapshot(500, BEGIN, epoch=EPOCH)) is not None

    def test_a_checkpoint_that_is_passed_over_leaves_nothing_behind(self) -> None:
        files = (
            snapshot(3, self.BAD, epoch=EPOCH, footer=False),
            log(0, batch(0, *BEFORE[0], epoch=EPOCH)),
        )
        assert _fatal(*files) is None


def test_the_reason_names_the_record_and_its_offset() -> None:
    said = str(_behind(FATAL["an end without a transaction"]))
    assert said.startswith(f"EndTransactionRecord at offset {END_BEFORE}: ")


def test_nobody_pays_for_it_who_does_not_ask() -> None:
    parts = batch(0, *BEFORE[0], epoch=EPOCH), batch(len(BEFORE[0]), END, epoch=EPOCH)
    assert read_metadata([log(0, *parts)]).fatal is None
