"""How many further failures each partition stands; no I/O.

Each failure counted is that of a broker in the ISR, since those are the ones that hurt. Members of
the ELR are not counted on: one that lives and is not in the ISR may be shutting down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kafka_unclean_recovery.documents.margin import (
    ChangeJson,
    MarginJson,
    OutOfSyncJson,
    QuorumMarginJson,
    StandsJson,
)
from kafka_unclean_recovery.documents.observation import (
    BY_BROKER,
    ObservationJson,
    ObservedBrokerJson,
    ObservedPartitionJson,
    ObservedTopicJson,
)
from kafka_unclean_recovery.model import NO_LEADER, TopicPartition
from kafka_unclean_recovery.wording import and_more

ALREADY = -1
QuorumState = Literal["up", "down", "silent", "untold"]
_UNTOLD = QuorumMarginJson("untold")


@dataclass(frozen=True, slots=True)
class Margin:
    """The failures that a partition stands. blocked: before producers with acks=all are refused;
    gone: before nobody leads, or somebody uncleanly; ALREADY where it is so. single: it has one
    replica, so that it stands none and whoever made it knows."""

    blocked: int
    gone: int
    unclean: bool
    single: bool
    isr: tuple[int, ...]
    elr: tuple[int, ...]


Margins = Mapping[TopicPartition, Margin]


def margins(observation: ObservationJson) -> dict[TopicPartition, Margin]:
    """Return the margin of each partition of which it is known."""
    up = _up(observation)
    own = {broker.id: broker.min_isr for broker in observation.brokers}
    return {
        TopicPartition(topic.name, partition.partition): _margin(topic, partition, up, own)
        for topic in observation.topics
        if topic.problem is None
        for partition in topic.partitions
    }


def _up(observation: ObservationJson) -> frozenset[int]:
    return frozenset(b.id for b in observation.brokers if b.up)


def _margin(
    topic: ObservedTopicJson,
    partition: ObservedPartitionJson,
    up: frozenset[int],
    own: Mapping[int, int | None],
) -> Margin:
    live = len(up.intersection(partition.isr))
    least = min(_min_isr(topic, partition, own), len(partition.replicas))
    led = partition.leader != NO_LEADER or partition.led_unseen
    others = set(partition.replicas) - {*partition.isr, *partition.offline_replicas}
    return Margin(
        max(live - least, ALREADY) if led else ALREADY,
        live - 1 if led else ALREADY,
        bool(topic.unclean and others),
        len(partition.replicas) == 1,
        partition.isr,
        partition.elr,
    )


def _min_isr(
    topic: ObservedTopicJson, partition: ObservedPartitionJson, own: Mapping[int, int | None]
) -> int:
    """Return the strictest min.insync.replicas that a member of the ISR would take writes by: where
    neither the topic nor the cluster has a value, that of its own file."""
    configured = topic.min_isr
    assert configured is not None, "topics without a known value are left out"
    if topic.min_isr_source not in BY_BROKER:
        return configured
    told = (own.get(broker) for broker in partition.isr)
    return max((configured if each is None else each for each in told), default=configured)


def quorum_margin(observation: ObservationJson, state: QuorumState) -> QuorumMarginJson:
    """Return what is known of the quorum. A majority of the voters must follow."""
    voters = observation.voters
    if voters is None or any(voter.follows is None for voter in voters):
        return QuorumMarginJson(state, None if voters is None else len(voters))
    follow = sum(bool(voter.follows) for voter in voters)
    spare = follow - (len(voters) // 2 + 1)
    return QuorumMarginJson(state, len(voters), follow, max(spare, 0) if state == "up" else None)


def unknown(last: MarginJson, observed_at: str, why: str, failed_looks: int) -> MarginJson:
    """Return the margin where a look told nothing: the last one may not hold any more."""
    return MarginJson(
        cluster_id=last.cluster_id,
        observed_at=observed_at,
        known=0,
        not_known=last.known + last.not_known,
        stands=(),
        single_replicas=0,
        elr_partitions=0,
        elr_members=0,
        out_of_sync=(),
        down=(),
        changes=(),
        problems=(why,),
        quorum=QuorumMarginJson("silent"),
        failed_looks=failed_looks,
    )


def document(
    observation: ObservationJson,
    now: Margins,
    before: Margins | None,
    quorum: QuorumMarginJson = _UNTOLD,
    failed_looks: int = 0,
) -> MarginJson:
    """Return the margin of the cluster. now: of its partitions; before: the same at the last look,
    None at the first. Without a quorum no margin holds: nobody is elected, and no ISR shrinks."""
    if quorum.state in ("down", "silent"):
        now = {}
    total = sum(len(topic.partitions) for topic in observation.topics)
    partitions = [partition for topic in observation.topics for partition in topic.partitions]
    return MarginJson(
        cluster_id=observation.cluster_id,
        observed_at=observation.observed_at,
        known=len(now),
        not_known=total - len(now),
        stands=tuple(_stands(now)),
        single_replicas=sum(each.single for each in now.values()),
        elr_partitions=sum(bool(partition.elr) for partition in partitions),
        elr_members=sum(len(partition.elr) for partition in partitions),
        out_of_sync=tuple(_out_of_sync(observation)),
        down=tuple(sorted({r for p in partitions for r in p.replicas} - _up(observation))),
        changes=() if before is None else tuple(_changes(before, now)),
        problems=(
            *observation.problems,
            *_of_topics(observation),
            *(f"broker {b.id} is not listed here, and {_of(b)}" for b in _unlisted(observation)),
            *(
                f"topics of broker {b.id} may be hidden: {b.disks}"
                for b in observation.brokers
                if b.disks
            ),
        ),
        quorum=quorum,
        failed_looks=failed_looks,
    )


def _unlisted(observation: ObservationJson) -> Iterator[ObservedBrokerJson]:
    return (broker for broker in observation.brokers if not broker.listed)


def _of(broker: ObservedBrokerJson) -> str:
    """Return why the broker is not known to be dead. Not how lately it was heard: each look would
    differ from the one before."""
    return f"{'lives' if broker.up else 'may live'}: {broker.silent}"


def _of_topics(observation: ObservationJson) -> Iterator[str]:
    """Yield one sentence for all topics of which something is not known."""
    named = [f"{topic.name}: {topic.problem}" for topic in observation.topics if topic.problem]
    if named:
        yield f"{named[0]}{and_more(named)}"


def _stands(now: Margins) -> Iterator[StandsJson]:
    counted = [each for each in now.values() if not each.single or each.gone == ALREADY]
    blocked = Counter(each.blocked for each in counted)
    yield from (StandsJson("blocked", *row) for row in sorted(blocked.items()))
    gone = Counter((each.unclean, each.gone) for each in counted)
    for (unclean, failures), count in sorted(gone.items()):
        yield StandsJson("unclean" if unclean else "offline", failures, count)


def _out_of_sync(observation: ObservationJson) -> Iterator[OutOfSyncJson]:
    """Yield the live brokers with replicas that are not in the ISR, the hungriest first."""
    up = _up(observation)
    lacking = Counter(
        replica
        for topic in observation.topics
        for partition in topic.partitions
        for replica in partition.replicas
        if replica in up and replica not in partition.isr
    )
    yield from (OutOfSyncJson(*row) for row in sorted(lacking.items(), key=lambda r: (-r[1], r[0])))


def _changes(before: Margins, now: Margins) -> Iterator[ChangeJson]:
    for key, margin in now.items():
        was = before.get(key)
        if was is not None and (was.blocked, was.gone) != (margin.blocked, margin.gone):
            yield ChangeJson(
                key.topic, key.partition, was.blocked, margin.blocked, margin.isr, margin.elr
            )
