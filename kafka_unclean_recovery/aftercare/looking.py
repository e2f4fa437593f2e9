"""One look at what is left of an election asks leaders, coordinators and every broker.

A broker that does not answer, or answers with an error, makes a sentence in the result: what it did
not tell is unknown, never clean.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.aftercare.leader_answers import (
    LeaderAnswers,
    ask_again,
    ask_epochs,
    ask_replicas,
    by_broker,
    identity_of,
)
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.transactions import STATES_TOPIC, Unclean, hanging
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.reading import Reader
from kafka_unclean_recovery.cluster.requests.describe import (
    DESCRIBE,
    RequestFailed,
    Topic,
    not_told,
)
from kafka_unclean_recovery.cluster.requests.groups import (
    OFFSETS_TOPIC,
    committed,
    list_groups,
    without_leader,
)
from kafka_unclean_recovery.cluster.requests.log_dirs import describe_log_dirs, topics_in
from kafka_unclean_recovery.cluster.requests.transactions import (
    ToldTransaction,
    told_transactions,
)
from kafka_unclean_recovery.cluster.wire.error_codes import (
    NONE,
    UNKNOWN_TOPIC_OR_PARTITION,
    error_name,
)
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, Commit, GroupBeyond, PartitionState, TopicPartition
from kafka_unclean_recovery.planning.committed_offsets import group_beyond
from kafka_unclean_recovery.wording import count_text

_FAILURES = (ConnectionFailed, RequestFailed)


@dataclass(frozen=True, slots=True)
class Asked:
    """The partitions to look at. named: partitions that must be there, None for every partition
    that `includes` lets in. elected: partitions that an unclean election is known to have elected.
    may_lack: tells which partitions may lack records, so that their producers are told of."""

    includes: Callable[[TopicPartition], bool]
    named: frozenset[TopicPartition] | None = None
    elected: frozenset[TopicPartition] = frozenset()
    may_lack: Callable[[TopicPartition], bool] = lambda _: False


async def look(nodes: Nodes, reader: Reader, asked: Asked, timeout: float) -> Aftercare:
    """Look once. timeout: the seconds that each round of questions may take. Raises
    NoBrokerReachable, ConnectionFailed or RequestFailed when not even the partitions can be
    told."""
    cluster, rights = await reader.cluster()
    topics = await reader.topics(None)
    states, unknown = _states(topics, asked)
    brokers = cluster.brokers
    unknown += _hidden(topics, rights) + await _not_shown(reader, topics)
    if asked.named is None:
        unknown += await _undescribed(nodes, brokers, topics, asked, timeout)
    may_lack = filter(asked.may_lack, (state.topic_partition for state in states))
    leaders = LeaderAnswers(dict.fromkeys(may_lack))
    asking = [
        ask_replicas(nodes, id_, brokers.get(id_), wanted, leaders, Deadline.after(timeout))
        for id_, wanted in by_broker(states).items()
    ]
    await asyncio.gather(*asking)
    producer_ids = leaders.producer_ids()
    wanted = [state.topic_partition for state in states]
    answers = await asyncio.gather(
        *(_ask_coordinator(nodes, b, producer_ids, wanted, timeout) for b in brokers.values())
    )
    told = [each for answer in answers for each in answer.told]
    commits = [each for answer in answers for each in answer.commits]
    unknown += [sentence for answer in answers for sentence in answer.problems]
    await ask_again(nodes, brokers, states, leaders, timeout)
    await ask_epochs(nodes, brokers, states, commits, leaders, timeout)
    of = _by_partition(commits)
    unclean = _unclean(topics, asked.elected)
    rows = (_row(s, leaders, told, of.get(s.topic_partition, ()), unclean) for s in states)
    return Aftercare(cluster.cluster_id, tuple(rows), tuple(unknown))


def _states(topics: Sequence[Topic], asked: Asked) -> tuple[list[PartitionState], list[str]]:
    every = {p.topic_partition: p for topic in topics for p in topic.told}
    wanted = every if asked.named is None else asked.named
    chosen = sorted(filter(asked.includes, wanted))
    missing = [
        f"{tp} does not exist, or may not be described: DESCRIBE on the topic is needed"
        for tp in chosen
        if tp not in every
    ]
    errors = not_told(topics) if asked.named is None else {}
    missing += [f"{name} could not be described: {error}" for name, error in errors.items()]
    if not chosen:
        missing.append("no partition is among those asked for: see --topics")
    return [every[tp] for tp in chosen if tp in every], missing


def _hidden(topics: Sequence[Topic], rights: frozenset[int]) -> list[str]:
    """Return what may be hidden. Coordinators that are not there leave groups and transactions out
    without an error."""
    found = []
    for name, what in ((OFFSETS_TOPIC, "groups"), (STATES_TOPIC, "transactions")):
        partitions = [p for topic in topics if topic.name == name for p in topic.partitions]
        if which := without_leader(name, partitions):
            found.append(f"{which} have no leader: {what} that are on them are unknown")
    if DESCRIBE not in rights:
        found.append("groups may be left out: listing all needs DESCRIBE on the cluster")
    return found


async def _not_shown(reader: Reader, topics: Sequence[Topic]) -> list[str]:
    """Ask for Kafka's own topics by name. Without rights on them they are left out of the list of
    all topics."""
    missing = {OFFSETS_TOPIC, STATES_TOPIC} - {topic.name for topic in topics}
    asked = await reader.topics(sorted(missing)) if missing else []
    return [
        f"whether all of {topic.name} has leaders is unknown: {error_name(topic.error)}"
        for topic in asked
        if topic.error not in (NONE, UNKNOWN_TOPIC_OR_PARTITION)
    ]


async def _undescribed(
    nodes: Nodes,
    brokers: Mapping[int, Broker],
    topics: Sequence[Topic],
    asked: Asked,
    timeout: float,
) -> list[str]:
    """Return what is known of hidden topics. Topics that the caller may not describe are left out
    without an error, but log directories name them."""
    names: set[str] = set()
    found: list[str] = []

    async def on_disk(broker: Broker) -> None:
        deadline = Deadline.after(timeout)
        try:
            connection = await nodes.broker(broker, deadline)
            names.update(topics_in(await describe_log_dirs(connection, deadline)))
        except _FAILURES as error:
            found.append(f"whether topics of broker {broker.id} are hidden is unknown: {error}")

    await asyncio.gather(*map(on_disk, brokers.values()))
    hidden = sorted(names - {topic.name for topic in topics})
    of_it = [name for name in hidden if asked.includes(TopicPartition(name, 0))]
    if of_it:
        found.append(
            f"{count_text(len(of_it), 'topic')} may not be described, the first: {of_it[0]};"
            " DESCRIBE and READ on topics are needed"
        )
    return found


def _unclean(topics: Sequence[Topic], elected: frozenset[TopicPartition]) -> Unclean:
    numbers = frozenset(tp.partition for tp in elected if tp.topic == STATES_TOPIC)
    count = sum(len(topic.partitions) for topic in topics if topic.name == STATES_TOPIC)
    return Unclean(numbers, count)


def _by_partition(commits: Iterable[Commit]) -> Mapping[TopicPartition, list[Commit]]:
    found: dict[TopicPartition, list[Commit]] = defaultdict(list)
    for commit in commits:
        found[commit.topic_partition].append(commit)
    return found


@dataclass(slots=True)
class _OfCoordinator:
    told: list[ToldTransaction] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


async def _ask_coordinator(
    nodes: Nodes,
    broker: Broker,
    producer_ids: Collection[int],
    wanted: Sequence[TopicPartition],
    timeout: float,
) -> _OfCoordinator:
    answer = _OfCoordinator()
    deadline = Deadline.after(timeout)
    try:
        connection = await nodes.broker(broker, deadline)
        answer.told = await told_transactions(connection, producer_ids, deadline)
    except _FAILURES as error:
        answer.problems.append(f"transactions of broker {broker.id} are unknown: {error}")
    try:
        connection = await nodes.broker(broker, deadline)
        groups = await list_groups(connection, deadline)
        found = await committed(connection, groups, wanted, deadline)
    except _FAILURES as error:
        answer.problems.append(f"groups of broker {broker.id} are unknown: {error}")
        return answer
    answer.commits = list(found.commits)
    answer.problems += [
        f"what group {group} committed is unknown: {error_name(code)}"
        for group, code in sorted(found.errors.items())
    ]
    return answer


def _row(
    state: PartitionState,
    leaders: LeaderAnswers,
    told: Sequence[ToldTransaction],
    commits: Sequence[Commit],
    unclean: Unclean,
) -> PartitionCare:
    tp = state.topic_partition
    own_start = leaders.epoch_ends.get((tp, state.leader_epoch - 1))
    transactions = (
        hanging(b, each, told, unclean, own_start is not None and each.start_offset >= own_start)
        for b, found in sorted(leaders.open[tp].items())
        for each in sorted(found, key=identity_of)
    )
    row = PartitionCare(
        state,
        leaders.ends.get(tp),
        tuple(transactions),
        problems=tuple(dict.fromkeys(leaders.problems.get(tp, ()))),
        producers=leaders.producers.get(tp, ()),
    )
    if row.log_end_offset is None:
        return row
    beyond = (_beyond(commit, row.log_end_offset, leaders) for commit in commits)
    return replace(row, groups=tuple(found for found in beyond if found is not None))


def _beyond(commit: Commit, log_end: int, leaders: LeaderAnswers) -> GroupBeyond | None:
    epoch = commit.leader_epoch
    known = None if epoch is None else leaders.epoch_ends.get((commit.topic_partition, epoch))
    return group_beyond(commit, log_end, known)
