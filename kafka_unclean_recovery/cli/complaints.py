"""Doubts about what disks say are counted: one sentence for each kind, with its number and its
first case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_unclean_recovery.model import ReplicaInfo
from kafka_unclean_recovery.wording import below_high_watermark, one_line


def scan_complaints(info: ReplicaInfo) -> Iterator[str]:
    """Return a sentence for each kind of doubt; none when all was read and looks sound."""
    rows = [(part.topic_partition, log) for part in info.partitions for log in part.replica_logs]
    unread = [f"{tp} of broker {log.broker}: {log.problem}" for tp, log in rows if log.problem]
    suspect = [
        f"{tp} of broker {log.broker}: {log.suspect}"
        for tp, log in rows
        if log.suspect and not log.problem
    ]
    yield from count_and_first("replica can't be used", "replicas can't be used", unread)
    yield from count_and_first("replica may be corrupt", "replicas may be corrupt", suspect)
    short = [
        f"{tp} of broker {log.broker}: {below_high_watermark(log)}"
        for tp, log in rows
        if log.ends_below_its_high_watermark and not (log.problem or log.suspect)
    ]
    yield from count_and_first(*SHORT, short)
    yield from count_and_first("problem", "problems", info.problems)


SHORT = ("replica has lost committed records", "replicas have lost committed records")
"""The words for one replica, and for many."""


def count_and_first(one: str, many: str, found: Sequence[str]) -> Iterator[str]:
    """Return one sentence for all that was found; none when nothing was found."""
    if found:
        yield counted(one, many, len(found), found[0])


def counted(one: str, many: str, count: int, first: str) -> str:
    """Return the sentence when only the number and the first case are known."""
    if count == 1:
        return f"1 {one}: {one_line(first)}"
    return f"{count} {many}, the first: {one_line(first)}"
