"""What a live replica is about to truncate, saved before the election, on real brokers: every
acknowledged record is in the topic afterwards or in the salvage, none in both."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.dataset
import pyarrow.parquet
import pytest

import kafka_unclean_recovery
from kafka_unclean_recovery.salvage.layout import RECORDS
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.live_tail_recipe import (
    CODED,
    CROSSING,
    LONGER,
    LOSER,
    NEWER,
    OPEN,
    PAID,
    SHARED,
    WINNER,
    live_tail,
)
from tests.real.outages import Outage, stale_tail
from tests.real.recipes import TOPIC
from tests.real.releases import ONE
from tests.real.salvage_recipe import CODECS, Acknowledged
from tests.real.salvages import Content, acknowledged, consumed
from tests.real.tools import run_tool
from tests.real.watching import PROMPT, Commands, journal_lines, outcomes
from tests.real.witnesses import records_of

VERSION = ONE
TIMEOUT = 60.0
PARTITIONS = [(CODED, n) for n in range(len(CODECS))] + [(PAID, n) for n in range(3)]
ELECT = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
SCHEMA = Path(kafka_unclean_recovery.__file__).parent / "schemas" / "salvage-1.schema.json"


@dataclass(frozen=True, slots=True)
class Recovered:
    """The outage once the command is through: `topic` is what a consumer reads then."""

    directory: Path
    done: Finished
    ledger: list[Acknowledged]
    topic: Counter[Content]
    before: Mapping[str, bytes]

    @property
    def manifest(self) -> Any:
        return json.loads((self.directory / "manifest.json").read_text())

    def replica(self, topic: str, partition: int) -> Any:
        (row,) = (
            row
            for row in self.manifest["replicas"]
            if (row["topic"], row["partition"]) == (topic, partition)
        )
        return row

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the topics that were written to by producers."""
        table = pyarrow.dataset.dataset(self.directory / RECORDS, partitioning="hive").to_table()
        rows: list[dict[str, Any]] = table.to_pylist()
        return [row for row in rows if (row["topic"], row["partition"]) in PARTITIONS]


@pytest.fixture(scope="module")
def recovered(tmp_path_factory: pytest.TempPathFactory) -> Recovered:
    home = tmp_path_factory.mktemp("online")
    cluster, ledger = live_tail(VERSION, home / "cluster")
    with cluster:
        before = _segments(cluster)
        done = Cli(home).recover(cluster, *ELECT, "--salvage-dir", str(home / "saved"))
        assert done.code == 0, done
        for topic in (CODED, PAID):
            cluster.wait_until_partitions(topic, lambda seen: set(seen.isr) == {LOSER, WINNER})
        return Recovered(
            home / "saved", done, ledger, Counter(consumed(cluster, PARTITIONS)), before
        )


def _segments(cluster: KafkaCluster) -> dict[str, bytes]:
    """Return the loser's segments, by the names of its directories: all before the election."""
    found: dict[str, bytes] = {}
    for path in sorted(cluster.log_dir(LOSER).glob("*-*/*.log")):
        found[path.parent.name] = found.get(path.parent.name, b"") + path.read_bytes()
    return found


def _content(row: Mapping[str, Any]) -> Content:
    headers = tuple((header["key"], header["value"]) for header in row["headers"])
    at = (row["topic"], row["partition"], row["offset"])
    return *at, row["key"], row["value"], headers, row["timestamp"]


def test_every_acknowledged_record_is_in_the_topic_or_in_the_salvage_and_none_in_both(
    recovered: Recovered,
) -> None:
    saved = Counter(_content(row) for row in recovered.rows if row["control"] is None)
    assert recovered.topic + saved == Counter(map(acknowledged, recovered.ledger))
    assert not recovered.topic & saved
    # Neither is empty, or the above would say little.
    assert saved.total() == len(CODECS) * (LONGER - SHARED) + 3 + 10 + 10
    assert recovered.topic.total() == len(CODECS) * NEWER + 5 + 3 * 4


def test_the_salvage_is_as_one_of_a_disk(recovered: Recovered) -> None:
    manifest = recovered.manifest
    jsonschema.validate(manifest, json.loads(SCHEMA.read_text()))
    assert not any(row["problems"] for row in manifest["replicas"])
    told = {(row["topic"], row["partition"]): row for row in manifest["replicas"]}
    assert set(told) >= set(PARTITIONS)
    assert {(row["broker"], row["designated_leader"]) for row in told.values()} == {(LOSER, WINNER)}
    truth = {acknowledged(entry): entry.ending for entry in recovered.ledger}
    endings = {_content(r): r["transaction"] for r in recovered.rows if r["control"] is None}
    assert endings == {content: truth[content] for content in endings}
    assert set(endings.values()) == {"committed", "aborted", "open", None}


