"""What idempotent producers may send, by what their log holds."""

from __future__ import annotations

from kafka_unclean_recovery.emulator.broker.log import Batch, Log
from kafka_unclean_recovery.emulator.broker.producers import AppendVerdict, Producers, verdict
from kafka_unclean_recovery.kafka_names import Errors

LAST_SEQUENCE = 2**31 - 1


def _batch(base: int, sequence: int, count: int = 2, epoch: int = 0, producer: int = 7) -> Batch:
    last = base + count - 1
    return Batch(base, last, 0, 100 * base, 100, 2000, producer, epoch, sequence)


def _log(*sequences: int) -> Log:
    """Return a log of batches of two records that begin with these."""
    log = Log()
    log.append(_batch(2 * place, sequence) for place, sequence in enumerate(sequences))
    return log


def _says(log: Log, *batches: Batch) -> AppendVerdict:
    return verdict(Producers(), log, list(batches))


def test_a_batch_that_is_sent_again_is_the_one_that_is_there() -> None:
    log = _log(0, 2, 4)
    assert [_says(log, _batch(0, sequence)).repeats for sequence in (0, 2, 4)] == log.batches


def test_only_the_last_five_batches_are_remembered() -> None:
    log = _log(0, 2, 4, 6, 8, 10)
    assert _says(log, _batch(0, 2)).repeats == log.batches[1]
    assert _says(log, _batch(0, 0)) == AppendVerdict(error=Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)


def test_the_next_batch_is_written_and_one_after_a_gap_is_not() -> None:
    log = _log(0, 2)
    assert _says(log, _batch(0, 4)) == AppendVerdict()
    assert _says(log, _batch(0, 5)).error == Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    # Half of it is there: not the same batch.
    assert _says(log, _batch(0, 2, count=3)).error == Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequence_numbers_begin_again_after_the_greatest() -> None:
    log = _log(LAST_SEQUENCE - 1)
    assert _says(log, _batch(0, 0)).error == Errors.NONE
    across = _log(LAST_SEQUENCE)
    assert _says(across, _batch(0, 1)).error == Errors.NONE


def test_a_newer_producer_epoch_begins_at_0_and_an_older_one_is_fenced() -> None:
    log = _log(0, 2)
    assert _says(log, _batch(0, 0, epoch=1)) == AppendVerdict()
    assert _says(log, _batch(0, 4, epoch=1)).error == Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.append([_batch(4, 0, epoch=1)])
    assert _says(log, _batch(0, 4, epoch=0)).error == Errors.INVALID_PRODUCER_EPOCH


def test_a_producer_of_which_nothing_is_known_may_begin_anywhere() -> None:
    assert _says(_log(0), _batch(0, 90, producer=8)) == AppendVerdict()


def test_a_producer_without_an_id_is_not_looked_at() -> None:
    log = Log()
    log.append([_batch(0, -1, producer=-1)])
    assert _says(log, _batch(0, -1, producer=-1), _batch(0, -1, producer=-1)) == AppendVerdict()


def test_a_batch_without_a_sequence_number_and_two_at_once_are_refused() -> None:
    assert _says(Log(), _batch(0, -1)).error == Errors.INVALID_RECORD
    assert _says(Log(), _batch(0, 0), _batch(0, 2)).error == Errors.INVALID_RECORD


def test_what_was_truncated_may_be_sent_again() -> None:
    log, producers = _log(0, 2), Producers()
    assert verdict(producers, log, [_batch(0, 2)]).repeats is not None
    log.truncate(2)
    assert verdict(producers, log, [_batch(0, 2)]) == AppendVerdict()
    # As long as before, and with another producer's batch at the end.
    log.append([_batch(2, 0, producer=8)])
    assert verdict(producers, log, [_batch(0, 2)]) == AppendVerdict()
