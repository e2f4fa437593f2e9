"""The cluster as a broker answers one Metadata request (one_request.py).

A secured cluster is looked at by metadata.py.
"""

from __future__ import annotations

import time

from kio.schema.metadata.v12.request import MetadataRequest
from kio.schema.metadata.v12.response import MetadataResponse

from kafka_unclean_recovery.deadline import Deadline
from tests.real.metadata import NOTHING_SEEN, ClusterView, PartitionView
from tests.real.one_request import answer
from tests.real.waiting import POLL_SECONDS


def answered_view(address: str, timeout: float = 5.0) -> ClusterView:
    """Return what the broker at this address answers now; nothing when it does not.

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
    """Ask for all topics, creating none. Raises OSError."""
    request = MetadataRequest(
        topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False
    )
    return _view(answer(address, request, MetadataResponse, deadline))


def _view(told: MetadataResponse) -> ClusterView:
    topics: dict[str, dict[int, PartitionView]] = {
        str(topic.name): {
            found.partition_index: PartitionView(
                found.leader_id, found.replica_nodes, found.isr_nodes
            )
            for found in topic.partitions
        }
        for topic in told.topics
    }
    return ClusterView(frozenset(broker.node_id for broker in told.brokers), topics)
