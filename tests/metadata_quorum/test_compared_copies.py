"""Which copy is the best, where copies part, and where each ends."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_unclean_recovery.documents.quorum import read_quorum_plan
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.image import Endpoint, MetadataImage
from kafka_unclean_recovery.log_dir.metadata.parting import Relation
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.metadata_quorum import compared_copies as the_module
from kafka_unclean_recovery.metadata_quorum.best_copy import no_sound_copy
from kafka_unclean_recovery.metadata_quorum.compared_copies import Compared, Copies, compared_copies
from kafka_unclean_recovery.metadata_quorum.copies import Copy, Voter, read_copy
from kafka_unclean_recovery.metadata_quorum.data_signs import Signs
from kafka_unclean_recovery.metadata_quorum.document import inspect_json, render_inspect
from kafka_unclean_recovery.metadata_quorum.places import CopyPlace
from kafka_unclean_recovery.metadata_quorum.prospects import prospects
from kafka_unclean_recovery.metadata_quorum.stuck import stuck_voters
from kafka_unclean_recovery.metadata_quorum.wishes import Wishes
from tests.log_dir.cluster_metadata_encoder import (
    NO_OP,
    config,
    feature,
    leader_change,
    snapshot,
    topic,
)
from tests.log_dir.test_scan import held
from tests.metadata_quorum.disks import (
    METADATA,
    SEGMENT,
    Batches,
    directory_id,
    dynamic_log,
    static_log,
    write_node,
)
from tests.metadata_quorum.planning import ALL_LOST, plan

LOG = static_log()


def looked(path: Path) -> Copies:
    return compared_copies([LocalLocation(path)], lambda _: None)


def other(found: Copies) -> Compared:
    (only,) = found.others
    return only


def best(found: Copies) -> Copy:
    assert found.best is not None
    return found.best


def test_the_copy_that_goes_furthest_is_the_best_and_the_rest_is_its_beginning(
    tmp_path: Path,
) -> None:
    write_node(tmp_path, 101, LOG)
    write_node(tmp_path, 1, LOG.and_then(1, topic("late")).and_then(1, NO_OP))
    found = looked(tmp_path)
    assert best(found).node == 1
    assert other(found).parting.relation is Relation.PREFIX
    assert other(found).parting.offset == LOG.end
    assert [sentence.split(" (")[0] for sentence in other(found).lacks] == ["topic late created"]


@pytest.mark.parametrize(("running", "free"), [(1, 2), (2, 1)])
def test_of_equal_copies_one_that_no_process_holds_is_the_best(
    tmp_path: Path, running: int, free: int
) -> None:
    homes = {node: write_node(tmp_path, node, LOG) for node in (1, 2)}
    with held(homes[running] / ".lock") as process:
        found = looked(tmp_path)
    assert best(found).node == free
    assert other(found).copy.held_by == process


def test_a_higher_epoch_beats_a_longer_log_whose_tail_was_given_up(tmp_path: Path) -> None:
    write_node(tmp_path, 1, LOG.and_then(1, NO_OP, NO_OP).and_then(1, topic("given-up")))
    write_node(tmp_path, 2, LOG.and_then(2, leader_change(102, (101, 102, 103))))
    found = looked(tmp_path)
    assert best(found).node == 2
    assert other(found).parting.relation is Relation.GIVEN_UP
    assert other(found).parting.offset == LOG.end
    assert len(other(found).beyond) == 1


def test_other_records_of_the_same_epoch_diverge(tmp_path: Path) -> None:
    write_node(tmp_path, 1, LOG.and_then(1, topic("one")).and_then(1, NO_OP))
    write_node(tmp_path, 2, LOG.and_then(1, topic("two")))
    assert other(looked(tmp_path)).parting.relation is Relation.DIVERGES


def test_an_epoch_that_a_flipped_bit_raised_diverges_and_gives_nothing_up(tmp_path: Path) -> None:
    # The epoch lies outside the CRC, and a change of leader may begin any.
    led = LOG.and_then(2, leader_change(102, (101, 102, 103)))
    write_node(tmp_path, 1, led.and_then(2, topic("committed")))
    parts = led.encoded()
    flipped = parts[-1][:12] + (2 + 1024).to_bytes(4, "big") + parts[-1][16:]
    write_node(tmp_path, 2, led, data=b"".join([*parts[:-1], flipped]))
    found = looked(tmp_path)
    assert best(found).node == 2
    assert other(found).parting.relation is Relation.DIVERGES


def test_an_unfinished_write_is_the_end_and_no_damage(tmp_path: Path) -> None:
    *whole, last = LOG.encoded()
    write_node(tmp_path, 1, LOG, data=b"".join([*whole, last[:-5]]))
    copy = best(looked(tmp_path))
    assert (copy.end.torn, copy.end.damage) == (len(last) - 5, None)
    assert (copy.end.position, copy.problems) == (sum(map(len, whole)), ())


@pytest.mark.parametrize("byte", [0, 14, 16, 17, 30, 70])
def test_what_goes_on_behind_a_broken_batch_is_damage(tmp_path: Path, byte: int) -> None:
    parts = LOG.and_then(1, NO_OP).encoded()
    broken = bytearray(parts[2])
    broken[byte] ^= 0x40
    write_node(tmp_path, 1, LOG, data=b"".join([*parts[:2], bytes(broken), *parts[3:]]))
    found = looked(tmp_path)
    assert found.best is None
    assert found.copies[0].end.damage is not None


def test_a_segment_behind_the_end_is_damage(tmp_path: Path) -> None:
    home = write_node(tmp_path, 1, LOG, data=b"".join(LOG.encoded()[:-1]))
    (home / METADATA / f"{LOG.end:020}.log").write_bytes(b"")
    assert looked(tmp_path).copies[0].end.damage is not None


def test_voters_of_a_dynamic_quorum_have_directories_and_listeners(tmp_path: Path) -> None:
    write_node(tmp_path, 1, dynamic_log((7, 8, 9)))
    copy = best(looked(tmp_path))
    assert copy.kraft_version == 1
    assert [(v.id, v.directory_id, v.listeners[0].port) for v in copy.voters] == [
        (id_, str(directory_id(id_)), port) for id_, port in ((101, 7), (102, 8), (103, 9))
    ]


def test_a_metadata_directory_alone_is_a_copy_of_nobody(tmp_path: Path) -> None:
    home = write_node(tmp_path, 1, LOG, quorum_epoch=44)
    found = looked(home / METADATA)
    assert (best(found).node, best(found).newest_epoch) == (None, 44)


def test_values_of_configs_are_not_told(tmp_path: Path) -> None:
    write_node(tmp_path, 101, LOG)
    write_node(tmp_path, 1, LOG.and_then(1, config(4, "1", "ssl.key.password", "hunter2")))
    (said,) = other(looked(tmp_path)).lacks
    assert said == "config ssl.key.password of broker 1 set"


def test_a_link_is_not_followed_out_of_the_directory(tmp_path: Path) -> None:
    elsewhere = write_node(tmp_path / "elsewhere", 1, LOG)
    home = write_node(tmp_path / "given", 2, LOG)
    (home / METADATA / SEGMENT).unlink()
    (home / METADATA / SEGMENT).symlink_to(elsewhere / METADATA / SEGMENT)
    found = looked(tmp_path / "given")
    assert found.copies == ()
    assert found.problems


def test_a_voter_in_another_directory_than_the_quorum_knows_is_stuck(tmp_path: Path) -> None:
    log = dynamic_log()
    write_node(tmp_path, 101, log)
    assert stuck_voters(looked(tmp_path)) == ()
    home = write_node(tmp_path, 102, log)
    meta = home / "meta.properties"
    ours, another = (kafka_uuid(directory_id(node)) for node in (102, 999))
    meta.write_text(meta.read_text().replace(ours, another))
    (said,) = stuck_voters(looked(tmp_path))
    assert str(directory_id(102)) in said


@pytest.mark.parametrize(("port", "stuck"), [(7, False), (8, True)])
def test_a_voter_registered_elsewhere_than_the_quorum_knows_is_stuck(
    tmp_path: Path, port: int, stuck: bool
) -> None:
    write_node(tmp_path, 101, dynamic_log((7, 7, 7)))
    found = looked(tmp_path)
    found.image.controllers[102] = (Endpoint("CONTROLLER", "127.0.0.1", port, 0),)
    said = [each.partition(":")[0] for each in stuck_voters(found)]
    assert said == ["voter 102 is known at 127.0.0.1"] * stuck
    shown = render_inspect(inspect_json(found, Signs((), (), (), 0)))
    assert "\nvoter 102 is known at 127.0.0.1:7\n" in shown


def test_what_each_node_will_do_is_said(tmp_path: Path) -> None:
    write_node(tmp_path, 101, LOG)
    write_node(tmp_path, 1, LOG.and_then(1, NO_OP, NO_OP).and_then(1, topic("given-up")))
    write_node(tmp_path, 2, LOG.and_then(2, leader_change(102, (101, 102, 103))))
    wishes = Wishes(Voter(101, None), without=frozenset({7}))
    told = {each.node: each.will for each in prospects(looked(tmp_path), wishes)}
    assert told[2] == told[101] == "follows, and keeps all that it has"
    assert told[1] == f"truncates 3 records from offset {LOG.end} on when it starts"
    assert "not known" in told[7]


def test_a_node_that_truncates_learns_the_voters_in_the_log_when_it_starts_again(
    tmp_path: Path,
) -> None:
    log = dynamic_log()
    write_node(tmp_path, 101, log)
    write_node(tmp_path, 1, log.and_then(1, NO_OP))
    write_node(tmp_path, 2, log.and_then(2, leader_change(102, (101, 102, 103))))
    wishes = Wishes(Voter(201, None), without=frozenset({7}))
    told = {each.node: each.will for each in prospects(looked(tmp_path), wishes)}
    assert {node for node, will in told.items() if "start it again" in will} == {1, 7}


def test_a_copy_that_goes_away_meanwhile_is_a_problem(tmp_path: Path) -> None:
    write_node(tmp_path, 1, LOG.and_then(1, NO_OP))
    home = write_node(tmp_path, 2, LOG)

    def gone(doing: str) -> None:
        if doing.startswith("comparing"):
            shutil.rmtree(home)

    found = compared_copies([LocalLocation(tmp_path)], gone)
    assert (best(found).node, found.others) == (1, ())
    (said,) = found.unread
    assert str(home) in said


class TestANodeThatDoesNotStart:
    """Whoever leads: it is told with what mends it, and not that it follows."""

    def _told(self, tmp_path: Path) -> dict[int | None, str]:
        wishes = Wishes(Voter(101, None))
        return {each.node: each.will for each in prospects(looked(tmp_path), wishes)}

    def test_its_newest_checkpoint_is_corrupt(self, tmp_path: Path) -> None:
        write_node(tmp_path, 101, LOG)
        home = write_node(tmp_path, 1, LOG)
        checkpoint = home / METADATA / f"{LOG.end:020}-{1:010}.checkpoint"
        checkpoint.write_bytes(b"\0" * 200)
        told = self._told(tmp_path)
        assert told[1].startswith("dies when it starts, for its newest checkpoint is no good (")
        assert "move its whole __cluster_metadata-0 to another place" in told[1]
        assert told[101] == "follows, and keeps all that it has"

    def test_its_quorum_state_is_garbage(self, tmp_path: Path) -> None:
        write_node(tmp_path, 101, LOG)
        home = write_node(tmp_path, 1, LOG)
        (home / METADATA / "quorum-state").write_bytes(b"\0" * 120)
        assert self._told(tmp_path)[1].startswith("dies when it starts, for quorum-state")

    def test_its_log_is_damaged_in_the_middle(self, tmp_path: Path) -> None:
        write_node(tmp_path, 101, LOG.and_then(1, NO_OP))
        parts = LOG.encoded()
        broken = bytearray(parts[2])
        broken[70] ^= 0x40
        write_node(tmp_path, 1, LOG, data=b"".join([*parts[:2], bytes(broken), *parts[3:]]))
        assert self._told(tmp_path)[1].startswith("is not known: its log is damaged")


@pytest.mark.parametrize("knows", [True, False], ids=["what it fetched tells", "it has nothing"])
def test_a_controller_that_was_formatted_anew_is_stuck(tmp_path: Path, knows: bool) -> None:
    """Its own log may be empty: the best copy knows under which directory id it is a voter."""
    log = dynamic_log()
    write_node(tmp_path, 101, log)
    home = write_node(tmp_path, 102, log)
    meta = home / "meta.properties"
    ours, another = (kafka_uuid(directory_id(node)) for node in (102, 999))
    meta.write_text(meta.read_text().replace(ours, another))
    if not knows:
        shutil.rmtree(home / METADATA)
    (said,) = stuck_voters(looked(tmp_path))
    assert said.startswith("node 102 (")
    assert str(directory_id(102)) in said
    assert str(directory_id(999)) in said


class TestCopiesThatAreAlike:
    """They are compared byte by byte, and told as if each had been read."""

    LONG = LOG.and_then(1, NO_OP, NO_OP).and_then(1, topic("late")).and_then(1, NO_OP)

    @pytest.mark.parametrize("left", range(1, len(LONG.parts) + 1))
    def test_each_is_told_as_it_is_told_alone(self, tmp_path: Path, left: int) -> None:
        short = Batches(self.LONG.parts[:left])
        write_node(tmp_path / "both", 1, self.LONG)
        home = write_node(tmp_path / "both", 2, short, quorum_epoch=7)
        (alone,) = looked(home).copies
        beside = next(copy for copy in looked(tmp_path / "both").copies if copy.node == 2)
        assert replace(beside, topics=0, brokers=alone.brokers) == replace(alone, topics=0)

    def _counted(self, monkeypatch: pytest.MonkeyPatch) -> list[CopyPlace]:
        read: list[CopyPlace] = []

        def counted(place: CopyPlace) -> tuple[Copy, MetadataImage]:
            read.append(place)
            return read_copy(place)

        monkeypatch.setattr(the_module, "read_copy", counted)
        return read

    def test_only_one_of_them_is_decoded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for node, log in ((1, self.LONG), (2, self.LONG), (101, LOG)):
            write_node(tmp_path, node, log)
        read = self._counted(monkeypatch)
        found = looked(tmp_path)
        assert len(read) == 1
        relations = {other.copy.node: other.parting.relation for other in found.others}
        assert relations == {2: Relation.SAME, 101: Relation.PREFIX}

    def test_one_bit_makes_another_of_it(self, tmp_path: Path) -> None:
        write_node(tmp_path, 1, self.LONG)
        data = bytearray(b"".join(self.LONG.encoded()))
        data[-1] ^= 1
        write_node(tmp_path, 2, self.LONG, data=bytes(data))
        (other,) = looked(tmp_path).others
        assert (other.copy.node, other.copy.end_offset) == (2, self.LONG.end - 1)

    def test_checkpoints_of_one_offset_hold_the_same_though_their_bytes_differ(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        state = (feature("metadata.version", 30), topic("orders"))
        for node, time_ms in ((1, 10), (2, 20)):
            home = write_node(tmp_path, node, LOG)
            file = snapshot(LOG.end, *state, epoch=1, time_ms=time_ms)
            (home / METADATA / file.name).write_bytes(file.read_at(0, file.size))
        read = self._counted(monkeypatch)
        (other,) = looked(tmp_path).others
        assert (other.parting.relation, len(read)) == (Relation.SAME, 1)
        # One that is cut is none.
        (home / METADATA / file.name).write_bytes(file.read_at(0, file.size - 1))
        copy = next(each for each in looked(tmp_path).copies if each.node == 2)
        assert copy.bad_checkpoint is not None


def test_ipv6_addresses_are_printed_as_flags_take_them(tmp_path: Path) -> None:
    write_node(tmp_path / "disks", 1, LOG)
    write_node(tmp_path / "disks", 2, LOG)
    done = plan(tmp_path / "disks", *ALL_LOST, new="101@[::1]:9093")
    assert done.code == 0, done.stderr
    told = " ".join(_steps(tmp_path))
    for words in ("--bootstrap-controller [::1]:9093", "listeners=CONTROLLER://[::1]:9093"):
        assert words in told
    assert "voters=101@[::1]:9093" in told
    assert "on the host of [::1]:9093" in done.stderr


def _steps(home: Path) -> tuple[str, ...]:
    path = home / "plan.json"
    return read_quorum_plan(path.read_text(), str(path)).steps


def test_a_survivor_of_a_dynamic_quorum_is_told_to_join(tmp_path: Path) -> None:
    for node in (1, 2, 103):
        write_node(tmp_path / "disks", node, dynamic_log())
    done = plan(tmp_path / "disks", "--lost-controllers", "101,102", new="200@127.0.0.1:1")
    assert done.code == 0, done.stderr
    (step,) = (each for each in _steps(tmp_path) if "controllers [103] live" in each)
    assert "add-controller" in step


def test_where_no_copy_is_sound_those_that_could_not_be_read_are_told_too(tmp_path: Path) -> None:
    parts = LOG.and_then(1, NO_OP).encoded()
    broken = parts[2][:-1] + bytes([parts[2][-1] ^ 1])
    write_node(tmp_path, 1, LOG, data=b"".join([*parts[:2], broken, *parts[3:]]))
    found = replace(looked(tmp_path), unread=("/data/2: it is gone",))
    assert found.best is None
    codes = [finding.code for finding in no_sound_copy(found)]
    assert codes == ["metadata_copy_not_read", "metadata_copy_damaged"]
