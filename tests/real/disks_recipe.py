"""A cluster whose logs have seen much, made once and kept: its directories at rest, and what two
judges say of every replica in them (disks_judges.py).

Broker 3 was stopped in order, then brokers 2 and 1 were killed, with writes between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka import TopicPartition as Position
from confluent_kafka.admin import AdminClient

from tests.real import disks_judges
from tests.real.archive import pack, unpack
from tests.real.cache import quick_scratch
from tests.real.cluster import KafkaCluster
from tests.real.commits import commit
from tests.real.disks_judges import Answers, Judge
from tests.real.metadata import QUIETLY, SILENT
from tests.real.properties import node_directory
from tests.real.records import create_topic, numbered, produce_many, wait_until_replicated
from tests.real.saved import Saved, digest_of
from tests.real.waiting import wait_until

BROKERS = (1, 2, 3)
STOPPED = 3
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TIMEOUT = 60.0

# A partition for each codec.
CODED = "coded.by-every_codec"
# One partition committed, one aborted, one left open, one all three.
TRANSACTIONS = "pay-ments"
COMMITTED, ABORTED, OPEN, MIXED = range(4)
# Nothing is left of its second epoch.
COMPACTED = "users_by.key"
SEGMENTS = "many.segments"
TRIMMED = "trimmed_by-size"
KEPT_BYTES = 40_000
# Its log start lies within a segment, and at the log end.
DELETED = "deleted_below"
INSIDE, EVERYTHING = range(2)
EMPTY = "empty"
# A partition on each broker alone.
ALONE = "alone"
# Its active segment is as long as it may get, and zeros behind the last batch.
PREALLOCATED = "pre-allocated"
# Deleted after broker 3 was stopped, which so still has it.
GONE = "gone.soon"

# What is old goes at once, and what a checkpoint is to say it says soon.
PROPERTIES: Mapping[str, str] = {
    "log.cleaner.backoff.ms": "200",
    "log.flush.offset.checkpoint.interval.ms": "1000",
    "log.flush.start.offset.checkpoint.interval.ms": "1000",
    "log.index.size.max.bytes": "65536",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
}
SEGMENT_BYTES = "16384"
# What an archive depends on; a change here makes it anew.
_SOURCES = (
    "commits.py",
    "disks_recipe.py",
    "disks_judges.py",
    "dump_log.py",
    "properties.py",
    "records.py",
)


@dataclass(frozen=True, slots=True)
class DisksAtRest:
    """`dumped` is what kafka-dump-log.sh says of the files, `answered` what each broker said of
    itself once it was started from a copy, alone."""

    version: str
    directory: Path
    dumped: Answers
    answered: Answers

    @property
    def disks(self) -> list[Path]:
        """A directory for each broker, with both of its log directories."""
        return [node_directory(self.directory, broker) for broker in BROKERS]


def disks_at_rest(version: str, directory: Path) -> DisksAtRest:
    unpack(saved(version).archive(), directory)
    judged = (disks_judges.load(directory, judge) for judge in Judge)
    return DisksAtRest(version, directory, *judged)


def saved(version: str) -> Saved:
    return Saved(f"disks-at-rest-{version}", digest_of(_SOURCES), lambda made: _make(version, made))


def _make(version: str, archive: Path) -> None:
    with (
        quick_scratch(archive.parent) as scratch,
        KafkaCluster.create(
            scratch, version, brokers=3, properties=PROPERTIES, log_dirs_per_broker=2
        ) as cluster,
    ):
        cluster.start()
        _ordinary_days(cluster)
        _end(cluster)
        disks_judges.save(scratch, Judge.FILES, disks_judges.dumped(cluster))
        pack(scratch, archive)
        disks_judges.save(scratch, Judge.BROKERS, disks_judges.answered(archive))
        pack(scratch, archive)


def _ordinary_days(cluster: KafkaCluster) -> None:
    _create_topics(cluster)
    _write(cluster, range(200))
    _write_keys(cluster, [f"key {n % 60}" for n in range(200)])
    _commit_offsets(cluster)
    _lose(cluster, 3)
    _write(cluster, range(200, 400))
    _return(cluster, 3)
    _lose(cluster, 1)
    _write(cluster, range(400, 500))
    # The epoch that only writes what a later one writes again.
    _write_keys(cluster, ["key 1"] * 30)
    _return(cluster, 1)
    _elect_preferred(cluster)
    _write(cluster, range(500, 600))
    _write_keys(cluster, [f"key {n % 5}" for n in range(100)])
    _write_transactions(cluster)
    _delete_records(cluster)
    _until_cleaned(cluster)
    _until_trimmed(cluster)


def _end(cluster: KafkaCluster) -> None:
    """Each broker's logs are shorter than those of whom it leaves."""
    cluster.stop(STOPPED)
    cluster.wait_until_fenced({STOPPED})
    _agree(cluster, {1, 2})
    client = AdminClient(_settings(cluster), logger=SILENT)
    client.delete_topics([GONE])[GONE].result(TIMEOUT)
    _write(cluster, range(600, 650))
    _until_trimmed(cluster)
    _lose(cluster, 2)
    _write(cluster, range(650, 660))
    _until_trimmed(cluster)
    cluster.kill_all()


