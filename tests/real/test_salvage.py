"""Salvage of a real cluster's dead disks, against what producers had acknowledged: every record is
either in the log of the leader that was elected or in the salvage, none in both."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError
from confluent_kafka import TopicPartition as Position

import kafka_unclean_recovery
from kafka_unclean_recovery.deadline import Deadline
from tests.real.archive import unpack
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.metadata import QUIETLY, SILENT
from tests.real.outages import saved, stale_tail
from tests.real.properties import node_directory
from tests.real.salvage_recipe import (
    BROKERS,
    CODECS,
    CODED,
    CROSSING_ABORTED,
    CROSSING_COMMITTED,
    ENDS,
    MIXED,
    OPEN,
    SURVIVOR,
    TRANSACTION_PARTITIONS,
    TRANSACTIONS,
    Acknowledged,
    Outage,
    salvage_outage,
)
from tests.real.tools import run_tool

VERSION = "4.3.1"
DEAD = tuple(broker for broker in BROKERS if broker != SURVIVOR)
TIMEOUT = 60.0
PARTITIONS = [
    *((CODED, partition) for partition in range(len(CODECS))),
    *((TRANSACTIONS, partition) for partition in range(TRANSACTION_PARTITIONS)),
]
SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "salvage-1.schema.json"

Row = dict[str, Any]
Content = tuple[str, int, int, bytes | None, bytes | None, tuple[Any, ...], int]


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


@pytest.fixture(scope="module")
def salvage(tmp_path_factory: pytest.TempPathFactory) -> Salvage:
    home = tmp_path_factory.mktemp("salvage")
    outage = salvage_outage(VERSION, home / "cluster")
    return Salvage(outage, home / "saved", _salvage(home, outage.directory, DEAD))


def _salvage(home: Path, cluster: Path, dead: tuple[int, ...]) -> Finished:
    cli = Cli(home)
    plan = ("--manual-recovery-output-file", f"{home}/m.json", "--plan-output-file")
    excluded = ("--exclude-brokers", ",".join(map(str, dead)))
    planned = cli.offline("plan", "--log-dirs", str(cluster), *excluded, *plan, f"{home}/p.json")
    assert planned.code == 0, planned
    return _salvage_by(home, cluster, dead, home / "p.json")


def _salvage_by(home: Path, cluster: Path, dead: tuple[int, ...], plan: Path) -> Finished:
    disks = [word for b in dead for word in ("--log-dirs", str(node_directory(cluster, b)))]
    output = ("--plan", str(plan), "--output", f"{home}/saved", "--format", "json")
    done = Cli(home).offline("salvage", *disks, *output)
    assert done.code == 0, done
    return done


def test_the_manifest_is_stdout_and_as_its_schema_says(salvage: Salvage) -> None:
    assert salvage.done.json == salvage.manifest
    jsonschema.validate(salvage.manifest, json.loads(SCHEMA.read_text()))
    assert {row["designated_leader"] for row in salvage.manifest["replicas"]} == {SURVIVOR}


def test_every_acknowledged_record_is_in_the_elected_log_or_in_the_salvage_and_none_in_both(
    salvage: Salvage, tmp_path: Path
) -> None:
    elected = Counter(_elected(salvage.outage.directory, tmp_path))
    saved = Counter(content for content, _ in _saved(salvage).items())
    acknowledged = Counter(_acknowledged(entry) for entry in salvage.outage.ledger)
    assert elected + saved == acknowledged
    assert not elected & saved
    # The plan of the live cluster tells the same tails as the one of the disks.
    live = _salvage_by(tmp_path, salvage.outage.directory, DEAD, tmp_path / "live.json")
    assert [row["lost"] for row in live.json["replicas"]] == [
        row["lost"] for row in salvage.manifest["replicas"]
    ]
    # Neither is empty, or the above would say little.
    assert saved.total() == len(CODECS) * (ENDS[2] - ENDS[0]) + 3 + 3 + 10 + 10 + 10 + 18
    assert elected.total() == len(CODECS) * ENDS[0] + 15


def _elected(directory: Path, home: Path) -> Iterator[Content]:
    """What a consumer reads once our tool has recovered what is left of the cluster."""
    with KafkaCluster(directory) as cluster:
        cluster.start((*cluster.spec.controller_ids, SURVIVOR))
        for topic in (CODED, TRANSACTIONS):
            cluster.wait_until_partitions(topic, lambda seen: seen.offline)
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        done = Cli(home).recover(cluster, *elect, "--plan-output-file", f"{home}/live.json")
        assert done.code == 0, done
        settings = {
            **cluster.connection(),
            **QUIETLY,
            "group.id": "tests",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",
        }
        consumer = Consumer(settings, logger=SILENT)
        try:
            yield from _read(consumer)
        finally:
            consumer.close()


def _read(consumer: Consumer) -> Iterator[Content]:
    deadline = Deadline.after(TIMEOUT)
    consumer.assign([Position(*partition, OFFSET_BEGINNING) for partition in PARTITIONS])
    left = len(PARTITIONS)
    while left:
        assert not deadline.expired
        for message in consumer.consume(1000, timeout=1.0):
            error = message.error()
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                left -= 1
                continue
            at: Any = (message.topic(), message.partition(), message.offset())
            content = (message.key(), message.value(), tuple(message.headers() or ()))
            yield *at, *content, message.timestamp()[1]


def _saved(salvage: Salvage) -> dict[Content, str | None]:
    """Each record once, for the two dead held most of them both, with its transaction's ending."""
    found: dict[Content, str | None] = {}
    for row in salvage.manifest["replicas"]:
        for record in salvage.records(row):
            if (row["topic"], record["partition"]) not in PARTITIONS or record["control"]:
                continue
            headers = tuple((header["key"], header["value"]) for header in record["headers"])
            content = (record["key"], record["value"], headers, record["timestamp"])
            at = (row["topic"], record["partition"], record["offset"])
            found[*at, *content] = record["transaction"]
    return found


