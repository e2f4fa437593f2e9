"""A live cluster is asked what a broker that starts will find: leaders, and how far their logs go.

What a broker does not tell, or this user may not see, makes the replicas concerned unknown, with
the name of the right that is missing.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from kafka_unclean_recovery.before_start.absent import not_given, with_absent
from kafka_unclean_recovery.before_start.hidden import hidden_replicas
from kafka_unclean_recovery.before_start.outside import led_by_epochs, of_others
from kafka_unclean_recovery.before_start.replica import OwnDisk, wanted_of
from kafka_unclean_recovery.before_start.result import BeforeStart, foretell
from kafka_unclean_recovery.before_start.verdict import Known
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import (
    READ,
    Described,
    Topic,
    with_reassignment,
)
from kafka_unclean_recovery.cluster.requests.leader_epochs import epoch_end_offsets
from kafka_unclean_recovery.cluster.requests.replica_probe import start_offsets
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import (
    Broker,
    Cluster,
    PartitionState,
    ReplicaInfo,
    ReplicaLog,
    TopicPartition,
)
from kafka_unclean_recovery.survey import budgets
from kafka_unclean_recovery.survey.answer import Answer, answered
from kafka_unclean_recovery.survey.hearing import heard_of
from kafka_unclean_recovery.survey.led_unseen import LED_UNSEEN, led_unseen
from kafka_unclean_recovery.survey.liveness import (
    Heard,
    Life,
    doubts,
    in_sync_beside_a_leader,
    verdict,
)
from kafka_unclean_recovery.survey.newest import newest
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.survey.unclean_elections import UncleanElections, unclean_elections
from kafka_unclean_recovery.transport import ReplicaLogSource

_NOT_ALLOWED = error_name(Errors.TOPIC_AUTHORIZATION_FAILED)
_PAUSE_SECONDS = 0.25
_Logs = dict[TopicPartition, dict[int, ReplicaLog]]


@dataclass(slots=True)
class _Seen:
    """What was seen of the cluster so far. no_read: topics that this user may not read."""

    logs: _Logs = field(default_factory=lambda: defaultdict(dict))
    unclean: UncleanElections = field(default_factory=UncleanElections)
    unknown: list[str] = field(default_factory=list)
    led_unseen: dict[TopicPartition, str] = field(default_factory=dict)
    doubts: Mapping[int, str] = field(default_factory=dict)
    no_read: frozenset[str] = frozenset()

    def note(self, sentence: str | None) -> None:
        """Note what is unknown, where something is."""
        if sentence is not None:
            self.unknown.append(sentence)


@dataclass(frozen=True, slots=True)
class _View:
    """What the cluster tells before any log is read. heard: all that tells of brokers. old: why it
    may be what was so a while ago, None where it is not. untold: why it is not known which other
    replicas this broker should have. visible: the topics that this user may describe, None where
    they were not told."""

    cluster: Cluster
    described: Described
    heard: Heard
    old: str | None
    untold: str | None = None
    visible: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Looking:
    """The means to look at a cluster. seconds: for each round of questions. others: scans of the
    disks of other brokers, None without any. wanted: tells which partitions were asked for. gone:
    brokers whose disks are lost for good."""

    nodes: Nodes
    reader: Reader
    source: ReplicaLogSource
    seconds: float
    others: ReplicaInfo | None = None
    wanted: Callable[[TopicPartition], bool] = lambda _: True
    gone: frozenset[int] = frozenset()


async def look(means: Looking, disk: OwnDisk) -> BeforeStart:
    """Ask the cluster, and foretell the start. Raises NoBrokerReachable, ConnectionFailed or
    RequestFailed when not even the partitions can be told."""
    cluster, _ = await means.reader.cluster()
    disk = _in_cluster(disk, cluster)
    seen = _Seen()
    known: dict[TopicPartition, Known] = {}
    if disk.refused is None and disk.unsettled is None:
        view = await _view(means, disk)
        seen.unknown += await _hidden(means, disk, view)
        disk = with_absent(_in_cluster(disk, view.cluster), view.described.states.values())
        seen.note(view.old)
        seen.note(view.untold)
        seen.unknown += not_given(disk)
        own = verdict(disk.broker, view.heard)
        if disk.unsettled is None and _runs(disk, view):
            disk = replace(disk, unsettled=_running(disk.broker, own.why, own.mend))
        elif own.life is Life.UNKNOWN:
            seen.unknown.append(f"broker {disk.broker} itself {own.why}; {own.mend}")
        if disk.unsettled is None:
            known = await _known(means, disk, view, seen)
    return replace(foretell(disk, known, seen.unknown), cluster_id=cluster.cluster_id)


async def _hidden(means: Looking, disk: OwnDisk, view: _View) -> list[str]:
    if view.visible is None:
        return []
    brokers = view.cluster.brokers
    return await hidden_replicas(means.nodes, means.reader, brokers, disk, view.visible)


async def _view(means: Looking, disk: OwnDisk) -> _View:
    """Read the brokers and the partitions, and again for a while where the broker itself seems to
    live: it may have ended just now."""
    deadline = budgets.HEARD_AGAIN.deadline()
    wanted = wanted_of(disk.replicas)

    async def read() -> tuple[Cluster, Described, Answer[list[Topic]]]:
        cluster, _ = await means.reader.cluster()
        every = await answered(means.reader.topics(None))
        return cluster, await means.reader.described_by_any(wanted), every

    while True:
        (cluster, on_disk, every), old = await newest(means.reader, read)
        described = _with_the_rest(means, disk, on_disk, every.value or ())
        in_sync = in_sync_beside_a_leader(cluster, described.states.values())
        brokers = {b for s in described.states.values() for b in s.replicas} | {disk.broker}
        heard = await heard_of(means.reader, brokers, cluster, in_sync)
        untold = every.untold("which other replicas the broker should have is unknown")
        visible = None if every.value is None else frozenset(t.name for t in every.value)
        view = _View(cluster, described, heard, old, untold, visible)
        if deadline.expired or not _runs(disk, view):
            return view
        await asyncio.sleep(_PAUSE_SECONDS)


def _with_the_rest(
    means: Looking, disk: OwnDisk, found: Described, topics: Sequence[Topic]
) -> Described:
    """Return the partitions on the disk, and those that the metadata puts there besides."""
    rest = {
        state.topic_partition: state
        for topic in topics
        for state in topic.told
        if disk.broker in state.replicas and means.wanted(state.topic_partition)
    }
    rights = {topic.name: topic.authorized_operations for topic in topics}
    return replace(
        found,
        states={**rest, **found.states},
        operations={**rights, **found.operations},
    )


def _runs(disk: OwnDisk, view: _View) -> bool:
    """Return True for a broker that lives; a fenced one that was heard of may have shut down."""
    fenced = disk.broker in view.cluster.fenced
    return not fenced and verdict(disk.broker, view.heard).life is Life.LIVES


def _running(broker: int, why: str, mend: str | None) -> str:
    return f"broker {broker} {why}: it runs" + (f", and {mend}" if mend else "")


def _in_cluster(disk: OwnDisk, cluster: Cluster) -> OwnDisk:
    """Return the disk with why this cluster refuses its broker, or does not know it as ended."""
    if disk.refused is None and disk.cluster_id not in (None, cluster.cluster_id):
        why = (
            f"its disk is of cluster {disk.cluster_id}, and the brokers are of cluster"
            f" {cluster.cluster_id}: they refuse it"
        )
        return replace(disk, refused=why)
    if disk.unsettled is None and disk.broker in cluster.brokers:
        why = (
            f"broker {disk.broker} is live: it runs, or its session has not ended yet, and until"
            " then another incarnation of it is refused; stop it, or ask again in a moment"
        )
        return replace(disk, unsettled=why)
    return disk


async def _known(
    means: Looking, disk: OwnDisk, view: _View, seen: _Seen
) -> dict[TopicPartition, Known]:
    cluster, described = view.cluster, view.described
    await _note_unlisted(means, disk, view, seen)
    seen.no_read = frozenset(t for t, may in described.operations.items() if READ not in may)
    states = await _with_reassignments(means.reader, described.states, seen)
    mine = [s for s in states.values() if disk.broker in s.replicas]
    led = [state for state in mine if not state.offline and state.leader != disk.broker]
    await _ask(means, cluster.brokers, {s: (s.leader,) for s in led}, seen)
    await _ask_epochs(means, disk, cluster.brokers, led, seen)
    leaderless = [state for state in mine if state.offline]
    topics = sorted({state.topic for state in leaderless})
    seen.unclean = await unclean_elections(means.reader, topics)
    # Whoever follows the leader that the start makes is asked what it then loses.
    followers = {s: [b for b in _may_live(s, seen) if b != disk.broker] for s in leaderless}
    await _ask(means, cluster.brokers, followers, seen)
    known = _put_together(means, disk, described, states, seen)
    # The other replicas are asked only where something is to be destroyed.
    lost = {v.replica.topic_partition for v in foretell(disk, known).verdicts if v.destroys_own}
    rest = {
        s: tuple(b for b in _may_live(s, seen) if b not in (s.leader, disk.broker))
        for s in led
        if s.topic_partition in lost
    }
    await _ask(means, cluster.brokers, rest, seen)
    return _put_together(means, disk, described, states, seen)


def _may_live(state: PartitionState, seen: _Seen) -> list[int]:
    return [b for b in state.replicas if b in state.online_replicas or b in seen.doubts]


async def _note_unlisted(means: Looking, disk: OwnDisk, view: _View, seen: _Seen) -> None:
    """Note which other replicas' brokers are not listed and may live, and the partitions that one
    of them leads."""
    states = view.described.states
    others = {b for state in states.values() for b in state.replicas} - {disk.broker}
    seen.doubts = doubts(others, view.heard)
    led = await answered(led_unseen(means.reader, view.cluster, states.values(), seen.doubts))
    seen.led_unseen = led.value or {}
    seen.note(led.untold("whether brokers lead that are not listed is unknown"))


async def _with_reassignments(
    reader: Reader, states: Mapping[TopicPartition, PartitionState], seen: _Seen
) -> dict[TopicPartition, PartitionState]:
    if not states:
        return {}
    found = await answered(reader.reassignments())
    what = "whether a reassignment takes replicas off this broker is unknown"
    seen.note(found.untold(what, "Cluster:DESCRIBE"))
    return {tp: with_reassignment(state, found.value or {}) for tp, state in states.items()}


async def _ask(
    means: Looking,
    brokers: Mapping[int, Broker],
    wanted: Mapping[PartitionState, Sequence[int]],
    seen: _Seen,
) -> None:
    """Ask each broker for the logs of its partitions."""
    by_broker: dict[int, list[PartitionState]] = defaultdict(list)
    for state, asked in wanted.items():
        for broker in asked:
            by_broker[broker].append(state)
    deadline = Deadline.after(means.seconds)

    async def ask(broker: int, of: Sequence[PartitionState]) -> None:
        if broker not in brokers:
            why = seen.doubts.get(broker, "is not live")
            answer = {s.topic_partition: _unread(broker, f"it {why}") for s in of}
        else:
            answer = await _logs(means.source, brokers[broker], of, deadline, seen.no_read)
        for tp, log in answer.items():
            seen.logs[tp][broker] = log

    await asyncio.gather(*(ask(broker, of) for broker, of in by_broker.items()))


async def _logs(
    source: ReplicaLogSource,
    broker: Broker,
    of: Sequence[PartitionState],
    deadline: Deadline,
    no_read: frozenset[str],
) -> dict[TopicPartition, ReplicaLog]:
    try:
        answer = await source.replica_logs(broker, of, deadline)
    except ConnectionFailed as error:
        return {state.topic_partition: _unread(broker.id, str(error)) for state in of}
    return {tp: _with_grant(tp, log, no_read) for tp, log in answer.items()}


async def _ask_epochs(
    means: Looking,
    disk: OwnDisk,
    brokers: Mapping[int, Broker],
    led: Sequence[PartitionState],
    seen: _Seen,
) -> None:
    """Ask leaders whose logs this user may not read where the replicas' own epochs end, which takes
    DESCRIBE alone. What they don't answer leaves their logs as they were."""
    own = {r.topic_partition: r.log for r in disk.replicas if r.log and r.log.epochs}
    by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
    for state in led:
        log = seen.logs[state.topic_partition].get(state.leader)
        if log is not None and log.problem is not None and state.topic in seen.no_read:
            by_leader[state.leader].append(state.topic_partition)
    deadline = Deadline.after(means.seconds)

    async def ask(leader: int, of: Sequence[TopicPartition]) -> None:
        wanted = sorted(tp for tp in of if tp in own)
        epochs = [(tp, span.epoch) for tp in wanted for span in own[tp].epochs or ()]
        try:
            connection = await means.nodes.broker(brokers[leader], deadline)
            told = await epoch_end_offsets(connection, epochs, deadline)
            starts = await start_offsets(connection, wanted, deadline)
        except ConnectionFailed:
            return
        for tp in wanted:
            asked = [(tp, span.epoch) for span in own[tp].epochs or ()]
            if tp in starts and all(each in told.found for each in asked):
                answers = {each[1]: (told.epochs[each], told.found[each]) for each in asked}
                unproven = means.nodes.unproven(leader)
                seen.logs[tp][leader] = led_by_epochs(leader, answers, starts[tp], unproven)

    await asyncio.gather(*(ask(leader, of) for leader, of in by_leader.items()))


