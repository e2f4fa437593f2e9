"""The cluster as a broker answers one Metadata request, by a codec that is not ours.

A client of librdkafka takes 50 ms, and may ask another broker than the one that was meant; this
takes 3 ms. It can't log in: a secured cluster is looked at by metadata.py.
"""

from __future__ import annotations

import socket
import struct
import time
from io import BytesIO
from typing import Any

from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.metadata.v12.response import MetadataResponse
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32

from kafka_unclean_recovery.deadline import Deadline
from tests.real.metadata import NOTHING_SEEN, ClusterView, PartitionView
from tests.real.waiting import POLL_SECONDS

CORRELATION_ID = 1
CHUNK = 64 << 10
LENGTH = struct.Struct(">i")


def answered_view(address: str, timeout: float = 5.0) -> ClusterView:
    """What the broker at this address answers now; nothing when it does not.

    One that knows neither brokers nor topics has just started: it is asked again, and so is one
    that refuses or closes the connection.
    """
    deadline = Deadline.after(timeout)
    while not deadline.expired:
        try:
            view = _ask(address, deadline)
        except OSError:
            view = NOTHING_SEEN
        if view != NOTHING_SEEN:
            return view
        time.sleep(min(POLL_SECONDS, deadline.remaining()))
    return NOTHING_SEEN


def _ask(address: str, deadline: Deadline) -> ClusterView:
    """Raises OSError."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), deadline.remaining()) as connection:
        connection.sendall(_request())
        (length,) = LENGTH.unpack(_take(connection, LENGTH.size, deadline))
        frame = _take(connection, length, deadline)
    header, size = entity_reader(ResponseHeader)(frame, 0)
    if header.correlation_id != CORRELATION_ID:
        raise ConnectionError("the answer is to another request")
    return _view(entity_reader(MetadataResponse)(frame, size)[0])


def _request() -> bytes:
    """For all topics, creating none."""
    header = RequestHeader(
        request_api_key=MetadataRequest.__api_key__,
        request_api_version=MetadataRequest.__version__,
        correlation_id=i32(CORRELATION_ID),
        client_id="tests",
    )
    request = MetadataRequest(
        topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    frame = _encoded(header) + _encoded(request)
    return LENGTH.pack(len(frame)) + frame


def _encoded(entity: Any) -> bytes:
    buffer = BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def _take(connection: socket.socket, length: int, deadline: Deadline) -> bytes:
    """A paused broker keeps connections open and sends nothing: the deadline ends that."""
    taken = bytearray()
    while len(taken) < length:
        connection.settimeout(deadline.remaining())
        chunk = connection.recv(min(length - len(taken), CHUNK))
        if not chunk:
            raise ConnectionResetError("the broker closed the connection")
        taken += chunk
    return bytes(taken)


def _view(answer: MetadataResponse) -> ClusterView:
    topics: dict[str, dict[int, PartitionView]] = {
        str(topic.name): {
            found.partition_index: PartitionView(
                found.leader_id, found.replica_nodes, found.isr_nodes
            )
            for found in topic.partitions
        }
        for topic in answer.topics
    }
    return ClusterView(frozenset(broker.node_id for broker in answer.brokers), topics)
