"""A cluster in one process that answers what it is told to, over a real socket.

Every broker is the same node. Its replicas answer Fetch as those of test_lineage_probe.py do.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka.protocol.admin.cluster import DescribeClusterRequest, DescribeClusterResponse
from kafka.protocol.admin.topics import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.consumer.offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.controller import Controller, Patience
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.mechanisms import Dialect
from kafka_unclean_recovery.messages import elect_leaders, get_replica_log_info
from kafka_unclean_recovery.messages.get_replica_log_info import REQUESTS
from kafka_unclean_recovery.model import NO_LEADER, Broker, PartitionState, TopicPartition
from kafka_unclean_recovery.survey.reading import Reader
from tests.cluster import fake_node
from tests.cluster.fake_node import Kafka, Received, listening
from tests.transport.test_lineage_probe import Replica

TOPIC_ID = "00112233-4455-6677-8899-aabbccddeeff"
EVERYTHING = {3: (0, 12), 18: (0, 4), 60: (0, 2), 75: (0, 0), 46: (0, 0)}
EVERYTHING |= {1: (4, 17), 2: (1, 10), 43: (0, 3)}
FETCH, LIST_OFFSETS = 1, 2
DIALECT_KEYS = {dialect: request.API_KEY for dialect, request in REQUESTS.items()}

fake_node.REQUESTS.update(
    {
        cls.API_KEY: cls
        for cls in (
            *REQUESTS.values(),
            elect_leaders.ElectLeadersRequest,
            DescribeClusterRequest,
            DescribeTopicPartitionsRequest,
            ListPartitionReassignmentsRequest,
            FetchRequest,
            ListOffsetsRequest,
            MetadataRequest,
        )
    }
)


def offline(partition: int = 0, **fields: Any) -> PartitionState:
    given: dict[str, Any] = {"leader_epoch": 7, "replicas": (1, 2, 3)} | fields
    return PartitionState("orders", TOPIC_ID, partition, NO_LEADER, **given)


@dataclass(frozen=True)
class Row:
    """What GetReplicaLogInfo answers of one partition."""

    log_end_offset: int = 100
    last_written: int = 5
    current: int = 7
    error: int = 0
    message: str | None = None


@dataclass
class Scripted:
    """rows, states: by partition of the one topic. limit: partitions served at once; left_out:
    the error of the others, or None when they are missing. elect: gives an error code for each
    designated leader, 0 for success, None for no answer of this partition; or is no answer at all
    (by raising Silence). fetch_error: of every partition, or None for silence. throttle:
    milliseconds for a Fetch of so many partitions; above 0 it brings none of them. leave_out: once
    each, (key of the request, partition); never: partitions that neither Fetch nor ListOffsets
    has."""

    states: dict[int, PartitionState] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    replicas: Mapping[int, Replica] = field(default_factory=dict)
    broker_epochs: list[int] = field(default_factory=lambda: [17])
    limit: int = 1000
    left_out: int | None = None
    fetch_error: int | None = 0
    throttle: Callable[[int], int] = lambda _: 0
    leave_out: set[tuple[int, int]] = field(default_factory=set)
    never: set[int] = field(default_factory=set)
    elect: Callable[[Mapping[int, int]], Mapping[int, int]] = dict
    versions: dict[int, tuple[int, int]] = field(
        default_factory=lambda: EVERYTHING | dict.fromkeys(DIALECT_KEYS.values(), (0, 0))
    )
    features: Sequence[str] = ()
    port: int = 0
    sizes: list[int] = field(default_factory=list)
    """How many partitions each GetReplicaLogInfo asked for."""
    node: Kafka = field(init=False)

    def __post_init__(self) -> None:
        self.node = Kafka(self._answer, self.versions, self.features)

    @property
    def keys(self) -> list[int]:
        """Return the API keys of the requests that it got."""
        return [request.key for request in self.node.received]

    def _answer(self, request: Received) -> Any:
        key, message = request.key, request.message
        if key in DIALECT_KEYS.values():
            return self._log_info(key, message)
        answers: dict[int, Callable[[Any, int], Any]] = {
            FETCH: self._fetch,
            LIST_OFFSETS: self._list_offsets,
            43: self._elected,
            3: self._metadata,
            46: self._reassignments,
            60: self._cluster,
            75: self._described,
        }
        return answers[key](message, request.version)

    def _log_info(self, key: int, message: Any) -> Any:
        dialect = next(d for d, k in DIALECT_KEYS.items() if k == key)
        name = REQUESTS[dialect].__name__.replace("Request", "Response")
        response = getattr(get_replica_log_info, name)
        asked = [p for topic in message.topic_partitions for p in topic.partitions]
        self.sizes.append(len(asked))
        epoch = self.broker_epochs[0]
        if len(self.broker_epochs) > 1:
            self.broker_epochs.pop(0)
        rows = {p: self.rows[p] for p in asked[: self.limit] if p in self.rows}
        if self.left_out is not None:
            rows |= {p: Row(error=self.left_out) for p in asked[self.limit :]}
        topic = response.TopicPartitionLogInfo
        answer = response(
            version=0,
            broker_epoch=epoch,
            topic_partition_log_info_list=[
                topic(
                    version=0,
                    topic_id=UUID(TOPIC_ID),
                    partition_log_info=[
                        topic.PartitionLogInfo(version=0, partition=p, **_fields(dialect, row))
                        for p, row in rows.items()
                    ],
                )
            ],
        )
        if dialect is not Dialect.KIP_966:
            answer.throttle_time_ms, answer.has_more_data = 0, len(asked) > self.limit
        return answer

    def _fetch(self, message: Any, version: int) -> Any:
        if self.fetch_error is None:
            return None
        topic_class = FetchResponse.FetchableTopicResponse
        throttled = self.throttle(sum(len(topic.partitions) for topic in message.topics))
        return FetchResponse(
            version=version,
            throttle_time_ms=throttled,
            error_code=0,
            session_id=0,
            responses=[
                topic_class(
                    version=version,
                    topic=topic.topic,
                    partitions=[
                        self._fetched(p, version)
                        for p in topic.partitions
                        if self._told(FETCH, p.partition)
                    ],
                )
                for topic in ([] if throttled else message.topics)
            ],
        )

    def _told(self, key: int, partition: int) -> bool:
        left_out = (key, partition) in self.leave_out
        self.leave_out.discard((key, partition))
        return not left_out and partition not in self.never

    def _list_offsets(self, message: Any, version: int) -> Any:
        topic_class = ListOffsetsResponse.ListOffsetsTopicResponse
        partition_class: Any = topic_class.ListOffsetsPartitionResponse
        return ListOffsetsResponse(
            version=version,
            throttle_time_ms=0,
            topics=[
                topic_class(
                    version=version,
                    name=topic.name,
                    partitions=[
                        partition_class(
                            version=version,
                            partition_index=p.partition_index,
                            error_code=0,
                            timestamp=-1,
                            offset=self._replica(p.partition_index).log_end,
                            leader_epoch=0,
                        )
                        for p in topic.partitions
                        if self._told(LIST_OFFSETS, p.partition_index)
                    ],
                )
                for topic in message.topics
            ],
        )

    def _replica(self, partition: int) -> Replica:
        return self.replicas.get(partition, Replica(((5, 0),), 0, 100))

    def _fetched(self, asked: Any, version: int) -> Any:
        partition_class = FetchResponse.FetchableTopicResponse.PartitionData
        found = self._replica(asked.partition).answer(asked.last_fetched_epoch)
        error = self.fetch_error or found.error
        return partition_class(
            version=version,
            partition_index=asked.partition,
            error_code=error,
            high_watermark=found.high_watermark,
            log_start_offset=found.log_start_offset,
            diverging_epoch=partition_class.EpochEndOffset(
                version=version, epoch=found.epoch, end_offset=found.end_offset
            ),
            aborted_transactions=None,
            records=b"",
        )

    def _elected(self, message: Any, version: int) -> Any:
        leaders = {
            p: leader
            for topic in message.topic_partitions
            for p, leader in zip(topic.partitions, topic.designated_leaders, strict=True)
        }
        try:
            errors = self.elect(leaders)
        except Silence:
            return None
        response: Any = elect_leaders.ElectLeadersResponse
        result = response.ReplicaElectionResult
        return response(
            version=version,
            throttle_time_ms=0,
            error_code=0,
            replica_election_results=[
                result(
                    version=version,
                    topic="orders",
                    partition_result=[
                        result.PartitionResult(
                            version=version, partition_id=p, error_code=code, error_message=None
                        )
                        for p, code in errors.items()
                    ],
                )
            ],
        )

    def lead(self, partition: int, leader: int) -> None:
        """Let a replica lead, as after an unclean election."""
        before = self.states[partition]
        fields = {name: getattr(before, name) for name in ("topic", "topic_id", "replicas")}
        self.states[partition] = PartitionState(
            **fields,
            partition=partition,
            leader=leader,
            leader_epoch=before.leader_epoch + 1,
            isr=(leader,),
        )

    def _reassignments(self, _: Any, version: int) -> Any:
        return ListPartitionReassignmentsResponse(
            version=version, throttle_time_ms=0, error_code=0, error_message=None, topics=[]
        )

    def _cluster(self, _: Any, version: int) -> Any:
        return DescribeClusterResponse(
            version=version,
            throttle_time_ms=0,
            error_code=0,
            error_message=None,
            endpoint_type=1,
            cluster_id="scripted",
            controller_id=1,
            brokers=[
                DescribeClusterResponse.DescribeClusterBroker(
                    version=version, broker_id=b, host="127.0.0.1", port=self.port, rack=None
                )
                for b in (1, 2, 3)
            ],
            authorized_operations=set(),
        )

    def _metadata(self, _: Any, version: int) -> Any:
        """Tell who is the controller, of a cluster that has no quorum to describe."""
        broker = MetadataResponse.MetadataResponseBroker
        return MetadataResponse(
            version=version,
            throttle_time_ms=0,
            brokers=[
                broker(version=version, node_id=b, host="127.0.0.1", port=self.port, rack=None)
                for b in (1, 2, 3)
            ],
            cluster_id="scripted",
            controller_id=1,
            topics=[],
        )

    def _described(self, message: Any, version: int) -> Any:
        topic_class = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
        start = message.cursor.partition_index if message.cursor else 0
        wanted = [s for p, s in sorted(self.states.items()) if p >= start]
        page = wanted[: message.response_partition_limit]
        partition_class: Any = topic_class.DescribeTopicPartitionsResponsePartition
        cursor = None
        if len(page) < len(wanted):
            cursor = DescribeTopicPartitionsResponse.Cursor(
                version=version, topic_name="orders", partition_index=wanted[len(page)].partition
            )
        return DescribeTopicPartitionsResponse(
            version=version,
            throttle_time_ms=0,
            topics=[
                topic_class(
                    version=version,
                    error_code=0,
                    name="orders",
                    topic_id=UUID(TOPIC_ID),
                    is_internal=False,
                    partitions=[
                        partition_class(
                            version=version,
                            error_code=0,
                            partition_index=s.partition,
                            leader_id=s.leader,
                            leader_epoch=s.leader_epoch,
                            replica_nodes=list(s.replicas),
                            isr_nodes=list(s.isr),
                            eligible_leader_replicas=list(s.elr),
                            last_known_elr=list(s.last_known_elr),
                            offline_replicas=list(s.offline_replicas),
                        )
                        for s in page
                    ],
                    topic_authorized_operations=-(2**31),
                )
            ],
            next_cursor=cursor,
        )


class Silence(Exception):
    """No answer is sent."""


def _fields(dialect: Dialect, row: Row) -> dict[str, Any]:
    both = {"log_end_offset": row.log_end_offset, "error_code": row.error}
    if dialect is Dialect.KIP_1275:
        return both | {"partition_leader_epoch": row.current}
    both |= {"last_written_leader_epoch": row.last_written, "current_leader_epoch": row.current}
    return both | ({"error_message": row.message} if dialect is Dialect.KIP_966 else {})


@dataclass(frozen=True)
class Reached:
    nodes: Nodes
    broker: Broker
    reader: Reader

    def controller(self, patience: Patience) -> Controller:
        return Controller(self.nodes, patience, time.monotonic, lambda _: None)


@contextlib.asynccontextmanager
async def reached(scripted: Scripted, broker: int = 3) -> AsyncIterator[Reached]:
    """Yield the cluster as our side sees it."""
    async with listening(scripted.node) as port:
        scripted.port = port
        nodes = Nodes([("127.0.0.1", port)], ClientConfig())
        try:
            yield Reached(nodes, Broker(broker, "127.0.0.1", port), Reader(nodes, time.monotonic))
        finally:
            await nodes.close()


def by_partition(values: Mapping[TopicPartition, Any]) -> dict[int, Any]:
    return {tp.partition: value for tp, value in values.items()}
