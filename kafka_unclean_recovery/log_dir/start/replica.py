"""Find what fails a start in one replica's directory, by its listing and its small files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from uuid import UUID

from kafka_unclean_recovery.log_dir.directory_names import (
    FileKind,
    FileState,
    parse_partition_file,
)
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.checkpoints import LEADER_EPOCHS
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    PARTITION_METADATA,
    kafka_uuid,
)
from kafka_unclean_recovery.log_dir.small_files.quorum_state import (
    QUORUM_STATE,
    parse_quorum_state,
)
from kafka_unclean_recovery.log_dir.small_files.text_lines import INT64_MAX
from kafka_unclean_recovery.log_dir.start import names, text_files
from kafka_unclean_recovery.log_dir.start.fate import Cause, Fate
from kafka_unclean_recovery.log_dir.start.metadata_log import snapshot_causes
from kafka_unclean_recovery.log_dir.start.text_files import Crash, DiskError
from kafka_unclean_recovery.log_dir.start.transaction_index import (
    LEAST_SIZE,
    IndexVerdict,
    transaction_index,
)
from kafka_unclean_recovery.log_dir.tree import Entry, Folder, Location, Unreadable

# org.apache.kafka.common.Uuid.METADATA_TOPIC_ID
CLUSTER_METADATA_ID = UUID(int=1)
_METADATA_ID_TEXT = kafka_uuid(CLUSTER_METADATA_ID)
_EPOCHS_ANEW = (
    "move it out of the log directory, and with it .kafka_cleanshutdown and"
    " recovery-point-offset-checkpoint: the start then recovers all logs, and reads the leader"
    " epochs out of their batches"
)
_ID_ANEW = (
    "write it anew with the topic id that the cluster's metadata has, in two lines, version: 0 and"
    " topic_id: ID; without the file the start puts the replica aside as -stray"
)
_METADATA_ID_ANEW = "move it out of the log directory: the start writes it anew"
_STATE_ANEW = (
    "move it out of the log directory: a node that is a broker alone finds the leader again; on a"
    " controller, recover its quorum first"
)
_INDEX_ANEW = (
    "move it and the .index beside it out of the log directory: the start then recovers that"
    " segment, and builds both anew"
)


def replica_causes(
    location: Location, folder: Folder, *, cluster_metadata: bool = False
) -> Iterator[Cause]:
    """Yield what fails the start in this directory. Raises Unreadable when it can't be listed.
    cluster_metadata: it is the directory of the controllers' log, without which no broker lives."""
    first = list(_read(location, folder, LEADER_EPOCHS, text_files.leader_epochs, _EPOCHS_ANEW))
    for cause in (*first, *_later_causes(location, folder, cluster_metadata)):
        if cluster_metadata:
            yield replace(cause, fate=Fate.ENDS)
        else:
            # A broker that fails over the leader epochs does not come to the rest.
            yield replace(cause, fate=first[0].fate) if first else cause


def _later_causes(location: Location, folder: Folder, cluster_metadata: bool) -> Iterator[Cause]:
    inside = [entry for entry in folder.entries() if entry.is_file]
    for entry in inside:
        if names.file_keeps_a_broker_from_starting(entry.name, cluster_metadata=cluster_metadata):
            why = "a file of this name is not Kafka's: a broker ends over it"
            yield Cause(
                Fate.ENDS, str(location / entry.name), why, "move it out of the log directory"
            )
    topic_id = _metadata_topic_id if cluster_metadata else text_files.topic_id
    remedy = _METADATA_ID_ANEW if cluster_metadata else _ID_ANEW
    yield from _read(location, folder, PARTITION_METADATA, topic_id, remedy)
    if cluster_metadata:
        yield from _read(location, folder, QUORUM_STATE, parse_quorum_state, _STATE_ANEW)
        yield from snapshot_causes(location, folder, inside)
    yield from _transactions(location, folder, inside)


def _read(
    location: Location, folder: Folder, name: str, parse: Callable[[bytes], object], remedy: str
) -> Iterator[Cause]:
    entry = next((entry for entry in folder.entries() if entry.name == name), None)
    if entry is not None and not entry.is_file and not entry.is_directory:
        # A broker follows a link, and takes one that leads nowhere for a file that is missing.
        return
    try:
        data = folder.read_whole(name)
        if data is not None:
            parse(data)
    except (DiskError, Unreadable) as error:
        yield Cause(Fate.OFFLINE, str(location / name), str(error), remedy)
    except (Crash, BadFormat) as error:
        yield Cause(Fate.ENDS, str(location / name), str(error), remedy)


def _metadata_topic_id(data: bytes) -> None:
    """Raise Crash where the file is not of the controllers' log, which has one id everywhere."""
    if text_files.topic_id(data) != CLUSTER_METADATA_ID.bytes:
        raise Crash(f"its topic id is not that of the controllers' log ({_METADATA_ID_TEXT})")


def _transactions(location: Location, folder: Folder, inside: list[Entry]) -> Iterator[Cause]:
    """Yield the transaction indexes that a broker can't read; it reads those whose segment has an
    offset index, and builds the others anew. Those of segments that are replaced it deletes."""
    files = [(file, entry) for entry in inside if (file := parse_partition_file(entry.name))]
    live = {(f.kind, f.offset): entry for f, entry in files if f.state is FileState.LIVE}
    cleaned = min((f.offset for f, _ in files if f.state is FileState.CLEANED), default=INT64_MAX)
    replaced = {
        f.offset
        for f, entry in files
        if (f.state, f.kind) == (FileState.SWAP, FileKind.SEGMENT) and entry.size
    }
    for (kind, offset), entry in live.items():
        if kind is not FileKind.TRANSACTION_INDEX or entry.size < LEAST_SIZE:
            continue
        if offset in replaced and offset < cleaned:
            continue
        if not {(FileKind.SEGMENT, offset), (FileKind.OFFSET_INDEX, offset)} <= live.keys():
            continue
        data = folder.read_whole(entry.name) or b""
        if transaction_index(data, offset) is IndexVerdict.UNKNOWN:
            why = "an entry has a version that is not known"
            yield Cause(Fate.ENDS, str(location / entry.name), why, _INDEX_ANEW)
