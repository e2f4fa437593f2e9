"""Partitions as scans find them, of every kind that ranking and losses turn on; from a seed."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import (
    TIERED,
    EpochLineage,
    EpochSpan,
    Finding,
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    Scanned,
    Severity,
    TopicPartition,
    WholeDisk,
)
from kafka_unclean_recovery.planning.log_trust import cross_check

BROKERS = tuple(range(1, 16))
UNSCANNED = 15
"""A broker of assignments that no scan has seen."""
TOPICS = ("orders", "orders.dlq", "__consumer_offsets", "a.b-c_D", "Z")

_MODES = (*[ScanMode.DEEP, ScanMode.RECOVER] * 10, ScanMode.FAST)
_STRAY = Finding("stray_directory", Severity.NOTICE, "put aside")
_OLDER = Finding("not_in_newest_metadata", Severity.UNKNOWN, "an older one has it")

_Tree = list[tuple[int, int | None, int]]
"""Leader epochs as (epoch, index of the epoch it went on from, start offset)."""


def random_info(seed: int, count: int, **head: object) -> ReplicaInfo:
    random = Random(seed)
    made = (_partition(random, number) for number in range(count))
    info = ReplicaInfo(
        "cluster-1",
        "2026-01-02T03:04:05+00:00",
        tuple(b for b in BROKERS if b != UNSCANNED),
        tuple(sorted(made, key=lambda part: part.topic_partition)),
        3,
        100,
        whole=(WholeDisk(4, "/data-4"), WholeDisk(5, "/data-5", stopped_clean=True)),
    )
    return replace(info, **head)


def _partition(random: Random, number: int) -> PartitionInfo:
    name = TopicPartition(TOPICS[number % len(TOPICS)], number // len(TOPICS))
    replicas = tuple(random.sample(BROKERS, random.choice((1, 2, 3, 3, 3, 4, 5))))
    tree = _tree(random)
    calm = random.random() < 0.2
    tips = [random.choice(tree)] if calm else tree
    logs = [
        _log(random, broker, tree, tips, calm)
        for broker in replicas
        if broker != UNSCANNED and (calm or random.random() < 0.95)
    ]
    if random.random() < 0.05:
        logs += [_log(random, b, tree, tips, calm) for b in BROKERS[:-1] if b not in replicas][:1]
    state = _state(random, name, replicas, tree) if random.random() < 0.95 else None
    findings = tuple(f for f in (_STRAY, _OLDER) if random.random() < 0.05)
    compacted = random.random() < 0.1
    logs = sorted(logs, key=lambda log: log.broker)
    # As every scan does before it writes a row.
    checked = cross_check(state, logs, compacted=compacted, covered=BROKERS[:4])
    return PartitionInfo(name, state, checked, findings, compacted)


def _tree(random: Random) -> _Tree:
    """Return epochs, of which an unclean election begins one before the end of another."""
    tree: _Tree = [(random.randint(0, 2), None, 0)]
    for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
        parent = random.randrange(len(tree)) if random.random() < 0.85 else None
        start = 0 if parent is None else tree[parent][2] + random.randint(1, 5)
        tree.append((tree[-1][0] + random.randint(1, 3), parent, start))
    return tree


def _lineage(random: Random, tree: _Tree, tip: tuple[int, int | None, int]) -> EpochLineage:
    end = tip[2] + random.choice((1, 4, 4, 6, 10**10))
    spans = []
    at: tuple[int, int | None, int] | None = tip
    while at is not None:
        epoch, parent, start = at
        spans.append(EpochSpan(epoch, start, end))
        end, at = start, None if parent is None else tree[parent]
    return tuple(reversed(spans))


def _cut(spans: EpochLineage, start: int) -> EpochLineage:
    return tuple(
        EpochSpan(span.epoch, max(start, span.start_offset), span.end_offset)
        for span in spans
        if span.end_offset > start
    )


def _log(random: Random, broker: int, tree: _Tree, tips: _Tree, calm: bool) -> ReplicaLog:
    tip = random.choice(tips)
    spans = _lineage(random, tree, tip)
    end = spans[-1].end_offset
    start = random.choice((0, 0, 0, 2, 5, end))
    log = ReplicaLog(
        broker,
        live=False,
        last_written_leader_epoch=tip[0],
        log_start_offset=min(start, end),
        high_watermark=random.choice((None, end, max(0, end - 3))),
        log_end_offset=end,
        epochs=_cut(spans, min(start, end)),
        source="log-dirs",
        scanned=Scanned(random.choice(_MODES), f"/data/{broker}", "topic-id"),
    )
    return log if calm else _altered(random, log)


def _altered(random: Random, log: ReplicaLog) -> ReplicaLog:
    end = log.log_end_offset
    kind = random.randrange(40)
    if kind == 0:
        return replace(log, last_written_leader_epoch=None, epochs=None)
    if kind == 1:
        return replace(log, epochs=None)
    if kind == 2:
        return replace(log, suspect="offsets fall", certain_end_offset=random.choice((None, 1)))
    if kind == 3:
        return replace(log, problem="no such thing", epochs=None, log_end_offset=None)
    if kind == 4:
        return replace(log, log_start_offset=end, epochs=(), last_written_leader_epoch=None)
    if kind == 5:
        return replace(log, log_start_offset=None, log_end_offset=None, epochs=None)
    if kind in (6, 8, 9) and log.epochs:
        # Begun elsewhere than on its peers, which will say so.
        return replace(log, epochs=_begun_later(log.epochs))
    if kind == 7:
        assert log.scanned is not None
        return replace(log, scanned=replace(log.scanned, topic_id="another"))
    return log


def _begun_later(spans: EpochLineage) -> EpochLineage:
    """Return the newest epoch begun later, where there is room."""
    *older, before, last = (*spans[:1], *spans) if len(spans) == 1 else spans
    if len(spans) == 1 or last.end_offset - last.start_offset < 2:
        return spans
    middle = last.start_offset + 1
    return (*older, replace(before, end_offset=middle), replace(last, start_offset=middle))


def _state(
    random: Random, name: TopicPartition, replicas: tuple[int, ...], tree: _Tree
) -> PartitionState:
    def some(chance: float) -> tuple[int, ...]:
        return tuple(broker for broker in replicas if random.random() < chance)

    moving = random.random() < 0.05
    return PartitionState(
        name.topic,
        "topic-id",
        name.partition,
        random.choice((-1, *replicas)),
        tree[-1][0] - random.choice((0, 0, 0, 0, 1)),
        replicas,
        some(0.4),
        some(0.2),
        some(0.2),
        (),
        some(0.5) if moving else (),
        some(0.5) if moving else (),
        tiered=TIERED if random.random() < 0.1 else None,
    )
