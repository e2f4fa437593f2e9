"""Decide which epoch to ask a replica for next, until its whole lineage is known. No I/O.

A replica answers an epoch e with {its largest epoch <= e, the end offset of that epoch} (see
cluster/requests/replica_probe.py), which leaves three things to find out by asking:

1. The newest epoch. A newer one is refused (OFFSET_OUT_OF_RANGE; brokers that are not Apache's
   answer that no epoch, -1, ends at the log end). The first guess is the partition's leader epoch
   less two: the last bump made the partition leaderless, and a survivor was mostly out of the ISR
   before. The probe then steps down or up, doubling each step, and then halves the interval. The
   newest epoch is found when an answer ends at the log end offset.
2. The older epochs. The probe steps down from the newest, one answer each; answers from the way
   up are used again.
3. The end of the search: an answer ends at or below the log start, or a lower epoch ends where
   the epoch above ended. The reason is that a replica asked for an epoch below its oldest answers
   the asked epoch itself, which it does not know.

A leader enters its epoch in the cache before it writes: an epoch without a record is no part of the
lineage, and not the last *written* one, unless the log holds no record at all.
"""

from __future__ import annotations

from msgspec import Struct, field

from kafka_unclean_recovery.cluster.requests.replica_probe import NO_EPOCH, EpochEnd
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import EpochLineage, EpochSpan


class LineageProbe(Struct):
    """A dialogue with one replica: ask it for epoch `ask`, `tell` the answer, until `ask` is None.

    log_end_offset: exclusive, from ListOffsets; leader_epoch: the partition's, from the metadata.
    """

    log_end_offset: int
    leader_epoch: int
    ask: int | None = None
    problem: str | None = None
    error: int = Errors.NONE
    high_watermark: int | None = None
    log_start_offset: int | None = None
    _known: int | None = None
    _refused: int | None = None
    _step: int = 1
    _ends: list[tuple[int, int]] = field(default_factory=list)
    """The known epochs as (epoch, exclusive end offset), newest first."""
    _below: list[tuple[int, EpochEnd]] = field(default_factory=list)
    """The answers that turned out older than the newest epoch, as (asked, answer)."""

    def __post_init__(self) -> None:
        self.ask = max(self.leader_epoch - 2, 0) if self.log_end_offset > 0 else None

    @property
    def unanswered(self) -> bool:
        """Return True while the replica has left something unanswered: the lineage, or the header
        of an empty log."""
        return self.problem is None and (self.ask is not None or self.log_start_offset is None)

    def tell(self, answer: EpochEnd) -> None:
        """Take in the replica's answer to `ask`."""
        asked = self.ask
        assert asked is not None
        self.ask = None
        if answer.error == Errors.OFFSET_OUT_OF_RANGE and not self._ends:
            self._refused = asked
            self._look_for_newest()
        elif answer.error != Errors.NONE:
            self.error, self.problem = answer.error, error_name(answer.error)
        elif answer.epoch == NO_EPOCH:
            self._without_epoch(asked, answer)
        else:
            self.high_watermark = answer.high_watermark
            self.log_start_offset = _known(answer.log_start_offset)
            self._learn(asked, answer)

    def _without_epoch(self, asked: int, answer: EpochEnd) -> None:
        refused = answer.end_offset == self.log_end_offset and not self._ends
        if not refused or asked == 0:
            self.problem = "the broker compares no leader epochs"
        else:
            self._refused = asked
            self._look_for_newest()

    def _learn(self, asked: int, answer: EpochEnd) -> None:
        if self._ends:
            self._step_down(asked, answer)
        elif answer.end_offset == self.log_end_offset and not self._emptied:
            self._ends.append((answer.epoch, answer.end_offset))
            self._ask_below(answer.epoch)
        elif answer.end_offset > self.log_end_offset:
            self.problem = "the log grew while it was read"
        else:
            self._known = asked
            self._below.append((asked, answer))
            self._look_for_newest()

    def _look_for_newest(self) -> None:
        """Choose the next question; the newest epoch lies in [_known, _refused)."""
        if self._known is not None and self._refused is not None:
            if self._refused - self._known == 1:
                self._newest_is_known(self._known)
            else:
                self.ask = (self._known + self._refused) // 2
        elif self._refused is not None:
            if self._refused > 0:
                self.ask = max(self._refused - self._step, 0)
        elif self._known is not None:
            self.ask = self._known + self._step
        self._step *= 2

    def _newest_is_known(self, epoch: int) -> None:
        """Take the epoch as the newest if the log was emptied, as every answer then ends at the log
        end. In any other log one answer must have ended there, so the log has changed."""
        if self._emptied:
            self._ends.append((epoch, self.log_end_offset))
        else:
            self.problem = "the log changed while it was read"

    @property
    def _emptied(self) -> bool:
        return self.log_start_offset == self.log_end_offset

    def _step_down(self, asked: int, answer: EpochEnd) -> None:
        above = self._ends[-1]
        if answer.end_offset > above[1]:
            self.problem = "the log changed while it was read"
        elif answer.end_offset == above[1] and above[0] == asked + 1 and len(self._ends) > 1:
            # No epoch ends lower, so the epoch above was only our own question echoed.
            self._ends[-1] = (NO_EPOCH, above[1])
        else:
            self._ends.append((answer.epoch, answer.end_offset))
            self._ask_below(answer.epoch)

    def _ask_below(self, epoch: int) -> None:
        start = self.log_start_offset
        if epoch == 0 or (start is not None and self._ends[-1][1] <= start):
            return
        for asked, answer in self._below:
            if answer.epoch <= epoch - 1 <= asked:
                self._step_down(epoch - 1, answer)
                return
        self.ask = epoch - 1

    @property
    def epochs(self) -> EpochLineage | None:
        """Return the lineage once `ask` is None; None where it or its start is unknown."""
        unknown = self.problem is not None or self.ask is not None
        if unknown or self.log_start_offset is None:
            return None
        if not self._ends:
            return () if self._emptied else None
        spans = []
        starts = [*(end for _, end in self._ends[1:]), self.log_start_offset]
        for (epoch, end), start in zip(self._ends, starts, strict=True):
            begin = max(start, self.log_start_offset)
            if begin < end and epoch != NO_EPOCH:
                spans.append(EpochSpan(epoch, begin, end))
        return tuple(reversed(spans))

    @property
    def last_written_leader_epoch(self) -> int | None:
        """Return the epoch of the last record, NO_EPOCH if none was ever written. For an emptied
        log it is the newest epoch that the replica knows (none after a restart)."""
        if self.log_end_offset == 0:
            return NO_EPOCH
        epochs = self.epochs
        if epochs:
            return epochs[-1].epoch
        if self.log_start_offset is None:
            return self._newest_above_another()
        return self._ends[0][0] if self._ends and self._emptied else None

    def _newest_above_another(self) -> int | None:
        """Return the newest epoch if it surely has records although no log start is known: it ends
        above the end of another epoch. A single end may be the end of a log that was emptied."""
        unknown = self.problem is not None or self.ask is not None
        if unknown or len(self._ends) < 2 or self._ends[1][1] >= self._ends[0][1]:
            return None
        return self._ends[0][0]


def _known(offset: int) -> int | None:
    """Return the offset, or None for -1, which Kafka answers where a header field has no value."""
    return None if offset < 0 else offset
