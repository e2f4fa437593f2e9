"""The newest metadata log among those of several nodes, and what it says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kafka_unclean_recovery.log_dir.cluster_metadata import (
    ClusterMetadata,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.cluster_metadata_batches import MetadataFile
from kafka_unclean_recovery.log_dir.cluster_metadata_image import TOPIC_RESOURCE, MetadataImage
from kafka_unclean_recovery.log_dir.directory_names import CLUSTER_METADATA_TOPIC
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.tree import (
    Unreadable,
    entries,
    open_directory,
    open_file,
    printable,
)

CLUSTER_METADATA = f"{CLUSTER_METADATA_TOPIC}-0"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NewestMetadata:
    """`metadata` is None where none could be read; `read` are the log directories where one was.
    `problems` are sentences."""

    metadata: ClusterMetadata | None
    read: frozenset[Path]
    problems: tuple[str, ...]


def newest_metadata(log_directories: Sequence[Path]) -> NewestMetadata:
    """Of the `__cluster_metadata-0` in these; one is held in memory at a time, and the newest."""
    best: ClusterMetadata | None = None
    where: Path | None = None
    read: list[Path] = []
    problems: list[str] = []
    for path in log_directories:
        try:
            found = _read(path)
        except (BadFormat, Unreadable, OSError) as error:
            problems.append(f"{printable(path)}: {error}")
            continue
        read.append(path)
        if best is None or found.authority > best.authority:
            best, where = found, path
    if best is not None and where is not None:
        problems += [f"{printable(where)}: {problem}" for problem in _problems(best)]
    return NewestMetadata(best, frozenset(read), tuple(problems))


def _read(path: Path) -> ClusterMetadata:
    with (
        open_directory(path) as parent,
        open_directory(CLUSTER_METADATA, parent) as directory,
        ExitStack() as files,
    ):
        found = [
            _file(files.enter_context(open_file(directory, entry.name)), entry.name)
            for entry in entries(directory)
            if is_metadata_file(entry.name)
        ]
        return read_metadata(found)


def _file(descriptor: int, name: str) -> MetadataFile:
    return MetadataFile(
        name,
        os.fstat(descriptor).st_size,
        lambda position, length: os.pread(descriptor, length, position),
    )


def _problems(metadata: ClusterMetadata) -> Iterator[str]:
    yield from metadata.problems
    if metadata.stopped is not None:
        yield f"the metadata log ends early: {metadata.stopped}"
    image = metadata.image
    strange = [
        f"{record.name} type {record.api_key} version {record.version} ({count})"
        for record, count in image.unknown.most_common(_SHOWN)
    ]
    if strange:
        yield f"records of the metadata log that are not known here: {', '.join(strange)}"
    skipped = [
        f"{record} v{version} tag {tag} ({count})"
        for (record, version, tag), count in image.unknown_tags.most_common(_SHOWN)
    ]
    if skipped:
        yield f"fields of the metadata log that are not known here: {', '.join(skipped)}"
    if image.unreplayed:
        senseless = [f"{what} ({n})" for what, n in image.unreplayed.most_common(_SHOWN)]
        yield f"records of the metadata log that fit nothing: {', '.join(senseless)}"


def compacted_topics(image: MetadataImage) -> frozenset[str]:
    """Those whose own configuration says so; the brokers' default is not in the metadata log."""
    return frozenset(
        name
        for (kind, name), values in image.configs.items()
        if kind == TOPIC_RESOURCE and "compact" in values.get("cleanup.policy", "").split(",")
    )