def _create_topics(cluster: KafkaCluster) -> None:
    small = _small_segments(cluster)
    often = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    full = {"preallocate": "true", "segment.bytes": str(1 << 20)}
    everywhere = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    topics: list[tuple[str, list[list[int]], Mapping[str, str]]] = [
        (CODED, [*everywhere, *everywhere[:2]], {}),
        (TRANSACTIONS, [*everywhere, [1, 2, 3]], {}),
        (COMPACTED, everywhere[:1], {**small, **often}),
        (SEGMENTS, everywhere, small),
        (TRIMMED, [[2, 1, 3]], {**small, "retention.bytes": str(KEPT_BYTES)}),
        (DELETED, everywhere[:2], {}),
        (EMPTY, everywhere[:1], {}),
        (ALONE, [[1], [2], [3]], {}),
        (PREALLOCATED, everywhere[:1], full),
        (GONE, everywhere[:1], {}),
    ]
    for topic, assignment, config in topics:
        create_topic(cluster.connection(), topic, assignment, config)
        cluster.wait_until_partitions(topic, lambda seen: not seen.offline)


def _small_segments(cluster: KafkaCluster) -> dict[str, str]:
    """From 4.0 on `segment.bytes` is 1 MiB at least; Kafka's own tests have another name for it."""
    modern = int(cluster.spec.version.partition(".")[0]) >= 4
    return {"internal.segment.bytes" if modern else "segment.bytes": SEGMENT_BYTES}


def _write(cluster: KafkaCluster, numbers: range) -> None:
    """The same records to every partition that has a leader, in batches of ten."""
    connection = {**cluster.connection(), "batch.num.messages": "10"}
    for partition, codec in enumerate(CODECS):
        _produce({**connection, "compression.codec": codec}, CODED, {partition: numbers})
    wide = {SEGMENTS: 3, TRIMMED: 1, DELETED: 2, PREALLOCATED: 1}
    doomed = {GONE: 1} if numbers.start == 0 else {}
    for topic, partitions in {**wide, **doomed}.items():
        _produce(connection, topic, dict.fromkeys(range(partitions), numbers))
    alone = {broker - 1: numbers for broker in cluster.live_brokers}
    produce_many(connection, ALONE, alone)


def _produce(connection: Mapping[str, str], topic: str, numbers: Mapping[int, range]) -> None:
    produce_many(connection, topic, numbers, value=lambda n: numbered(n).ljust(300), acks="1")
    wait_until_replicated(connection, topic, {p: r.stop for p, r in numbers.items()})


def _write_keys(cluster: KafkaCluster, keys: Iterable[str]) -> None:
    """A segment holds fewer than twenty."""
    producer = Producer(_settings(cluster) | {"batch.num.messages": 5}, logger=SILENT)
    for key in keys:
        producer.produce(COMPACTED, bytes(800), key=key, partition=0)
    assert producer.flush(TIMEOUT) == 0


def _commit_offsets(cluster: KafkaCluster) -> None:
    """A group, so that there is __consumer_offsets."""
    commit(cluster.connection(), "readers", *(Position(CODED, 0, end) for end in (10, 20, 30)))


def _write_transactions(cluster: KafkaCluster) -> None:
    before = _transaction(cluster, "first", [COMMITTED, MIXED])
    before.commit_transaction(TIMEOUT)
    _transaction(cluster, "second", [ABORTED, MIXED]).abort_transaction(TIMEOUT)
    # Nobody ends this one, and its time is not up before the cluster's is.
    _transaction(cluster, "third", [OPEN, MIXED])
    ended = {COMMITTED: 21, ABORTED: 21, OPEN: 20, MIXED: 62}
    wait_until_replicated(cluster.connection(), TRANSACTIONS, ended)
    servers = ("--bootstrap-server", cluster.address(1))

    def listed() -> str:
        return cluster.script("kafka-transactions", *servers, "list").stdout

    wait_until(lambda: "Prepare" not in listed(), TIMEOUT, listed)


