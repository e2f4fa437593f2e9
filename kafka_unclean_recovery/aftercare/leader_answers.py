"""Leaders are asked for log ends, open transactions, producers, and where leader epochs end.

Where a partition has no leader, every live replica is asked. What a broker did not tell is kept as
a sentence of the partition.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.leader_epochs import Epoch, epoch_end_offsets
from kafka_unclean_recovery.cluster.requests.replica_probe import EndOffset, end_offsets
from kafka_unclean_recovery.cluster.requests.transactions import (
    OpenTransaction,
    Producers,
    ProducerState,
    describe_producers,
)
from kafka_unclean_recovery.cluster.wire.error_codes import error_name
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import Broker, Commit, PartitionState, TopicPartition


@dataclass(slots=True)
class LeaderAnswers:
    """The answers of leaders, and of all live replicas where a partition has no leader. open: by
    partition and broker. producers: of partitions that may lack records; None is unknown."""

    producers: dict[TopicPartition, tuple[ProducerState, ...] | None]
    ends: dict[TopicPartition, int] = field(default_factory=dict)
    open: dict[TopicPartition, dict[int, tuple[OpenTransaction, ...]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    epoch_ends: dict[Epoch, int] = field(default_factory=dict)
    problems: dict[TopicPartition, list[str]] = field(default_factory=lambda: defaultdict(list))

    def producer_ids(self) -> set[int]:
        every = (found for of in self.open.values() for found in of.values())
        return {each.producer_id for found in every for each in found}

    def has_open(self, state: PartitionState) -> bool:
        return any(self.open[state.topic_partition].values())


def by_broker(states: Iterable[PartitionState]) -> Mapping[int, list[PartitionState]]:
    """Return the partitions to ask for by broker: by their leaders, and where there is no leader by
    all live replicas, because each of them may be elected yet."""
    found: dict[int, list[PartitionState]] = defaultdict(list)
    for state in states:
        for broker in state.online_replicas if state.offline else [state.leader]:
            found[broker].append(state)
    return found


def note_doubts(
    states: Iterable[PartitionState], doubts: Mapping[int, str], leaders: LeaderAnswers
) -> None:
    """Note which brokers can't be asked and may live, of those whose answers count. doubts: how
    such brokers are, by id."""
    for state in states:
        tp = state.topic_partition
        for broker in state.replicas if state.offline else [state.leader]:
            if broker in doubts:
                leaders.problems[tp].append(f"broker {broker} can't be asked: it {doubts[broker]}")


async def ask_replicas(
    nodes: Nodes,
    broker_id: int,
    broker: Broker | None,
    states: Sequence[PartitionState],
    leaders: LeaderAnswers,
    deadline: Deadline,
) -> None:
    """Ask one broker for the log ends and producers of the partitions, and note its answers in
    `leaders`. broker: None if it does not live."""
    wanted = [state.topic_partition for state in states]
    if broker is None:
        for tp in wanted:
            leaders.problems[tp].append(f"broker {broker_id} is not among the live ones")
        return
    try:
        connection = await nodes.broker(broker, deadline)
    except ConnectionFailed as error:
        for tp in wanted:
            leaders.problems[tp].append(f"broker {broker_id} can't be asked: {error}")
        return
    # The two requests fail independently, so that one may tell what the other does not.
    ends, producers = await asyncio.gather(
        end_offsets(connection, wanted, deadline),
        describe_producers(connection, wanted, deadline),
        return_exceptions=True,
    )
    _note_ends(broker_id, states, ends, leaders)
    _note_producers(broker_id, states, producers, leaders)


def _note_ends(
    broker_id: int,
    states: Sequence[PartitionState],
    ends: Mapping[TopicPartition, EndOffset] | BaseException,
    leaders: LeaderAnswers,
) -> None:
    for state in states:
        tp = state.topic_partition
        if isinstance(ends, BaseException):
            _not_told(broker_id, tp, "log end", _failure(ends), leaders)
            continue
        end = ends.get(tp, EndOffset(Errors.UNKNOWN_TOPIC_OR_PARTITION, 0))
        if end.error != Errors.NONE:
            _not_told(broker_id, tp, "log end", error_name(end.error), leaders)
        elif not state.offline:
            leaders.ends[tp] = end.log_end_offset


def _note_producers(
    broker_id: int,
    states: Sequence[PartitionState],
    producers: Mapping[TopicPartition, Producers] | BaseException,
    leaders: LeaderAnswers,
) -> None:
    for state in states:
        tp = state.topic_partition
        if isinstance(producers, BaseException):
            _not_told(broker_id, tp, "open transactions", _failure(producers), leaders)
            continue
        found = producers.get(tp, Producers(Errors.UNKNOWN_TOPIC_OR_PARTITION))
        leaders.open[tp][broker_id] = found.open
        if found.error != Errors.NONE:
            _not_told(broker_id, tp, "open transactions", error_name(found.error), leaders)
        elif tp in leaders.producers and not state.offline:
            leaders.producers[tp] = found.states


def _failure(error: BaseException) -> str:
    """Return the message of a failed connection. Raises any other error."""
    if not isinstance(error, ConnectionFailed):
        raise error
    return str(error)


def _not_told(
    broker_id: int, tp: TopicPartition, what: str, why: str, leaders: LeaderAnswers
) -> None:
    leaders.problems[tp].append(f"broker {broker_id} does not tell its {what}: {why}")


async def ask_again(
    nodes: Nodes,
    brokers: Mapping[int, Broker],
    states: Sequence[PartitionState],
    leaders: LeaderAnswers,
    timeout: float,
) -> None:
    """Keep only the transactions that are still open. Coordinators were asked after the leaders,
    and complete a transaction when all its markers are written."""
    with_some = list(filter(leaders.has_open, states))

    async def ask(broker: Broker, of: Sequence[PartitionState]) -> None:
        deadline = Deadline.after(timeout)
        wanted = [state.topic_partition for state in of]
        try:
            connection = await nodes.broker(broker, deadline)
            found = await describe_producers(connection, wanted, deadline)
        except ConnectionFailed as error:
            found = dict.fromkeys(wanted, Producers(Errors.NONE))
            for tp in wanted:
                leaders.problems[tp].append(f"its open transactions are unknown: {error}")
        for tp in wanted:
            now = found.get(tp, Producers(Errors.UNKNOWN_TOPIC_OR_PARTITION))
            leaders.open[tp][broker.id] = still_open(leaders.open[tp].get(broker.id, ()), now.open)
            if now.error != Errors.NONE:
                sentence = f"its open transactions are unknown: {error_name(now.error)}"
                leaders.problems[tp].append(sentence)

    asking = [ask(brokers[id_], of) for id_, of in by_broker(with_some).items() if id_ in brokers]
    await asyncio.gather(*asking)


def still_open(
    before: Iterable[OpenTransaction], now: Iterable[OpenTransaction]
) -> tuple[OpenTransaction, ...]:
    """Return the transactions of `now` that are also in `before`; they may have grown since."""
    known = set(map(identity_of, before))
    return tuple(each for each in now if identity_of(each) in known)


def identity_of(transaction: OpenTransaction) -> tuple[int, int, int]:
    """Return (producer id, producer epoch, start offset)."""
    return transaction.producer_id, transaction.producer_epoch, transaction.start_offset


async def ask_epochs(
    nodes: Nodes,
    brokers: Mapping[int, Broker],
    states: Sequence[PartitionState],
    commits: Sequence[Commit],
    leaders: LeaderAnswers,
    timeout: float,
) -> None:
    """Ask where the leader epochs of commits end. Where transactions are open, also ask where the
    epoch before the leader's own ends."""
    leader_of = {state.topic_partition: state.leader for state in states}
    wanted: dict[int, set[Epoch]] = defaultdict(set)
    for state in states:
        if leaders.has_open(state) and not state.offline:
            wanted[state.leader].add((state.topic_partition, state.leader_epoch - 1))
    for commit in commits:
        if commit.leader_epoch is not None and commit.topic_partition in leaders.ends:
            leader = leader_of[commit.topic_partition]
            wanted[leader].add((commit.topic_partition, commit.leader_epoch))

    async def ask(broker: Broker, epochs: set[Epoch]) -> None:
        deadline = Deadline.after(timeout)
        try:
            connection = await nodes.broker(broker, deadline)
            told = await epoch_end_offsets(connection, epochs, deadline)
        except ConnectionFailed as error:
            for tp, _ in epochs:
                leaders.problems[tp].append(f"ends of its leader epochs are unknown: {error}")
            return
        leaders.epoch_ends |= told.found
        for tp, code in told.errors.items():
            sentence = f"ends of its leader epochs are unknown: {error_name(code)}"
            leaders.problems[tp].append(sentence)

    await asyncio.gather(*(ask(brokers[id_], epochs) for id_, epochs in wanted.items()))
