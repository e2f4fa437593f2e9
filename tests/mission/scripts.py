"""What the tests ask of Kafka's scripts, done without Java: the requests that the scripts send, and
kafka-python's reader of records. The output is what those who run them look for.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka.protocol.admin.topics import ListPartitionReassignmentsRequest
from kafka.record import MemoryRecords

from kafka_unclean_recovery.messages.elect_leaders import ElectLeadersRequest
from tests.fidelity.wire import Wire
from tests.messages.building import build

_UNCLEAN = 1


def run(name: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a script; flags that a test does not use are not known, and fail."""
    lines = _SCRIPTS[name](*arguments)
    output = "".join(f"{line}\n" for line in lines)
    return subprocess.CompletedProcess([name, *arguments], 0, output, "")


def _leader_election(*arguments: str) -> Iterator[str]:
    flag, servers, *which = arguments
    assert flag == "--bootstrap-server"
    assert which == ["--election-type", "unclean", "--all-topic-partitions"]
    message = build(ElectLeadersRequest, {"election_type": _UNCLEAN, "topic_partitions": None})
    answer = _ask(servers, message, 2)
    for topic in answer.replica_election_results:
        for result in topic.partition_result:
            yield f"{topic.topic}-{result.partition_id}: error {result.error_code}"


def _reassign_partitions(*arguments: str) -> Iterator[str]:
    flag, servers, *what = arguments
    assert (flag, what) == ("--bootstrap-server", ["--list"])
    topics = _ask(servers, build(ListPartitionReassignmentsRequest, {"topics": None}), 0).topics
    if not topics:
        yield "No partition reassignments found."
    for topic in topics:
        for partition in topic.partitions:
            yield f"{topic.name}-{partition.partition_index}: {partition.replicas}"


def _ask(servers: str, message: Any, version: int) -> Any:
    host, _, port = servers.split(",")[0].rpartition(":")
    with Wire(host, int(port)) as wire:
        return wire.ask(message, version)


def _dump_log(*arguments: str) -> Iterator[str]:
    flag, files = arguments
    assert flag == "--files"
    for file in filter(None, files.split(",")):
        yield f"Dumping {file}"
        records: Any = MemoryRecords(Path(file).read_bytes())  # type: ignore[no-untyped-call]
        while (batch := records.next_batch()) is not None:
            offsets = f"baseOffset: {batch.base_offset} lastOffset: {batch.next_offset - 1}"
            yield f"{offsets} partitionLeaderEpoch: {batch.leader_epoch} "


_SCRIPTS: Mapping[str, Callable[..., Iterator[str]]] = {
    "kafka-leader-election": _leader_election,
    "kafka-reassign-partitions": _reassign_partitions,
    "kafka-dump-log": _dump_log,
}
