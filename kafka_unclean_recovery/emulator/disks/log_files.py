"""This module writes and reads the files that Kafka keeps in a broker's log directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal
from uuid import UUID, uuid4

from kafka_unclean_recovery.emulator.disks.indexes import Entries
from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.small_files.checkpoints import (
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_STARTS,
    RECOVERY_POINTS,
    parse_offsets,
)
from kafka_unclean_recovery.log_dir.small_files.clean_shutdown import (
    CLEAN_SHUTDOWN,
    parse_clean_shutdown,
)
from kafka_unclean_recovery.log_dir.small_files.properties_files import (
    META_PROPERTIES,
    PARTITION_METADATA,
    MetaProperties,
    kafka_uuid,
    parse_meta_properties,
    parse_partition_metadata,
)

# A log has one segment, because logs neither roll nor lose their beginning.
_FIRST = f"{0:020}"
BASE_OFFSET = 0
SEGMENT = f"{_FIRST}.log"
INDEX, TIME_INDEX = f"{_FIRST}.index", f"{_FIRST}.timeindex"

Offsets = Mapping[tuple[str, int], int]
"""The offsets are keyed by topic and partition."""


def _replace(path: Path, content: str) -> None:
    """Replace a file, so that it afterwards holds all of the new content or none of it."""
    temporary = f"{path}.tmp"
    _write(temporary, content, "wb")
    os.replace(temporary, path)  # noqa: PTH105 - see _write


def _write(path: str, content: str, mode: Literal["wb", "xb"]) -> None:
    # A cluster may have tens of thousands of replicas of five files each, for which Path objects
    # would take longer than the system calls.
    with open(path, mode) as file:  # noqa: PTH123
        file.write(content.encode())


def _checkpoint(lines: Iterable[str]) -> str:
    entries = list(lines)
    return "".join(f"{line}\n" for line in ("0", str(len(entries)), *entries))


# The functions from here are about a log directory's own files.


def format_directory(directory: Path, node_id: int, cluster_id: str) -> MetaProperties:
    """Return the content of meta.properties, written if there is none. Raises BadFormat."""
    path = directory / META_PROPERTIES
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        # The first hundred ids have meanings of their own (DirectoryId).
        directory_id = kafka_uuid(uuid4())
        lines = [
            f"node.id={node_id}",
            f"directory.id={directory_id}",
            "version=1",
            f"cluster.id={cluster_id}",
        ]
        _replace(path, "\n".join(lines) + "\n")
    return parse_meta_properties(path.read_bytes())


def write_high_watermarks(directory: Path, offsets: Offsets) -> None:
    _write_offsets(directory / HIGH_WATERMARKS, offsets)


def write_recovery_points(directory: Path, offsets: Offsets) -> None:
    _write_offsets(directory / RECOVERY_POINTS, offsets)
    # Kafka lists only partitions that have lost their beginning.
    _write_offsets(directory / LOG_STARTS, {})


def _write_offsets(path: Path, offsets: Offsets) -> None:
    entries = (f"{topic} {number} {offset}" for (topic, number), offset in sorted(offsets.items()))
    _replace(path, _checkpoint(entries))


def read_high_watermarks(directory: Path) -> dict[tuple[str, int], int]:
    return _read_offsets(directory, HIGH_WATERMARKS)


def read_recovery_points(directory: Path) -> dict[tuple[str, int], int]:
    return _read_offsets(directory, RECOVERY_POINTS)


def _read_offsets(directory: Path, name: str) -> dict[tuple[str, int], int]:
    """Return the offsets of a checkpoint, none if it is missing or broken (LogManager)."""
    try:
        found = parse_offsets(name, (directory / name).read_bytes())
    except (FileNotFoundError, BadFormat):
        return {}
    return {(tp.topic, tp.partition): offset for tp, offset in found.items()}


def write_clean_shutdown(directory: Path, broker_epoch: int) -> None:
    _replace(directory / CLEAN_SHUTDOWN, f'{{"version":0,"brokerEpoch":{broker_epoch}}}')


def stopped_clean(directory: Path) -> bool:
    """Return whether the clean-shutdown file exists, whatever its content."""
    return (directory / CLEAN_SHUTDOWN).exists()


def take_clean_shutdown(directory: Path) -> int | None:
    """Remove the clean-shutdown file and return its broker epoch, or None if there was none."""
    path = directory / CLEAN_SHUTDOWN
    try:
        found = parse_clean_shutdown(path.read_bytes()).broker_epoch
    except (FileNotFoundError, BadFormat):
        found = None
    path.unlink(missing_ok=True)
    return found


# The functions from here are about the directory of one replica.


def replica_directories(directory: Path) -> list[tuple[str, int, Path]]:
    """Return (topic, partition, path) of every replica of a topic."""
    found = []
    for path in directory.iterdir():
        topic, _, number = path.name.rpartition("-")
        if path.is_dir() and topic != CLUSTER_METADATA_TOPIC and topic and number.isdecimal():
            found.append((topic, int(number), path))
    return sorted(found)


def create_replica(directory: Path, topic_id: UUID) -> None:
    """Create an empty replica. A process that dies meanwhile leaves a replica without a topic id,
    which is set aside later."""
    directory.mkdir(parents=True)
    for name in (SEGMENT, INDEX, TIME_INDEX):
        _write(f"{directory}/{name}", "", "xb")
    _write(f"{directory}/{LEADER_EPOCHS}", _checkpoint(()), "xb")
    metadata = f"version: 0\ntopic_id: {kafka_uuid(topic_id)}"
    _write(f"{directory}/{PARTITION_METADATA}", metadata, "xb")


def topic_id_of(directory: Path) -> UUID | None:
    """Return the topic id in partition.metadata, or None when it has none."""
    try:
        return UUID(parse_partition_metadata((directory / PARTITION_METADATA).read_bytes()))
    except (FileNotFoundError, BadFormat):
        return None


def delete_replica(directory: Path) -> None:
    shutil.rmtree(directory)


def set_aside(directory: Path) -> None:
    """Rename a replica that the broker should not have, as Kafka names a stray one."""
    directory.rename(directory.with_name(f"{directory.name}.{uuid4().hex}-stray"))


def append(directory: Path, data: bytes, entries: Entries) -> None:
    _append(directory / SEGMENT, data)
    append_entries(directory, entries)


def append_entries(directory: Path, entries: Entries) -> None:
    """Append entries to the two indexes of the segment."""
    for name, added in ((INDEX, entries.offsets), (TIME_INDEX, entries.times)):
        if added:
            _append(directory / name, added)


def replace_entries(directory: Path, entries: Entries) -> None:
    """Replace the two indexes. A file that already has the wanted content is not written again."""
    for name, wanted in ((INDEX, entries.offsets), (TIME_INDEX, entries.times)):
        path = directory / name
        if not path.exists() or path.read_bytes() != wanted:
            path.write_bytes(wanted)


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def read(directory: Path, position: int, length: int) -> bytes:
    if not length:
        return b""
    with (directory / SEGMENT).open("rb") as segment:
        return os.pread(segment.fileno(), length, position)


def truncate(directory: Path, size: int) -> None:
    os.truncate(directory / SEGMENT, size)


def flush(directory: Path) -> None:
    with (directory / SEGMENT).open("rb") as segment:
        os.fsync(segment.fileno())


def write_epochs(directory: Path, epochs: Iterable[tuple[int, int]]) -> None:
    entries = (f"{epoch} {start}" for epoch, start in epochs)
    _replace(directory / LEADER_EPOCHS, _checkpoint(entries))


def mend_epochs(directory: Path, epochs: Iterable[tuple[int, int]]) -> None:
    """Write the epochs as write_epochs does, unless the file already holds just these."""
    entries = [f"{epoch} {start}" for epoch, start in epochs]
    path = directory / LEADER_EPOCHS
    if not path.exists() or path.read_bytes() != _checkpoint(entries).encode():
        _replace(path, _checkpoint(entries))
