"""A Twin is a cluster that stands as another one stood when its outage was planned. Pure.

It has the offline partitions of a plan: their metadata as the controller had it, and logs whose
leader epochs begin and end at the same offsets. What it can't imitate it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from kafka_unclean_recovery.kafka_names import MIN_INSYNC_REPLICAS
from kafka_unclean_recovery.kraft_rules.releases import RELEASES, Release
from kafka_unclean_recovery.model import (
    EpochLineage,
    EpochSpan,
    PartitionPlan,
    PartitionState,
    ReplicaLog,
)
from kafka_unclean_recovery.wording import and_more

_MOST_BROKERS = 1000
ELECTS_BY_ITSELF = "unclean.leader.election.enable"

Configs = Mapping[str, str]
"""The configs of a topic, key to value."""


@dataclass(frozen=True, slots=True)
class TwinLog:
    """A log that is to be written. records: leader epoch and offset of each record, both rising, in
    the order of the log; between two of them offsets are left out, as compaction leaves them out.
    high_watermark: exclusive."""

    records: tuple[tuple[int, int], ...]
    epochs: tuple[tuple[int, int], ...]
    high_watermark: int


@dataclass(frozen=True, slots=True)
class TwinPartition:
    """A partition as the controller has it. logs: by broker, of live replicas. lost: live brokers
    whose replica is on a directory that failed, or was not read."""

    topic: str
    topic_id: UUID
    partition: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    logs: Mapping[int, TwinLog]
    lost: frozenset[int]


@dataclass(frozen=True, slots=True)
class Twin:
    """A cluster that is to be made.

    brokers: all that have a replica. running: those that were live. unregistered: those that the
    controller does not know any more. not_imitated: sentences.
    """

    brokers: tuple[int, ...]
    running: tuple[int, ...]
    unregistered: frozenset[int]
    partitions: tuple[TwinPartition, ...]
    configs: Mapping[str, Configs]
    not_imitated: tuple[str, ...]

    @property
    def log_directories(self) -> int:
        """Return the number of log directories of each broker, of which the second may fail."""
        return 2 if any(partition.lost for partition in self.partitions) else 1


def twin_of(plans: Sequence[PartitionPlan], configs: Mapping[str, Configs], release: str) -> Twin:
    """Return the twin of a cluster with these offline partitions. configs: by topic. Raises
    ValueError for what no controller of the release has, or no cluster."""
    _check(plans, configs, RELEASES[release])
    named = {broker for plan in plans for broker in plan.state.replicas}
    running = {log.broker for plan in plans for log in plan.replica_logs if log.live} & named
    if not running:
        raise ValueError("no broker with a replica was live, so that nobody can be elected")
    partitions = tuple(_partition(plan, running) for plan in plans)
    topics = {plan.state.topic for plan in plans}
    return Twin(
        brokers=tuple(sorted(named)),
        running=tuple(sorted(running)),
        unregistered=frozenset(id_ for p in plans for id_ in p.state.unregistered_replicas),
        partitions=partitions,
        configs={
            topic: {k: v for k, v in found.items() if k != ELECTS_BY_ITSELF}
            for topic, found in configs.items()
            if topic in topics
        },
        not_imitated=tuple(_not_imitated(plans, partitions, configs)),
    )


def _check(
    plans: Sequence[PartitionPlan], configs: Mapping[str, Configs], release: Release
) -> None:
    """Raise ValueError for what can't be one cluster of this release."""
    named = {broker for plan in plans for broker in plan.state.replicas}
    if len(named) > _MOST_BROKERS:
        raise ValueError(f"it names {len(named)} brokers, and an emulated cluster has at most 1000")
    topic_ids: dict[str, str] = {}
    for state in (plan.state for plan in plans):
        if topic_ids.setdefault(state.topic, state.topic_id) != state.topic_id:
            raise ValueError(f"topic {state.topic} has two ids; make a new archive")
        if (state.elr or state.last_known_elr) and not release.elr:
            raise ValueError(
                f"{state.topic_partition} has an ELR or a last known one, and {release.name} has"
                " neither; give another --release"
            )
    for topic, found in configs.items():
        least = found.get(MIN_INSYNC_REPLICAS, "1")
        if not (least.isascii() and least.isdecimal() and 0 < int(least) < 2**31):
            raise ValueError(f"{MIN_INSYNC_REPLICAS} of topic {topic} is no number: {least!r}")
    if len(set(topic_ids.values())) < len(topic_ids):
        raise ValueError("two topics have the same id; make a new archive")


