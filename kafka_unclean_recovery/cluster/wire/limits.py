"""How large an answer may be is bounded by what was asked for, and what is made of it by its size:
one broker's excess must cost neither this machine nor the answers of other brokers."""

from __future__ import annotations

from typing import Any

from kafka_unclean_recovery.cluster.wire.api import Message

MAX_FRAME_BYTES = 256 << 20
"""Records come in frames of this size at most: a batch is never cut."""

_MIB = 1 << 20
_FIXED = _MIB
# To name a partition takes four bytes, and a refusal of it may be an error message of kilobytes.
_FOR_EACH_BYTE_ASKED = 1024
# These tell of a whole cluster, or of all that one broker holds.
_OF_ALL = {
    "DescribeConfigs": 16 * _MIB,
    "DescribeLogDirs": 16 * _MIB,
    "DescribeProducers": 16 * _MIB,
    "DescribeShareGroupOffsets": 16 * _MIB,
    "DescribeTopicPartitions": 16 * _MIB,
    "ElectLeaders": 16 * _MIB,
    "Fetch": 16 * _MIB,
    "ListGroups": 16 * _MIB,
    "ListPartitionReassignments": 16 * _MIB,
    "ListTransactions": 16 * _MIB,
    "Metadata": 64 * _MIB,
    "OffsetFetch": 16 * _MIB,
}
# A row of numbers takes some ten times its bytes as Python's objects, one of lists twenty times.
_MEMORY_FIXED, _MEMORY_PER_BYTE, _MEMORY_MOST = 32 * _MIB, 20, 160 * _MIB
# A million partitions of three replicas, of which a row at a time is read.
_MEMORY_OF_ALL = {"Metadata": 640 * _MIB}


class BoundedAnswer(bytes):
    """The bytes of an answer. left: how many bytes of memory may still be made of them."""

    left: int


def name_of(request: Any) -> str:
    return str(request.name).removesuffix("Request")


def most_bytes(request: Any, request_bytes: int) -> int:
    """Return the length of the longest answer that is taken for a request of this length."""
    if _asks_for_records(request):
        return MAX_FRAME_BYTES
    asked = _FIXED + _FOR_EACH_BYTE_ASKED * request_bytes
    return min(MAX_FRAME_BYTES, max(_OF_ALL.get(name_of(request), 0), asked))


def _asks_for_records(request: Any) -> bool:
    # Where a log ends, and its epochs, are asked for by a Fetch of one byte.
    return isinstance(request, Message) and request.fields.get("max_bytes", 0) > 1


def most_memory(name: str, answer_bytes: int) -> int:
    """Return how many bytes of memory the values of an answer of this length may take."""
    most = _MEMORY_OF_ALL.get(name, _MEMORY_MOST)
    return min(_MEMORY_FIXED + _MEMORY_PER_BYTE * answer_bytes, most)


def bounded(request: Any, frame: bytes) -> BoundedAnswer:
    """Return the frame with the memory that its values may take."""
    answer = BoundedAnswer(frame)
    answer.left = most_memory(name_of(request), len(frame))
    return answer
