"""__cluster_metadata-0 on the emulator's disks, as our own reader of Kafka's finds it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args
from uuid import UUID

import pytest

from kafka_unclean_recovery.emulator.broker.log import sound_batches
from kafka_unclean_recovery.emulator.disks.metadata_records import (
    _ENCODERS,
    bootstrap,
    encode,
    lasting,
)
from kafka_unclean_recovery.emulator.disks.metadata_replicas import MetadataReplicas, first_offset
from kafka_unclean_recovery.emulator.emulation import Emulation
from kafka_unclean_recovery.kraft_rules import events as ev
from kafka_unclean_recovery.kraft_rules import records as rec
from kafka_unclean_recovery.kraft_rules.machine import handle
from kafka_unclean_recovery.kraft_rules.records import Record, TopicIdPartition
from kafka_unclean_recovery.kraft_rules.releases import KAFKA_4_3_1, RELEASES
from kafka_unclean_recovery.kraft_rules.replay import replay
from kafka_unclean_recovery.kraft_rules.state import ControllerFault, State
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import ClusterMetadata, read_metadata
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.newest import newest_metadata
from kafka_unclean_recovery.log_dir.metadata.records import MetadataRecord, decode_record
from tests.emulator.steps import TOPIC, create, elect_unclean, lose, opened, partition, write
from tests.fidelity.generating import Generator
from tests.fidelity.our_side import OurSide
from tests.fidelity.relative import absolute
from tests.fidelity.states import ClusterState, state_of

SEGMENT = f"__cluster_metadata-0/{0:020}.log"
STEPS = 1500
KEY = TopicIdPartition(UUID(int=7), 3)
DIRECTORIES = (UUID(int=101), UUID(int=102))


def _read(log_directory: Path) -> ClusterMetadata:
    found = read_metadata([MetadataFile.of(f"{0:020}.log", _bytes(log_directory))])
    assert (found.stopped, found.image.unreplayed, found.image.unknown) == (None, {}, {})
    return found


def _bytes(log_directory: Path) -> bytes:
    return (log_directory / SEGMENT).read_bytes()


def _on_disk(log_directory: Path) -> ClusterState:
    found = _read(log_directory)
    return state_of(found.image, found.end_offset)


def _of_controller(state: State) -> ClusterState:
    side = OurSide("4.3.1", MetadataImage(), 0)
    side._state = state
    return side.state()


class _Present:
    """Our controller in the place of a real one: the generator sees what is in the records."""

    def __init__(self, release: str) -> None:
        self.release = RELEASES[release]
        self.state = State(self.release, first_offset(self.release))
        self.image = MetadataImage()
        for value in bootstrap(self.release):
            self.image.replay(decode_record(value))
        self.faults = 0

    @property
    def last_offset(self) -> int:
        return self.state.end_offset - 1

    def broker_epoch(self, broker: int) -> int | None:
        found = self.image.brokers.get(broker)
        return None if found is None else found.epoch

    def partition_epochs(self, topic: str, number: int) -> tuple[int, int] | None:
        found = self.state.topic(topic)
        if found is None or number not in found.partitions:
            return None
        return found.partitions[number].leader_epoch, found.partitions[number].partition_epoch

    def happen(self, event: ev.Event) -> list[Record]:
        if isinstance(event, ev.CreateTopic):
            event = replace(event, topic_id=UUID(int=1000 + self.state.end_offset))
        try:
            records, _ = handle(self.state, event)
        except ControllerFault:
            self.faults += 1
            return []
        for record in records:
            replay(self.state, record)
        for value in lasting(records, self.release):
            self.image.replay(decode_record(value))
        return records


@pytest.mark.parametrize("release", RELEASES)
def test_what_the_disk_says_is_what_the_controller_knows_whatever_happens(
    release: str, tmp_path: Path
) -> None:
    now, generator = _Present(release), Generator(seed=5)
    replicas = MetadataReplicas(tmp_path, RELEASES[release])
    replicas.open([])
    # Without it there is hardly an ELR.
    replicas.note(now.happen(ev.AlterClusterConfig("min.insync.replicas", "2")))
    seen: set[type[Record]] = set()
    for step in range(STEPS):
        records = now.happen(absolute(generator.next(now.image), now))
        replicas.note(records)
        if step % 7 == 0:
            replicas.write(())
            assert state_of(now.image, now.state.end_offset) == _of_controller(now.state)
        seen.update(map(type, records))
    replicas.write(())
    assert _on_disk(tmp_path) == _of_controller(now.state)
    assert now.faults == 0
    assert {rec.RegisterBrokerRecord, rec.UnregisterBrokerRecord, rec.PartitionChangeRecord} < seen


EVERY_FIELD: tuple[tuple[Record, dict[str, object]], ...] = (
    (
        rec.BrokerRegistrationChangeRecord(4, 9, False, True, DIRECTORIES),
        {"fenced": -1, "in_controlled_shutdown": 1, "log_dirs": DIRECTORIES},
    ),
    (rec.ClearElrRecord(None), {"topic_name": ""}),
    (rec.FeatureLevelRecord(0), {"name": "eligible.leader.replicas.version", "feature_level": 0}),
    (
        rec.ConfigRecord(None, "k", None),
        {"resource_type": 4, "resource_name": "", "value": None},
    ),
    (
        rec.ConfigRecord(None, "k", "v", broker=3),
        {"resource_type": 4, "resource_name": "3", "name": "k", "value": "v"},
    ),
    (
        rec.PartitionChangeRecord(
            KEY, (1,), -1, (2, 1), DIRECTORIES, (3,), (4,), 1, (5,), (6, 7), 8
        ),
        {
            "isr": (1,),
            "leader": -1,
            "replicas": (2, 1),
            "removing_replicas": (3,),
            "adding_replicas": (4,),
            "leader_recovery_state": 1,
            "eligible_leader_replicas": (5,),
            "last_known_elr": (6, 7),
            "directories": DIRECTORIES,
        },
    ),
)


@pytest.mark.parametrize(("record", "fields"), EVERY_FIELD, ids=lambda each: type(each).__name__)
def test_every_field_of_a_change_is_written(record: Record, fields: dict[str, object]) -> None:
    found = decode_record(encode(record, KAFKA_4_3_1))
    assert isinstance(found, MetadataRecord)
    assert fields.items() <= found.fields.items()


def test_every_record_that_takes_an_offset_has_an_encoding() -> None:
    assert set(_ENCODERS) == set(get_args(Record)) - set(rec.IN_MEMORY)


def test_a_large_event_is_several_batches(tmp_path: Path) -> None:
    replicas = MetadataReplicas(tmp_path, KAFKA_4_3_1)
    replicas.open([])
    replicas.note([rec.TopicRecord("t", KEY.topic_id)])
    keys = [TopicIdPartition(KEY.topic_id, number) for number in range(2_000)]
    replicas.note(rec.PartitionRecord(key, (1, 2), DIRECTORIES * 20, (1, 2), 1) for key in keys)
    replicas.write(())
    assert len(_read(tmp_path).image.partitions[KEY.topic_id]) == len(keys)
    assert len(sound_batches(_bytes(tmp_path))) == 2 + 2


def _dirs(emulation: Emulation, brokers: Iterable[int]) -> list[Path]:
    return [emulation.brokers[id_].directory for id_ in brokers]


def test_a_dead_broker_s_ends_when_it_died_and_catches_up_when_it_starts(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2, 4, 3), min_isr=2)
    one, two = _dirs(emulation, (1, 2))
    emulation.kill(emulation.brokers[2])
    died = _bytes(two)
    emulation.expire(2)
    elect_unclean(emulation)
    assert _bytes(two) == died != _bytes(one)
    assert _bytes(one).startswith(died)
    assert _on_disk(one) == _of_controller(emulation.state)
    assert newest_metadata([LocalLocation(two), LocalLocation(one)]).metadata == _read(one)
    emulation.start(emulation.brokers[2])
    assert _bytes(two) == _bytes(one)


def test_a_paused_broker_s_stands_still_until_it_resumes(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    emulation.pause(emulation.brokers[2])
    one, two = _dirs(emulation, (1, 2))
    paused = _bytes(two)
    create(emulation, (1, 2))
    assert _bytes(two) == paused
    emulation.resume(emulation.brokers[2])
    assert _bytes(two) == _bytes(one) != paused


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: data + b"x"])
def test_a_copy_that_was_torn_is_mended_when_its_broker_starts(
    tmp_path: Path, damage: object
) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    lose(emulation, 2)
    one, two = _dirs(emulation, (1, 2))
    assert callable(damage)
    (two / SEGMENT).write_bytes(damage(_bytes(two)))
    emulation.start(emulation.brokers[2])
    assert _bytes(two) == _bytes(one)
    assert _on_disk(two) == _of_controller(emulation.state)


@pytest.mark.parametrize("lost", [0, 1, 40, 2**20])
def test_the_controller_s_own_is_mended_from_what_it_decided(tmp_path: Path, lost: int) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    write(emulation, 3)
    path = tmp_path / "controller" / SEGMENT
    path.write_bytes(path.read_bytes()[: max(0, path.stat().st_size - lost)])
    again = opened(tmp_path, start=(1,))
    assert _on_disk(tmp_path / "controller") == _of_controller(again.state)
    assert _bytes(again.brokers[1].directory) == _bytes(tmp_path / "controller")


def test_what_was_not_committed_when_the_emulator_died_is_given_up(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    create(emulation, (1, 2))
    lines = tmp_path / "controller" / "metadata.jsonl"
    lines.write_text(lines.read_text()[:-10])
    again = opened(tmp_path, start=())
    assert TOPIC not in again.state.topic_ids
    assert _on_disk(tmp_path / "controller") == _of_controller(again.state)
    again.start(again.brokers[2])
    assert _on_disk(again.brokers[2].directory) == _of_controller(again.state)


def test_no_broker_takes_it_for_a_topic_s_replica(tmp_path: Path) -> None:
    emulation = opened(tmp_path)
    for id_ in (1, 2):
        emulation.stop(emulation.brokers[id_])
        emulation.start(emulation.brokers[id_])
    assert [*tmp_path.rglob("*-stray")] == []
    create(emulation, (1, 2))
    assert partition(emulation).leader == 1


@pytest.mark.not_emulated("the rest of the metadata log")
def test_what_kafka_has_beside_the_records_is_not_there(tmp_path: Path) -> None:
    directory = opened(tmp_path).brokers[1].directory
    names = {path.name for path in (directory / SEGMENT).parent.iterdir()}
    assert names == {f"{0:020}.log", "partition.metadata", "leader-epoch-checkpoint"}


@pytest.mark.not_emulated("endpoints in the metadata log")
def test_registrations_are_written_without_endpoints(tmp_path: Path) -> None:
    directory = opened(tmp_path).brokers[1].directory
    assert [broker.endpoints for broker in _read(directory).image.brokers.values()] == [()] * 4


def test_the_controller_s_directory_is_a_log_directory_too(tmp_path: Path) -> None:
    opened(tmp_path)
    meta = (tmp_path / "controller" / "meta.properties").read_text()
    assert "node.id=3000\n" in meta
    header = json.loads((tmp_path / "controller" / "metadata.jsonl").read_text().splitlines()[0])
    assert f"cluster.id={header['cluster_id']}\n" in meta
