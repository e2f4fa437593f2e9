"""Salvage of the outage of salvage_recipe, and its records as anybody may hold them against the
ledger: with their place, and with all that a producer gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError
from confluent_kafka import TopicPartition as Position

from kafka_unclean_recovery.deadline import Deadline
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.properties import node_directory
from tests.real.salvage_recipe import (
    BROKERS,
    CODECS,
    CODED,
    SURVIVOR,
    TRANSACTION_PARTITIONS,
    TRANSACTIONS,
    Acknowledged,
    Outage,
)

DEAD = tuple(broker for broker in BROKERS if broker != SURVIVOR)
TIMEOUT = 60.0
PARTITIONS = [
    *((CODED, partition) for partition in range(len(CODECS))),
    *((TRANSACTIONS, partition) for partition in range(TRANSACTION_PARTITIONS)),
]

Row = dict[str, Any]
Content = tuple[str, int, int, bytes | None, bytes | None, tuple[Any, ...], int]
"""Topic, partition, offset, key, value, headers, timestamp (ms)."""


@dataclass(frozen=True, slots=True)
class Salvage:
    """What the command left of the disks of the dead."""

    outage: Outage
    directory: Path
    done: Finished

    @property
    def manifest(self) -> Any:
        return json.loads((self.directory / "manifest.json").read_text())

    def replica(self, topic: str, partition: int, broker: int) -> Row:
        wanted = (topic, partition, broker)
        rows: list[Row] = self.manifest["replicas"]
        return next(r for r in rows if (r["topic"], r["partition"], r["broker"]) == wanted)

    def records(self, row: Row) -> list[Row]:
        if row["records_file"] is None:
            return []
        table = pyarrow.parquet.ParquetFile(self.directory / row["records_file"]).read()
        found: list[Row] = table.to_pylist()
        return found

    def contents(self) -> dict[Content, str | None]:
        """Return each record once, with how its transaction ended: both dead held most."""
        found: dict[Content, str | None] = {}
        for row in self.manifest["replicas"]:
            for record in self.records(row):
                if (row["topic"], record["partition"]) not in PARTITIONS or record["control"]:
                    continue
                headers = tuple((header["key"], header["value"]) for header in record["headers"])
                content = (record["key"], record["value"], headers, record["timestamp"])
                at = (row["topic"], record["partition"], record["offset"])
                found[*at, *content] = record["transaction"]
        return found


def salvaged(home: Path, cluster: Path, dead: tuple[int, ...]) -> Finished:
    """Salvage by a plan out of all the disks; it goes to `saved` in the home."""
    cli = Cli(home)
    plan = ("--manual-recovery-output-file", f"{home}/m.json", "--plan-output-file")
    excluded = ("--exclude-brokers", ",".join(map(str, dead)))
    planned = cli.offline("plan", "--log-dirs", str(cluster), *excluded, *plan, f"{home}/p.json")
    assert planned.code == 0, planned
    return salvaged_by(home, cluster, dead, home / "p.json")


def salvaged_by(
    home: Path, cluster: Path, dead: tuple[int, ...], plan: Path, name: str = "saved"
) -> Finished:
    """Salvage by a plan, or by the journal of a run."""
    source = "--journal" if plan.suffix == ".jsonl" else "--plan"
    output = (source, str(plan), "--output", f"{home}/{name}", "--format", "json")
    done = Cli(home).offline("salvage", *disks_of(cluster, *dead), *output)
    assert done.code == 0, done
    return done


def disks_of(cluster: Path, *brokers: int) -> list[str]:
    return [word for b in brokers for word in ("--log-dirs", str(node_directory(cluster, b)))]


def acknowledged(entry: Acknowledged) -> Content:
    at = (entry.topic, entry.partition, entry.offset)
    return *at, entry.key, entry.value, entry.headers, entry.timestamp


def consumed(cluster: KafkaCluster, partitions: Iterable[tuple[str, int]]) -> list[Content]:
    """Return all that a consumer gets of these, records of transactions that nobody ended too."""
    settings = {
        **cluster.connection(),
        **QUIETLY,
        "group.id": "tests",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_uncommitted",
        "fetch.wait.max.ms": 20,
    }
    consumer = Consumer(settings, logger=SILENT)
    try:
        return list(_read(consumer, list(partitions)))
    finally:
        consumer.close()


def _read(consumer: Consumer, partitions: list[tuple[str, int]]) -> Iterator[Content]:
    deadline = Deadline.after(TIMEOUT)
    consumer.assign([Position(*partition, OFFSET_BEGINNING) for partition in partitions])
    left = set(partitions)
    while left:
        assert not deadline.expired, f"{left} did not end"
        for message in consumer.consume(1000, timeout=0) or consumer.consume(1, timeout=1.0):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                left.discard((message.topic(), message.partition()))
                continue
            at: Any = (message.topic(), message.partition(), message.offset())
            content = (message.key(), message.value(), tuple(message.headers() or ()))
            yield *at, *content, message.timestamp()[1]
