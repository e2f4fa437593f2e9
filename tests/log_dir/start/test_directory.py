"""What keeps a broker from starting on a log directory, and what takes the directory offline; each
row was seen on Kafka's own classes or on a real broker."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.start.directory import directory_start
from kafka_unclean_recovery.log_dir.start.fate import Cause, DirectoryStart, Fate, broker_fate

STARTS, OFFLINE, ENDS = Fate.STARTS, Fate.OFFLINE, Fate.ENDS
BASE = f"{0:020d}"
TOPIC_ID = "version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAQ"
ABORTED = struct.Struct(">hqqqq")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    for name in ("t-0", f"t-1.{'0' * 32}-delete", "__cluster_metadata-0"):
        replica = made / name
        replica.mkdir(parents=True)
        (replica / f"{BASE}.log").write_bytes(b"")
        (replica / f"{BASE}.index").write_bytes(b"")
        (replica / "partition.metadata").write_text(TOPIC_ID)
        (replica / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    state = '{"leaderId":-1,"leaderEpoch":7,"votedId":-1,"data_version":1}'
    (made / "__cluster_metadata-0" / "quorum-state").write_text(state)
    for name in ("recovery-point-offset", "log-start-offset", "replication-offset"):
        (made / f"{name}-checkpoint").write_text("0\n1\nt 0 10\n")
    return made


def start(data: Path) -> DirectoryStart:
    return directory_start(LocalLocation(data))


def test_a_directory_as_kafka_leaves_it_starts(data: Path) -> None:
    (data / "remote-log-index-cache").mkdir()
    assert start(data) == DirectoryStart(str(data), metadata=True)
    assert start(data).fate is STARTS


REPLICAS = ("t-0", f"t-1.{'0' * 32}-delete", "__cluster_metadata-0")


@pytest.mark.parametrize("replica", REPLICAS)
@pytest.mark.parametrize(
    ("file", "content", "fate"),
    [
        ("partition.metadata", b"", ENDS),
        ("partition.metadata", b"version: 0\n", ENDS),
        ("partition.metadata", bytes(40), OFFLINE),
        ("partition.metadata", b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", OFFLINE),
        ("partition.metadata", b"version: 0\ntopic_id: short", ENDS),
        ("partition.metadata", b"\xff\xfe", OFFLINE),
        ("leader-epoch-checkpoint", b"", STARTS),
        ("leader-epoch-checkpoint", b"0\n3\n0 0\n0 0\n2 5\n", STARTS),
        ("leader-epoch-checkpoint", bytes(9), OFFLINE),
        ("leader-epoch-checkpoint", b"0\n2\n0 0\n", OFFLINE),
        ("leader-epoch-checkpoint", b"1\n1\n0 0\n", OFFLINE),
        ("leader-epoch-checkpoint", b"0\n1\n0 x\n", ENDS),
        ("leader-epoch-checkpoint", b"0\n1\n0 -5\n", ENDS),
        ("backup.log", b"", ENDS),
        ("x.index", b"", ENDS),
        ("x.snapshot", b"", ENDS),
        ("x.log.swap", b"", ENDS),
        ("x.log.cleaned", b"", ENDS),
        ("x.log.deleted", b"", STARTS),
        ("x.txt", b"", STARTS),
        (f"{BASE}.txnindex", ABORTED.pack(0, 1, 2, 3, 4), STARTS),
        (f"{BASE}.txnindex", b"\1" * 50, ENDS),
        (f"{BASE}.txnindex", b"\1" * 20, STARTS),
    ],
)
def test_a_file_in_a_replica_decides_of_its_directory_or_of_the_broker(
    data: Path, replica: str, file: str, content: bytes, fate: Fate
) -> None:
    (data / replica / file).write_bytes(content)
    found = start(data)
    if replica == "__cluster_metadata-0" and fate is OFFLINE:
        fate = ENDS
    assert found.fate is fate
    assert [cause.file for cause in found.causes] == (
        [] if fate is STARTS else [str(data / replica / file)]
    )


def test_a_transaction_index_without_its_offset_index_is_built_anew(data: Path) -> None:
    (data / "t-0" / f"{BASE}.txnindex").write_bytes(b"\1" * 50)
    (data / "t-0" / f"{BASE}.index").unlink()
    assert start(data).fate is STARTS


@pytest.mark.parametrize(
    ("file", "content", "fate"),
    [
        ("recovery-point-offset-checkpoint", b"0\n2\nt 0 ", OFFLINE),
        ("recovery-point-offset-checkpoint", bytes(30), OFFLINE),
        ("recovery-point-offset-checkpoint", b"", STARTS),
        # It is read as if it were empty.
        ("recovery-point-offset-checkpoint", b"0\n1\nt 0 x\n", STARTS),
        ("log-start-offset-checkpoint", b"0\n2\nt 0 ", OFFLINE),
        ("replication-offset-checkpoint", bytes(30), OFFLINE),
        ("replication-offset-checkpoint", b"0\n1\nt 0 x\n", OFFLINE),
        ("cleaner-offset-checkpoint", bytes(30), OFFLINE),
        (".kafka_cleanshutdown", b"garbage", STARTS),
        ("t-7", b"a file named like a replica", STARTS),
    ],
)
def test_a_file_beside_the_replicas_decides_of_its_directory(
    data: Path, file: str, content: bytes, fate: Fate
) -> None:
    (data / file).write_bytes(content)
    assert start(data).fate is fate


@pytest.mark.parametrize(
    "content", [b"", bytes(60), b'{"leaderId":-1,"leade', b'{\n"leaderId":-1,"leaderEpoch":7}\n']
)
def test_a_quorum_state_that_can_not_be_read_ends_the_broker(data: Path, content: bytes) -> None:
    (data / "__cluster_metadata-0" / "quorum-state").write_bytes(content)
    (cause,) = start(data).causes
    assert cause.fate is ENDS
    assert "finds the leader again" in cause.remedy


def test_a_metadata_log_that_begins_above_its_snapshots_ends_the_broker(data: Path) -> None:
    metadata = data / "__cluster_metadata-0"
    for name in (f"{BASE}.log", f"{BASE}.index"):
        (metadata / name).unlink()
    (metadata / f"{500:020d}.log").write_bytes(b"")
    assert start(data).fate is ENDS
    (metadata / f"{600:020d}-{3:010d}.checkpoint").write_bytes(b"")
    assert start(data).fate is STARTS
    (metadata / "x.checkpoint").write_bytes(b"")
    assert start(data).fate is ENDS


def test_a_link_to_a_directory_counts_by_its_name(data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (data / "u-0").symlink_to(tmp_path / "elsewhere")
    assert start(data).fate is STARTS
    (data / "backup").symlink_to(tmp_path / "elsewhere")
    assert [cause.file for cause in start(data).causes] == [str(data / "backup")]


def test_a_broker_lives_on_without_one_of_its_directories_and_not_without_all() -> None:
    whole, bad = DirectoryStart("/a"), DirectoryStart("/b")
    assert broker_fate([whole, bad]) is STARTS
    offline = _with(OFFLINE)
    assert broker_fate([whole, offline]) is OFFLINE
    assert broker_fate([offline]) is ENDS
    assert broker_fate([whole, _with(OFFLINE, ENDS)]) is ENDS


def test_a_broker_ends_without_the_directory_of_the_controllers_log() -> None:
    whole, metadata = DirectoryStart("/a"), DirectoryStart("/b", metadata=True)
    assert broker_fate([metadata, whole]) is STARTS
    assert broker_fate([metadata, _with(OFFLINE)]) is OFFLINE
    assert broker_fate([replace(_with(OFFLINE), metadata=True), whole]) is ENDS


def _with(*fates: Fate) -> DirectoryStart:
    return DirectoryStart("/c", tuple(Cause(fate, "/c/x", "why", "how") for fate in fates))
