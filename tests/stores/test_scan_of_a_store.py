"""What lies in a bucket is scanned as if it were on a disk, by few requests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import fs

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.replica_scan import Replica, scan_replica
from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.log_dir.watching import Unmetered
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.stores.store_folder import StoreFolder
from tests.log_dir import replica_directories as disks
from tests.log_dir.mutations import seeded
from tests.log_dir.segments import index, v2
from tests.stores.conftest import Upload
from tests.stores.faulty_proxy import Proxy
from tests.stores.trees import LOGS, rows, scanned, write_damaged


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("damaged")
    write_damaged(root / "site" / "broker-1", 1, range(12))
    write_damaged(root / "site" / "broker-2", 2, range(12, 20))
    return root


def test_a_bucket_is_scanned_as_the_disks_are(damaged: Path, upload: Upload) -> None:
    location = upload(damaged, "damaged")
    for mode in ScanMode:
        on_disk = scanned(LocalLocation(damaged), mode)
        in_store = scanned(location, mode)
        assert in_store == on_disk
        assert len(rows(on_disk)) == 20
    assert sum(row["scanned"]["damage"] is not None for row in rows(on_disk).values()) > 5


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.topic)
def test_damage_reads_the_same_through_a_store(log: disks.Log, tmp_path: Path) -> None:
    intact = disks.replica_files(log)
    partition = TopicPartition(log.topic, 0)
    for seed in range(100):
        point = disks.recovery_point(log) if seed % 3 else None
        replica = Replica(1, partition, "d", recovery_point=point, compacted=log.compacted)
        directory = tmp_path / str(seed)
        disks.write_files(directory, {**intact, **seeded(log, intact, seed).files})
        for mode in ScanMode:
            with LocalLocation(directory).open() as folder:
                expected = scan_replica(folder, replica, mode, Unmetered())
            through = StoreFolder(fs.LocalFileSystem(), str(directory), "store")
            assert scan_replica(through, replica, mode, Unmetered()) == expected, seed


# Requests of a replica of three segments: its listing, two small files (leader epochs, topic id),
# and for each segment that is read the log and perhaps its index; where a broker recovers, what
# tells of the producers too; each file is opened by a HEAD and read by a GET.
FILES = {ScanMode.FAST: 2 + 2, ScanMode.RECOVER: 2 + 2 + 1 + 1, ScanMode.DEEP: 2 + 3 + 1}


@pytest.mark.parametrize("mode", ScanMode)
def test_requests_of_a_replica_are_few(
    mode: ScanMode, tmp_path: Path, upload: Upload, proxy: Proxy
) -> None:
    logs = (LOGS[0], LOGS[2])
    disks.write_log_directory(tmp_path / "broker", 1, logs)
    location = upload(tmp_path, f"counted-{mode}")
    assert scanned(location, mode) == scanned(LocalLocation(tmp_path), mode)
    prefix = f"counted-{mode}/broker/"
    for log in logs:
        count = proxy.count(f"{prefix}{log.directory}")
        assert count == {"LIST": 1, "HEAD": FILES[mode], "GET": FILES[mode]}, log.topic
    # Besides, two folders are looked through, the log directory is listed again, and once with all
    # that is in it.
    assert proxy.count()["LIST"] == len(logs) + (3 if mode is ScanMode.FAST else 4)
    checkpoints = [
        asked.key for asked in proxy.asked if asked.key.count("/") == 2 and not asked.listing
    ]
    assert len(checkpoints) == 2 * len(disks.log_directory_files(1, logs))


def test_a_large_segment_is_read_in_large_pieces(
    tmp_path: Path, upload: Upload, proxy: Proxy
) -> None:
    """A killed broker's: 20 MiB of batches, an index that is mostly preallocated."""
    directory = tmp_path / "big-0"
    batches, entries, position = [], [], 0
    for base in range(0, 100, 5):
        batches.append(v2(base, 5, body=bytes((base,)) * (1 << 20)))
        entries.append((base + 4, position))
        position += len(batches[-1])
    preallocated = index(*entries[1:]).ljust(10 << 20, b"\0")
    files = {
        disks.file_name(0, "log"): b"".join(batches),
        disks.file_name(0, "index"): preallocated,
    }
    disks.write_files(directory, files)
    location = upload(tmp_path, "large") / "big-0"
    replica = Replica(1, TopicPartition("big", 0), "d")
    counts = {}
    for mode in (ScanMode.FAST, ScanMode.DEEP):
        proxy.reset()
        with location.open() as folder:
            found = scan_replica(folder, replica, mode, Unmetered())
        assert (found.log_end_offset, found.problem, found.suspect) == (100, None, None)
        counts[mode] = {"log": proxy.count("large/big-0/00000000000000000000.log")["GET"]}
        counts[mode]["index"] = proxy.count("large/big-0/00000000000000000000.index")["GET"]
    assert counts[ScanMode.FAST]["index"] <= 3
    assert counts[ScanMode.FAST]["log"] <= 2
    assert counts[ScanMode.DEEP] == {"log": 5, "index": 0}


