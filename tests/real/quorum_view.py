"""The controller quorum as a controller describes it, by kafka-python's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin.cluster import DescribeQuorumRequest

from tests.fidelity.wire import Wire
from tests.messages.building import build
from tests.real.waiting import wait_until

# The newest that 3.9.1 speaks too; it tells directory ids.
VERSION = 2
TOPIC = "__cluster_metadata"
# A node starts in seconds, and a broker looks for its controller every second or two.
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class QuorumView:
    """By the controller that leads. Ends are log end offsets by node id."""

    leader: int
    epoch: int
    high_watermark: int
    voters: Mapping[int, int]
    observers: Mapping[int, int]
    directory_ids: Mapping[int, str]

    def caught_up(self, nodes: Iterable[int], end: int) -> bool:
        """Return whether each of the nodes, voters or not, holds the log up to `end`."""
        ends = {**self.observers, **self.voters}
        return end >= 0 and all(ends.get(node, -1) >= end for node in nodes)


def quorum_view(address: str) -> QuorumView | None:
    """Return the view, None while this controller does not answer or does not lead."""
    host, _, port = address.rpartition(":")
    wanted = {"topics": [{"topic_name": TOPIC, "partitions": [{"partition_index": 0}]}]}
    with suppress(OSError), Wire(host, int(port)) as wire:
        answer = wire.ask(build(DescribeQuorumRequest, wanted), VERSION)
        found = [partition for topic in answer.topics for partition in topic.partitions]
        if answer.error_code == 0 and found and found[0].error_code == 0:
            return _view(found[0])
    return None


def wait_for_quorum(
    address: str, condition: Callable[[QuorumView], bool], wanted: str, timeout: float = TIMEOUT
) -> QuorumView:
    """Return the first view of this controller that is as `condition` wants it."""
    seen: list[QuorumView | None] = [None]

    def holds() -> bool:
        seen[0] = quorum_view(address)
        return seen[0] is not None and condition(seen[0])

    wait_until(holds, timeout, lambda: f"{wanted} at {address}; seen: {seen[0]}")
    assert seen[0] is not None
    return seen[0]


def wait_until_followed(address: str, nodes: Iterable[int], timeout: float = TIMEOUT) -> QuorumView:
    """Wait until this controller leads, and these nodes hold all it had committed by then."""
    followers = frozenset(nodes)
    led = wait_for_quorum(address, lambda v: v.high_watermark >= 0, "a leader", timeout)
    return wait_for_quorum(
        address,
        lambda view: view.caught_up(followers, led.high_watermark),
        f"{set(followers)} at {led.high_watermark}",
        timeout,
    )


def _view(partition: Any) -> QuorumView:
    nodes = [*partition.current_voters, *partition.observers]
    return QuorumView(
        leader=partition.leader_id,
        epoch=partition.leader_epoch,
        high_watermark=partition.high_watermark,
        voters={node.replica_id: node.log_end_offset for node in partition.current_voters},
        observers={node.replica_id: node.log_end_offset for node in partition.observers},
        directory_ids={node.replica_id: str(node.replica_directory_id) for node in nodes},
    )
