"""An idempotent producer's batch is written once even if it is sent twice, and none is left out
(KIP-98).

Source: org.apache.kafka.storage.internals.log.ProducerStateManager and ProducerAppendInfo. Kafka
keeps this state in snapshots beside the log; here it is read from the log's own batches.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from kafka_unclean_recovery.emulator.broker.log import Batch, Log
from kafka_unclean_recovery.kafka_names import Errors

NO_PRODUCER = -1
# A producer may send so many of its last batches again.
_REMEMBERED = 5
_SEQUENCES = 2**31


@dataclass(slots=True)
class Producers:
    """The last batches of each producer in one log, as far as the log has been read."""

    _latest: dict[int, deque[Batch]] = field(default_factory=dict)
    _read: int = 0
    _last_read: Batch | None = None

    def batches(self, log: Log, producer_id: int) -> deque[Batch]:
        """Return a producer's remembered batches, the oldest first."""
        self._read_on(log)
        return self._latest.get(producer_id, deque())

    def newest(self, log: Log) -> list[Batch]:
        """Return each producer's last batch."""
        self._read_on(log)
        return [known[-1] for known in self._latest.values()]

    def _read_on(self, log: Log) -> None:
        if self._truncated(log):
            self._latest, self._read = {}, 0
        for batch in log.batches[self._read :]:
            if batch.producer_id != NO_PRODUCER:
                known = self._latest.setdefault(batch.producer_id, deque(maxlen=_REMEMBERED))
                known.append(batch)
        self._read = len(log.batches)
        self._last_read = log.batches[-1] if log.batches else None

    def _truncated(self, log: Log) -> bool:
        """Return whether batches that were read are gone, even if other batches have come since."""
        return self._read > 0 and (
            self._read > len(log.batches) or log.batches[self._read - 1] is not self._last_read
        )


@dataclass(frozen=True, slots=True)
class AppendVerdict:
    """The decision about a batch: `repeats` is the batch that it repeats, `error` refuses it. With
    neither the batch is to be written."""

    repeats: Batch | None = None
    error: int = Errors.NONE


def verdict(producers: Producers, log: Log, batches: list[Batch]) -> AppendVerdict:
    """Decide on the batches that one request has for a partition."""
    new = batches[0]
    if new.producer_id == NO_PRODUCER:
        return AppendVerdict()
    if new.base_sequence < 0 or len(batches) > 1:
        return AppendVerdict(error=Errors.INVALID_RECORD)
    known = producers.batches(log, new.producer_id)
    for old in known:
        if _sequences(old) == _sequences(new) and old.producer_epoch == new.producer_epoch:
            return AppendVerdict(repeats=old)
    return AppendVerdict(error=_error(known[-1], new) if known else Errors.NONE)


def _error(last: Batch, new: Batch) -> int:
    if new.producer_epoch < last.producer_epoch:
        return Errors.INVALID_PRODUCER_EPOCH
    begins = new.producer_epoch > last.producer_epoch
    expected = 0 if begins else (_sequences(last)[1] + 1) % _SEQUENCES
    return Errors.NONE if new.base_sequence == expected else Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


def last_sequence(batch: Batch) -> int:
    """Return the last sequence number of a batch, inclusive."""
    return _sequences(batch)[1]


def _sequences(batch: Batch) -> tuple[int, int]:
    """Return the first and last sequence numbers of a batch, inclusive."""
    records = batch.last_offset - batch.base_offset
    return batch.base_sequence, (batch.base_sequence + records) % _SEQUENCES
