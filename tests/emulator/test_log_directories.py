"""Brokers with several disks: where replicas are, what fails with one, what a new one brings."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka.protocol.admin.cluster import AlterReplicaLogDirsRequest

from kafka_unclean_recovery.emulator import Cluster, Options
from kafka_unclean_recovery.emulator.apis.supported import apis
from kafka_unclean_recovery.emulator.broker.broker import Process
from kafka_unclean_recovery.emulator.disks.data_directory import open_cluster
from kafka_unclean_recovery.emulator.emulation import Emulation, Settings
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules.partition import PartitionRegistration
from kafka_unclean_recovery.kraft_rules.records import TopicIdPartition
from kafka_unclean_recovery.kraft_rules.releases import KIP_966
from tests.emulator.steps import TOPIC, TOPIC_ID
from tests.log_dir.segments import v2

PARTITIONS = range(4)


def _opened(directory: Path, disks: int = 2, brokers: int = 2) -> Emulation:
    """Return a cluster with every broker running."""
    ids = range(1, brokers + 1)
    emulation = open_cluster(directory, ids, "4.3.1", Settings(), disks)
    for id_ in ids:
        emulation.start(emulation.brokers[id_])
    return emulation


def _filled(directory: Path, disks: int = 2, min_isr: int = 1) -> Emulation:
    """Return a cluster with TOPIC on both brokers, 1 leading, ten records a partition."""
    emulation = _opened(directory, disks)
    configs = {"min.insync.replicas": str(min_isr)}
    assignment = dict.fromkeys(PARTITIONS, (1, 2))
    assert emulation.happen(ev.CreateTopic(TOPIC, TOPIC_ID, assignment, configs)) == ev.Response()
    for number in PARTITIONS:
        _write(emulation, number)
    return emulation


def _write(emulation: Emulation, number: int) -> None:
    key = TopicIdPartition(TOPIC_ID, number)
    leader = emulation.brokers[_partition(emulation, number).leader]
    leader.append_as_leader(leader.replicas[key], v2(count=10, epoch=-1))
    emulation.replicate(key)


def _partition(emulation: Emulation, number: int) -> PartitionRegistration:
    return emulation.state.topics[TOPIC_ID].partitions[number]


def _on(emulation: Emulation, broker: int, index: int) -> list[int]:
    """Return the partitions that the broker has open on this disk."""
    found = emulation.brokers[broker]
    return [
        key.partition
        for key, replica in found.replicas.items()
        if found.log_directory_of(replica) is found.directories[index]
    ]


def _ends(emulation: Emulation, broker: int) -> dict[int, int]:
    replicas = emulation.brokers[broker].replicas
    return {key.partition: replica.log.end_offset for key, replica in replicas.items()}


def _known_right(emulation: Emulation) -> bool:
    """Return whether the controller has every open replica where it is."""
    return all(
        partition.directories[partition.replicas.index(broker.id)]
        == broker.log_directory_of(replica).id
        for broker in emulation.brokers.values()
        for key, replica in broker.replicas.items()
        for partition in [_partition(emulation, key.partition)]
    )


def test_replicas_are_spread_and_the_controller_is_told_where_they_are(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    assert [len(_on(emulation, 1, index)) for index in (0, 1)] == [2, 2]
    assert _known_right(emulation)
    # That is not a new leader, nor another ISR.
    assert [_partition(emulation, n).leader_epoch for n in PARTITIONS] == [0] * 4
    properties = [each.path / "meta.properties" for each in emulation.brokers[1].directories]
    texts = [path.read_text() for path in properties]
    assert all("node.id=1\n" in text for text in texts)
    assert texts[0] != texts[1]


@pytest.mark.not_emulated("moving replicas between disks")
def test_no_replica_is_moved_to_another_disk() -> None:
    assert AlterReplicaLogDirsRequest.API_KEY not in apis(KIP_966, None)


def test_a_restart_finds_them_where_they_were(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    before = [_on(emulation, 1, index) for index in (0, 1)]
    for stop in (emulation.kill, emulation.stop):
        stop(emulation.brokers[1])
        emulation.start(emulation.brokers[1])
        assert [_on(emulation, 1, index) for index in (0, 1)] == before
        assert [each.replicas for each in emulation.brokers[1].directories] == [2, 2]
        assert _ends(emulation, 1) == dict.fromkeys(PARTITIONS, 10)


def test_a_clean_stop_counts_only_when_every_disk_says_so(tmp_path: Path) -> None:
    emulation = _filled(tmp_path, min_isr=2)

    def stopped_and_started() -> int:
        return emulation.brokers[1].boot()

    epoch = emulation.brokers[1].epoch
    emulation.stop(emulation.brokers[1])
    first, second = (d.path / ".kafka_cleanshutdown" for d in emulation.brokers[1].directories)
    kept = first.read_text()
    assert kept == second.read_text()
    assert stopped_and_started() == epoch
    for texts in ([kept], [kept, kept.replace(str(epoch), "1")]):
        for path, text in zip((first, second), texts, strict=False):
            path.write_text(text)
        assert stopped_and_started() == -1


def test_a_disk_that_fails_takes_its_replicas_and_no_others(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    lost, kept = _on(emulation, 1, 1), _on(emulation, 1, 0)
    failed = emulation.brokers[1].directories[1].id
    emulation.lose_disk(emulation.brokers[1], 1)
    assert emulation.brokers[1].process is Process.RUNNING
    assert [_partition(emulation, n).leader for n in lost] == [2, 2]
    assert [_partition(emulation, n).isr for n in lost] == [(2,), (2,)]
    assert [_partition(emulation, n).leader for n in kept] == [1, 1]
    assert failed not in emulation.state.brokers[1].log_dirs
    assert set(emulation.brokers[1].absent.values()) == {56}
    assert {key.partition for key in emulation.brokers[1].absent} == set(lost)
    # It is said once, and heard once.
    offset = emulation.state.end_offset
    emulation.tick(1.0)
    assert emulation.state.end_offset == offset
    for number in PARTITIONS:
        _write(emulation, number)
    assert _ends(emulation, 2) == dict.fromkeys(PARTITIONS, 20)
    assert _ends(emulation, 1) == dict.fromkeys(kept, 20)


def test_a_new_replica_goes_to_a_disk_that_works(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    emulation.lose_disk(emulation.brokers[1], 1)
    id_ = TopicIdPartition(TOPIC_ID, 0).topic_id
    created = ev.CreateTopic("new", type(id_)(int=77), {0: (1,), 1: (1,)})
    assert emulation.happen(created) == ev.Response()
    names = {path.name for path in emulation.brokers[1].directory.iterdir()}
    assert {"new-0", "new-1"} <= names


def test_a_deleted_topic_is_not_missed_any_more(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    emulation.lose_disk(emulation.brokers[1], 1)
    emulation.happen(ev.DeleteTopic(TOPIC))
    assert emulation.brokers[1].absent == {}
    assert [each.replicas for each in emulation.brokers[2].directories] == [0, 0]


def test_without_the_disk_of_the_metadata_log_a_broker_dies(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    emulation.lose_disk(emulation.brokers[1], 0)
    assert emulation.brokers[1].process is Process.DEAD
    with pytest.raises(ValueError) as raised:
        emulation.start(emulation.brokers[1])
    assert "wipe it first" in str(raised.value)
    emulation.expire(1)
    emulation.wipe(emulation.brokers[1], 0)
    emulation.start(emulation.brokers[1])
    assert _ends(emulation, 1) == dict.fromkeys(PARTITIONS, 10)
    assert _known_right(emulation)


def test_a_broker_whose_disk_was_lost_stays_down_when_its_cluster_is_opened_again(
    tmp_path: Path,
) -> None:
    options = Options(brokers=2, data_dir=tmp_path)
    with Cluster(options) as cluster:
        cluster.lose_disk(1)
    with Cluster(options) as again:
        assert again.look(lambda e: [b.running for b in e.brokers.values()]) == [False, True]
        with pytest.raises(ValueError):
            again.start(1)
        again.wipe(1)
        again.start(1)
        assert again.look(lambda e: e.state.active(1))


def test_a_broker_that_starts_with_a_failed_disk_leaves_its_replicas_alone(
    tmp_path: Path,
) -> None:
    emulation = _filled(tmp_path, min_isr=2)
    lost = _on(emulation, 1, 1)
    emulation.stop(emulation.brokers[1])
    emulation.lose_disk(emulation.brokers[1], 1)
    emulation.start(emulation.brokers[1])
    assert {key.partition: e for key, e in emulation.brokers[1].absent.items()} == dict.fromkeys(
        lost, 6
    )
    assert all(1 not in _partition(emulation, n).isr for n in lost)
    # Not all disks say that it stopped in order.
    assert all(1 not in _partition(emulation, n).elr for n in PARTITIONS)
    assert not any(_partition(emulation, n).leader == -1 for n in PARTITIONS)


@pytest.mark.parametrize("disks", [1, 2])
def test_a_wiped_disk_is_filled_again_by_the_others(tmp_path: Path, disks: int) -> None:
    emulation = _filled(tmp_path, disks)
    wiped = disks - 1
    before = emulation.brokers[1].directories[wiped].id
    emulation.kill(emulation.brokers[1])
    emulation.expire(1)
    emulation.wipe(emulation.brokers[1], wiped)
    emulation.start(emulation.brokers[1])
    assert emulation.brokers[1].directories[wiped].id != before
    assert _ends(emulation, 1) == dict.fromkeys(PARTITIONS, 10)
    assert _known_right(emulation)
    assert all(set(_partition(emulation, n).isr) == {1, 2} for n in PARTITIONS)


@pytest.mark.parametrize("disks", [1, 2])
def test_a_disk_that_is_exchanged_twice_is_there_again_with_what_it_held(
    tmp_path: Path, disks: int
) -> None:
    """Meanwhile the broker runs on an empty one, which nobody can fill: the other is dead."""
    emulation = _filled(tmp_path, disks)
    one, other, index = emulation.brokers[1], emulation.brokers[2], disks - 1
    for broker in (other, one):
        emulation.kill(broker)
        emulation.expire(broker.id)
    before = one.directories[index].id
    on_it = {n for n in PARTITIONS if (one.directories[index].path / f"{TOPIC}-{n}").is_dir()}
    emulation.exchange_disk(one, index)
    assert one.directories[index].id != before
    emulation.start(one)
    assert on_it
    assert all(_ends(emulation, 1).get(n, 0) == 0 for n in on_it)
    emulation.kill(one)
    emulation.expire(1)
    emulation.exchange_disk(one, index)
    assert one.directories[index].id == before
    emulation.start(one)
    assert _ends(emulation, 1) == dict.fromkeys(PARTITIONS, 10)


def test_a_wiped_leader_without_elr_is_no_leader_by_itself(tmp_path: Path) -> None:
    """With min ISR 2 the ELR would have it, had it not come back empty (KIP-966)."""
    emulation = _filled(tmp_path, disks=1, min_isr=2)
    for id_ in (1, 2):
        emulation.kill(emulation.brokers[id_])
        emulation.expire(id_)
    assert _partition(emulation, 0).elr == (1, 2)
    emulation.wipe(emulation.brokers[1], 0)
    emulation.start(emulation.brokers[1])
    assert (_partition(emulation, 0).leader, _partition(emulation, 0).elr) == (-1, (2,))


def test_the_disks_are_the_same_after_a_restart_of_the_emulator(tmp_path: Path) -> None:
    emulation = _filled(tmp_path)
    for id_ in (1, 2):
        emulation.kill(emulation.brokers[id_])
    emulation.lose_disk(emulation.brokers[2], 1)
    again = _opened(tmp_path)
    assert _ends(again, 1) == dict.fromkeys(PARTITIONS, 10)
    assert len(again.brokers[2].absent) == 2
    with pytest.raises(ValueError) as raised:
        _opened(tmp_path, disks=1)
    assert "broker-1-disk-1 would be left out" in str(raised.value)
