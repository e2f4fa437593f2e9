"""What keeps `quorum plan` from writing a plan. Nothing is written then."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.cli.in_process import RECOVERY, invoke
from tests.log_dir.cluster_metadata_encoder import (
    NO_OP,
    TOPIC_ID,
    leader_change,
    record,
    remove_topic,
    topic,
)
from tests.quorum.disks import (
    CONTROLLERS,
    METADATA,
    SEGMENT,
    Batches,
    dynamic_log,
    static_log,
    write_node,
    write_replica,
)
from tests.quorum.planning import ALL_LOST, codes, listening, plan

LOG = static_log()


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    return tmp_path / "disks"


def both(disks: Path, log: Batches = LOG, other: Batches | None = None) -> None:
    write_node(disks, 1, log)
    write_node(disks, 2, log if other is None else other)


def refused(disks: Path, *flags: str, new: str = "101@127.0.0.1:1") -> set[str]:
    done = plan(disks, *flags, new=new)
    assert done.code == 1, done.stderr
    assert not (disks.parent / "plan.json").exists()
    return codes(done)


def test_nothing_keeps_a_plan_from_being_written_where_all_is_well(disks: Path) -> None:
    both(disks)
    done = plan(disks, *ALL_LOST)
    assert done.code == 0, done.stderr
    # A static log does not tell where its controllers listened.
    assert codes(done) == {"metadata_gap_not_known", "lost_controller_not_asked"}


@pytest.mark.parametrize("lost", ["101", ""])
def test_a_majority_that_is_not_named_as_lost(disks: Path, lost: str) -> None:
    both(disks)
    without = ("--without-copies-of", "102,103", "--lost-controllers", lost)
    assert "quorum_not_lost" in refused(disks, *without)


def test_a_minority_that_is_left_is_no_reason(disks: Path) -> None:
    both(disks)
    write_node(disks, 103, LOG)
    assert plan(disks, "--lost-controllers", "101,102").code == 0


def test_a_lost_controller_that_answers(disks: Path) -> None:
    with listening() as port:
        both(disks, dynamic_log((1, port, 1)))
        assert refused(disks, *ALL_LOST, new="200@127.0.0.1:1") == {"lost_controller_answers"}


def test_something_that_listens_where_the_new_one_is_to_listen(disks: Path) -> None:
    both(disks)
    with listening() as port:
        found = refused(disks, *ALL_LOST, new=f"101@127.0.0.1:{port}")
    assert found == {"lost_controller_answers"}


def test_two_clusters(disks: Path) -> None:
    both(disks)
    write_node(disks, 3, LOG, cluster="abcdefghijkl0123456789")
    assert refused(disks, *ALL_LOST) == {"metadata_of_two_clusters"}


def test_copies_that_diverge(disks: Path) -> None:
    both(disks, LOG.and_then(1, topic("one")), LOG.and_then(1, topic("two")))
    assert refused(disks, *ALL_LOST) == {"metadata_copies_diverge"}


def test_damage_where_a_copy_may_go_further(disks: Path) -> None:
    both(disks)
    parts = LOG.and_then(1, NO_OP).and_then(1, NO_OP).encoded()
    parts[-2] = parts[-2][:-1] + b"\xff"
    write_node(disks, 3, LOG, data=b"".join(parts))
    assert refused(disks, *ALL_LOST) == {"metadata_copy_damaged"}


def test_a_copy_that_can_not_be_read_at_all(disks: Path) -> None:
    both(disks)
    write_node(disks, 3, LOG, data=b"\xff" * 100)
    assert refused(disks, *ALL_LOST) == {"metadata_copy_not_read"}


def test_no_copy_that_can_be_read(disks: Path) -> None:
    both(disks)
    for node in (1, 2):
        (disks / f"node-{node}" / METADATA / SEGMENT).write_bytes(b"")
    assert "metadata_copy_damaged" in refused(disks, *ALL_LOST)


def test_brokers_that_are_to_be_asked_and_do_not_answer(disks: Path) -> None:
    both(disks)
    done = plan(disks, *ALL_LOST, "--bootstrap-server", "127.0.0.1:1")
    assert (done.code, "leave it out if none runs" in done.stderr) == (3, True)
    assert not (disks.parent / "plan.json").exists()


def test_a_broker_whose_copy_was_not_given(disks: Path) -> None:
    write_node(disks, 1, LOG)
    assert refused(disks, *ALL_LOST) == {"metadata_copy_not_seen"}
    done = plan(disks, *ALL_LOST, "--without-copies-of", "2")
    assert (done.code, "metadata_copy_left_out" in codes(done)) == (0, True)


def test_a_surviving_controller_whose_copy_was_not_given(disks: Path) -> None:
    both(disks)
    assert refused(disks, "--lost-controllers", "101,102") == {"metadata_copy_not_seen"}


@pytest.mark.parametrize(
    "log",
    [
        static_log(level=29),
        static_log(level=34),
        LOG.and_then(1, record(99, 0)),
        LOG.and_then(1, record(2, 9)),
    ],
    ids=["4.2", "4.5", "unknown record", "unknown version"],
)
def test_a_release_that_was_not_tried(disks: Path, log: Batches) -> None:
    both(disks, log)
    assert refused(disks, *ALL_LOST) == {"quorum_release_not_tried"}


@pytest.mark.parametrize("new", ["200", "1"])
def test_a_new_id_that_brokers_of_a_static_quorum_do_not_follow(disks: Path, new: str) -> None:
    both(disks)
    assert refused(disks, *ALL_LOST, new=f"{new}@127.0.0.1:1") == {"new_controller_refused"}


@pytest.mark.parametrize("new", ["103", "2"])
def test_a_new_id_that_somebody_has(disks: Path, new: str) -> None:
    both(disks, dynamic_log())
    write_node(disks, 103, dynamic_log())
    lost = ("--lost-controllers", "101,102")
    assert refused(disks, *lost, new=f"{new}@127.0.0.1:1") == {"new_controller_refused"}


def test_an_epoch_that_does_not_fit(disks: Path) -> None:
    write_node(disks, 1, LOG, quorum_epoch=2**31 - 1000)
    write_node(disks, 2, LOG)
    assert refused(disks, *ALL_LOST) == {"new_controller_refused"}


class TestDataOfBrokersThatKnowMore:
    def test_a_topic_that_the_best_copy_lacks(self, disks: Path) -> None:
        both(disks)
        write_replica(disks / "node-1", "late-0", uuid.UUID(int=77))
        assert refused(disks, *ALL_LOST) == {"metadata_behind_data"}

    def test_a_leader_epoch_above(self, disks: Path) -> None:
        both(disks)
        write_replica(disks / "node-1", "orders-0", TOPIC_ID, [(0, 0), (1, 5)])
        assert refused(disks, *ALL_LOST) == {"metadata_behind_data"}

    def test_a_replica_to_be_deleted_that_the_best_copy_has(self, disks: Path) -> None:
        both(disks)
        write_replica(disks / "node-1", f"orders-0.{0:032x}-delete", TOPIC_ID)
        assert refused(disks, *ALL_LOST) == {"metadata_behind_data"}

    def test_a_scan_tells_the_same(self, disks: Path) -> None:
        both(disks)
        elsewhere = write_node(disks.parent / "elsewhere", 2, LOG)
        replica = write_replica(elsewhere, "late-0", uuid.UUID(int=77))
        (replica / f"{0:020}.log").write_bytes(b"")
        scan = disks.parent / "scan.json"
        assert invoke(RECOVERY, "scan-log-dirs", str(elsewhere), "--output", str(scan)).code < 2
        found = refused(disks, *ALL_LOST, "--replica-info-file", str(scan))
        assert found == {"metadata_behind_data"}

    def test_a_damaged_replica_keeps_nobody_from_a_plan(self, disks: Path) -> None:
        both(disks)
        replica = write_replica(disks / "node-1", "orders-0", TOPIC_ID)
        (replica / "partition.metadata").write_text("torn")
        done = plan(disks, *ALL_LOST)
        assert (done.code, "data_not_all_read" in codes(done)) == (0, True)

    def test_replicas_as_the_best_copy_has_them_are_no_reason(self, disks: Path) -> None:
        both(disks, LOG.and_then(2, leader_change(102, CONTROLLERS)))
        write_replica(disks / "node-1", "orders-0", TOPIC_ID, [(0, 0)])
        assert plan(disks, *ALL_LOST).code == 0

    def test_a_deleted_topic_whose_replicas_wait_is_no_reason(self, disks: Path) -> None:
        both(disks, LOG.and_then(1, remove_topic()))
        write_replica(disks / "node-1", f"orders-0.{0:032x}-delete", TOPIC_ID)
        assert plan(disks, *ALL_LOST).code == 0


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--lost-controllers", "x"), "--lost-controllers x"),
        (("--controller-quorum-voters", "101"), "--controller-quorum-voters 101"),
        (("--without-copies-of", "1;2"), "--without-copies-of 1;2"),
    ],
)
def test_wrong_words_name_the_flag(disks: Path, flags: tuple[str, str], named: str) -> None:
    both(disks)
    done = plan(disks, *flags)
    assert (done.code, named in done.stderr) == (2, True)


@pytest.mark.parametrize("new", ["101", "101@host", "x@host:1", "101@host:1,host:2", "101@host:0"])
def test_a_new_controller_is_an_id_and_an_address(disks: Path, new: str) -> None:
    both(disks)
    assert plan(disks, *ALL_LOST, new=new).code == 2