def _acknowledged(entry: Acknowledged) -> Content:
    at = (entry.topic, entry.partition, entry.offset)
    return *at, entry.key, entry.value, entry.headers, entry.timestamp


def test_transactions_end_as_their_producers_ended_them(salvage: Salvage) -> None:
    truth = {_acknowledged(entry): entry.ending for entry in salvage.outage.ledger}
    found = _saved(salvage)
    assert set(found.values()) == {"committed", "aborted", "open", None}
    assert found == {content: truth[content] for content in found}


def test_transactions_that_end_beyond_the_cut_are_named_with_their_beginnings(
    salvage: Salvage,
) -> None:
    for broker in DEAD:
        for partition, ending in ((CROSSING_COMMITTED, "committed"), (CROSSING_ABORTED, "aborted")):
            told = salvage.replica(TRANSACTIONS, partition, broker)["transactions"]
            (crossing,) = told["ended_beyond_the_cut"]
            named = {key: crossing[key] for key in ("first_offset", "marker_offset", "ending")}
            assert named == {"first_offset": 0, "marker_offset": 8, "ending": ending}
        mixed = salvage.replica(TRANSACTIONS, MIXED, broker)["transactions"]
        assert [t["first_offset"] for t in mixed["not_ended"]] == [0, 22]
        assert (mixed["committed"], mixed["aborted"], mixed["open"]) == (1, 1, 2)
        (left,) = salvage.replica(TRANSACTIONS, OPEN, broker)["transactions"]["not_ended"]
        assert (left["first_offset"], left["marker_offset"]) == (0, None)


def test_aborted_transactions_are_those_of_the_brokers_own_index(salvage: Salvage) -> None:
    """Each .txnindex entry: version, producer id, first and last offset, last stable offset."""
    seen: set[tuple[int, int]] = set()
    for row in salvage.manifest["replicas"]:
        if row["topic"] != TRANSACTIONS:
            continue
        data = b"".join(path.read_bytes() for path in Path(row["directory"]).glob("*.txnindex"))
        entries = {
            tuple(int.from_bytes(data[at + a : at + b], "big") for a, b in ((2, 10), (18, 26)))
            for at in range(0, len(data), 34)
        }
        markers = {
            (record["producer_id"], record["offset"])
            for record in salvage.records(row)
            if record["control"] == "abort"
        }
        assert markers == entries
        seen |= markers
    assert len(seen) == 3


