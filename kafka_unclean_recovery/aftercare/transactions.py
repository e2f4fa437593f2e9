"""A verdict on a transaction that a partition holds without its end rests on what the transaction's
coordinator says. This module does no I/O.

A coordinator remembers only the newest transaction of a transactional id, and that may be a later
one than the partition's. Two things tell them apart:

* Epochs: the coordinator's epoch is that of the partition while the transaction is open. Afterwards
  it is the same, or one more when the end of the transaction bumped it (KIP-890, a time-out, a
  fencing). Producers without KIP-890 keep one epoch for many transactions, so an equal epoch proves
  little. One more proves little too, unless transaction.version 2 is finalized and each end bumps
  the epoch: a producer that restarts gets the next epoch, and the coordinator may tell of the
  producer's next transaction.
* Times: a transaction that began after the partition's last record of the producer is a later one.
  Clocks differ, and records get their times before the coordinator hears of the transaction, so
  times that are closer than CLOCKS_MS prove nothing.

A transaction that began after the leader was elected, and that its coordinator calls ongoing, is an
ordinary open one. Where neither epochs nor times decide, the ending is unknown: a wrong verdict
shows aborted records, or hides committed ones. A disk that holds the transaction's own marker
decides before all this (by_disks.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_unclean_recovery.cluster.requests.transactions import OpenTransaction, ToldTransaction

CLOCKS_MS = 1000
_COMPLETE = {"CompleteCommit": True, "CompleteAbort": False}
_WRITES_MARKERS = frozenset({"PrepareCommit", "PrepareAbort"})


class Ending(StrEnum):
    """The ending of a transaction. OPEN: its coordinator will end it, so there is nothing to do
    here."""

    COMMIT = "commit"
    ABORT = "abort"
    OPEN = "open"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict on a transaction. reason: a sentence on what the verdict rests on. witness: the
    broker whose disk proves it, None where the coordinator does."""

    ending: Ending
    reason: str
    witness: int | None = None

    @property
    def sure(self) -> bool:
        return self.ending in (Ending.COMMIT, Ending.ABORT)


@dataclass(frozen=True, slots=True)
class Unclean:
    """The partitions of __transaction_state that were elected uncleanly, of `count` in all. What
    their coordinators say may be out of date."""

    partitions: frozenset[int] = frozenset()
    count: int = 0

    def holds(self, transactional_id: str) -> bool:
        if not self.partitions:
            return False
        return states_partition(transactional_id, self.count) in self.partitions


@dataclass(frozen=True, slots=True)
class Hanging:
    """An open transaction on a broker's replica, and the verdict on it. told: what its coordinator
    says; None when no coordinator, or more than one, told of its producer id."""

    replica: int
    transaction: OpenTransaction
    told: ToldTransaction | None
    verdict: Judgement


def hanging(
    replica: int,
    transaction: OpenTransaction,
    told: Sequence[ToldTransaction],
    unclean: Unclean,
    since_elected: bool,
) -> Hanging:
    """Return the transaction with its verdict. told: what all brokers said, of other producer ids
    too. since_elected: whether the whole transaction was written in the leader's present epoch."""
    mine = [each for each in told if each.producer_id == transaction.producer_id]
    if len(mine) == 1:
        verdict = _verdict(transaction, mine[0], unclean, since_elected)
        return Hanging(replica, transaction, mine[0], verdict)
    who = "several coordinators tell" if mine else "no coordinator tells"
    return Hanging(replica, transaction, None, _unknown(f"{who} of its producer id"))


def _verdict(
    transaction: OpenTransaction, told: ToldTransaction, unclean: Unclean, since_elected: bool
) -> Judgement:
    if unclean.holds(told.transactional_id):
        return _unknown(
            f"its coordinator says {told.state}, but the log that it has this from was elected"
            " uncleanly too"
        )
    if told.state in _COMPLETE:
        return _of_complete(transaction, told, _COMPLETE[told.state])
    if told.state != "Ongoing" and told.state not in _WRITES_MARKERS:
        return _unknown(f"its coordinator says {told.state}, which is of a later time")
    if transaction.topic_partition not in told.partitions:
        return _unknown(
            f"its coordinator says {told.state}, of a transaction without this partition"
        )
    if told.state in _WRITES_MARKERS:
        return Judgement(Ending.OPEN, f"its coordinator says {told.state}: it writes the end now")
    another = told.producer_epoch != transaction.producer_epoch or _began_later(transaction, told)
    if another and not since_elected:
        return _unknown(
            "a later transaction of its producer is under way on this partition, whose end will"
            " end this one too: stop the producer"
        )
    return Judgement(Ending.OPEN, "its producer ends it, or its time-out")


def _of_complete(transaction: OpenTransaction, told: ToldTransaction, commit: bool) -> Judgement:
    bump = told.producer_epoch - transaction.producer_epoch
    if bump not in (0, 1):
        return _unknown(
            f"its coordinator says {told.state}, of epoch {told.producer_epoch}: another"
            f" transaction than this one of epoch {transaction.producer_epoch}"
        )
    if told.start_time_ms is None or transaction.last_timestamp_ms is None:
        return _unknown(f"its coordinator says {told.state}; there is no time to compare")
    if _began_later(transaction, told):
        return _unknown(
            f"its coordinator says {told.state}, of a transaction that began after the last"
            " record here"
        )
    proved_by_epoch = bump == 1 and told.ends_bump_epochs
    if not proved_by_epoch and transaction.last_timestamp_ms < told.start_time_ms + CLOCKS_MS:
        return _unknown(
            f"its coordinator says {told.state}, of a transaction that began when the last record"
            " here was written: it may be a later one"
        )
    ending = Ending.COMMIT if commit else Ending.ABORT
    return Judgement(ending, f"its coordinator says {told.state}")


def _began_later(transaction: OpenTransaction, told: ToldTransaction) -> bool:
    if told.start_time_ms is None or transaction.last_timestamp_ms is None:
        return False
    return told.start_time_ms > transaction.last_timestamp_ms + CLOCKS_MS


def _unknown(reason: str) -> Judgement:
    return Judgement(Ending.UNKNOWN, reason)


def states_partition(transactional_id: str, count: int) -> int:
    """Return the partition of __transaction_state that has this transactional id, as
    TransactionStateManager.partitionFor does."""
    code = 0
    data = transactional_id.encode("utf-16-be", "surrogatepass")
    for high, low in zip(data[::2], data[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    signed = code - 2**32 if code >= 2**31 else code
    return 0 if signed == -(2**31) else abs(signed) % count
