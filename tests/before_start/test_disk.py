"""What the log directories of one broker tell before any other is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_unclean_recovery.before_start.disk import read_own_disk
from kafka_unclean_recovery.before_start.replica import OwnDisk, wanted_of
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.log_dir.directory_names import DirectoryKind
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.scan import every_partition
from kafka_unclean_recovery.log_dir.watching import Unwatched
from kafka_unclean_recovery.planning.started_replica import NO_SEGMENT
from tests.log_dir.segments import v2

TOPIC_ID = "version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAQ"
METADATA_ID = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def log_dir(root: Path, name: str, cluster: str = "c", node: int = 1) -> Path:
    directory = root / name
    directory.mkdir()
    lines = ("version=1", f"node.id={node}", f"cluster.id={cluster}")
    (directory / "meta.properties").write_text("\n".join(lines) + "\n")
    return directory


def replica(directory: Path, name: str, metadata: str | None = TOPIC_ID) -> None:
    made = directory / name
    made.mkdir()
    (made / "00000000000000000000.log").write_bytes(b"")
    if metadata is not None:
        of_the_controllers = name == "__cluster_metadata-0"
        (made / "partition.metadata").write_text(METADATA_ID if of_the_controllers else metadata)


def read(*directories: Path) -> OwnDisk:
    return read_own_disk(list(map(LocalLocation, directories)), every_partition, 1, Unwatched())


def clean(directory: Path, text: str) -> None:
    (directory / ".kafka_cleanshutdown").write_text(text)


EPOCH_7, EPOCH_8 = (f'{{"version":0,"brokerEpoch":{epoch}}}' for epoch in (7, 8))


@pytest.mark.parametrize(
    ("files", "stopped_clean"),
    [
        ((EPOCH_7, EPOCH_7), True),
        ((EPOCH_7, EPOCH_8), False),
        ((EPOCH_7, None), False),
        # Of before KIP-966: the controller is told of no epoch.
        (("", ""), False),
        (("nonsense", "nonsense"), False),
    ],
)
def test_a_stop_is_clean_when_all_directories_tell_one_broker_epoch(
    tmp_path: Path, files: tuple[str | None, ...], stopped_clean: bool
) -> None:
    directories = [log_dir(tmp_path, f"data{n}") for n in range(len(files))]
    for directory, text in zip(directories, files, strict=True):
        if text is not None:
            clean(directory, text)
    assert read(*directories).stopped_clean is stopped_clean


def test_each_directory_is_of_its_kind_and_has_its_topic_id(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    for name in (
        "a-0",
        f"a-1.{'0' * 32}-future",
        f"a-2.{'0' * 32}-delete",
        f"a-3.{'0' * 32}-stray",
    ):
        replica(data, name)
    replica(data, "b-0", None)
    replica(data, "c-0", "nonsense")
    replica(data, "__cluster_metadata-0")
    found = {str(each.topic_partition): each for each in read(data).replicas}
    assert {name: each.kind for name, each in found.items()} == {
        "a-0": DirectoryKind.LIVE,
        "a-1": DirectoryKind.FUTURE,
        "a-2": DirectoryKind.DELETED,
        "a-3": DirectoryKind.STRAY,
        "b-0": DirectoryKind.LIVE,
        "c-0": DirectoryKind.LIVE,
    }
    assert found["a-0"].topic_id is not None
    assert (found["b-0"].topic_id, found["b-0"].nameless) == (None, None)
    assert found["c-0"].nameless is not None
    assert [name for name, each in found.items() if each.log is not None] == ["a-0", "b-0", "c-0"]
    asked = [str(tp) for tp in wanted_of(found.values())]
    assert asked == ["a-0", "a-1", "b-0", "c-0"]


def test_a_replica_without_any_segment_is_told_from_an_empty_one(tmp_path: Path) -> None:
    """Its broker makes an empty one: as Kafka's LogManager of 3.9.1 and 4.4.0 does."""
    data = log_dir(tmp_path, "data")
    replica(data, "a-0")
    replica(data, "b-0")
    (data / "b-0" / "00000000000000000000.log").unlink()
    (data / "b-0" / "00000000000000000000.index").write_bytes(b"")
    logs = [each.log for each in read(data).replicas]
    assert [log and log.suspect for log in logs] == [None, NO_SEGMENT]


