"""How far every replica of a cluster at rest goes, by two judges that are not the scan: Kafka's
own dump of the files, and each broker itself, started from a copy.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from kafka_unclean_recovery.cluster.config.client_config import ClientConfig
from kafka_unclean_recovery.cluster.nodes import Nodes
from kafka_unclean_recovery.cluster.requests.describe import describe_topics
from kafka_unclean_recovery.deadline import Deadline
from kafka_unclean_recovery.model import Broker, ReplicaLog, TopicPartition
from kafka_unclean_recovery.transport.list_offsets import ListOffsetsSource
from tests.real.archive import unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.dump_log import ReplicaTruth, broker_truths
from tests.real.properties import ClusterSpec

Span = tuple[int, int, int]
"""Leader epoch, first offset, last offset + 1."""

# A broker that is only asked deletes, cleans and ends nothing by itself.
IDLE = {
    "log.cleaner.enable": "false",
    "log.initial.task.delay.ms": "2000000000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "2000000000",
}
ANSWER_SECONDS = 30.0


class Judge(StrEnum):
    FILES = "files"
    BROKERS = "brokers"


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one replica. log_end is exclusive. last_epoch: of the last record, -1 where none was ever
    written; None of a log that was emptied, when the judge can't tell."""

    broker: int
    topic: str
    partition: int
    log_start: int | None
    log_end: int | None
    last_epoch: int | None
    lineage: tuple[Span, ...]

    @property
    def replica(self) -> tuple[int, str, int]:
        return self.broker, self.topic, self.partition


Answers = tuple[Answer, ...]


def save(directory: Path, judge: Judge, answers: Answers) -> None:
    rows = [asdict(answer) for answer in answers]
    (directory / f"{judge}.json").write_text(json.dumps(rows))


def load(directory: Path, judge: Judge) -> Answers:
    rows = json.loads((directory / f"{judge}.json").read_text())
    for row in rows:
        row["lineage"] = tuple(map(tuple, row["lineage"]))
    return tuple(Answer(**row) for row in rows)


def dumped(cluster: KafkaCluster) -> Answers:
    """By kafka-dump-log.sh; nothing runs."""
    return tuple(
        _of_truth(broker, partition, truth)
        for broker in cluster.spec.broker_ids
        for partition, truth in sorted(broker_truths(cluster, broker).items())
    )


def _of_truth(broker: int, partition: TopicPartition, truth: ReplicaTruth) -> Answer:
    start = truth.log_start
    lineage = tuple((s.epoch, max(s.start, start), s.end) for s in truth.lineage if s.end > start)
    never = -1 if truth.log_end == 0 else None
    last = truth.lineage[-1].epoch if truth.lineage else never
    return Answer(broker, partition.topic, partition.partition, start, truth.log_end, last, lineage)


def answered(archive: Path) -> Answers:
    """Each broker started from a copy of its own with no other broker to follow, and asked."""
    with quick_scratch(archive.parent) as scratch, ExitStack() as running:
        clusters = {}
        for broker in _brokers(archive, scratch / "spec"):
            copy = _idle_copy(archive, scratch / str(broker))
            clusters[broker] = running.enter_context(KafkaCluster(copy))
            for node in (*clusters[broker].spec.controller_ids, broker):
                clusters[broker].start_node(node, wait=False)
        return tuple(
            answer for broker, cluster in clusters.items() for answer in _ask(cluster, broker)
        )


def _brokers(archive: Path, scratch: Path) -> Iterable[int]:
    unpack(archive, scratch)
    return ClusterSpec.load(scratch).broker_ids


def _idle_copy(archive: Path, directory: Path) -> Path:
    unpack(archive, directory)
    spec = ClusterSpec.load(directory)
    replace(spec, properties={**spec.properties, **IDLE}).save(directory)
    return directory


def _ask(cluster: KafkaCluster, broker: int) -> Iterator[Answer]:
    cluster.wait_until_unfenced({broker})
    assert cluster.live_brokers == (broker,), cluster.output(broker).read_text()[-2000:]
    host, _, port = cluster.address(broker).rpartition(":")
    for partition, log in asyncio.run(_logs(Broker(broker, host, int(port)))):
        assert log.problem is None, (partition, log)
        yield _of_log(partition, log)


async def _logs(broker: Broker) -> Sequence[tuple[TopicPartition, ReplicaLog]]:
    deadline = Deadline.after(ANSWER_SECONDS)
    nodes = Nodes([(broker.host, broker.port)], ClientConfig())
    try:
        topics = await describe_topics(await nodes.any(deadline), None, deadline)
        states = [p for topic in topics for p in topic.partitions if broker.id in p.replicas]
        return sorted(
            (await ListOffsetsSource(nodes).replica_logs(broker, states, deadline)).items()
        )
    finally:
        await nodes.close()


def _of_log(partition: TopicPartition, log: ReplicaLog) -> Answer:
    assert log.epochs is not None, (partition, log)
    return Answer(
        log.broker,
        partition.topic,
        partition.partition,
        log.log_start_offset,
        log.log_end_offset,
        log.last_written_leader_epoch,
        tuple((span.epoch, span.start_offset, span.end_offset) for span in log.epochs),
    )