DUMPED = re.compile(r"^(?:baseOffset|\| offset): (\d+) .*$", re.MULTILINE)


def test_kafka_dump_log_reads_the_segments_as_the_brokers_own(salvage: Salvage) -> None:
    rows = [salvage.replica(CODED, partition, 1) for partition in range(len(CODECS))]
    rows.append(salvage.replica(TRANSACTIONS, MIXED, 1))
    files = {_key(row): (_written(salvage, row), _originals(row)) for row in rows}
    names = ",".join(str(path) for both in files.values() for paths in both for path in paths)
    dump = ("--print-data-log", "--deep-iteration", "--files", names)
    done = run_tool(VERSION, "kafka-dump-log", *dump, timeout=TIMEOUT, check=True)
    texts = {Path(text.partition("\n")[0]): text for text in done.stdout.split("Dumping ")[1:]}
    for row in rows:
        ours, theirs = (
            [line for path in paths for line in DUMPED.finditer(texts[path])]
            for paths in files[_key(row)]
        )
        cut = row["lost"][0]["start_offset"]
        beyond = [_unplaced(line[0]) for line in theirs if int(line[1]) >= cut]
        assert [_unplaced(line[0]) for line in ours] == beyond
        # A line for each record at least.
        assert len(ours) > row["records"] > 10


def _key(row: Row) -> tuple[str, int]:
    return row["topic"], row["partition"]


def _written(salvage: Salvage, row: Row) -> list[Path]:
    return [salvage.directory / segment["file"] for segment in row["segments"]]


def _originals(row: Row) -> list[Path]:
    return sorted(Path(row["directory"]).glob("*.log"))


def _unplaced(line: str) -> str:
    """Without the position in the file, which is another."""
    return re.sub(r"position: \d+ ", "", line)


def test_segments_are_the_brokers_bytes(salvage: Salvage) -> None:
    for row in salvage.manifest["replicas"]:
        if row["topic"] not in (CODED, TRANSACTIONS):
            continue
        ours, theirs = (
            b"".join(path.read_bytes() for path in paths)
            for paths in (_written(salvage, row), _originals(row))
        )
        assert row["segments"][0]["first_offset"] == row["lost"][0]["start_offset"]
        assert theirs.endswith(ours)
        assert len(ours) == sum(segment["size"] for segment in row["segments"]) > 0


@pytest.mark.parametrize("version", ["4.3.1", "3.9.1"])
def test_a_tail_that_an_earlier_election_gave_up_is_salvaged_where_the_logs_part(
    version: str, tmp_path: Path
) -> None:
    unpack(saved(stale_tail(version)), tmp_path / "cluster")
    _salvage(tmp_path, tmp_path / "cluster", (1, 2))
    records = tmp_path / "saved" / "records" / "topic=orders"
    values = {
        broker: _values(records / f"partition-0.broker-{broker}.parquet") for broker in (1, 2)
    }
    assert values == {
        1: [b"%d led by 1" % number for number in range(1000, 1200)],
        2: [b"%d led by 2" % number for number in range(1100, 1150)],
    }


def _values(path: Path) -> list[bytes]:
    found: list[bytes] = pyarrow.parquet.read_table(path)["value"].to_pylist()
    return found


def test_the_disks_are_as_they_were(tmp_path: Path) -> None:
    outage = salvage_outage(VERSION, tmp_path / "cluster")
    before = _fingerprint(outage.directory)
    _salvage(tmp_path, outage.directory, DEAD)
    assert _fingerprint(outage.directory) == before


def _fingerprint(directory: Path) -> Mapping[Path, tuple[int, int, int]]:
    seen = {path: path.lstat() for path in directory.rglob("*")}
    return {path: (s.st_mode, s.st_size, s.st_mtime_ns) for path, s in seen.items()}