def _partition(plan: PartitionPlan, running: set[int]) -> TwinPartition:
    state = plan.state
    found = {log.broker: log for log in plan.replica_logs if log.broker in running}
    readable = {broker: log for broker, log in found.items() if _readable(log)}
    cuts = sorted({at for log in readable.values() for at in _edges(log.epochs or ())})
    return TwinPartition(
        topic=state.topic,
        topic_id=_topic_id(state.topic_id),
        partition=state.partition,
        leader_epoch=max(state.leader_epoch, 0),
        replicas=state.replicas,
        isr=state.isr,
        elr=state.elr,
        last_known_elr=state.last_known_elr,
        logs={broker: _log(log, cuts) for broker, log in readable.items()},
        lost=frozenset((running & set(state.replicas)) - readable.keys()),
    )


def _topic_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(f"topic id {text!r} is none; make a new archive") from None


def _readable(log: ReplicaLog) -> bool:
    """Return whether enough is known of a live log to write one like it. A log that had records and
    has none left ends at an offset that no record tells."""
    if not log.live or log.problem is not None or log.epochs is None:
        return False
    return bool(log.epochs) or log.log_end_offset == 0


def _edges(epochs: EpochLineage) -> Iterator[int]:
    for span in epochs:
        yield from (span.start_offset, span.end_offset)


def _log(log: ReplicaLog, cuts: Sequence[int]) -> TwinLog:
    epochs = [span for span in log.epochs or () if span.start_offset < span.end_offset]
    return TwinLog(
        tuple((span.epoch, at) for span in epochs for at in _offsets(span, cuts)),
        tuple((span.epoch, span.start_offset) for span in epochs),
        log.high_watermark or 0,
    )


def _offsets(span: EpochSpan, cuts: Sequence[int]) -> Iterator[int]:
    """Yield the offsets of records such that the log ends exactly at each cut if it is truncated
    there: the first and the last between one cut and the next."""
    inside = [at for at in cuts if span.start_offset <= at <= span.end_offset]
    for start, end in pairwise(inside):
        yield start
        if end - 1 > start:
            yield end - 1


def _not_imitated(
    plans: Sequence[PartitionPlan],
    partitions: Sequence[TwinPartition],
    configs: Mapping[str, Configs],
) -> Iterator[str]:
    yield "topics that are not offline, groups, transactions and rights"
    yield "records: a few are made up for each leader epoch, at the offsets where logs part"
    yield "what brokers hold that are down: nobody has read it, so they can't be started here"
    logs = [(plan.state, log) for plan in plans for log in plan.replica_logs if log.live]
    lost = [
        f"broker {broker}'s of {each.topic}-{each.partition}"
        for each in partitions
        for broker in sorted(each.lost)
    ]
    if lost:
        yield f"live replicas that were not read: {_some(lost)}: their disks have failed here"
    if begin := [_whose(state, log) for state, log in logs if log.log_start_offset]:
        yield f"logs whose beginning was deleted: {_some(begin)}: they begin at offset 0 here"
    if doubted := [_whose(state, log) for state, log in logs if log.suspect or log.unproven]:
        yield f"logs that were doubted: {_some(doubted)}: they are sound here"
    itself = {plan.state.topic for plan in plans}
    itself &= {topic for topic, found in configs.items() if found.get(ELECTS_BY_ITSELF) == "true"}
    if itself:
        yield f"{ELECTS_BY_ITSELF}=true of topic {_some(sorted(itself))}: it is off here"


def _whose(state: PartitionState, log: ReplicaLog) -> str:
    return f"broker {log.broker}'s of {state.topic_partition}"


def _some(named: Sequence[str]) -> str:
    return f"{named[0]}{and_more(named)}"
