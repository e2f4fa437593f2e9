"""Logs of two replicas of one partition, as elections leave them."""

from __future__ import annotations

import random

from kafka_unclean_recovery.model import EpochSpan, ReplicaLog


def log(*spans: tuple[int, int, int], start: int | None = None) -> ReplicaLog:
    lineage = tuple(EpochSpan(*span) for span in spans)
    end = lineage[-1].end_offset if lineage else start or 0
    first = start if start is not None else (lineage[0].start_offset if lineage else 0)
    return ReplicaLog(1, live=False, log_start_offset=first, log_end_offset=end, epochs=lineage)


def two_histories(chance: random.Random) -> tuple[ReplicaLog, ReplicaLog]:
    """Return two replicas of one partition over elections, each led by one of them: the other
    follows, as far as it comes, or is down; retention moves log starts."""
    logs: list[list[tuple[int, int]]] = [[], []]
    starts = [0, 0]
    for epoch in range(chance.randrange(6)):
        leader = chance.randrange(2)
        base = starts[leader] + len(logs[leader])
        logs[leader] += [(epoch, base + n) for n in range(chance.randrange(1, 5))]
        if chance.random() < 0.7:
            shared = sum(pair in logs[1 - leader] for pair in logs[leader])
            fetched = chance.randrange(shared, len(logs[leader]) + 1)
            logs[1 - leader], starts[1 - leader] = logs[leader][:fetched], starts[leader]
        if chance.random() < 0.3:
            gone = chance.randrange(len(logs[leader]))
            logs[leader], starts[leader] = logs[leader][gone:], starts[leader] + gone
    first, second = (
        log(*_runs(pairs), start=start) for pairs, start in zip(logs, starts, strict=True)
    )
    return first, second


def _runs(pairs: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for epoch, offset in pairs:
        if runs and runs[-1][0] == epoch:
            runs[-1] = (epoch, runs[-1][1], offset + 1)
        else:
            runs.append((epoch, offset, offset + 1))
    return runs
