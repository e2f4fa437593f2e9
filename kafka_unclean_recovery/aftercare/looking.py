"""One look at what is left of an election asks leaders, coordinators and every broker.

A broker that does not answer, or answers with an error, makes a sentence in the result: what it did
not tell is unknown, never clean. A watch looks again until all is over, and stays so.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from kafka_unclean_recovery.aftercare.gone_disks import gone_disks
from kafka_unclean_recovery.aftercare.leader_answers import (
    LeaderAnswers,
    ask_again,
    ask_epochs,
    ask_replicas,
    by_broker,
    identity_of,
    note_doubts,
)
from kafka_unclean_recovery.aftercare.partitions_now import Scope, see
from kafka_unclean_recovery.aftercare.result import Aftercare, PartitionCare
from kafka_unclean_recovery.aftercare.share_groups import share_commits
from kafka_unclean_recovery.aftercare.transactions import Unclean, hanging
from kafka_unclean_recovery.aftercare.writable import MinIsrs, ask_min_isrs
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import (
    RequestFailed,
    Topic,
)
from kafka_unclean_recovery.cluster.requests.groups import (
    committed,
    list_by_kind,
)
from kafka_unclean_recovery.cluster.requests.share_groups import SharePosition, positions_of
from kafka_unclean_recovery.cluster.requests.transactions import (
    ToldTransaction,
    told_transactions,
)
from kafka_unclean_recovery.cluster.wire.error_codes import (
    error_name,
)
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import TRANSACTION_STATE
from kafka_unclean_recovery.model import Broker, Commit, GroupBeyond, PartitionState, TopicPartition
from kafka_unclean_recovery.planning.committed_offsets import group_beyond
from kafka_unclean_recovery.survey.any_broker import FAILURES, will_not_pass
from kafka_unclean_recovery.survey.reading import Reader

IN_A_ROW = 3
_FAILURES = (ConnectionFailed, RequestFailed)


async def look(nodes: Nodes, reader: Reader, asked: Scope, timeout: float) -> Aftercare:
    """Look once. timeout: the seconds that each round of questions may take. Raises
    NoBrokerReachable, ConnectionFailed or RequestFailed when not even the partitions can be
    told."""
    seen = await see(nodes, reader, asked)
    every, unknown, brokers = seen.states, list(seen.unknown), seen.cluster.brokers
    states = [state for state in every if state.topic_partition not in seen.led_unseen]
    may_lack = filter(asked.may_lack, (state.topic_partition for state in every))
    leaders = LeaderAnswers(dict.fromkeys(may_lack))
    for tp, why in seen.led_unseen.items():
        leaders.problems[tp].append(why)
    note_doubts(states, seen.doubts, leaders)
    asking = [
        ask_replicas(nodes, id_, brokers.get(id_), wanted, leaders, Deadline.after(timeout))
        for id_, wanted in by_broker(states).items()
    ]
    await asyncio.gather(*asking)
    producer_ids = leaders.producer_ids()
    answers = await asyncio.gather(
        *(_ask_coordinator(nodes, b, producer_ids, every, timeout) for b in brokers.values())
    )
    told = [each for answer in answers for each in answer.told]
    commits = [each for answer in answers for each in answer.commits]
    unknown += [sentence for answer in answers for sentence in answer.problems]
    unknown += [u for id_ in sorted(brokers) if (u := nodes.unproven(id_)) is not None]
    positions = [each for answer in answers for each in answer.positions]
    of_share, untold = await share_commits(nodes, brokers.values(), positions, timeout)
    commits += of_share
    unknown += untold
    await ask_again(nodes, brokers, states, leaders, timeout)
    await ask_epochs(nodes, brokers, states, commits, leaders, timeout)
    of = _by_partition(commits)
    least = await ask_min_isrs(nodes, brokers, states, timeout)
    unclean = _unclean(seen.topics, asked.elected)
    described = [state for topic in seen.topics for state in topic.partitions]
    disks = gone_disks(asked.gone, described, brokers, seen.unseen)
    gone = {each.broker for each in disks if each.lives is None}
    rows = (
        _with_min_isr(
            replace(
                _row(s, leaders, told, of.get(s.topic_partition, ()), unclean, asked.given_up),
                led_unseen=s.topic_partition in seen.led_unseen,
                gone=tuple(sorted(gone.intersection(s.replicas))),
            ),
            least,
        )
        for s in every
    )
    return Aftercare(seen.cluster.cluster_id, tuple(rows), tuple(unknown), seen.unseen, disks)


def _with_min_isr(row: PartitionCare, least: MinIsrs) -> PartitionCare:
    """Return the row with its min.insync.replicas. That this is not known is a problem where
    nothing else keeps the partition from being over: replicas that are gone don't come back."""
    tp = row.topic_partition
    if tp in least.untold and not row.awaited:
        why = f"whether it takes acks=all is unknown: {least.untold[tp]}"
        return replace(row, problems=(*row.problems, why))
    return replace(row, min_isr=least.known.get(tp))


