"""Salvage of a real cluster's dead disks, against Kafka's own files and tools. What becomes of it
in a cluster that lives again is in test_salvage_replay.py."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pyarrow.parquet
import pytest

import kafka_unclean_recovery
from tests.real.archive import unpack
from tests.real.outages import stale_tail
from tests.real.releases import ONE, TESTED
from tests.real.salvage_recipe import (
    CODECS,
    CODED,
    CROSSING_ABORTED,
    CROSSING_COMMITTED,
    MIXED,
    OPEN,
    SURVIVOR,
    TRANSACTIONS,
    salvage_outage,
)
from tests.real.salvages import DEAD, TIMEOUT, Row, Salvage, acknowledged, salvaged
from tests.real.tools import run_tool

VERSION = ONE
SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "salvage-1.schema.json"


@pytest.fixture(scope="module")
def salvage(tmp_path_factory: pytest.TempPathFactory) -> Salvage:
    home = tmp_path_factory.mktemp("salvage")
    outage = salvage_outage(VERSION, home / "cluster")
    return Salvage(outage, home / "saved", salvaged(home, outage.directory, DEAD))


def test_the_manifest_is_stdout_and_as_its_schema_says(salvage: Salvage) -> None:
    assert salvage.done.json == salvage.manifest
    jsonschema.validate(salvage.manifest, json.loads(SCHEMA.read_text()))
    assert {row["designated_leader"] for row in salvage.manifest["replicas"]} == {SURVIVOR}


def test_transactions_end_as_their_producers_ended_them(salvage: Salvage) -> None:
    truth = {acknowledged(entry): entry.ending for entry in salvage.outage.ledger}
    found = salvage.contents()
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
    """Return the line without the position in the file, which is another."""
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


@pytest.mark.parametrize("version", TESTED)
def test_a_tail_that_an_earlier_election_gave_up_is_salvaged_where_the_logs_part(
    version: str, tmp_path: Path
) -> None:
    unpack(stale_tail(version).saved.archive(), tmp_path / "cluster")
    salvaged(tmp_path, tmp_path / "cluster", (1, 2))
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
    salvaged(tmp_path, outage.directory, DEAD)
    assert _fingerprint(outage.directory) == before


def _fingerprint(directory: Path) -> Mapping[Path, tuple[int, int, int]]:
    seen = {path: path.lstat() for path in directory.rglob("*")}
    return {path: (s.st_mode, s.st_size, s.st_mtime_ns) for path, s in seen.items()}
