"""The situation before a start: partitions without a leader, and the logs of their replicas as
their brokers will have them; no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from kafka_unclean_recovery.model import (
    PartitionInfo,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.planning.merged_scans import NOT_IN_NEWEST
from kafka_unclean_recovery.planning.started_replica import as_started
from kafka_unclean_recovery.start_order.foretelling import Foretold, foretold
from kafka_unclean_recovery.wording import count_text

_NO_METADATA = (
    "no metadata log was read, so nobody knows who may lead: scan the log directory of a controller"
    " that runs (scan-log-dirs), and give it as --replica-info-file"
)
_NOT_FENCED = (
    "the metadata log still has a leader for it: once the controllers run they fence the brokers,"
    " which takes a session of broker.session.timeout.ms (those of Kafka 3.9 once some broker runs,"
    " which may be one without a replica); then scan a controller's log directory again"
)
_NO_STATE = "an older metadata log has it, and the newest does not"
_UNREAD = "nobody has read it: scan its log directories, or name it in --gone"
_NO_CONFIGS = (
    "the scan with the newest metadata log does not tell of unclean.leader.election.enable: scan it"
    " again with this version"
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One partition that has no leader. As a key it is itself alone: comparing logs takes long.

    state: its offline replicas are those of brokers that are
    down. logs: by broker, as they are once it has started; live is True for each. unclean:
    unclean.leader.election.enable of its topic. alike: the state without the partition's own names,
    so that partitions in the same state are worked out once."""

    state: PartitionState
    logs: Mapping[int, ReplicaLog]
    unclean: bool = False
    alike: PartitionState = field(init=False, repr=False)

    def __post_init__(self) -> None:
        alike = replace(self.state, topic="", topic_id="", partition=0, leader_epoch=0, tiered=None)
        object.__setattr__(self, "alike", alike)

    @property
    def name(self) -> str:
        return str(self.state.topic_partition)


@dataclass(frozen=True, slots=True)
class Situation:
    """The situation before a start. startable: brokers that are down and may be started now. later:
    brokers that are down and started later than all others. gone: brokers whose disks are lost.
    clean: by broker, the controller will count its last stop as clean; None where nobody knows.
    foretold: controllers have yet to fence brokers, and the parts are as they will be then.
    """

    cluster_id: str | None
    parts: tuple[Part, ...]
    startable: tuple[int, ...]
    later: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    clean: Mapping[int, bool | None] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    rests_on: str | None = None
    foretold: bool = False


def from_disks(
    info: ReplicaInfo, gone: Collection[int] = (), later: Collection[int] = ()
) -> Situation:
    """Return the situation as disks tell it, with no broker alive. gone: brokers whose disks are
    lost, so that what was read of them once counts for nothing."""
    told = {part.topic_partition: part.state for part in info.partitions if part.state is not None}
    down = {broker for state in told.values() for broker in state.replicas}
    unclean = set(info.unclean_topics or ())
    to_come = _to_come(info, told.values())
    states = {**told, **to_come.states}
    parts = tuple(
        _part(row, state, set(gone), unclean)
        for row in info.partitions
        if (state := states.get(row.topic_partition)) is not None and state.offline
    )
    return Situation(
        info.cluster_id,
        parts,
        *who_starts(down, gone, later),
        clean=clean_stops(log for row in info.partitions for log in row.replica_logs),
        unknown=(
            *info.problems,
            *_unknown(info),
            *_not_fenced(states, to_come),
            *_unread(info, down - set(gone)),
        ),
        rests_on=f"the metadata log up to offset {info.metadata_end_offset}"
        f" (epoch {info.metadata_epoch})",
        foretold=bool(to_come.states),
    )


def _to_come(info: ReplicaInfo, states: Iterable[PartitionState]) -> Foretold:
    """Return the partitions with brokers that the controllers have yet to fence, once they have."""
    if info.fencing is None:
        return Foretold({})
    unfenced = {each.broker for each in info.fencing.unfenced}
    concerned = [state for state in states if not unfenced.isdisjoint(state.replicas)]
    return foretold(concerned, info.fencing, info.unclean_topics or ())


_Ids = tuple[int, ...]


def who_starts(
    down: Collection[int], gone: Collection[int], later: Collection[int]
) -> tuple[_Ids, _Ids, _Ids]:
    """Return (startable, later, gone) of a situation. down: the brokers with a replica of some
    partition that do not run."""
    there = set(down) - set(gone)
    return (
        tuple(sorted(there - set(later))),
        tuple(sorted(there & set(later))),
        tuple(sorted(gone)),
    )


def _part(row: PartitionInfo, state: PartitionState, gone: set[int], unclean: set[str]) -> Part:
    logs = {
        log.broker: replace(as_started(state, log), live=True)
        for log in row.replica_logs
        if log.broker in state.replicas and log.broker not in gone
    }
    return Part(replace(state, offline_replicas=state.replicas), logs, state.topic in unclean)


def clean_stops(logs: Iterable[ReplicaLog]) -> dict[int, bool | None]:
    """Return by broker whether its stop counts as clean, which each of its scanned logs tells."""
    return {log.broker: log.scanned.stopped_clean for log in logs if log.scanned is not None}


def _unknown(info: ReplicaInfo) -> Iterator[str]:
    """Yield what the metadata log does not tell, a sentence each."""
    if info.metadata_end_offset is None:
        yield _NO_METADATA
        return
    if info.unclean_topics is None:
        yield _NO_CONFIGS
    # One that no metadata log has was deleted; of one that only an older log has, nobody knows.
    torn = [p for p in info.partitions if any(f.code == NOT_IN_NEWEST for f in p.findings)]
    yield from _counted([row.topic_partition for row in torn], _NO_STATE)


def _not_fenced(
    states: Mapping[TopicPartition, PartitionState], to_come: Foretold
) -> Iterator[str]:
    """Yield why nobody knows who may lead once all brokers are fenced, a sentence each."""
    led = (tp for tp, state in states.items() if not state.offline)
    untold = {**dict.fromkeys(led, _NOT_FENCED), **to_come.unknown}
    for why in dict.fromkeys(untold.values()):
        yield from _counted([tp for tp, its in untold.items() if its == why], why)


def _unread(info: ReplicaInfo, down: Collection[int]) -> Iterator[str]:
    if info.metadata_end_offset is not None:
        for broker in sorted(set(down) - set(info.brokers)):
            yield f"the disk of broker {broker}: {_UNREAD}"


def _counted(partitions: Sequence[TopicPartition], why: str) -> Iterator[str]:
    if partitions:
        yield f"{count_text(len(partitions), 'partition')}, the first {partitions[0]}: {why}"
