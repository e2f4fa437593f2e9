"""What keeps `quorum plan` from writing a plan. Nothing is written then."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from kafka_unclean_recovery.cli.commands import quorum_plan
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.small_files.quorum_state import quorum_state_json
from kafka_unclean_recovery.metadata_quorum import led
from kafka_unclean_recovery.metadata_quorum.compared_copies import compared_copies
from kafka_unclean_recovery.metadata_quorum.copies import Voter
from kafka_unclean_recovery.metadata_quorum.led import growing
from kafka_unclean_recovery.metadata_quorum.still_led import Heard, weighed
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes
from kafka_unclean_recovery.model import Severity
from tests.cli.in_process import RECOVERY, Done, invoke
from tests.log_dir.cluster_metadata_encoder import (
    BEGIN,
    INCARNATION,
    NO_OP,
    TOPIC_ID,
    array,
    batch,
    feature,
    leader_change,
    record,
    register,
    remove_topic,
    string,
    tagged,
    topic,
)
from tests.metadata_quorum.disks import (
    CLUSTER,
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
    write_replica,
)
from tests.metadata_quorum.planning import ALL_LOST, codes, listening, plan, quorum

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


def test_a_tail_that_a_later_leader_gave_up_is_told(disks: Path) -> None:
    given_up = LOG.and_then(1, NO_OP, NO_OP).and_then(1, topic("given-up"))
    both(disks, LOG.and_then(2, leader_change(102, (101, 102, 103))), given_up)
    done = plan(disks, *ALL_LOST)
    (line,) = (x for x in done.stderr.splitlines() if "metadata_tail_given_up" in x)
    assert line.split()[0] == "notice"
    assert f" goes on from offset {LOG.end} with 3 records of a lower epoch" in line


def test_brokers_that_do_not_tell_who_leads_are_named() -> None:
    wishes = Wishes(Voter(200, None))
    (told,) = weighed(wishes, Heard(not_told=("broker 1: grant Cluster:DESCRIBE",)))
    assert (told.code, told.severity) == ("quorum_not_told", Severity.UNKNOWN)
    assert told.message.endswith("whether a controller leads: broker 1: grant Cluster:DESCRIBE")


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
        static_log(level=24),
        static_log(level=34),
        LOG.and_then(1, record(99, 0)),
        LOG.and_then(1, record(2, 9)),
    ],
    ids=["before 4.0", "4.5", "unknown record", "unknown version"],
)
def test_a_release_that_was_not_tried(disks: Path, log: Batches) -> None:
    both(disks, log)
    assert refused(disks, *ALL_LOST) == {"quorum_release_not_tried"}


@pytest.mark.parametrize("level", [21, 25, 27, 29, 30, 33], ids=lambda level: f"level {level}")
def test_a_release_that_was_tried(disks: Path, level: int) -> None:
    both(disks, static_log(level))
    assert plan(disks, *ALL_LOST).code == 0


def test_a_release_that_was_not_tried_and_is_taken_all_the_same(disks: Path) -> None:
    both(disks, static_log(level=34))
    assert refused(disks, *ALL_LOST, "--untried-metadata-version", "35")
    done = plan(disks, *ALL_LOST, "--untried-metadata-version", "34")
    assert (done.code, "quorum_release_not_tried" in codes(done)) == (0, True), done.stderr


class TestALostControllerThatCanNotBeReached:
    """As of a cluster whose names only it resolves: no answer is no death."""

    VOTERS = ",".join(f"{id_}@c{id_}.invalid:9093" for id_ in CONTROLLERS)

    def test_it_is_not_known_to_be_gone(self, disks: Path) -> None:
        both(disks)
        voters = ("--controller-quorum-voters", self.VOTERS)
        assert refused(disks, *ALL_LOST, *voters) == {"lost_controller_unreachable"}
        some = (*voters, "--unreachable-controllers", "101,102")
        assert refused(disks, *ALL_LOST, *some) == {"lost_controller_unreachable"}

    def test_somebody_says_that_it_is(self, disks: Path) -> None:
        both(disks)
        voters = ("--controller-quorum-voters", self.VOTERS)
        gone = ("--unreachable-controllers", "101,102,103")
        done = plan(disks, *ALL_LOST, *voters, *gone)
        assert (done.code, "lost_controller_taken_for_gone" in codes(done)) == (0, True)

    def test_of_one_that_answers_nobody_can_say_so(self, disks: Path) -> None:
        with listening() as port:
            both(disks, dynamic_log((1, port, 1)))
            gone = ("--unreachable-controllers", "102")
            found = refused(disks, *ALL_LOST, *gone, new="200@127.0.0.1:1")
        assert found == {"lost_controller_answers"}

    def test_one_whose_address_only_its_quorum_state_and_its_registration_tell(
        self, disks: Path
    ) -> None:
        """Its LeaderChange is gone with the beginning of the log."""
        endpoint = string("CONTROLLER") + string("c101.invalid") + b"\x23\x85\0\0" + tagged()
        who = b"\0\0\0\x65", INCARNATION.bytes, b"\0"
        registered = record(27, 0, *who, array([endpoint]), array([]))
        state = feature("metadata.version", 30), registered
        brokers = tuple(register(broker, 10 + broker, at=NOBODY) for broker in (1, 2))
        for broker in (1, 2):
            home = write_node(disks, broker, LOG)
            move_up(home, 500, 40, *state, *brokers)
            (home / METADATA / "quorum-state").write_bytes(quorum_state_json(40, [101]))
        assert refused(disks, *ALL_LOST) == {"lost_controller_unreachable"}


class TestACopyThatEndsAController:
    BAD = topic("orders", uuid.UUID(int=77))

    def test_a_sound_one_beside_it_is_the_beginning(self, disks: Path) -> None:
        both(disks, LOG, LOG.and_then(1, NO_OP, self.BAD, NO_OP))
        done = plan(disks, *ALL_LOST)
        assert (done.code, "metadata_copy_not_loadable" in codes(done)) == (0, True)
        assert f"TopicRecord at offset {LOG.end + 1}" in done.stderr
        seed = json.loads((disks.parent / "plan.json").read_text())["seed"]
        assert (seed["node"], seed["end_offset"]) == (1, LOG.end)

    def test_where_all_have_it_there_is_none(self, disks: Path) -> None:
        both(disks, LOG.and_then(1, self.BAD), LOG.and_then(1, self.BAD).and_then(1, NO_OP))
        assert refused(disks, *ALL_LOST) == {"metadata_copy_not_loadable"}

    def test_one_that_goes_another_way_is_none(self, disks: Path) -> None:
        led = LOG.and_then(2, leader_change(102, CONTROLLERS))
        both(disks, LOG.and_then(1, NO_OP), led.and_then(2, self.BAD))
        assert refused(disks, *ALL_LOST) == {"metadata_copy_not_loadable"}

    def test_within_a_transaction_that_stays_open(self, disks: Path) -> None:
        both(disks, LOG, LOG.and_then(1, BEGIN, self.BAD))
        assert plan(disks, *ALL_LOST).code == 0
        seed = json.loads((disks.parent / "plan.json").read_text())["seed"]
        assert seed["end_offset"] == LOG.end


class TestMetadataDirectoriesAlone:
    """They do not tell the cluster's id, and brokers follow no controller without it."""

    def _plan(self, disks: Path, *flags: str) -> Done:
        for broker in (1, 2):
            write_node(disks, broker, LOG, quorum_epoch=1)
        alone = [disks / f"node-{broker}" / METADATA for broker in (1, 2)]
        wanted = ("--new-controller", "101@127.0.0.1:1")
        to = ("--plan-output-file", disks.parent / "plan.json")
        return quorum("plan", *alone, *wanted, *to, *ALL_LOST, "--without-copies-of", "1,2", *flags)

    def test_without_a_cluster_id_there_is_no_plan(self, disks: Path) -> None:
        done = self._plan(disks)
        assert (done.code, codes(done)) == (1, {"cluster_id_not_known"})

    def test_a_flag_names_it(self, disks: Path) -> None:
        done = self._plan(disks, "--cluster-id", CLUSTER)
        assert done.code == 0, done.stderr
        assert json.loads((disks.parent / "plan.json").read_text())["cluster_id"] == CLUSTER

    def test_a_flag_that_contradicts_the_copies(self, disks: Path) -> None:
        both(disks)
        other = ("--cluster-id", "abcdefghijkl0123456789")
        assert refused(disks, *ALL_LOST, *other) == {"metadata_of_two_clusters"}


