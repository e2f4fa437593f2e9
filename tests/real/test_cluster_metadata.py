"""The metadata logs of real clusters, read as kafka-dump-log.sh reads them and as a broker saw it.

Everything here is found in files at rest: the clusters were made once and killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.metadata.image import (
    MetadataImage,
    partition_states,
)
from tests.log_dir.cluster_metadata_json import partition_epochs
from tests.real.cluster_metadata_recipe import MetadataAtRest, metadata_at_rest, saved
from tests.real.dumped_metadata import dumped, ours, records
from tests.real.releases import READ_ONLY, TESTED

VERSIONS = (*TESTED, READ_ONLY)
CONTROLLER = 101
LAST_ALIVE = 1


@pytest.fixture(scope="module")
def _made(request: pytest.FixtureRequest) -> None:
    """Make all at once, for each waits a minute until its nodes delete what is old."""
    chosen = {
        item.callspec.params["at_rest"]
        for item in request.session.items
        if item.path == request.path and isinstance(item, pytest.Function)
    }
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda version: saved(version).archive(), chosen))


@pytest.fixture(scope="module", params=VERSIONS)
def at_rest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _made: None
) -> MetadataAtRest:
    return metadata_at_rest(request.param, tmp_path_factory.mktemp(request.param))


def _files(directory: Path) -> list[MetadataFile]:
    return [
        MetadataFile.of(path.name, path.read_bytes())
        for path in directory.iterdir()
        if is_metadata_file(path.name)
    ]


def _read(directory: Path) -> ClusterMetadata:
    return read_metadata(_files(directory))


def test_every_record_is_as_kafka_dump_log_has_it(at_rest: MetadataAtRest) -> None:
    logs = [*at_rest.logs().values(), *at_rest.logs(before_deletion=True).values()]
    paths = [p for log in logs for p in sorted(log.iterdir()) if is_metadata_file(p.name)]
    theirs = dumped(at_rest.version, paths)
    for path in paths:
        assert list(ours(path, theirs[path])) == theirs[path], path


def test_the_records_are_of_many_kinds(at_rest: MetadataAtRest) -> None:
    """What the test above would not notice, were it missing."""
    logs = [*at_rest.logs().values(), *at_rest.logs(before_deletion=True).values()]
    kinds = {record.name for log in logs for file in _files(log) for record in records(file)}
    expected = {
        "BeginTransactionRecord",
        "BrokerRegistrationChangeRecord",
        "ClientQuotaRecord",
        "ConfigRecord",
        "EndTransactionRecord",
        "FeatureLevelRecord",
        "LeaderChangeMessage",
        "NoOpRecord",
        "PartitionChangeRecord",
        "PartitionRecord",
        "ProducerIdsRecord",
        "RegisterBrokerRecord",
        "RemoveTopicRecord",
        "RemoveUserScramCredentialRecord",
        "SnapshotFooterRecord",
        "SnapshotHeaderRecord",
        "TopicRecord",
        "UserScramCredentialRecord",
    }
    if at_rest.version != READ_ONLY:
        expected |= {"RegisterControllerRecord"}
    if at_rest.version.startswith("4"):
        expected |= {"ClearElrRecord"}
    assert expected <= kinds


def test_partitions_are_as_the_last_broker_described_them(at_rest: MetadataAtRest) -> None:
    for node in (CONTROLLER, LAST_ALIVE):
        found = _read(at_rest.logs()[node])
        assert partition_states(found.image) == list(at_rest.states)
        assert (found.stopped, found.problems) == (None, ())
        assert not [*found.image.unknown, *found.image.unknown_tags, *found.image.unreplayed]


def test_what_was_described_was_worth_describing(at_rest: MetadataAtRest) -> None:
    states = {str(state.topic_partition): state for state in at_rest.states}
    assert states["alone-0"].leader == states["pair-0"].leader == -1
    assert states["orders-3"].offline_replicas == (3, 2)
    assert states["orders-3"].leader_epoch > 0
    assert states["growing-0"].adding_replicas == (2,)
    assert "doomed-0" not in states
    if at_rest.version.startswith("4"):
        assert (states["orders-0"].isr, states["orders-0"].elr) == ((1,), (2,))
        assert states["pair-0"].isr == ()
        assert states["pair-0"].last_known_elr != ()
        assert states["cleared-0"].elr == ()
    else:
        assert states["pair-0"].isr == (2,)


def test_it_began_with_a_snapshot_once_segments_were_deleted(at_rest: MetadataAtRest) -> None:
    for node, log in at_rest.logs().items():
        found = _read(log)
        assert found.snapshot is not None, node
        assert not (log / f"{0:020}.log").exists()
        # Equal, where the snapshot was the last thing that the node wrote.
        assert found.end_offset >= found.committed_to > 0
        assert found.last_epoch == 2
        # Only the log says who leads, and its beginning is gone.
        assert (found.image.voters, found.image.quorum_leader) == ((), None)
    for log in at_rest.logs(before_deletion=True).values():
        segments = [file for file in _files(log) if file.name.endswith(".log")]
        found = read_metadata(segments)
        assert (found.image.voters, found.image.quorum_leader) == ((CONTROLLER,), CONTROLLER)


def test_whoever_died_first_knows_least(at_rest: MetadataAtRest) -> None:
    read = {node: _read(log) for node, log in at_rest.logs().items()}
    assert read[3].authority <= read[2].authority < read[1].authority
    assert read[1].authority <= read[CONTROLLER].authority
    assert read[3].last_timestamp_ms is not None
    assert read[1].last_timestamp_ms is not None
    assert read[3].last_timestamp_ms < read[1].last_timestamp_ms


def test_the_log_replayed_from_its_beginning_is_what_kafka_put_into_snapshots(
    at_rest: MetadataAtRest,
) -> None:
    """Kafka's own state machine is the judge here: of partition epochs too, and directories."""
    compared = 0
    for log in at_rest.logs(before_deletion=True).values():
        files = _files(log)
        segments = [file for file in files if file.name.endswith(".log")]
        for snapshot in (file for file in files if file.name.endswith(".checkpoint")):
            kept = read_metadata([snapshot])
            if kept.end_offset == 0:
                # What 4.4 formats a controller with. The log repeats it, and begins thereafter.
                assert kept.image == MetadataImage(features=kept.image.features)
                continue
            replayed = read_metadata(_until(segments, kept.end_offset))
            assert (replayed.end_offset, replayed.last_epoch) == (kept.end_offset, kept.last_epoch)
            assert _comparable(replayed.image) == _comparable(kept.image), snapshot.name
            assert partition_epochs(replayed.image) == partition_epochs(kept.image)
            assert replayed.last_timestamp_ms == kept.last_timestamp_ms
            compared += 1
    assert compared >= 4


def test_a_damaged_newest_snapshot_costs_nothing_while_the_log_is_there(
    at_rest: MetadataAtRest,
) -> None:
    log = at_rest.logs(before_deletion=True)[CONTROLLER]
    files = {file.name: file for file in _files(log)}
    whole = read_metadata(files.values())
    newest = max(name for name in files if name.endswith(".checkpoint"))
    content = files[newest].read_at(0, files[newest].size)
    files[newest] = MetadataFile.of(newest, content[: len(content) // 2])
    found = read_metadata(files.values())
    assert partition_states(found.image) == partition_states(whole.image)
    assert (found.end_offset, len(found.problems)) == (whole.end_offset, 1)


def _until(segments: list[MetadataFile], end: int) -> Iterator[MetadataFile]:
    """Yield the files of the log as it was when it ended there."""
    for segment in segments:
        batches = [b for b in read_batches(segment) if b.end_offset <= end]
        if batches:
            *_, last = batches
            after = [b.position for b in read_batches(segment) if b.position > last.position]
            size = after[0] if after else segment.size
            yield MetadataFile.of(segment.name, segment.read_at(0, size))


def _comparable(image: MetadataImage) -> list[Any]:
    return [image.brokers, image.topics, image.partitions, image.configs, image.features]
