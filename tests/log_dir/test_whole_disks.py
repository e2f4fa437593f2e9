"""What the metadata puts on a disk that was read, and what is not there; which copies count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from msgspec import structs

from kafka_unclean_recovery.log_dir.clean_stop import clean_by_broker
from kafka_unclean_recovery.log_dir.directory_names import parse_partition_directory
from kafka_unclean_recovery.log_dir.future_replicas import homes, replaced, taken_into_use
from kafka_unclean_recovery.log_dir.local_folder import LocalLocation
from kafka_unclean_recovery.log_dir.log_directory import LogDirectory
from kafka_unclean_recovery.log_dir.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    PartitionRegistration,
    partition_states,
)
from kafka_unclean_recovery.log_dir.scan_rows import (
    FoundLogs,
    directories_in_metadata,
    partition_info,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import MetaProperties
from kafka_unclean_recovery.log_dir.whole_disks import (
    by_id,
    read_directories,
    whole_disks,
    with_gone_replicas,
)
from kafka_unclean_recovery.model import PartitionInfo, TopicPartition, WholeDisk
from kafka_unclean_recovery.planning.started_replica import GONE

TOPIC_ID, FIRST, SECOND, OTHERS = (UUID(int=1000 + n) for n in range(4))
WHERE = TopicPartition("orders", 0)
COPY = f"orders-0.{'0' * 32}-future"


def image(home: UUID = FIRST, log_dirs: tuple[UUID, ...] = (FIRST, SECOND)) -> MetadataImage:
    """Return an image: orders-0 is on brokers 1 and 2; broker 1 has two log directories."""
    registered = BrokerRegistration(1, 5, UUID(int=1), True, False, (), None, log_dirs)
    found = PartitionRegistration(
        (1, 2), (1,), -1, 4, 7, elr=(), last_known_elr=(), directories=(home, OTHERS)
    )
    return MetadataImage({1: registered}, {TOPIC_ID: "orders"}, {TOPIC_ID: {0: found}})


def directory(id_: UUID, *names: str, node: int = 1, used: bool = True) -> LogDirectory:
    replicas = {name: parse_partition_directory(name) for name in names}
    return LogDirectory(
        LocalLocation(Path(f"/data-{id_.int}")),
        MetaProperties(1, node, "c-1", str(id_)),
        False,
        {},
        {},
        {},
        frozenset(),
        {name: replica for name, replica in replicas.items() if replica is not None},
        (),
        used=used,
    )


def part(of: MetadataImage) -> PartitionInfo:
    (state,) = partition_states(of)
    return partition_info(WHERE, state, FoundLogs(), (), compacted=False, covered=())


def with_gone(of: MetadataImage, here: Sequence[LogDirectory]) -> PartitionInfo:
    found = part(of)
    return with_gone_replicas(
        found, directories_in_metadata(of, found.state), by_id(list(read_directories(here, of)))
    )


def test_a_broker_is_read_whole_when_all_that_it_registered_is_here() -> None:
    both = [directory(FIRST), directory(SECOND)]
    assert whole_disks(both, image()) == (WholeDisk(1, "/data-1001"),)
    assert whole_disks(both[:1], image()) == ()
    linked = [replace(both[0], left_out=frozenset({"orders-0"})), both[1]]
    assert whole_disks(linked, image()) == ()
    # Nobody told how many it has, unless no broker has run on what is here.
    assert whole_disks(both, MetadataImage()) == ()
    assert whole_disks([directory(FIRST, used=False)], MetadataImage()) != ()
    assert whole_disks([directory(FIRST, "orders-0", used=False)], MetadataImage()) == ()


@pytest.mark.parametrize(("epoch", "clean"), [(4, False), (5, True), (6, True)])
def test_a_stop_is_not_clean_where_the_broker_has_registered_since(epoch: int, clean: bool) -> None:
    """Its marker is of an older copy of the disk, and the controller is told the epoch in it."""
    stopped = replace(directory(FIRST), stopped_clean=True, stopped_epoch=epoch)
    assert clean_by_broker([stopped], image()) == {1: clean}
    (read,) = read_directories([stopped], image())
    assert read.disk.stopped_clean is clean
    # Nobody told in which epoch it was registered.
    assert clean_by_broker([stopped], MetadataImage()) == {1: True}


def test_a_replica_is_gone_where_its_own_directory_was_read_and_lacks_it() -> None:
    here = [directory(FIRST, "audit-0")]
    (log,) = with_gone(image(), here).replica_logs
    assert (log.broker, log.problem, log.scanned and log.scanned.directory) == (
        1,
        GONE,
        "/data-1001/orders-0",
    )
    elsewhere = image(home=SECOND)
    assert with_gone(elsewhere, here).replica_logs == ()
    linked = [replace(here[0], left_out=frozenset({"orders-0"}))]
    assert with_gone(image(), linked).replica_logs == ()


def test_a_copy_is_taken_into_use_where_the_metadata_has_it() -> None:
    named = homes(image(), {1})
    taken = taken_into_use([directory(FIRST, COPY), directory(SECOND)], named, {})
    assert taken == {f"/data-1001/{COPY}": (1, WHERE)}
    assert not taken_into_use([directory(FIRST), directory(SECOND, COPY)], named, {})
    assert not taken_into_use([directory(FIRST, COPY)], {}, {})


def test_a_copy_of_this_very_topic_takes_the_place_of_the_replica_that_it_was_made_of() -> None:
    here = [directory(FIRST, COPY), directory(SECOND, "orders-0", "audit-0")]
    named = homes(image(), {1})
    copy = f"/data-1001/{COPY}"
    taken = taken_into_use(here, named, {copy: str(TOPIC_ID)})
    assert taken == {copy: (1, WHERE)}
    assert replaced(here, taken) == {"/data-1002/orders-0": copy}
    # One of another topic, or without its partition.metadata, is put aside.
    for id_ in (str(OTHERS), None):
        assert not taken_into_use(here, named, {copy: id_})


def test_a_stray_of_a_partition_that_is_assigned_still_is_told_apart() -> None:
    (state,) = partition_states(image())
    aside = FoundLogs(strays=[(1, f"/data-1001/orders-0.{'0' * 32}-stray")])
    (told,) = partition_info(WHERE, state, aside, (), compacted=False, covered=()).findings
    assert "though the partition is assigned to it, as its partition.metadata was" in told.message
    moved = structs.replace(state, replicas=(2, 3))
    (told,) = partition_info(WHERE, moved, aside, (), compacted=False, covered=()).findings
    assert "that was not assigned to it any more" in told.message
