"""Fetch the metadata log from the active controller, as a node does that is no voter.

Fetch version 13 as a consumer (-1) reads on from an offset; where the log begins later than that,
the answer names a snapshot, which FetchSnapshot reads. Both need CLUSTER_ACTION on the cluster.

Source: org.apache.kafka.raft.KafkaRaftClient (handleFetchRequest, handleFetchSnapshotRequest) and
ReplicatedLog.validateOffsetAndEpoch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any

from kafka_unclean_recovery.cluster.requests.describe import RequestFailed
from kafka_unclean_recovery.cluster.wire.api import Message
from kafka_unclean_recovery.cluster.wire.connection import Connection
from kafka_unclean_recovery.cluster.wire.errors import ConnectionFailed, FailureKind
from kafka_unclean_recovery.cluster.wire.log_apis import FETCH, FETCH_SNAPSHOT
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, Errors

_TOPIC_ID = bytes(15) + b"\1"
_CONSUMER = -1
_FETCH_VERSION = 13
_PIECE = 8 << 20
# offset, length, epoch, magic, crc, attributes, last offset delta
_BATCH = Struct(">qiibIhi")
_LENGTH_ENDS = 12


async def fetch_metadata_log(
    connection: Connection, leader_epoch: int, deadline: Deadline
) -> Mapping[str, bytes]:
    """Return the files of the log as a controller has them, by name, up to the end of the log.

    leader_epoch: of the active controller, whose connection this is. Raises ConnectionFailed, and
    RequestFailed where it is not, or the right is missing.
    """
    files: dict[str, bytes] = {}
    log, begins, offset, epoch = bytearray(), 0, 0, 0
    while True:
        answer = await _fetch(connection, leader_epoch, offset, epoch, deadline)
        snapshot = answer["snapshot_id"]
        if snapshot is not None and snapshot["epoch"] >= 0:
            if files:
                raise _odd(connection, "it has put its log aside for a newer snapshot: ask again")
            offset, epoch = snapshot["end_offset"], snapshot["epoch"]
            name = f"{offset:020}-{epoch:010}.checkpoint"
            files[name] = await _snapshot(connection, leader_epoch, snapshot, deadline)
            begins = offset
            continue
        ends = list(_batches(answer["records"] or b""))
        if not ends:
            break
        used, offset, epoch = ends[-1]
        log += answer["records"][:used]
    return {**files, f"{begins:020}.log": bytes(log)}


async def _fetch(
    connection: Connection, leader_epoch: int, offset: int, epoch: int, deadline: Deadline
) -> Mapping[str, Any]:
    partition = {
        "partition": 0,
        "current_leader_epoch": leader_epoch,
        "fetch_offset": offset,
        "last_fetched_epoch": epoch,
        "partition_max_bytes": _PIECE,
    }
    fields = {
        "replica_id": _CONSUMER,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": _PIECE,
        "topics": [{"topic_id": _TOPIC_ID, "partitions": [partition]}],
    }
    answer = await connection.request(Message(FETCH, fields), deadline, version=_FETCH_VERSION)
    found = _only(connection, answer, "responses", "Fetch")
    diverging = found["diverging_epoch"]
    if diverging is not None and diverging["epoch"] >= 0:
        raise _odd(connection, "its log has changed meanwhile: ask again")
    return found


async def _snapshot(
    connection: Connection, leader_epoch: int, snapshot: Mapping[str, int], deadline: Deadline
) -> bytes:
    read = bytearray()
    while True:
        partition = {
            "partition": 0,
            "current_leader_epoch": leader_epoch,
            "snapshot_id": snapshot,
            "position": len(read),
        }
        fields = {
            "replica_id": _CONSUMER,
            "max_bytes": _PIECE,
            "topics": [{"name": CLUSTER_METADATA_TOPIC, "partitions": [partition]}],
        }
        answer = await connection.request(Message(FETCH_SNAPSHOT, fields), deadline)
        found = _only(connection, answer, "topics", "FetchSnapshot")
        piece = found["unaligned_records"] or b""
        read += piece
        if len(read) >= found["size"] or not piece:
            return bytes(read)


def _only(
    connection: Connection, answer: Mapping[str, Any], topics: str, request: str
) -> Mapping[str, Any]:
    """Return what is told of the one partition."""
    every = [partition for topic in answer[topics] for partition in topic["partitions"]]
    for code in (answer["error_code"], *(each["error_code"] for each in every)):
        if code != Errors.NONE:
            raise RequestFailed(request, code, None)
    if not every:
        raise _odd(connection, f"its answer to {request} is about no partition")
    found: Mapping[str, Any] = every[0]
    return found


def _batches(records: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield of each whole batch (where it ends, the offset after it, its epoch)."""
    at = 0
    while at + _BATCH.size <= len(records):
        base, length, epoch, _, _, _, last = _BATCH.unpack_from(records, at)
        at += _LENGTH_ENDS + length
        if length < _BATCH.size - _LENGTH_ENDS or at > len(records) or last < 0:
            return
        yield at, base + last + 1, epoch


def _odd(connection: Connection, why: str) -> ConnectionFailed:
    return ConnectionFailed(FailureKind.BAD_ANSWER, connection.address, why)