def test_keys_that_are_no_paths_lead_nowhere(
    tmp_path: Path,
    upload: Upload,
    bucket: Callable[[str, bytes], None],
    proxy: Proxy,
) -> None:
    disks.write_log_directory(tmp_path / "broker", 1, LOGS[:1])
    location = upload(tmp_path, "keys/inside")
    expected = scanned(location, ScanMode.DEEP)
    bucket("keys/secret/meta.properties", b"not ours")
    for key in (
        "../secret/meta.properties",
        "./meta.properties",
        "broker//meta.properties",
        "broker/../../secret",
        "broker/_started",
        "broker/.hidden",
        "broker/ringing\x07\x1b[2J/x",
        "broker/orders-0/",
        "broker/orders-0//00000000000000000060.log",
        "broker/orders-0/../orders-1/00000000000000000060.log",
        "broker/orders-0/back\\slash",
    ):
        bucket(f"keys/inside/{key}", b"")
    proxy.reset()
    for mode in (ScanMode.FAST, ScanMode.DEEP):
        info = scanned(location, mode)
    (problem,) = info["problems"]
    assert "ringing\x07\x1b[2J is no replica's directory" in problem
    assert {**info, "problems": []} == expected
    assert not proxy.count("keys/secret")
    assert all(asked.key.startswith("keys/inside/") for asked in proxy.asked)
    with location.open() as folder:
        for name in ("..", ".", "", "a/b", "../secret"):
            with pytest.raises(Unreadable, match="no name"), folder.folder(name):
                pass
            with pytest.raises(Unreadable, match="no name"), folder.opened(name):
                pass
    with (location / "broker").open() as folder:
        names = [entry.name for entry in folder.entries()]
    assert {"_started", ".hidden", "ringing\x07\x1b[2J"} <= set(names)
    assert str(location / "ringing\x07\x1b[2J").endswith("/ringing\\x07\\x1b[2J")


def test_an_object_and_a_folder_of_one_name_are_both_there(
    tmp_path: Path, upload: Upload, bucket: Callable[[str, bytes], None]
) -> None:
    """A marker that some tools write beside a folder hides no replica; a segment's name that is a
    folder's too is not trusted."""
    disks.write_log_directory(tmp_path / "broker", 1, LOGS[:2])
    location = upload(tmp_path, "both")
    bucket("both/broker/orders-0", b"")
    bucket(f"both/broker/users-0/{LOGS[1].segments[1].name}/x", b"")
    info = scanned(location, ScanMode.RECOVER)
    orders, users = (rows(info)[f"ROOT/broker/{x.directory}"] for x in LOGS[:2])
    assert orders["log_end_offset"] == LOGS[0].end_offset
    assert users["problem"] == f"{LOGS[1].segments[1].name}: not a plain file"
    assert any("orders-0 is no directory" in problem for problem in info["problems"])


def test_listings_of_several_pages_are_whole(upload: Upload, tmp_path: Path, proxy: Proxy) -> None:
    disks.write_log_directory(tmp_path / "broker", 1, LOGS)
    location = upload(tmp_path / "broker", "pages")
    proxy.page = 5
    for mode in ScanMode:
        assert scanned(location, mode) == scanned(LocalLocation(tmp_path / "broker"), mode)
    proxy.reset()
    proxy.page = 5
    with location.open() as folder:
        folder.entries()
    assert proxy.count() == {"LIST": 2}
