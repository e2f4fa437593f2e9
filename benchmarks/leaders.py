"""The moment when the last partition of a topic has its leader, as a client of its own sees it.

The client has one connection to one live broker, kio's codec, and nothing of ours. By
DescribeTopicPartitions (Kafka 3.8 and newer) it asks for the first partition that it has not seen
led, alone, until that one is led; only then for those behind it, a page at a time. So it costs the
broker next to nothing while nothing happens.
"""

from __future__ import annotations

import io
import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Event

from kio.schema.describe_topic_partitions.v0.request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kio.schema.describe_topic_partitions.v0.response import DescribeTopicPartitionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import TopicName
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i16, i32

POLL_SECONDS = 0.01
# What brokers answer at most at once unless told otherwise.
PAGE = 2000
TIMEOUT = 60.0

_write_header = entity_writer(RequestHeader)
_write_request = entity_writer(DescribeTopicPartitionsRequest)
_read_header = entity_reader(ResponseHeader)
_read_answer = entity_reader(DescribeTopicPartitionsResponse)


@dataclass(frozen=True, slots=True)
class Seen:
    """Moments are of time.perf_counter(): when the answer arrived after which no partition was
    without a leader, and when the last request was sent that found one. What it took the client:
    requests, bytes of answers, and seconds of processor."""

    at: float
    offline_at: float
    requests: int
    received: int
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Page:
    """From a partition on: the first one without a leader, and where the next page begins; None
    where there is none. `arrived` is before anything was decoded."""

    sent: float
    arrived: float
    offline: int | None
    next: int | None


class Client:
    """One connection to one broker."""

    def __init__(self, address: str, topic: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb")
        self._topic = TopicName(topic)
        self.requests = self.received = 0

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def page(self, first: int, limit: int) -> Page:
        sent = time.perf_counter()
        self._send(first, limit)
        (length,) = struct.unpack(">i", self._taken(4))
        frame = self._taken(length)
        arrived = time.perf_counter()
        self.received += 4 + length
        _, header_size = _read_header(frame, 0)
        answer, _ = _read_answer(frame, header_size)
        (topic,) = answer.topics
        if topic.error_code is not ErrorCode.none:
            raise RuntimeError(f"{self._topic}: {topic.error_code.name}")
        offline = (p.partition_index for p in topic.partitions if p.leader_id < 0)
        cursor = answer.next_cursor
        following = None if cursor is None else cursor.partition_index
        return Page(sent, arrived, next(offline, None), following)

    def _send(self, first: int, limit: int) -> None:
        self.requests += 1
        header = RequestHeader(
            request_api_key=DescribeTopicPartitionsRequest.__api_key__,
            request_api_version=i16(0),
            correlation_id=i32(self.requests),
            client_id="the benchmark's own",
        )
        request = DescribeTopicPartitionsRequest(
            topics=(TopicRequest(name=self._topic),),
            response_partition_limit=i32(limit),
            cursor=Cursor(topic_name=self._topic, partition_index=i32(first)),
        )
        frame = io.BytesIO()
        _write_header(frame, header)
        _write_request(frame, request)
        self._socket.sendall(struct.pack(">i", frame.tell()) + frame.getvalue())

    def _taken(self, length: int) -> bytes:
        taken = self._answers.read(length)
        if len(taken) < length:
            raise ConnectionResetError("the broker closed the connection")
        return taken


@contextmanager
def watching(address: str, topic: str) -> Iterator[Callable[[], Seen]]:
    """Watch from now on, in a thread. What is given waits for the moment, TIMEOUT seconds at most;
    before its first answer nothing is given, so that connecting falls on nobody."""
    over = Event()
    with closing(Client(address, topic)) as client, ThreadPoolExecutor(1) as pool:
        first = client.page(0, 1)
        if first.offline is None:
            raise RuntimeError(f"{topic} has leaders already")
        seen = pool.submit(_watch, client, first.sent, over)
        try:
            yield lambda: seen.result(TIMEOUT)
        finally:
            over.set()


def _watch(client: Client, offline_at: float, over: Event) -> Seen:
    begun = time.thread_time()
    first, limit = 0, 1
    while not over.is_set():
        page = client.page(first, limit)
        if page.offline is not None:
            first, limit, offline_at = page.offline, 1, page.sent
            over.wait(POLL_SECONDS)
        elif page.next is not None:
            first, limit = page.next, PAGE
        else:
            cpu = time.thread_time() - begun
            return Seen(page.arrived, offline_at, client.requests, client.received, cpu)
    raise RuntimeError("the last partition was not seen led")
