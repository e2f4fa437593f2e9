"""Leave out of replica sets the brokers that the controllers call unregistered.

They refuse every list that names such a broker, and name it. A broker that is only listed nowhere
keeps its replica: one without the listener that the caller came in by looks the same, and may live.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from typing import Any

from kafka_unclean_recovery.cluster.requests.controller_requests import PartitionResult
from kafka_unclean_recovery.kafka_names import Errors
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.transport.electing import Carried, sentence
from kafka_unclean_recovery.transport.observe_again import DueElection
from kafka_unclean_recovery.wording import brokers_text

_NOT_REGISTERED = re.compile(r"broker ([0-9]{1,10}), but no such broker is registered")

Answers = Mapping[TopicPartition, PartitionResult]
Brokers = Mapping[TopicPartition, tuple[int, ...]]
Reduced = dict[TopicPartition, tuple[int, ...]]
"""By partition, the replicas that remain where those of unregistered brokers were left out."""
Write = Callable[[Carried, Brokers], Awaitable[Answers]]
"""Writes the sets of elections without some brokers, and returns the answers that are errors."""


async def leave_out(
    elections: Carried, refused: Answers, write: Write
) -> dict[TopicPartition, PartitionResult]:
    """Write the sets that were refused for an unregistered broker without it, and again each time
    that the controllers name another one; return the answers that are errors still. What leaves a
    set here does not come back, for no list that names it is taken."""
    left: dict[TopicPartition, PartitionResult] = {}
    gone: dict[TopicPartition, tuple[int, ...]] = {}
    while refused:
        more = {
            tp: broker
            for tp, answer in refused.items()
            if (broker := _consented(elections[tp], answer)) is not None
            and broker not in gone.get(tp, ())
        }
        left |= {tp: answer for tp, answer in refused.items() if tp not in more}
        gone |= {tp: (*gone.get(tp, ()), broker) for tp, broker in more.items()}
        pending = {tp: elections[tp] for tp in more}
        refused = await write(pending, {tp: gone[tp] for tp in more}) if more else {}
    return left


def _consented(election: DueElection, answer: PartitionResult) -> int | None:
    """Return the broker that a refusal calls unregistered; None where it names none, or one of
    which the plan that was consented to does not say that it may leave."""
    broker = _named(answer)
    return broker if broker in election.plan.state.unregistered_replicas else None


def _named(answer: PartitionResult) -> int | None:
    found = _NOT_REGISTERED.search(answer.message or "")
    if found is None or answer.error != Errors.INVALID_REPLICA_ASSIGNMENT:
        return None
    return int(found[1])


def without(order: Sequence[int], gone: Container[int]) -> tuple[int, ...]:
    return tuple(broker for broker in order if broker not in gone)


def left_text(before: Sequence[int], gone: Sequence[int]) -> str:
    """Return a sentence on the brokers that have left a replica set."""
    which = brokers_text(gone)
    is_not = "are not registered and have" if len(gone) > 1 else "is not registered and has"
    return f"{which} {is_not} left the set {list(before)} for good"


def refused_text(order: Sequence[int], answer: PartitionResult) -> str:
    """Return why a set was refused. Before Kafka 4.0 nothing tells of an unregistered broker but
    this answer, so nobody has consented to leave it out."""
    broker = _named(answer)
    if broker is None:
        return sentence(answer)
    return (
        f"{sentence(answer)} Give the partition the replicas {list(without(order, [broker]))} by"
        " kafka-reassign-partitions, the best first, and elect it by kafka-leader-election"
        f" --election-type unclean; broker {broker} leaves the set for good"
    )


def reduce_line(
    election: DueElection, original: Sequence[int], order: Sequence[int], gone: Sequence[int]
) -> dict[str, Any]:
    before = election.before
    return {
        "topic": before.topic,
        "topic_id": before.topic_id,
        "partition": before.partition,
        "original": original,
        "written": order,
        "unregistered": gone,
    }
