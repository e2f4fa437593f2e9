"""scan-log-dirs on the log directories of real brokers that were killed or stopped, held against
kafka-dump-log.sh on the same files and against the brokers themselves, started from a copy.

Where those two differ, the broker is the judge.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kafka_unclean_recovery.model import PartitionState
from tests.real.cli import Cli
from tests.real.cluster import KafkaCluster
from tests.real.cluster_metadata_recipe import metadata_at_rest
from tests.real.disks_judges import Answer, Answers
from tests.real.disks_recipe import (
    ALONE,
    BROKERS,
    CODECS,
    CODED,
    COMPACTED,
    DELETED,
    EMPTY,
    EVERYTHING,
    GONE,
    INSIDE,
    MIXED,
    PREALLOCATED,
    SEGMENTS,
    STOPPED,
    TRANSACTIONS,
    TRIMMED,
    DisksAtRest,
    disks_at_rest,
)
from tests.real.properties import node_directory
from tests.real.releases import ONE, READ_ONLY, TESTED

VERSIONS = (*TESTED, READ_ONLY)
MODES = ("fast", "recover", "deep")
CONTROLLER = 101
# Deleted while its broker was down: no broker answers for it any more.
LEFT_BEHIND = (STOPPED, GONE, 0)
# A broker that starts forgets the leader epochs of an emptied log, which its files still have.
EMPTIED = (STOPPED, DELETED, EVERYTHING)

Replica = tuple[int, str, int]
Info = Mapping[str, Any]


@pytest.fixture(scope="module", params=VERSIONS)
def at_rest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> DisksAtRest:
    return disks_at_rest(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module", params=MODES)
def info(
    request: pytest.FixtureRequest,
    at_rest: DisksAtRest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Info:
    """Return what the command says of all three brokers, in one mode."""
    home = tmp_path_factory.mktemp("home")
    return _scan(home, at_rest.disks, "--mode", request.param)


def _scan(home: Path, directories: Iterable[Path], *flags: str, code: int = 0) -> Info:
    names = map(str, directories)
    done = Cli(home).offline("scan-log-dirs", *names, *flags, "--format", "json")
    assert done.code == code, done
    return done.replica_info


def _found(info: Info) -> dict[Replica, Answer]:
    rows = [
        Answer(
            log["broker"],
            part["topic"],
            part["partition"],
            log["log_start_offset"],
            log["log_end_offset"],
            log["last_written_leader_epoch"],
            tuple((s["epoch"], s["start_offset"], s["end_offset"]) for s in log["epochs"]),
        )
        for part in info["partitions"]
        for log in part["replica_logs"]
    ]
    return {row.replica: row for row in rows}


def _by_replica(answers: Answers) -> dict[Replica, Answer]:
    return {answer.replica: answer for answer in answers}


def test_every_replica_goes_as_far_as_its_broker_finds_once_started(
    at_rest: DisksAtRest, info: Info
) -> None:
    judge, found = _by_replica(at_rest.answered), _found(info)
    assert found.keys() - judge.keys() == {LEFT_BEHIND}
    assert {r for r, answer in judge.items() if answer.last_epoch is None} == {EMPTIED}
    judge[EMPTIED] = replace(judge[EMPTIED], last_epoch=found[EMPTIED].last_epoch)
    assert {replica: found.get(replica) for replica in judge} == judge


def test_every_replica_goes_as_far_as_kafka_dump_log_finds(
    at_rest: DisksAtRest, info: Info
) -> None:
    judge, found = _by_replica(at_rest.dumped), _found(info)
    assert found.keys() == judge.keys()
    # Compaction leaves gaps and takes whole epochs away, and leader-epoch-checkpoint knows better.
    gaps = {replica for replica in judge if found[replica].lineage != judge[replica].lineage}
    assert gaps == {(broker, COMPACTED, 0) for broker in BROKERS}
    for replica in gaps:
        _assert_within(judge[replica], found[replica])
        judge[replica] = replace(judge[replica], lineage=found[replica].lineage)
    assert found == judge


def _assert_within(dumped: Answer, found: Answer) -> None:
    """Check that what is left of each epoch lies where the lineage has that epoch."""
    spans = {epoch: (start, end) for epoch, start, end in found.lineage}
    for epoch, start, end in dumped.lineage:
        assert spans[epoch][0] <= start < end <= spans[epoch][1]


def test_nothing_is_wrong_with_what_brokers_left(info: Info) -> None:
    assert (info["problems"], info["interrupted"]) == ([], False)
    assert info["brokers"] == list(BROKERS)
    for part in info["partitions"]:
        assert part["findings"] == [], part
        for log in part["replica_logs"]:
            doubts = (log["problem"], log["suspect"], log["certain_end_offset"])
            assert doubts == (None, None, None), log
            assert log["scanned"]["damage"] is None, log


def test_a_topic_that_was_deleted_meanwhile_has_no_state(info: Info) -> None:
    without = [part["topic"] for part in info["partitions"] if part["topic_id"] is None]
    assert without == [GONE]
    ids = {
        (log["scanned"]["topic_id"], part["topic_id"])
        for part in info["partitions"]
        for log in part["replica_logs"]
        if part["topic"] != GONE
    }
    assert all(of_directory == of_metadata for of_directory, of_metadata in ids)


def test_the_logs_are_as_unlike_as_logs_can_be(at_rest: DisksAtRest) -> None:
    """What the tests above would not notice, were it missing."""
    answers, dumped = _by_replica(at_rest.answered), _by_replica(at_rest.dumped)
    ends = {1: 660, 2: 650, STOPPED: 600}
    assert all(answers[b, CODED, p].log_end == ends[b] for b in BROKERS for p in range(len(CODECS)))
    # Three transactions of twenty records, two of them with a marker.
    assert answers[1, TRANSACTIONS, MIXED].log_end == 62
    assert [epoch for epoch, *_ in answers[1, COMPACTED, 0].lineage] == [0, 1, 2]
    assert [epoch for epoch, *_ in dumped[1, COMPACTED, 0].lineage] == [0, 2]
    assert [len(answers[b, SEGMENTS, 0].lineage) for b in BROKERS] == [3, 3, 3]
    assert all((answers[b, TRIMMED, 0].log_start or 0) > 0 for b in BROKERS)
    assert [answers[b, DELETED, INSIDE].log_start for b in BROKERS] == [333, 333, 333]
    assert (answers[EMPTIED].log_start, answers[EMPTIED].log_end) == (600, 600)
    assert [answers[b, EMPTY, 0].log_end for b in BROKERS] == [0, 0, 0]
    assert [answers[b, ALONE, b - 1].log_end for b in BROKERS] == [560, 650, 400]


def test_the_files_are_as_unlike_as_files_can_be(at_rest: DisksAtRest) -> None:
    for broker in BROKERS:
        codecs = [_codec(at_rest, broker, partition) for partition in range(len(CODECS))]
        assert codecs == list(range(len(CODECS)))
        assert len(_files(at_rest, broker, f"{SEGMENTS}-0/*.log")) > 10
        assert len(_files(at_rest, broker, f"{COMPACTED}-0/*.log")) > 2
        used = {path.parent.name for path in _files(at_rest, broker, f"{CODED}-*")}
        assert used == {"data-0", "data-1"}
    # Started again, a broker cuts the zeros off; this one never was.
    assert _files(at_rest, 2, f"{PREALLOCATED}-0/*.log")[-1].stat().st_size == 1 << 20
    stopped_in_order = [b for b in BROKERS if _files(at_rest, b, ".kafka_cleanshutdown")]
    assert stopped_in_order == [STOPPED]
    assert _files(at_rest, 1, f"{GONE}-0.*-delete")


def _codec(at_rest: DisksAtRest, broker: int, partition: int) -> int:
    """Return the codec by the attributes of the first batch."""
    first, *_ = _files(at_rest, broker, f"{CODED}-{partition}/*.log")
    return int.from_bytes(first.read_bytes()[21:23], "big") & 7


def _files(at_rest: DisksAtRest, broker: int, pattern: str) -> list[Path]:
    return sorted(at_rest.directory.glob(f"node-{broker}/data-*/{pattern}"))


def test_scanning_changes_nothing(at_rest: DisksAtRest, tmp_path: Path) -> None:
    before = _fingerprint(at_rest.directory)
    for mode in MODES:
        _scan(tmp_path, at_rest.disks, "--mode", mode)
    assert _fingerprint(at_rest.directory) == before


def _fingerprint(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode, size, and time of the last change (ns) of everything below, by path."""
    paths = [directory, *directory.rglob("*")]
    seen = {str(path): os.lstat(path) for path in paths}
    return {name: (s.st_mode, s.st_size, s.st_mtime_ns) for name, s in seen.items()}


