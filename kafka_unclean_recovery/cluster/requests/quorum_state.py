"""DescribeQuorum tells whether the controllers can commit anything at all, and which controllers
and brokers follow.

No other request tells it. A controller that has lost its quorum goes on answering
ListPartitionReassignments from memory, without an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed, list_reassignments
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.cluster_apis import DESCRIBE_QUORUM
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.error_codes import UNSURE
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.layout import uuid_text
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, Errors

# A voter that follows fetches every half second; a leader resigns after 3 s without a majority.
_FRESH_MS = 3_000
_LEADERLESS = UNSURE | {Errors.NOT_LEADER_OR_FOLLOWER}
_NOT_TOLD = -1


@dataclass(frozen=True, slots=True)
class Fetcher:
    """A node that reads the metadata log. fetched_ms: when the node last fetched, by the active
    controller's clock, ms since the Unix epoch; None when it never did, or the controller does not
    tell. log_end_offset: exclusive, how far the node has got; None where that is not told.
    directory_id: of the log directory with its metadata (8-4-4-4-12 hex digits); None where that is
    not told, as before Kafka 3.9."""

    id: int
    fetched_ms: int | None
    log_end_offset: int | None = None
    directory_id: str | None = None


@dataclass(frozen=True, slots=True)
class Quorum:
    """The quorum as the active controller describes it (LeaderState). high_watermark is exclusive,
    and negative while it is not known. tells_times: False for Kafka before 3.3, and for controllers
    that are not Apache's and don't tell a fetch time of their own. Observers are mostly brokers."""

    leader: int
    high_watermark: int
    voters: tuple[Fetcher, ...]
    observers: tuple[Fetcher, ...]
    tells_times: bool
    leader_epoch: int = _NOT_TOLD

    @property
    def now_ms(self) -> int | None:
        """Return the active controller's clock as it answered: its own fetch counts as just now."""
        return next((voter.fetched_ms for voter in self.voters if voter.id == self.leader), None)

    def silent_ms(self, fetcher: Fetcher) -> int | None:
        """Return how long ago the node last fetched, in ms; None where that is not known."""
        times = [voter.fetched_ms for voter in self.voters if voter.fetched_ms is not None]
        if fetcher.fetched_ms is None or not times:
            return None
        return max(0, max(times) - fetcher.fetched_ms)

    def follows(self, fetcher: Fetcher) -> bool:
        """Return True when the node fetched within the last 3 s."""
        silent = self.silent_ms(fetcher)
        return silent is not None and silent <= _FRESH_MS

    @property
    def tells_ends(self) -> bool:
        """Return True when the controller tells how far the brokers have got."""
        every = (*self.observers, *self.voters)
        told = {f.id for f in every if f.log_end_offset is not None} - {self.leader}
        return self.high_watermark >= 0 and bool(told)

    def log_end_offset(self, broker: int) -> int | None:
        """Return how far a broker has got, None where that is not told; a controller in the same
        process counts too."""
        every = (*self.observers, *self.voters)
        ends = [f.log_end_offset for f in every if f.id == broker]
        return max((end for end in ends if end is not None), default=None)

    @property
    def up(self) -> bool:
        """Return True when a majority of the voters follows."""
        if self.high_watermark < 0:
            return False
        if not self.tells_times:
            return True
        return 2 * sum(map(self.follows, self.voters)) > len(self.voters)


async def describe_quorum(connection: Connection, deadline: Deadline) -> Quorum | None:
    """Return the quorum, None while no controller leads. Needs DESCRIBE on the cluster.

    Raises RequestFailed.
    """
    topic = {"topic_name": CLUSTER_METADATA_TOPIC, "partitions": [{"partition_index": 0}]}
    message = Message(DESCRIBE_QUORUM, {"topics": [topic]})
    answer = await connection.request(message, deadline)
    found = [p for t in answer["topics"] for p in t["partitions"]]
    codes = [answer["error_code"], *(p["error_code"] for p in found)]
    failed = [code for code in codes if code != Errors.NONE]
    if failed and failed[0] not in _LEADERLESS:
        raise RequestFailed("DescribeQuorum", failed[0], answer["error_message"])
    return None if failed or not found else _quorum(found[0])


async def led_quorum(connection: Connection, deadline: Deadline) -> Quorum | None:
    """Return the quorum when an active controller answers that a majority of the voters follows it;
    None without KRaft, where the one controller answers or nobody does.

    A broker may also stay silent while there is no active controller. Needs DESCRIBE on the
    cluster, which ALTER implies. Raises RequestFailed, and ConnectionFailed where the broker knows
    of no active controller.
    """
    if connection.version_for(DESCRIBE_QUORUM) is None:
        await list_reassignments(connection, deadline)
        return None
    quorum = await describe_quorum(connection, deadline)
    if quorum is None or not quorum.up:
        sentence = "the controller quorum has no leader that a majority follows, as it is told here"
        raise ConnectionFailed(FailureKind.NO_CONTROLLER, connection.address, sentence)
    return quorum


def _quorum(partition: Mapping[str, Any]) -> Quorum:
    voters = _fetchers(partition["current_voters"])
    leader = next((voter for voter in voters if voter.id == partition["leader_id"]), None)
    return Quorum(
        partition["leader_id"],
        partition["high_watermark"],
        voters,
        _fetchers(partition["observers"]),
        leader is not None and leader.fetched_ms is not None,
        partition["leader_epoch"],
    )


def _fetchers(nodes: Iterable[Mapping[str, Any]]) -> tuple[Fetcher, ...]:
    return tuple(
        Fetcher(
            node["replica_id"],
            _told(node["last_fetch_timestamp"]),
            _told(node["log_end_offset"]),
            _directory(node.get("replica_directory_id")),
        )
        for node in nodes
    )


def _told(number: int) -> int | None:
    return None if number == _NOT_TOLD else number


def _directory(found: bytes | None) -> str | None:
    """Return the directory id, None for zeros: a static quorum's voter has them until it
    fetched."""
    return uuid_text(found) if found and any(found) else None
