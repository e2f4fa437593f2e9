"""Copies of two histories: epochs say which copy leads within one alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.metadata_quorum.compared_copies import Copies, compared_copies
from tests.log_dir.cluster_metadata_encoder import (
    NO_OP,
    feature,
    leader_change,
    partition,
    register,
    topic,
)
from tests.metadata_quorum.disks import (
    CONTROLLERS,
    METADATA,
    NOBODY,
    SEGMENT,
    TIME_MS,
    Batches,
    dynamic_log,
    move_up,
    static_log,
    write_node,
)
from tests.metadata_quorum.planning import ALL_LOST, codes, plan

LOG = static_log()
OLD_STATE = (
    feature("metadata.version", 30),
    *(register(broker, 10 + broker, at=NOBODY) for broker in (1, 2)),
    topic("orders"),
    partition(0, (1, 2)),
)
DAY_MS = 86_400_000


@pytest.fixture
def disks(tmp_path: Path) -> Path:
    return tmp_path / "disks"


def _formatted_anew(epoch: int) -> Batches:
    """Return what a controller writes that knows nothing."""
    first = (epoch, (leader_change(101, (101,)),))
    return Batches((first, (epoch, (feature("metadata.version", 30), NO_OP))))


def _write_anew(disks: Path, epoch: int) -> Path:
    log = _formatted_anew(epoch)
    return write_node(disks, 101, log, data=b"".join(log.encoded(TIME_MS + DAY_MS)))


def _refused(disks: Path, *flags: str) -> set[str]:
    done = plan(disks, *ALL_LOST, *flags)
    assert done.code == 1, done.stderr
    assert not (disks.parent / "plan.json").exists()
    return codes(done)


def _relation(disks: Path) -> Relation:
    (other,) = _looked(disks).others
    return other.parting.relation


def _looked(disks: Path) -> Copies:
    return compared_copies([LocalLocation(disks)], lambda _: None)


@pytest.mark.parametrize("epoch", [3, 700], ids=["a lower epoch", "a higher one"])
def test_controllers_formatted_anew_beside_brokers_whose_logs_begin_above_0(
    disks: Path, epoch: int
) -> None:
    for broker in (1, 2):
        move_up(write_node(disks, broker, LOG), 500, 40, *OLD_STATE)
    _write_anew(disks, epoch)
    assert _refused(disks) & {"metadata_of_two_histories", "metadata_copies_not_compared"}


@pytest.mark.parametrize("epoch", [2, 700])
@pytest.mark.parametrize("log", [static_log(), dynamic_log()], ids=["static", "dynamic"])
def test_two_histories_that_begin_at_0_in_other_epochs(
    disks: Path, epoch: int, log: Batches
) -> None:
    write_node(disks, 1, log)
    _write_anew(disks, epoch)
    assert "metadata_of_two_histories" in _refused(disks, "--without-copies-of", "2")
    assert "have no record in common" in plan(disks, *ALL_LOST).stderr


def test_the_old_copies_alone_are_a_beginning(disks: Path) -> None:
    for broker in (1, 2):
        move_up(write_node(disks, broker, LOG), 500, 40, *OLD_STATE)
    done = plan(disks, *ALL_LOST, "--controller-quorum-voters", "101@127.0.0.1:1")
    assert done.code == 0, done.stderr


def test_of_the_new_copy_alone_it_is_told_that_it_knows_no_broker(disks: Path) -> None:
    """A cluster that was just made looks the same."""
    _write_anew(disks, 700)
    done = plan(disks, *ALL_LOST)
    assert (done.code, "metadata_without_brokers" in codes(done)) == (0, True)
    assert "loss metadata_without_brokers" in done.stderr


def test_a_copy_that_ends_before_the_best_begins_can_not_be_compared(disks: Path) -> None:
    move_up(write_node(disks, 1, LOG), 500, 40, *OLD_STATE)
    write_node(disks, 2, LOG)
    voters = ("--controller-quorum-voters", "101@127.0.0.1:1")
    assert _refused(disks, *voters) == {"metadata_copies_not_compared"}


class TestAQuorumThatLivedOnBesideAnother:
    """Both begin alike: somebody recovered a quorum before, from a copy of the other."""

    def _write(self, disks: Path, other_ms: int) -> None:
        seeded = LOG.and_then(1001, leader_change(101, (101,))).and_then(1001, NO_OP)
        write_node(disks, 1, seeded)
        # Three batches of one record each, one behind the other.
        parts = LOG.and_then(1, NO_OP).and_then(1, NO_OP).and_then(1, topic("later"))
        encoded = [parts.encoded(TIME_MS + n * other_ms)[len(LOG.parts) + n] for n in range(3)]
        write_node(disks, 2, parts, data=b"".join([*LOG.encoded(), *encoded]))

    def test_it_is_no_tail_that_was_given_up(self, disks: Path) -> None:
        """A leader without a majority resigns within seconds."""
        self._write(disks, 60_000)
        assert _relation(disks) is Relation.OTHER_HISTORY
        assert _refused(disks) == {"metadata_of_two_histories"}
        assert f"are alike up to offset {LOG.end}, and from" in plan(disks, *ALL_LOST).stderr

    def test_a_tail_of_a_moment_is(self, disks: Path) -> None:
        self._write(disks, 500)
        assert _relation(disks) is Relation.GIVEN_UP
        assert plan(disks, *ALL_LOST).code == 0

    def test_a_checkpoint_holds_what_was_committed(self, disks: Path) -> None:
        write_node(disks, 1, LOG.and_then(1001, leader_change(101, CONTROLLERS)))
        home = write_node(disks, 2, LOG.and_then(1, NO_OP))
        offset = LOG.end + 1
        segment = home / "__cluster_metadata-0" / f"{0:020}.log"
        kept = segment.read_bytes()
        move_up(home, offset, 1, *OLD_STATE)
        segment.write_bytes(kept)
        assert _relation(disks) is Relation.OTHER_HISTORY

    def test_a_copy_that_holds_all_of_the_best_and_is_damaged_behind_it_is_of_one_history(
        self, disks: Path
    ) -> None:
        write_node(disks, 1, LOG)
        longer = LOG.and_then(1, NO_OP)
        home = write_node(disks, 2, longer)
        move_up(home, longer.end, 1, *OLD_STATE)
        log = home / METADATA
        (log / SEGMENT).write_bytes(b"".join(longer.encoded()))
        *_, broken, last = longer.and_then(1, NO_OP).and_then(1, NO_OP).encoded()
        damaged = broken[:-1] + bytes([broken[-1] ^ 1])
        (log / f"{longer.end:020}.log").write_bytes(damaged + last)
        (other,) = _looked(disks).others
        assert other.copy.snapshot is not None
        assert other.copy.end.damage is not None
        assert (other.parting.relation, other.parting.offset) == (Relation.GIVEN_UP, LOG.end)
