"""What keeps a broker from starting on a log directory, and what takes the directory offline; each
row was seen on Kafka's own classes or on a real broker."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.start.directory import directory_start
from kafka_unclean_recovery.log_dir.start.fate import Cause, DirectoryStart, Fate, broker_fate
from tests.log_dir.cluster_metadata_encoder import (
    SNAPSHOT_FOOTER,
    batch,
    feature,
    snapshot_header,
    topic,
)

STARTS, OFFLINE, ENDS = Fate.STARTS, Fate.OFFLINE, Fate.ENDS
BASE = f"{0:020d}"
TOPIC_ID = "version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAQ"
METADATA_ID = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
STATE = {"leaderId": -1, "leaderEpoch": 7, "votedId": -1}
ABORTED = struct.Struct(">hqqqq")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = tmp_path / "data"
    for name in ("t-0", f"t-1.{'0' * 32}-delete", "__cluster_metadata-0"):
        replica = made / name
        replica.mkdir(parents=True)
        (replica / f"{BASE}.log").write_bytes(b"")
        (replica / f"{BASE}.index").write_bytes(b"")
        (replica / "partition.metadata").write_text(METADATA_ID if "meta" in name else TOPIC_ID)
        (replica / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    state = made / "__cluster_metadata-0" / "quorum-state"
    state.write_text(json.dumps({**STATE, "votedDirectoryId": "A" * 22, "data_version": 1}))
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
    ("swap", "cleaned", "fate"),
    [
        (b"1" * 61, (), STARTS),
        # It replaces nothing, or is made again.
        (b"", (), ENDS),
        (b"1" * 61, (f"{BASE}.log.cleaned",), ENDS),
    ],
)
def test_a_transaction_index_goes_with_the_segment_that_a_swap_replaces(
    data: Path, swap: bytes, cleaned: tuple[str, ...], fate: Fate
) -> None:
    (data / "t-0" / f"{BASE}.txnindex").write_bytes(b"\1" * 50)
    (data / "t-0" / f"{BASE}.log.swap").write_bytes(swap)
    for name in cleaned:
        (data / "t-0" / name).write_bytes(b"")
    assert start(data).fate is fate


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


@pytest.mark.parametrize("behind", [b"\0", bytes(500), b" and more", b"\nand more", b"}"])
def test_what_follows_the_quorum_state_is_not_read(data: Path, behind: bytes) -> None:
    file = data / "__cluster_metadata-0" / "quorum-state"
    file.write_bytes(b" " + file.read_bytes() + behind)
    assert start(data).fate is STARTS


OF_VERSION_0 = {"clusterId": "", "appliedOffset": 0, "currentVoters": None}


@pytest.mark.parametrize(
    ("version", "own"), [(0, OF_VERSION_0), (1, {"votedDirectoryId": "A" * 22})]
)
def test_a_quorum_state_without_a_field_of_its_version_ends_the_broker(
    data: Path, version: int, own: dict[str, object]
) -> None:
    file, fields = data / "__cluster_metadata-0" / "quorum-state", {**STATE, **own}
    file.write_text(json.dumps({**fields, "data_version": version}))
    assert start(data).fate is STARTS
    for missing in fields:
        left = {name: value for name, value in fields.items() if name != missing}
        file.write_text(json.dumps({**left, "data_version": version}))
        (cause,) = start(data).causes
        assert cause.fate is ENDS
        assert f"{missing} is missing" in cause.reason


def test_a_metadata_log_that_begins_above_its_snapshots_ends_the_broker(data: Path) -> None:
    metadata = data / "__cluster_metadata-0"
    for name in (f"{BASE}.log", f"{BASE}.index"):
        (metadata / name).unlink()
    (metadata / f"{500:020d}.log").write_bytes(b"")
    assert start(data).fate is ENDS
    sound = metadata / f"{600:020d}-{3:010d}.checkpoint"
    sound.write_bytes(snapshot_bytes(3))
    assert start(data).fate is STARTS
    (metadata / "x.checkpoint").write_bytes(b"")
    assert start(data).fate is ENDS


def snapshot_bytes(epoch: int) -> bytes:
    header = batch(0, snapshot_header(0), epoch=epoch)
    return header + batch(1, topic("t"), epoch=epoch) + batch(2, SNAPSHOT_FOOTER, epoch=epoch)


@pytest.mark.parametrize("damage", ["zeros", "cut", "flipped", "empty"])
def test_a_newest_snapshot_that_is_damaged_ends_the_broker_and_an_older_one_does_not(
    data: Path, damage: str
) -> None:
    metadata = data / "__cluster_metadata-0"
    older, newer = (metadata / f"{n:020d}-{3:010d}.checkpoint" for n in (600, 700))
    sound = snapshot_bytes(3)
    flipped = bytearray(sound)
    flipped[len(sound) // 2] ^= 255
    damaged = {
        "zeros": bytes(len(sound)),
        "cut": sound[: len(sound) // 2],
        "flipped": bytes(flipped),
        "empty": b"",
    }[damage]
    older.write_bytes(damaged)
    newer.write_bytes(sound)
    assert start(data).fate is STARTS
    newer.write_bytes(damaged)
    (cause,) = start(data).causes
    assert (cause.fate, cause.file) == (ENDS, str(newer))
    assert "it fetches the log anew" in cause.remedy


def test_a_metadata_log_with_the_id_of_another_topic_ends_the_broker(data: Path) -> None:
    file = data / "__cluster_metadata-0" / "partition.metadata"
    file.write_text(TOPIC_ID)
    (cause,) = start(data).causes
    assert (cause.fate, cause.file) == (ENDS, str(file))
    assert "move it out of the log directory: the start writes it anew" in cause.remedy


LEVEL = feature("metadata.version", 25)
BOOTSTRAP = batch(0, feature("kraft.version", 1), LEVEL)


@pytest.mark.parametrize(
    ("content", "fate"),
    [
        (BOOTSTRAP, STARTS),
        # A batch that is cut at the end is not looked at.
        (BOOTSTRAP + BOOTSTRAP[:-5], STARTS),
        # Nor are CRCs.
        (BOOTSTRAP[:17] + bytes(4) + BOOTSTRAP[21:], STARTS),
        # Nor whether a name is text.
        (batch(0, feature("kraft", 1).replace(b"kraft", b"kr\xffft"), LEVEL), STARTS),
        (BOOTSTRAP[:-5], ENDS),
        (batch(0, feature("kraft.version", 1)), ENDS),
        (b"", ENDS),
        (bytes(300), ENDS),
        (b"\1" * 300, ENDS),
    ],
)
def test_records_to_begin_a_cluster_with_are_read_at_every_start(
    data: Path, content: bytes, fate: Fate
) -> None:
    (data / "bootstrap.checkpoint").write_bytes(content)
    assert start(data).fate is fate
    # Only beside the controllers' log.
    (data / "__cluster_metadata-0").rename(data.parent / "elsewhere")
    assert start(data).fate is STARTS


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