def test_a_quorum_state_is_read_before_any_log_is_loaded(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    replica(data, "__cluster_metadata-0")
    (data / "__cluster_metadata-0" / "quorum-state").write_bytes(bytes(20))
    disk = read(data)
    assert "quorum-state" in (disk.refused or "")
    assert not disk.refused_late


def test_directories_of_two_clusters_are_refused_by_the_broker(tmp_path: Path) -> None:
    disk = read(log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2", cluster="d"))
    assert disk.refused is not None
    assert "is of cluster c" in disk.refused
    assert not disk.refused_late


@pytest.mark.parametrize("name", ["lost+found", "orders-0.bak", "aside", ".snapshot", "-0", "a-x"])
def test_a_directory_that_is_no_replicas_keeps_the_broker_from_starting(
    tmp_path: Path, name: str
) -> None:
    data = log_dir(tmp_path, "data")
    for each in ("a-0", f"a-1.{'0' * 32}-delete", "remote-log-index-cache", name):
        (data / each).mkdir()
    disk = read(data)
    assert disk.refused is not None
    assert f"{data / name}: a directory of this name is no replica's" in disk.refused
    # By then others may have been recovered.
    assert disk.refused_late
    (data / name).rmdir()
    assert read(data).refused is None


def test_a_name_of_several_lines_forges_no_line(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    (data / "a\nit starts").mkdir()
    (data / "b\x1b[2J").mkdir()
    refused = read(data).refused
    assert refused is not None
    assert refused.isprintable()
    assert refused.count("is no replica's") == 2


def test_directories_of_two_brokers_are_a_slip(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is of broker 1, .* of broker 2"):
        read(log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2", node=2))


def test_a_directory_that_goes_offline_takes_its_replicas_along_and_not_the_broker(
    tmp_path: Path,
) -> None:
    whole, bad = log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2")
    replica(whole, "a-0")
    replica(bad, "b-0")
    (bad / "recovery-point-offset-checkpoint").write_bytes(bytes(20))
    disk = read(whole, bad)
    assert disk.refused is None
    offline = {str(each.topic_partition): each.offline for each in disk.replicas}
    assert offline["a-0"] is None
    assert f"{bad}/recovery-point-offset-checkpoint" in (offline["b-0"] or "")
    alone = read(bad).refused
    assert alone is not None
    assert "move it out of the log directory" in alone


def test_without_the_directory_of_its_metadata_log_the_broker_ends_whatever_else_it_has(
    tmp_path: Path,
) -> None:
    first, second = log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2")
    replica(first, "__cluster_metadata-0")
    replica(first, "a-0")
    replica(second, "b-0")
    assert read(first, second).refused is None
    (first / "a-0" / "leader-epoch-checkpoint").write_bytes(bytes(20))
    assert f"{first}/a-0/leader-epoch-checkpoint" in (read(first, second).refused or "")


NO_OWNER = "version=1\nnode.id=1\ncluster.id=c\ndirectory.id=short\n"


@pytest.mark.parametrize(
    ("content", "ends"),
    [
        (NO_OWNER, False),
        ("version=2\nnode.id=1\ncluster.id=c\n", False),
        ("version=1\nnode.id=1\n", False),
        ("", True),
        ("\0" * 80, True),
    ],
)
def test_a_log_directory_whose_owner_is_not_told_goes_offline_or_ends_the_broker(
    tmp_path: Path, content: str, ends: bool
) -> None:
    one, other = log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2")
    replica(one, "a-0")
    replica(other, "b-0")
    clean(one, EPOCH_7)
    (other / "meta.properties").write_text(content)
    disk = read(one, other)
    assert (disk.refused is not None, disk.problems) == (ends, ())
    offline = {str(each.topic_partition): each.offline for each in disk.replicas}
    if ends:
        assert f"{other / 'meta.properties'}: " in (disk.refused or "")
        assert not disk.refused_late
    else:
        assert offline["a-0"] is None
        assert f"{other / 'meta.properties'}: " in (offline["b-0"] or "")
        # A directory that is offline is not asked for its mark.
        assert disk.stopped_clean


def test_without_the_owner_of_its_metadata_log_the_broker_ends(tmp_path: Path) -> None:
    one, other = log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2")
    replica(one, "a-0")
    replica(other, "__cluster_metadata-0")
    (other / "meta.properties").write_text(NO_OWNER)
    disk = read(one, other)
    assert "meta.properties" in (disk.refused or "")
    assert not disk.refused_late


def test_where_no_owner_is_told_at_all_the_first_reason_is_named(tmp_path: Path) -> None:
    one = log_dir(tmp_path, "data1")
    (one / "meta.properties").write_text(NO_OWNER)
    with pytest.raises(InputError, match="'short' is not a base64url UUID"):
        read(one)


def test_zeros_behind_the_log_after_a_stop_in_order_end_the_broker(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    replica(data, "a-0")
    (data / "a-0" / "00000000000000000000.index").write_bytes(b"")
    (data / "a-0" / "00000000000000000000.log").write_bytes(v2(0, 5) + bytes(4096))
    assert read(data).refused is None
    clean(data, EPOCH_7)
    refused = read(data).refused
    assert refused is not None
    assert f"{data}/a-0: a broker ends over it" in refused
    assert "move .kafka_cleanshutdown out of the log directory" in refused


def zeros_after_a_clean_stop(data: Path, name: str) -> Path:
    replica(data, name)
    (data / name / "00000000000000000000.index").write_bytes(b"")
    (data / name / "00000000000000000000.log").write_bytes(v2(0, 5) + bytes(4096))
    clean(data, EPOCH_7)
    return data / name


@pytest.mark.parametrize("kind", ["stray", "future"])
def test_a_log_out_of_use_ends_the_broker_as_one_in_use_does(tmp_path: Path, kind: str) -> None:
    """A start loads those that were put aside, or are being copied, too."""
    data = log_dir(tmp_path, "data")
    replica(data, "a-0")
    aside = zeros_after_a_clean_stop(data, f"b-0.{'0' * 32}-{kind}")
    disk = read(data)
    assert f"{aside}: a broker ends over it" in (disk.refused or "")
    assert "move it out of the log directory" in (disk.refused or "")
    assert {each.log for each in disk.replicas if each.kind is not DirectoryKind.LIVE} == {None}


def test_a_log_that_is_to_be_deleted_is_loaded_and_not_recovered(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    aside = zeros_after_a_clean_stop(data, f"b-0.{'0' * 32}-delete")
    assert read(data).refused is None
    (aside / "00000000000000000000.txnindex").write_bytes(b"\1" * 34)
    assert "an entry has a version that is not known" in (read(data).refused or "")


def test_a_directory_of_version_0_is_of_a_broker_on_zookeeper(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    replica(data, "a-0", None)
    (data / "recovery-point-offset-checkpoint").write_bytes(bytes(20))
    # It can't be put aside in a directory that is offline, and nothing puts it aside on ZooKeeper.
    other = log_dir(tmp_path, "data2")
    assert not read(other, data).zookeeper
    assert "it has no topic id" in (read(other, data).refused or "")
    for directory in (data, other):
        (directory / "meta.properties").write_text("version=0\nbroker.id=1\ncluster.id=c\n")
    disk = read(other, data)
    assert (disk.zookeeper, disk.refused) == (True, None)


def test_a_second_metadata_log_ends_the_broker(tmp_path: Path) -> None:
    first, second = log_dir(tmp_path, "data1"), log_dir(tmp_path, "data2")
    replica(first, "__cluster_metadata-0")
    assert read(first, second).refused is None
    replica(second, "__cluster_metadata-0")
    assert "is in more than one log directory" in (read(first, second).refused or "")


LOCKING = """
import fcntl, sys
with open(sys.argv[1], "w") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_broker_that_runs_leaves_nothing_to_foretell(tmp_path: Path) -> None:
    data = log_dir(tmp_path, "data")
    assert read(data).unsettled is None
    holder = subprocess.Popen(
        [sys.executable, "-c", LOCKING, str(data / ".lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        unsettled = read(data).unsettled
    finally:
        holder.communicate("", timeout=10)
    assert unsettled is not None
    assert f"a running process ({holder.pid}) holds {data}" in unsettled