def _transaction(cluster: KafkaCluster, name: str, partitions: Iterable[int]) -> Producer:
    """Twenty records to each partition, flushed, in a transaction that goes on."""
    settings = {"transactional.id": name, "transaction.timeout.ms": 900_000}
    producer = Producer(_settings(cluster) | settings, logger=SILENT)
    producer.init_transactions(TIMEOUT)
    producer.begin_transaction()
    for number in range(20):
        for partition in partitions:
            producer.produce(TRANSACTIONS, numbered(number), partition=partition)
    assert producer.flush(TIMEOUT) == 0
    return producer


def _delete_records(cluster: KafkaCluster) -> None:
    client = AdminClient(_settings(cluster), logger=SILENT)
    below = {INSIDE: 333, EVERYTHING: 600}
    asked = client.delete_records([Position(DELETED, p, offset) for p, offset in below.items()])
    for at, answer in asked.items():
        assert answer.result(TIMEOUT).low_watermark == below[at.partition]


def _until_cleaned(cluster: KafkaCluster) -> None:
    """The cleaner of every broker has been through all but the active segments."""

    def dirty() -> list[str]:
        return [
            f"{directory}: {cleaned.get(directory.name)}"
            for log_dir in _log_dirs(cluster)
            for cleaned in [_cleaned(log_dir)]
            for directory in log_dir.glob(f"{COMPACTED}-*")
            if cleaned.get(directory.name) != _segments(directory)[-1]
        ]

    wait_until(lambda: not dirty(), TIMEOUT, lambda: f"cleaned; dirty: {dirty()}")


def _cleaned(log_dir: Path) -> dict[str, int]:
    """The first offset that the cleaner has not seen, by directory name."""
    checkpoint = log_dir / "cleaner-offset-checkpoint"
    lines = checkpoint.read_text().splitlines()[2:] if checkpoint.exists() else []
    return {f"{topic}-{p}": int(offset) for topic, p, offset in map(str.split, lines)}


def _until_trimmed(cluster: KafkaCluster) -> None:
    """Retention has moved log starts as far as it will, on every live broker, and it is written
    down."""

    def left() -> list[str]:
        live = [d for broker in cluster.live_brokers for d in cluster.log_dirs(broker)]
        untrimmed = [d for root in live for d in root.glob(f"{TRIMMED}-*") if _too_large(d)]
        known = sum(
            (log_dir / "log-start-offset-checkpoint").read_text().count(f"{DELETED} ")
            for log_dir in _log_dirs(cluster)
        )
        return [*map(str, untrimmed), *["log starts unwritten"] * (2 * len(BROKERS) - known)]

    wait_until(lambda: not left(), TIMEOUT, lambda: f"trimmed; left: {left()}")


def _too_large(directory: Path) -> bool:
    """By Kafka's rule, which deletes the oldest segment if the others are as large as is to be
    kept."""
    _, *others = (s.stat().st_size for s in sorted(directory.glob("*.log")))
    return sum(others) >= KEPT_BYTES or _segments(directory)[0] == 0


def _log_dirs(cluster: KafkaCluster) -> list[Path]:
    return [d for broker in cluster.spec.broker_ids for d in cluster.log_dirs(broker)]


def _segments(directory: Path) -> list[int]:
    return sorted(int(segment.stem) for segment in directory.glob("*.log"))


def _lose(cluster: KafkaCluster, broker: int) -> None:
    cluster.kill(broker)
    cluster.wait_until_fenced({broker})
    _agree(cluster, set(cluster.live_brokers))


def _return(cluster: KafkaCluster, broker: int) -> None:
    cluster.start_node(broker)
    _agree(cluster, set(BROKERS))


def _elect_preferred(cluster: KafkaCluster) -> None:
    which = ("--election-type", "preferred", "--all-topic-partitions")
    cluster.script("kafka-leader-election", "--bootstrap-server", cluster.address(1), *which)
    for topic in (SEGMENTS, COMPACTED):
        cluster.wait_until_partitions(topic, lambda seen: seen.leader == seen.replicas[0])


def _agree(cluster: KafkaCluster, isr: set[int]) -> None:
    """Every live broker knows these as in sync, wherever there is more than one replica."""
    for topic in (CODED, TRANSACTIONS, COMPACTED, SEGMENTS, TRIMMED, DELETED, PREALLOCATED):
        cluster.wait_until_partitions(
            topic, lambda seen: not seen.offline and set(seen.isr) == isr, TIMEOUT
        )


def _settings(cluster: KafkaCluster) -> dict[str, str | int | float | bool]:
    return {**cluster.connection(), **QUIETLY}
