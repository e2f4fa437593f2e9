"""Metadata logs of two histories: epochs do not tell which of them the brokers follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.newest import NewestMetadata, newest_metadata
from kafka_unclean_recovery.log_dir.scan import scan_log_directories
from kafka_unclean_recovery.mechanisms import ScanMode
from kafka_unclean_recovery.model import ReplicaInfo
from tests.log_dir.cluster_metadata_encoder import NO_OP, feature, leader_change, topic
from tests.metadata_quorum.disks import TIME_MS, Batches, move_up, static_log, write_node

LOG = static_log()
DAY_MS = 86_400_000


def _newest(root: Path) -> NewestMetadata:
    return newest_metadata([LocalLocation(each) for each in sorted(root.iterdir())])


def _scanned(root: Path) -> ReplicaInfo:
    return scan_log_directories([LocalLocation(root)], ScanMode.RECOVER)


def formatted_anew(root: Path, epoch: int) -> Path:
    """Write the log of a controller that knows nothing."""
    log = Batches(
        ((epoch, (leader_change(101, (101,)),)), (epoch, (feature("metadata.version", 30), NO_OP)))
    )
    return write_node(root, 101, log, data=b"".join(log.encoded(TIME_MS + DAY_MS)))


@pytest.mark.parametrize("epoch", [1, 3, 700])
def test_of_controllers_formatted_anew_and_old_copies_none_is_believed(
    tmp_path: Path, epoch: int
) -> None:
    write_node(tmp_path, 1, LOG)
    assert _newest(tmp_path).metadata is not None
    formatted_anew(tmp_path, epoch)
    found = _newest(tmp_path)
    assert (found.metadata, found.read) == (None, frozenset())
    (problem,) = found.problems
    assert "two quorums wrote them, and none is believed" in problem
    assert all(f"{tmp_path / name} (up to offset" in problem for name in ("node-1", "node-101"))
    info = _scanned(tmp_path)
    assert (info.metadata_epoch, info.metadata_end_offset) == (None, None)
    assert all(part.state is None for part in info.partitions)
    assert problem in info.problems


def test_a_new_history_that_goes_less_far_than_the_old_one_begins(tmp_path: Path) -> None:
    old = (feature("metadata.version", 30), topic("orders"))
    move_up(write_node(tmp_path, 1, LOG), 500, 40, *old)
    formatted_anew(tmp_path, 700)
    assert _newest(tmp_path).metadata is None


def test_copies_without_an_offset_or_topic_in_common_are_named(tmp_path: Path) -> None:
    """The older may be of a broker that died long ago, or of another history."""
    old = (feature("metadata.version", 30), topic("orders"))
    move_up(write_node(tmp_path, 1, LOG), 500, 40, *old)
    formatted_anew(tmp_path, 1)
    found = _newest(tmp_path)
    assert found.metadata is not None
    assert found.metadata.end_offset > 500
    (problem,) = found.problems
    assert "whether one quorum wrote both is not known; the first counts" in problem


def test_copies_of_one_history_are_ranked_without_a_word(tmp_path: Path) -> None:
    write_node(tmp_path, 1, LOG)
    longer = LOG.and_then(9, leader_change(101, (101,))).and_then(9, topic("more"))
    write_node(tmp_path, 2, longer)
    given_up = LOG.and_then(8, leader_change(102, (102,))).and_then(8, NO_OP)
    write_node(tmp_path, 3, given_up)
    found = _newest(tmp_path)
    assert found.metadata is not None
    assert (found.metadata.last_epoch, found.metadata.end_offset) == (9, longer.end)
    assert found.problems == ()
    assert len(found.read) == 3
