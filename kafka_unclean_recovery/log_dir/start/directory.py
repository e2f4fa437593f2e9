"""Find what keeps a broker from starting on a log directory, or takes the directory offline.

Everything here is read from listings and small files; which end a replica's log has after the start
is told by replica_scan.py. Source: kafka.log.LogManager (loadLogs, loadLog), LogLoader, UnifiedLog,
kafka.raft.KafkaMetadataLog, org.apache.kafka.raft.FileQuorumStateStore,
kafka.server.KafkaRaftServer.initializeLogDirs, and starts of real brokers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC
from kafka_unclean_recovery.log_dir.small_files import checkpoints
from kafka_unclean_recovery.log_dir.small_files.properties_files import PARTITION_METADATA
from kafka_unclean_recovery.log_dir.start import names
from kafka_unclean_recovery.log_dir.start.fate import Cause, DirectoryStart, Fate
from kafka_unclean_recovery.log_dir.start.metadata_log import bootstrap_causes
from kafka_unclean_recovery.log_dir.start.replica import replica_causes
from kafka_unclean_recovery.log_dir.start.text_files import (
    Crash,
    DiskError,
    checkpoint_entries,
    offset_entry,
)
from kafka_unclean_recovery.log_dir.tree import Entry, Folder, Location, Unreadable

CLEANED = "cleaner-offset-checkpoint"
_METADATA_LOG = f"{CLUSTER_METADATA_TOPIC}-0"
_ASIDE = "move it out of the log directory"
_REMEDIES = {
    checkpoints.RECOVERY_POINTS: f"{_ASIDE}: the start then recovers all logs from their beginning",
    checkpoints.LOG_STARTS: (
        f"{_ASIDE}: logs then start at their first segment, so that records which DeleteRecords"
        " took out may be seen again"
    ),
    checkpoints.HIGH_WATERMARKS: (
        f"{_ASIDE}: high watermarks then begin at the log start, and rise again by themselves"
    ),
    CLEANED: f"{_ASIDE}: the log cleaner then begins anew",
}
# A number that is none makes a broker read these as if they were empty.
_READ_AS_EMPTY = (checkpoints.RECOVERY_POINTS, checkpoints.LOG_STARTS)


def directory_start(location: Location, *, zookeeper: bool = False) -> DirectoryStart:
    """Read what decides of the start of one log directory. zookeeper: of a broker that runs on
    ZooKeeper, which puts nothing aside. Raises Unreadable when it can't be listed."""
    with location.open() as folder:
        found = _causes(location, folder, puts_aside=not zookeeper)
        causes = sorted(found, key=lambda cause: cause.file)
        metadata = any(entry.name == _METADATA_LOG for entry in folder.entries())
    return DirectoryStart(str(location), tuple(causes), metadata)


def _causes(location: Location, folder: Folder, *, puts_aside: bool) -> Iterator[Cause]:
    checkpoints_ = [each for file in _REMEDIES for each in _checkpoint(location, folder, file)]
    yield from checkpoints_
    offline = any(cause.file.endswith(_READ_AS_EMPTY) for cause in checkpoints_)
    for entry in folder.entries():
        # A broker follows a link to a directory; we judge such a directory by its name alone.
        if not entry.is_directory and entry.target is None:
            continue
        if entry.name == names.REMOTE_INDEX_CACHE:
            continue
        if names.keeps_a_broker_from_starting(entry.name):
            yield _foreign(location, entry)
        elif entry.is_directory:
            yield from _replica(location, folder, entry.name)
            if offline and puts_aside:
                yield from _can_not_be_put_aside(location, folder, entry.name)


def causes_beside_replicas(location: Location, folder: Folder) -> Iterator[Cause]:
    """Yield what fails the start in the controllers' log and in directories of replicas that are
    not in use: no scan of replicas comes to those."""
    for entry in folder.entries():
        if entry.is_directory and entry.name != names.REMOTE_INDEX_CACHE:
            replica = names.replica_of_directory(entry.name)
            of_controllers = replica is not None and replica[0] == CLUSTER_METADATA_TOPIC
            if of_controllers or (replica and entry.name.endswith(names.OUT_OF_USE)):
                yield from _replica(location, folder, entry.name)


def _can_not_be_put_aside(location: Location, folder: Folder, name: str) -> Iterator[Cause]:
    """Yield a replica without a topic id: the start renames it, and the broker ends where the
    directory went offline before."""
    in_use = not name.endswith(("-delete", "-stray"))
    if in_use and names.replica_of_directory(name) != (CLUSTER_METADATA_TOPIC, 0):
        with suppress(Unreadable), folder.folder(name) as inside:
            if inside.read_whole(PARTITION_METADATA) is None:
                why = "it has no topic id, and can't be put aside in a directory that is offline"
                yield Cause(Fate.ENDS, str(location / name), why, "mend the checkpoint file first")


def _foreign(location: Location, entry: Entry) -> Cause:
    return Cause(
        Fate.ENDS,
        str(location / entry.name),
        "a directory of this name is no replica's: a broker refuses to start with it",
        "move it out of the log directory",
    )


def _checkpoint(location: Location, folder: Folder, file: str) -> Iterator[Cause]:
    try:
        checkpoint_entries(folder.read_whole(file) or b"", offset_entry)
    except Crash as error:
        if file not in _READ_AS_EMPTY:
            yield Cause(Fate.OFFLINE, str(location / file), str(error), _REMEDIES[file])
    except (DiskError, Unreadable) as error:
        yield Cause(Fate.OFFLINE, str(location / file), str(error), _REMEDIES[file])


def _replica(location: Location, folder: Folder, name: str) -> Iterator[Cause]:
    replica = names.replica_of_directory(name)
    metadata = replica is not None and replica[0] == CLUSTER_METADATA_TOPIC
    if metadata:
        yield from bootstrap_causes(location, folder)
    try:
        with folder.folder(name) as inside:
            yield from replica_causes(location / name, inside, cluster_metadata=metadata)
    except Unreadable as error:
        fate = Fate.ENDS if metadata else Fate.OFFLINE
        yield Cause(fate, str(location / name), str(error), "make it readable for the broker")
