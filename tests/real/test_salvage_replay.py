"""A cluster that lost two of its three brokers, from the election to the replay: each record that
was acknowledged is in the elected log or in the salvage, the dead return and truncate, and a replay
brings back what they lost."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.cli.command import carry_out
from kafka_unclean_recovery.cli.commands.salvage_replay import Options, produce
from tests.real.cli import Cli, Finished
from tests.real.cluster import KafkaCluster
from tests.real.odd_records import odd_records, odd_salvage, refused
from tests.real.records import create_topic
from tests.real.releases import TESTED
from tests.real.salvage_recipe import (
    BROKERS,
    CODECS,
    CODED,
    ENDS,
    SURVIVOR,
    TRANSACTION_PARTITIONS,
    TRANSACTIONS,
    salvage_outage,
)
from tests.real.salvages import (
    DEAD,
    PARTITIONS,
    TIMEOUT,
    Content,
    Salvage,
    acknowledged,
    consumed,
    disks_of,
    salvaged,
    salvaged_by,
)
from tests.real.waiting import wait_until

OURS = "kafka-unclean-recovery."
COUNTS = {CODED: len(CODECS), TRANSACTIONS: TRANSACTION_PARTITIONS}
# What the dead held beyond the survivor, by how its transaction ended.
CODED_LOST = len(CODECS) * (ENDS[2] - ENDS[0])
SETTLED = CODED_LOST + 10 + 3 + 4 + 4
ABORTED, OPEN = 10 + 3 + 4, 10 + 3 + 3


@dataclass(frozen=True, slots=True)
class Recovered:
    """A cluster of the survivor alone, which our tool made the leader of everything. elected: what
    consumers read then. live: a salvage by the plan of that election."""

    home: Path
    cluster: KafkaCluster
    salvage: Salvage
    elected: Counter[Content]
    live: Finished

    @property
    def journal(self) -> Path:
        return self.home / "journal.jsonl"

    @property
    def truth(self) -> dict[Content, str | None]:
        return {acknowledged(entry): entry.ending for entry in self.salvage.outage.ledger}

    def lost(self, *endings: str | None) -> Counter[Content]:
        """Return, of the records that were salvaged, those of transactions that ended like this."""
        truth = self.truth
        return Counter(found for found in self.salvage.contents() if truth[found] in endings)

    def replay(self, *flags: str) -> Finished:
        servers = ("--bootstrap-server", self.cluster.bootstrap_servers)
        saved = str(self.salvage.directory)
        return Cli(self.home).offline("salvage", "replay", saved, *servers, *flags)


@pytest.fixture(scope="module", params=TESTED)
def recovered(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recovered]:
    home = tmp_path_factory.mktemp("recovered")
    outage = salvage_outage(request.param, home / "cluster")
    salvage = Salvage(outage, home / "saved", salvaged(home, outage.directory, DEAD))
    with KafkaCluster(outage.directory) as cluster:
        cluster.start((*cluster.spec.controller_ids, SURVIVOR))
        for topic in COUNTS:
            cluster.wait_until_partitions(topic, lambda seen: seen.offline)
        elect = ("--all-offline-partitions", "--automated-recovery", "--yes", "--format", "json")
        files = ("--plan-output-file", f"{home}/live.json", "--journal", f"{home}/journal.jsonl")
        done = Cli(home).recover(cluster, *elect, *files)
        assert done.code == 0, done
        elected = Counter(consumed(cluster, PARTITIONS))
        live = salvaged_by(home, outage.directory, DEAD, home / "live.json", "by-live")
        yield Recovered(home, cluster, salvage, elected, live)


def test_every_acknowledged_record_is_in_the_elected_log_or_in_the_salvage_and_none_in_both(
    recovered: Recovered,
) -> None:
    saved = Counter(list(recovered.salvage.contents()))
    assert recovered.elected + saved == Counter(list(recovered.truth))
    assert not recovered.elected & saved
    # Neither is empty, or the above would say little.
    assert saved.total() == SETTLED + ABORTED + OPEN
    assert recovered.elected.total() == len(CODECS) * ENDS[0] + 15


def test_the_plan_of_the_live_cluster_tells_the_same_tails_as_the_one_of_the_disks(
    recovered: Recovered,
) -> None:
    assert [row["lost"] for row in recovered.live.json["replicas"]] == [
        row["lost"] for row in recovered.salvage.manifest["replicas"]
    ]


def _report(recovered: Recovered) -> Any:
    done = Cli(recovered.home).offline("report", str(recovered.journal), "--json")
    assert done.code == 0, done
    return done.json


def _commands(told: Any) -> list[str]:
    return [command for step in told["next_steps"] for command in step["commands"]]


@pytest.fixture(scope="module")
def told(recovered: Recovered) -> Recovered:
    """Return the cluster whose journal knows what the disks of the dead hold, step by step as the
    report asks for it."""
    server = ("--bootstrap-server", recovered.cluster.bootstrap_servers)
    cli, journal = Cli(recovered.home), ("--journal", str(recovered.journal))
    assert "learnt" not in _report(recovered)
    for broker in DEAD:
        disk = disks_of(recovered.cluster.directory, broker)
        done = cli.offline("before-start", *disk, *server, *journal)
        assert done.code == 1, done
    foretold = _report(recovered)["learnt"]["found"]
    lost = _lost(recovered)
    assert {(f["topic"], f["partition"], f["broker"]): f["beyond"] for f in foretold} == lost
    assert all(found["saved"] is None for found in foretold)
    (salvage,) = (command for command in _commands(_report(recovered)) if " salvage " in command)
    assert f"--journal {recovered.journal} --output NEWDIR" in salvage
    salvaged_by(recovered.home, recovered.cluster.directory, DEAD, recovered.journal, "by-journal")
    return recovered


def _lost(recovered: Recovered) -> dict[tuple[str, int, int], int]:
    """Return how many offsets of each replica the elected leader lacks, of the topics that were
    elected."""
    return {
        (row["topic"], row["partition"], row["broker"]): sum(
            span["end_offset"] - span["start_offset"] for span in row["lost"]
        )
        for row in recovered.live.json["replicas"]
    }


def test_what_the_disks_held_is_in_the_report_once_they_were_read(told: Recovered) -> None:
    by_journal = json.loads((told.home / "by-journal" / "manifest.json").read_text())
    assert [row["lost"] for row in by_journal["replicas"]] == [
        row["lost"] for row in told.live.json["replicas"]
    ]
    report = _report(told)
    found = report["learnt"]["found"]
    assert {(f["topic"], f["partition"], f["broker"]): f["saved"] for f in found} == _lost(told)
    assert {f["directory"] for f in found} == {str(told.home / "by-journal")}
    text = Cli(told.home).offline("report", str(told.journal)).stdout
    lost = sum(_lost(told).values())
    assert f"{lost} records beyond the elected logs, {lost} saved, 0 gone" in text
    commands = _commands(report)
    assert not any(" before-start " in command for command in commands)
    assert sum("salvage replay" in command for command in commands) == 1


def test_a_journal_of_another_cluster_is_refused(told: Recovered, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    cluster_id = _report(told)["cluster_id"]
    other.write_text(told.journal.read_text().replace(cluster_id, "another"))
    before = other.read_bytes()
    server = ("--bootstrap-server", told.cluster.bootstrap_servers, "--journal", str(other))
    disks = disks_of(told.cluster.directory, DEAD[0])
    for words in (
        ("before-start", *disks, *server),
        ("salvage", "replay", str(told.salvage.directory), *server),
    ):
        done = Cli(told.home).offline(*words)
        assert (done.code, "it is of cluster another" in done.stderr) == (2, True), done
    assert other.read_bytes() == before


@pytest.fixture(scope="module")
def returned(told: Recovered) -> Recovered:
    """Return the cluster with the dead back, and in sync."""
    recovered = told
    recovered.cluster.start(DEAD)
    for topic in COUNTS:
        recovered.cluster.wait_until_partitions(
            topic, lambda seen: set(seen.isr) == set(BROKERS), TIMEOUT
        )
    return recovered


Ends = dict[tuple[str, int], dict[int, tuple[int, tuple[tuple[int, int], ...]]]]
"""Of each partition, by broker: its log end, and where its leader epochs start."""


def test_the_dead_that_return_truncate_to_the_elected_log(returned: Recovered) -> None:
    before = {
        broker: returned.salvage.replica(CODED, 0, broker)["log"]["log_end_offset"]
        for broker in DEAD
    }
    assert before == {1: ENDS[2], 2: ENDS[1]}
    seen: Ends = {}

    def equal() -> bool:
        # The elected leader may still be writing the end of a transaction that timed out.
        seen.update(_scanned(returned.cluster))
        return all(len(set(logs.values())) == 1 for logs in seen.values())

    wait_until(equal, TIMEOUT, lambda: f"equal logs; seen: {seen}")
    assert {partition: set(logs) for partition, logs in seen.items()} == {
        partition: set(BROKERS) for partition in PARTITIONS
    }
    for partition in range(len(CODECS)):
        assert {end for end, _ in seen[CODED, partition].values()} == {ENDS[0]}


def _scanned(cluster: KafkaCluster) -> Ends:
    directories = [str(cluster.log_dir(broker)) for broker in BROKERS]
    topics = ("--topics", f"{CODED}|{TRANSACTIONS}")
    # It complains of brokers that run, so the exit code is no judge.
    done = Cli(cluster.directory).offline(
        "scan-log-dirs", *directories, *topics, "--format", "json"
    )
    return {
        (row["topic"], row["partition"]): {
            log["broker"]: (
                log["log_end_offset"],
                tuple((span["epoch"], span["start_offset"]) for span in log["epochs"]),
            )
            for log in row["replica_logs"]
        }
        for row in done.replica_info["partitions"]
    }


def test_a_replay_restores_the_set_of_records_in_side_topics(returned: Recovered) -> None:
    for topic, count in COUNTS.items():
        _create(returned.cluster, f"{topic}.salvaged", count)
    dry = returned.replay()
    assert dry.code == 1, dry
    assert f"{SETTLED} records to produce" in dry.stdout
    assert f"{OPEN} records of open transactions were left out" in dry.stderr
    assert "left out: __transaction_state, Kafka's own" in dry.stderr
    assert _side(returned) == Counter()

    done = returned.replay("--execute", "--journal", str(returned.journal))
    assert f"{SETTLED} records produced" in done.stdout, done
    (produced,) = _report(returned)["learnt"]["produced"]
    assert produced["directory"] == str(returned.salvage.directory)
    assert produced["records"] == SETTLED
    assert set(produced["targets"]) == {f"{topic}.salvaged" for topic in COUNTS}
    restored = _side(returned)
    assert restored == returned.lost(None, "committed")
    assert restored + returned.elected == Counter(list(returned.truth)) - returned.lost(
        "aborted", "open"
    )
    # By the checkpoint, and without it by what is there.
    assert "0 records produced" in returned.replay("--execute").stdout
    (returned.home / "saved.replay-checkpoint").unlink()
    done = returned.replay("--execute", "--include-open")
    assert done.code == 0, done
    assert f"{OPEN} records produced" in done.stdout
    assert _side(returned) == returned.lost(None, "committed", "open")


@pytest.mark.parametrize("recovered", TESTED[:2], indirect=True)
def test_a_replay_restores_the_set_of_records_in_their_own_topics(returned: Recovered) -> None:
    own = ("--target", "{topic}", "--checkpoint", str(returned.home / "own.checkpoint"))
    dry = returned.replay(*own)
    assert "it is the topic itself: its consumers read these records again" in dry.stdout, dry
    done = returned.replay(*own, "--execute")
    assert f"{SETTLED} records produced" in done.stdout, done
    theirs, ours = _parted(consumed(returned.cluster, PARTITIONS))
    assert theirs == returned.elected
    assert ours == returned.lost(None, "committed")
    (returned.home / "own.checkpoint").unlink()
    assert "0 records produced" in returned.replay(*own, "--execute").stdout
    assert _parted(consumed(returned.cluster, PARTITIONS)) == (theirs, ours)


UNBOUND = str(2**63 - 1)
HOUR = "3600000"
ZERO = "1 record of time 0 become time 1 ms"
# Of each target: its config, what the dry run says of it, and what its broker takes of odd_records.
TARGETS: dict[str, tuple[dict[str, str], list[str], set[bytes]]] = {
    "kept": ({}, [ZERO], set()),
    "stamped": (
        {"message.timestamp.type": "LogAppendTime"},
        ["message.timestamp.type=LogAppendTime: times are overwritten"],
        set(),
    ),
    "brief": ({"retention.ms": HOUR}, [ZERO, "2 records older than its retention.ms"], set()),
    "small": ({"retention.bytes": "9"}, [ZERO, "retention.bytes=9: what goes beyond it"], set()),
    "compacted": (
        {"cleanup.policy": "compact"},
        ["1 record without a key: it is compacted", ZERO, "cleanup.policy=compact: an old value"],
        {b"keyless"},
    ),
    "narrow": (
        {"max.message.bytes": "3000"},
        ["1 record may be larger than its max.message.bytes: raise that", ZERO],
        {b"large"},
    ),
    "early": (
        {"message.timestamp.after.max.ms": HOUR},
        ["1 record too far in the future for it: raise message.timestamp.after.max.ms", ZERO],
        {b"new"},
    ),
    "late": (
        {"message.timestamp.before.max.ms": HOUR},
        ["2 records too old for it: raise message.timestamp.before.max.ms", ZERO],
        {b"zero", b"old"},
    ),
}
# What 4.0 has no more.
OLDER_TARGETS: dict[str, tuple[dict[str, str], list[str], set[bytes]]] = {
    "bound": (
        {"message.timestamp.difference.max.ms": HOUR},
        ["1 record too far in the future for it", "2 records too old for it", ZERO],
        {b"zero", b"old", b"new"},
    ),
}


def test_the_dry_run_names_what_targets_alter_or_refuse_and_they_do(
    recovered: Recovered, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    old = recovered.cluster.spec.version < "4"
    records = odd_records(time.time_ns() // 1_000_000)
    saved = odd_salvage(tmp_path, records)
    for name, (config, sentences, keys) in (TARGETS | (OLDER_TARGETS if old else {})).items():
        known = {"message.timestamp.after.max.ms": UNBOUND, **config}
        _create(recovered.cluster, name, 1, known)
        capfd.readouterr()
        code = carry_out(produce, _options(recovered.cluster, saved, name))
        dry = capfd.readouterr()
        assert code == (1 if keys else 0), dry
        said = [line for line in dry.out.splitlines() if line.startswith("altered: ")]
        said += [line for line in dry.err.splitlines() if f"orders-0 to {name}: " in line]
        assert len(said) == len(sentences), said
        for sentence in sentences:
            assert any(f"orders-0 to {name}: {sentence}" in line for line in said), said
        # The brokers are the judge.
        assert refused(recovered.cluster.connection(), name, records) == keys, name


@pytest.mark.parametrize("recovered", TESTED[:2], indirect=True)
def test_what_was_to_be_altered_is_and_nothing_else(
    recovered: Recovered, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    records = odd_records(time.time_ns() // 1_000_000)
    saved = odd_salvage(tmp_path, records)
    for name in ("as-it-was", "overwritten"):
        config = {} if name == "as-it-was" else {"message.timestamp.type": "LogAppendTime"}
        _create(recovered.cluster, name, 1, {"message.timestamp.after.max.ms": UNBOUND, **config})
        code = carry_out(produce, replace(_options(recovered.cluster, saved, name), execute=True))
        assert code == 0, capfd.readouterr()
        _, ours = _parted(consumed(recovered.cluster, [(name, 0)]))
        assert [(key, value) for *_, key, value, _, _ in ours] == [r[1:3] for r in records]
        times = [found[-1] for found in ours]
        if name == "as-it-was":
            assert times == [time or 1 for time, *_ in records]
        else:
            assert all(abs(found - records[3][0]) < TIMEOUT * 1000 for found in times)


def _options(cluster: KafkaCluster, saved: Path, target: str) -> Options:
    return Options(
        saved=saved,
        bootstrap_server=cluster.bootstrap_servers,
        target=target,
    )


def _create(
    cluster: KafkaCluster, topic: str, partitions: int, config: Mapping[str, str] = {}
) -> None:
    assignment = [[SURVIVOR]] * partitions
    create_topic(cluster.connection(), topic, assignment, {"retention.ms": "-1", **config})
    cluster.wait_until_partitions(topic, lambda seen: not seen.offline)


def _side(recovered: Recovered) -> Counter[Content]:
    places = [
        (f"{topic}.salvaged", number) for topic, count in COUNTS.items() for number in range(count)
    ]
    theirs, ours = _parted(consumed(recovered.cluster, places))
    assert not theirs
    return ours


def _parted(found: list[Content]) -> tuple[Counter[Content], Counter[Content]]:
    """Return (records of producers; replayed ones as they were, by the headers that say so)."""
    theirs: Counter[Content] = Counter()
    ours: Counter[Content] = Counter()
    for record in found:
        *_, key, value, headers, timestamp = record
        said = {name: value.decode() for name, value in headers if name.startswith(OURS)}
        if not said:
            theirs[record] += 1
            continue
        assert int(said[f"{OURS}partition"]) == record[1]
        own = tuple(header for header in headers if not header[0].startswith(OURS))
        at = (said[f"{OURS}topic"], record[1], int(said[f"{OURS}offset"]))
        ours[*at, key, value, own, timestamp] += 1
    return theirs, ours