def test_a_transaction_that_the_elected_log_leaves_hanging_is_named(recovered: Recovered) -> None:
    """It began before the cut: what was fetched alone does not tell where."""
    (crossing,) = recovered.replica(PAID, CROSSING)["transactions"]["ended_beyond_the_cut"]
    named = {key: crossing[key] for key in ("first_offset", "marker_offset", "ending")}
    assert named == {"first_offset": 0, "marker_offset": 8, "ending": "committed"}
    (left,) = recovered.replica(PAID, OPEN)["transactions"]["not_ended"]
    assert (left["first_offset"], left["marker_offset"]) == (0, None)


def test_segments_are_the_brokers_bytes_and_kafka_reads_them(recovered: Recovered) -> None:
    files = sorted(recovered.directory.rglob("*.log"))
    by_hash = {hashlib.sha256(data).hexdigest(): data for data in map(Path.read_bytes, files)}
    for topic, partition in PARTITIONS:
        row = recovered.replica(topic, partition)
        (segment,) = row["segments"]
        tail = by_hash[segment["sha256"]]
        assert recovered.before[f"{topic}-{partition}"].endswith(tail)
        assert _first_offset(tail) == row["lost"][0]["start_offset"]
    names = ",".join(map(str, files))
    done = run_tool(VERSION, "kafka-dump-log", "--files", names, timeout=TIMEOUT, check=True)
    assert done.stdout.count("isvalid: true") == sum(
        segment["batches"] for row in recovered.manifest["replicas"] for segment in row["segments"]
    )


def _first_offset(data: bytes) -> int:
    return int.from_bytes(data[:8])


def test_the_journal_has_it_before_the_election(recovered: Recovered) -> None:
    (journal,) = Cli(recovered.directory.parent).journals
    lines = journal_lines(journal)
    events = [line["event"] for line in lines]
    assert events.index("salvage") < events.index("reorder")
    (line,) = (line for line in lines if line["event"] == "salvage")
    assert line["directory"] == str(recovered.directory)
    assert {entry["saved"] for entry in line["partitions"]} == {True}
    assert len(line["partitions"]) == len(recovered.manifest["replicas"])


def test_a_loser_that_hangs_is_not_truncated_and_is_saved_once_it_answers(
    restored: Callable[[Outage], KafkaCluster], commands: Commands, tmp_path: Path
) -> None:
    cluster = restored(stale_tail("3.9.1"))
    config = tmp_path / "client.properties"
    config.write_text("request.timeout.ms=1500\n")
    server = ("--bootstrap-server", cluster.address(4), "--command-config", str(config))
    wanted = ("--path-to-json-file", str(commands.partitions_file({TOPIC: [0]})))
    which = (*wanted, "--automated-recovery", "--format", "json")
    run = commands.start(*server, *which, "--salvage-dir", str(tmp_path / "first"), terminal=True)
    run.wait_for(PROMPT)
    assert "saved first: 200 records of broker 1" in run.stderr
    cluster.pause(1)
    run.agree()
    done = run.finish()
    assert done.code == 1, done
    (outcome, reason) = outcomes(done, TOPIC)[0]
    assert (outcome, done.partitions(TOPIC)[0]["leader"]) == ("refused", -1)
    assert reason is not None
    assert reason.startswith("not saved: 200 records of broker 1: ")
    manifest = json.loads((tmp_path / "first" / "manifest.json").read_text())
    assert manifest["replicas"][0]["missing"] == [{"start_offset": 1000, "end_offset": 1200}]

    cluster.resume(1)
    cluster.wait_until_unfenced({1})
    done = commands.run(*server, *which, "--salvage-dir", str(tmp_path / "second"))
    assert (done.code, outcomes(done, TOPIC)) == (0, {0: ("elected", None)})
    cluster.wait_until_partitions(TOPIC, lambda seen: set(seen.isr) == {1, 4})
    (file,) = (tmp_path / "second").rglob("*.parquet")
    values = pyarrow.parquet.read_table(file)["value"].to_pylist()
    assert values == [b"%d led by 1" % number for number in range(1000, 1200)]
    led_by_2 = [b"%d led by 2" % number for number in range(1000, 1100)]
    assert records_of(cluster, TOPIC, [0])[0][1000:] == led_by_2
