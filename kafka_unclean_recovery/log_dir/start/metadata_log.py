"""Find what fails a start in the controllers' log, which every broker has too: none lives without
it.

Source: org.apache.kafka.raft.FileQuorumStateStore, kafka.raft.KafkaMetadataLog (recoverSnapshots),
org.apache.kafka.raft.internals.KRaftControlRecordStateMachine, which reads the newest snapshot with
the CRCs of its batches; org.apache.kafka.metadata.bootstrap.BootstrapMetadata; starts of real
brokers.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    parse_partition_file,
    segment_base_offset,
)
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    SnapshotId,
    bootstrap_problem,
    is_finished,
)
from kafka_unclean_recovery.log_dir.start.fate import Cause, Fate
from kafka_unclean_recovery.log_dir.tree import Entry, Folder, Location, Unreadable

BOOTSTRAP = "bootstrap.checkpoint"
_METADATA_ANEW = (
    "on a node that is a broker alone move the whole directory away: it fetches the log anew; on a"
    " controller, recover its quorum first"
)
_BOOTSTRAP_ANEW = (
    "move it out of the log directory: it is of use to a controller alone, before its first record"
)


def snapshot_causes(location: Location, folder: Folder, inside: list[Entry]) -> Iterator[Cause]:
    """Yield a cause where no snapshot reaches the beginning of the log, or the newest snapshot is
    damaged: a node looks at no older one."""
    begins = min((o for e in inside if (o := segment_base_offset(e.name)) is not None), default=0)
    snapshots = sorted(
        (SnapshotId(file.offset, file.epoch or 0), entry)
        for entry in inside
        if (file := parse_partition_file(entry.name))
        and file.kind is FileKind.METADATA_SNAPSHOT
        and file.state is FileState.LIVE
    )
    if max((id_.offset for id_, _ in snapshots), default=0) < begins:
        why = f"the log begins at {begins}, and no snapshot reaches so far: a node ends over it"
        yield Cause(Fate.ENDS, str(location), why, _METADATA_ANEW)
    elif snapshots:
        yield from _newest(location, folder, *snapshots[-1])


def _newest(location: Location, folder: Folder, id_: SnapshotId, entry: Entry) -> Iterator[Cause]:
    try:
        with folder.opened(entry.name) as file:
            sound = is_finished(id_, MetadataFile(entry.name, file.size, file.read_at))
    except Unreadable as error:
        yield Cause(Fate.ENDS, str(location / entry.name), str(error), _METADATA_ANEW)
        return
    if not sound:
        why = "the newest snapshot is damaged, or was not finished: a node ends over it"
        yield Cause(Fate.ENDS, str(location / entry.name), why, _METADATA_ANEW)


def bootstrap_causes(location: Location, folder: Folder) -> Iterator[Cause]:
    """Yield a cause where a node can't read bootstrap.checkpoint, which it reads at each start.
    folder: the log directory that has the controllers' log."""
    try:
        data = folder.read_whole(BOOTSTRAP)
        why = None if data is None else bootstrap_problem(BOOTSTRAP, data)
    except Unreadable as error:
        why = str(error)
    if why is not None:
        yield Cause(Fate.ENDS, str(location / BOOTSTRAP), why, _BOOTSTRAP_ANEW)