def _unread(broker: int, why: str) -> ReplicaLog:
    return ReplicaLog(broker, live=True, problem=why)


def _with_grant(tp: TopicPartition, log: ReplicaLog, no_read: frozenset[str]) -> ReplicaLog:
    """Return the log, with the right that is missing where one is."""
    if log.problem is None or tp.topic not in no_read:
        return log
    return structs.replace(log, problem=f"{log.problem}; grant Topic({tp.topic}):READ")


def _put_together(
    means: Looking,
    disk: OwnDisk,
    described: Described,
    states: Mapping[TopicPartition, PartitionState],
    seen: _Seen,
) -> dict[TopicPartition, Known]:
    scanned = {
        part.topic_partition: part for part in (means.others.partitions if means.others else ())
    }
    known = {tp: Known(gone=True) for tp in described.gone}
    for tp, why in described.untold.items():
        known[tp] = Known(untold=_why_untold(tp, why, described.errors.get(tp, Errors.NONE)))
    for tp, state in states.items():
        known[tp] = Known(
            state,
            logs=of_others(disk.broker, state, seen.logs.get(tp, {}), scanned.get(tp), means.gone),
            unclean=seen.unclean.enabled.get(tp.topic),
            unclean_untold=seen.unclean.untold.get(tp.topic, "is not known"),
            led_unseen=seen.led_unseen.get(tp),
            unlisted={b: seen.doubts[b] for b in state.replicas if b in seen.doubts},
            # One that may live may have its disk.
            lost=means.gone - {*seen.doubts},
        )
    return known


def _why_untold(tp: TopicPartition, why: str, error: int) -> str:
    if error == Errors.LISTENER_NOT_FOUND:
        return LED_UNSEEN
    grant = (
        f"; grant Topic({tp.topic}):DESCRIBE" if error == Errors.TOPIC_AUTHORIZATION_FAILED else ""
    )
    return f"the brokers do not describe its partition: {why}{grant}"
