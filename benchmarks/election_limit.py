"""How soon the last of N partitions can have the right leader at all: what the brokers take alone.

A client that is not ours writes the same order of replicas and asks for the same elections. It asks
nobody who lives or how far a log goes, plans nothing, keeps no journal, looks at nothing before it
elects, and has its requests ready before the clock starts; no process starts either.
"""

from __future__ import annotations

import io
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
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
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i8, i16, i32

from benchmarks.leaders import watching
from tests.real.cache import CACHE, quick_scratch
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
    order = _frame(_order(partitions))
    elect = _frame(_election(partitions))
    with quick_scratch(CACHE) as directory:
        outage = many_partitions(release, partitions)
        with restore(outage, directory / "cluster") as cluster:
            address = cluster.address(cluster.live_brokers[0])
            host, _, port = address.rpartition(":")
            with (
                closing(socket.create_connection((host, int(port)), TIMEOUT)) as connection,
                watching(address, TOPIC) as seen,
            ):
                begun = time.perf_counter()
                ordered = _answer(connection, order)
                at_ordered = time.perf_counter() - begun
                elected = _answer(connection, elect)
                at_elected = time.perf_counter() - begun
                last = seen().at - begun
    _sound(AlterPartitionReassignmentsResponse, ordered)
    _sound(ElectLeadersResponse, elected)
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


def _frame(request: Any) -> bytes:
    header = RequestHeader(
        request_api_key=request.__api_key__,
        request_api_version=i16(request.__version__),
        correlation_id=i32(0),
        client_id="the benchmark's own",
    )
    frame = io.BytesIO()
    entity_writer(RequestHeader)(frame, header)
    entity_writer(type(request))(frame, request)
    return struct.pack(">i", frame.tell()) + frame.getvalue()


def _answer(connection: socket.socket, frame: bytes) -> bytes:
    connection.sendall(frame)
    (length,) = struct.unpack(">i", _taken(connection, 4))
    return _taken(connection, length)


def _taken(connection: socket.socket, length: int) -> bytes:
    taken = connection.recv(length, socket.MSG_WAITALL)
    if len(taken) < length:
        raise ConnectionResetError("the broker closed the connection")
    return taken


def _sound(kind: type[Any], frame: bytes) -> None:
    """Raise where anything in the answer is an error."""
    _, size = entity_reader(ResponseHeader)(frame, 0)
    answer, _ = entity_reader(kind)(frame, size)
    wrong = [code for code in _errors(answer) if code is not ErrorCode.none]
    if wrong:
        raise RuntimeError(f"{kind.__name__}: {wrong[0].name}, {len(wrong)} times")


def _errors(answer: Any) -> Iterator[ErrorCode]:
    yield answer.error_code
    if isinstance(answer, ElectLeadersResponse):
        rows = [row for each in answer.replica_election_results for row in each.partition_result]
    else:
        rows = [row for each in answer.responses for row in each.partitions]
    yield from (row.error_code for row in rows)
