"""Groups' committed offsets, and how far share groups have come, are read, because they show that
lost records existed.

No recovery depends on these offsets: a broker that does not answer, or that answers with an error,
leads to a sentence in the report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.requests.describe import DESCRIBE, RequestFailed
from kafka_unclean_recovery.cluster.requests.groups import (
    Committed,
    committed_to,
    list_by_kind,
    without_leader,
)
from kafka_unclean_recovery.cluster.requests.share_groups import (
    Reached,
    SharePosition,
    commits_of,
    positions_of,
    share_reached,
)
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, NoBrokerReachable
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import CONSUMER_OFFSETS, Errors
from kafka_unclean_recovery.model import Broker, Commit, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.reading import Reader
from kafka_unclean_recovery.wording import count_text

# Few enough that decoding one answer does not delay tasks that wait for other answers.
_GROUPS_AT_ONCE = 25
_FAILURES = (ConnectionFailed, NoBrokerReachable, RequestFailed)


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The offsets that groups committed.

    commits: by partition, for each partition that a group committed an offset for.
    unknown: sentences that say which committed offsets could not be read.
    """

    commits: Mapping[TopicPartition, tuple[Commit, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


NO_WITNESSES = Witnesses()


@dataclass(slots=True)
class _Heard:
    """The answers so far; when the deadline passes, these are the result.

    errors: the groups that answered with an error, by Kafka's error code.
    """

    commits: dict[TopicPartition, list[Commit]] = field(default_factory=dict)
    errors: dict[int, list[str]] = field(default_factory=dict)
    positions: list[SharePosition] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def add(self, found: Committed) -> None:
        self.note(found.commits)
        for group, code in found.errors.items():
            self.errors.setdefault(code, []).append(group)

    def note(self, commits: Iterable[Commit]) -> None:
        for commit in commits:
            self.commits.setdefault(commit.topic_partition, []).append(commit)


async def ask_groups(
    config: ClientConfig,
    reader: Reader,
    brokers: Iterable[Broker],
    states: Iterable[PartitionState],
    rights: frozenset[int],
    deadline: Deadline,
) -> Witnesses:
    """Return the offsets that groups committed for these partitions.

    brokers: the live brokers; each is asked for the groups that it coordinates. rights: the
    caller's authorized operations on the cluster.

    The requests use connections of their own: a broker answers the requests of one connection one
    after the other, and a coordinator that hangs must not delay the requests of the recovery.
    """
    states, brokers = list(states), list(brokers)
    heard = _Heard()
    if DESCRIBE not in rights:
        heard.unknown.append("groups may be left out: listing all needs DESCRIBE on the cluster")
    asking = (_ask(config, broker, states, heard, deadline) for broker in brokers)
    answers = await asyncio.gather(
        _ask_who_is_there(reader, heard, deadline), *asking, return_exceptions=True
    )
    for error in filter(None, answers):
        heard.unknown.append(f"not all that groups committed is known: {error!r}")
    await _ask_share_coordinators(config, brokers, heard, deadline)
    for code, groups in sorted(heard.errors.items()):
        heard.unknown.append(_refused(code, sorted(groups)))
    return Witnesses(
        {tp: tuple(found) for tp, found in heard.commits.items()}, tuple(heard.unknown)
    )


def not_asked_since(
    witnesses: Witnesses,
    asked: Mapping[TopicPartition, PartitionState],
    now: Mapping[TopicPartition, PartitionState],
) -> Witnesses:
    """Add to `unknown` the partitions that lost their leader after groups were asked: groups may
    have committed offsets in between.

    asked: the partitions that had no leader when groups were asked.
    """
    since = [
        tp
        for tp, state in now.items()
        if state.offline and (tp not in asked or asked[tp].leader_epoch != state.leader_epoch)
    ]
    if not since:
        return witnesses
    sentence = (
        f"what groups committed since is not known for {count_text(len(since), 'partition')}, the"
        f" first: {min(since)}, which lost its leader after groups were asked"
    )
    return replace(witnesses, unknown=(*witnesses.unknown, sentence))


async def _ask_who_is_there(reader: Reader, heard: _Heard, deadline: Deadline) -> None:
    why = "no answer in time"
    try:
        async with asyncio.timeout(deadline.remaining()):
            (topic,) = await reader.topics([CONSUMER_OFFSETS])
    except (TimeoutError, *_FAILURES) as error:
        why = str(error) or why
    else:
        # Kafka creates the topic with the first group.
        if topic.error in (Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION):
            # The sentence is in the past tense: leaders may be elected before the report is read.
            if which := without_leader(CONSUMER_OFFSETS, topic.partitions):
                had = f"{which} had no leader when groups were asked"
                heard.unknown.append(f"{had}: groups that are on them are unknown")
            return
        why = error_name(topic.error)
    heard.unknown.append(f"whether all of {CONSUMER_OFFSETS} has leaders is unknown: {why}")


async def _ask(
    config: ClientConfig,
    broker: Broker,
    states: Sequence[PartitionState],
    heard: _Heard,
    deadline: Deadline,
) -> None:
    topics = {state.topic_id: state.topic for state in states}
    left: list[str] | None = None
    try:
        opened = await Connection.open(broker.host, broker.port, config, deadline)
        async with opened as connection:
            groups = await list_by_kind(connection, deadline)
            left = list(groups.committing)
            while left and not deadline.expired:
                found = await committed_to(connection, left[:_GROUPS_AT_ONCE], topics, deadline)
                left = left[_GROUPS_AT_ONCE:]
                heard.add(found)
            found_positions, untold = await positions_of(connection, groups.share, states, deadline)
            heard.positions += found_positions
            heard.unknown += untold
    except _FAILURES as error:
        why = str(error)
    else:
        why = "there was no time to ask" if left else ""
    if why:
        which = "groups" if left is None else count_text(len(left), "group")
        heard.unknown.append(f"what {which} of broker {broker.id} committed is unknown: {why}")


async def _ask_share_coordinators(
    config: ClientConfig, brokers: Iterable[Broker], heard: _Heard, deadline: Deadline
) -> None:
    """Ask every broker how far share groups have come beyond their positions."""
    if not heard.positions:
        return

    async def ask(broker: Broker) -> Reached | str:
        try:
            opened = await Connection.open(broker.host, broker.port, config, deadline)
            async with opened as connection:
                return await share_reached(connection, heard.positions, deadline)
        except _FAILURES as error:
            return str(error)

    commits, unknown = commits_of(heard.positions, await asyncio.gather(*map(ask, brokers)))
    heard.note(commits)
    heard.unknown += unknown


def _refused(code: int, groups: list[str]) -> str:
    which = f"{count_text(len(groups), 'group')}, the first: {groups[0]}"
    right = "; DESCRIBE on groups is needed" if code == Errors.GROUP_AUTHORIZATION_FAILED else ""
    return f"what groups committed is unknown of {which}: {error_name(code)}{right}"