def test_a_quorum_state_that_can_not_be_read_is_told(disks: Path) -> None:
    both(disks)
    (disks / "node-2" / METADATA / "quorum-state").write_bytes(bytes(120))
    done = plan(disks, *ALL_LOST)
    assert (done.code, "quorum_state_not_read" in codes(done)) == (0, True)
    assert "node 2 dies when it starts, for quorum-state" in done.stderr


class _Writer:
    """Writes a record to the log each half second of a clock that is looked at, up to an end."""

    def __init__(self, segment: Path, monkeypatch: pytest.MonkeyPatch, until: float) -> None:
        self._segment, self._until = segment, until
        self._now = 0.0
        # Other threads of the tests sleep by Python's own clock.
        monkeypatch.setattr(led, "time", self)

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds
        if self._now <= self._until and self._now % 0.5 == 0:
            number = LOG.end + int(2 * self._now)
            with self._segment.open("ab") as file:
                file.write(batch(number, NO_OP, epoch=1, time_ms=TIME_MS))


@pytest.mark.parametrize(("until", "leads"), [(100.0, True), (3.0, False), (0.0, False)])
def test_a_log_that_grows_has_a_leader(
    disks: Path, monkeypatch: pytest.MonkeyPatch, until: float, leads: bool
) -> None:
    """One that has lost its majority writes for a moment more."""
    both(disks)
    copies = compared_copies([LocalLocation(disks)], lambda _: None).copies
    _Writer(disks / "node-2" / METADATA / SEGMENT, monkeypatch, until)
    assert bool(list(growing(copies, lambda: TIME_MS))) is leads


def test_no_quorum_is_planned_from_a_log_that_grows(
    disks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(disks)
    monkeypatch.setattr(quorum_plan, "growing", lambda *_: ["the log of node 2 grows"])
    assert refused(disks, *ALL_LOST) == {"quorum_lives"}


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