def test_a_directory_that_a_running_broker_holds_is_read_and_said_to_move(tmp_path: Path) -> None:
    directory = tmp_path / "cluster"
    disks_at_rest(ONE, directory)
    with KafkaCluster(directory) as cluster:
        cluster.start((CONTROLLER, STOPPED))
        log_dirs = cluster.log_dirs(STOPPED)
        held = _scan(tmp_path, log_dirs, code=1)
        assert [_holder(problem) for problem in held["problems"]] == [
            (str(log_dir), "kafka.Kafka") for log_dir in log_dirs
        ]
        assert _found(held)[STOPPED, ALONE, 2].log_end == 400
        cluster.kill(STOPPED)
        assert _scan(tmp_path, log_dirs)["problems"] == []


def _holder(problem: str) -> tuple[str, str]:
    """Return (log directory, main class of the process that is said to hold it)."""
    said = re.match(r"(.+): a running process \((\d+)\) holds it", problem)
    assert said is not None, problem
    command = Path(f"/proc/{said[2]}/cmdline").read_bytes().decode().split("\0")
    return said[1], next(word for word in command if word == "kafka.Kafka")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("nodes", [(1,), (101, 1, 2, 3)])
def test_states_are_as_the_last_broker_described_them_before_its_end(
    tmp_path: Path, version: str, nodes: tuple[int, ...]
) -> None:
    at_rest = metadata_at_rest(version, tmp_path / "cluster")
    directories = [node_directory(at_rest.directory, node) for node in nodes]
    parts = _scan(tmp_path, directories, "--mode", "fast")["partitions"]
    found = {(part["topic"], part["partition"]): part for part in parts}
    expected = {(state.topic, state.partition): _state(state) for state in at_rest.states}
    assert {tp: {key: found[tp][key] for key in row} for tp, row in expected.items()} == expected
    assert {tp for tp, part in found.items() if part["topic_id"] is not None} == expected.keys()


def _state(state: PartitionState) -> dict[str, Any]:
    """Return the state as the JSON of a scan has it, which no unregistered broker is known to."""
    told = {k: v for k, v in structs.asdict(state).items() if k != "unregistered_replicas"}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}
