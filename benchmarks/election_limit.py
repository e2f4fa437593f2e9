"""How soon the last of N partitions can have the right leader at all: what the brokers take alone.

A client that is not ours writes the same order of replicas and asks for the same elections. It asks
nobody who lives or how far a log goes, plans nothing, keeps no journal, looks at nothing before it
elects, and has its requests ready before the clock starts; no process starts either.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice, permutations
from typing import Any

from kio.schema.alter_partition_reassignments.v0.request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kio.schema.alter_partition_reassignments.v0.response import (
    AlterPartitionReassignmentsResponse,
)
from kio.schema.elect_leaders.v2.request import ElectLeadersRequest, TopicPartitions
from kio.schema.elect_leaders.v2.response import ElectLeadersResponse
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i32

from benchmarks.leaders import watching
from kafka_unclean_recovery.deadline import Deadline
from tests.real.cache import CACHE, quick_scratch
from tests.real.one_request import connected, decoded, exchanged, framed
from tests.real.outages import many_partitions, restore
from tests.real.recipes import BROKERS, TOPIC

UNCLEAN = i8(1)
BETTER, WORSE = 3, 4
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds from the first byte on: until the order was answered, until the elections were, and
    until another client had seen the last leader."""

    ordered_s: float
    elected_s: float
    last_leader_s: float


def limit(release: str, partitions: int) -> Limit:
    """Return what it took on a fresh copy of the outage that election.py restores."""
    order, elect = framed(_order(partitions)), framed(_election(partitions))
    with quick_scratch(CACHE) as directory:
        outage = many_partitions(release, partitions)
        with restore(outage, directory / "cluster") as cluster:
            address = cluster.address(cluster.live_brokers[0])
            deadline = Deadline.after(TIMEOUT)
            with connected(address, deadline) as connection, watching(address, TOPIC) as seen:
                begun = time.perf_counter()
                ordered = exchanged(connection, order, deadline)
                at_ordered = time.perf_counter() - begun
                elected = exchanged(connection, elect, deadline)
                at_elected = time.perf_counter() - begun
                last = seen().at - begun
    _sound(decoded(ordered, AlterPartitionReassignmentsResponse))
    _sound(decoded(elected, ElectLeadersResponse))
    return Limit(at_ordered, at_elected, last)


def _order(partitions: int) -> AlterPartitionReassignmentsRequest:
    """Return the order in which the better of the two live brokers comes first, of each partition
    that has it otherwise."""
    orders = islice(cycle(permutations(BROKERS)), partitions)
    written = [
        ReassignablePartition(partition_index=i32(number), replicas=_better_first(replicas))
        for number, replicas in enumerate(orders)
        if replicas.index(WORSE) < replicas.index(BETTER)
    ]
    topic = ReassignableTopic(name=TopicName(TOPIC), partitions=tuple(written))
    return AlterPartitionReassignmentsRequest(topics=(topic,))


def _better_first(replicas: tuple[int, ...]) -> tuple[BrokerId, ...]:
    return tuple(map(BrokerId, (BETTER, *(r for r in replicas if r != BETTER))))


def _election(partitions: int) -> ElectLeadersRequest:
    topic = TopicPartitions(topic=TopicName(TOPIC), partitions=tuple(map(i32, range(partitions))))
    return ElectLeadersRequest(election_type=UNCLEAN, topic_partitions=(topic,))


def _sound(answer: Any) -> None:
    """Raise where anything in the answer is an error."""
    wrong = [code for code in _errors(answer) if code is not ErrorCode.none]
    if wrong:
        raise RuntimeError(f"{type(answer).__name__}: {wrong[0].name}, {len(wrong)} times")


def _errors(answer: Any) -> Iterator[ErrorCode]:
    yield answer.error_code
    if isinstance(answer, ElectLeadersResponse):
        rows = [row for each in answer.replica_election_results for row in each.partition_result]
    else:
        rows = [row for each in answer.responses for row in each.partitions]
    yield from (row.error_code for row in rows)
