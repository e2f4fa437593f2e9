"""Which copy is the best, where copies part, and where each ends."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.image import Endpoint
from kafka_unclean_recovery.log_dir.small_files.properties_files import kafka_uuid
from kafka_unclean_recovery.quorum.copies import Copy, Voter
from kafka_unclean_recovery.quorum.data_signs import Signs
from kafka_unclean_recovery.quorum.document import inspect_json, render_inspect
from kafka_unclean_recovery.quorum.parting import Relation
from kafka_unclean_recovery.quorum.prospects import prospects
from kafka_unclean_recovery.quorum.refusals import Wishes, stuck_voters
from kafka_unclean_recovery.quorum.survey import Compared, Survey, survey
from tests.log_dir.cluster_metadata_encoder import NO_OP, config, leader_change, topic
from tests.quorum.disks import METADATA, SEGMENT, directory_id, dynamic_log, static_log, write_node

LOG = static_log()


def looked(path: Path) -> Survey:
    return survey([LocalLocation(path)], lambda _: None)


def other(found: Survey) -> Compared:
    (only,) = found.others
    return only


def best(found: Survey) -> Copy:
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

    found = survey([LocalLocation(tmp_path)], gone)
    assert (best(found).node, found.others) == (1, ())
    (said,) = found.unread
    assert str(home) in said