def _unclean(topics: Sequence[Topic], elected: frozenset[TopicPartition]) -> Unclean:
    numbers = frozenset(tp.partition for tp in elected if tp.topic == TRANSACTION_STATE)
    count = sum(len(topic.partitions) for topic in topics if topic.name == TRANSACTION_STATE)
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
    positions: list[SharePosition] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


async def _ask_coordinator(
    nodes: Nodes,
    broker: Broker,
    producer_ids: Collection[int],
    states: Sequence[PartitionState],
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
        groups = await list_by_kind(connection, deadline)
        wanted = [state.topic_partition for state in states]
        found = await committed(connection, groups.committing, wanted, deadline)
        answer.positions, untold = await positions_of(connection, groups.share, states, deadline)
    except _FAILURES as error:
        answer.problems.append(f"groups of broker {broker.id} are unknown: {error}")
        return answer
    answer.commits = list(found.commits)
    answer.problems += untold
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
    given_up: Mapping[TopicPartition, Sequence[GroupBeyond]],
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
    before = given_up.get(tp, ())
    beyond = (_beyond(commit, row.log_end_offset, leaders, before) for commit in commits)
    return replace(row, groups=tuple(found for found in beyond if found is not None))


def _beyond(
    commit: Commit, log_end: int, leaders: LeaderAnswers, given_up: Sequence[GroupBeyond]
) -> GroupBeyond | None:
    """Return the group where it has read more than the log holds. A commit without a leader epoch
    tells nothing once the log has grown over it, and neither does a share group whose state the new
    leader has read. One that still is as it was before the election is judged by where the elected
    log ended then."""
    ends = [found.resume for found in given_up if _still(found.commit, commit)]
    if commit.leader_epoch is not None:
        known = leaders.epoch_ends.get((commit.topic_partition, commit.leader_epoch))
        ends += [] if known is None else [known]
    return group_beyond(commit, log_end, min(ends, default=None))


def _still(before: Commit, now: Commit) -> bool:
    """Return whether a commit that only the journal can judge is as it was before the election."""
    if now.share_done_to is not None:
        return structs.replace(before, leader_epoch=now.leader_epoch) == now
    return now.leader_epoch is None and before == now


async def watch(
    look: Callable[[], Awaitable[Aftercare]],
    tell: Callable[[Aftercare | Exception], None],
    deadline: Deadline,
    pause: float,
) -> bool:
    """Look until the aftercare was over IN_A_ROW times, and return whether that came before the
    deadline. There is at least one look, and `pause` seconds lie between two; `tell` gets what each
    look found, or why it failed. A refused login is raised, because it will not pass."""
    over = 0
    while True:
        try:
            found = await look()
        except FAILURES as error:
            if will_not_pass(error):
                raise
            over = 0
            tell(error)
        else:
            over = over + 1 if found.over else 0
            tell(found)
        if over >= IN_A_ROW:
            return True
        if deadline.remaining() <= pause:
            return False
        await asyncio.sleep(pause)
