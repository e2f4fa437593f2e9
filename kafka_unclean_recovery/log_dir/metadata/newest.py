"""Read the metadata logs of several nodes, and keep the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, COMPACTED_TOPICS
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.metadata.histories import Apart, Held, told_apart
from kafka_unclean_recovery.log_dir.metadata.image import TOPIC_RESOURCE, MetadataImage
from kafka_unclean_recovery.log_dir.tree import Folder, Location, OpenFile, Unreadable

CLUSTER_METADATA = f"{CLUSTER_METADATA_TOPIC}-0"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NewestMetadata:
    """The newest metadata log. `metadata` is None where none could be read, or where they are of
    two histories, of which none is believed; `read` are the log directories where one was, that is
    believed. `problems` are sentences. compacted: topics that are known to be compacted.
    ends_early: which of the problems says that the log was cut, None where it was not."""

    metadata: ClusterMetadata | None
    read: frozenset[Location]
    problems: tuple[str, ...]
    compacted: frozenset[str] = frozenset(COMPACTED_TOPICS)
    ends_early: str | None = None


def newest_metadata(log_directories: Sequence[Location]) -> NewestMetadata:
    """Return the newest `__cluster_metadata-0` in these log directories; only one more than the
    newest is in memory at a time."""
    best: ClusterMetadata | None = None
    where: Location | None = None
    read: list[Location] = []
    problems: list[str] = []
    compacted = frozenset(COMPACTED_TOPICS)
    histories: str | None = None
    for location in log_directories:
        try:
            found = read_node(location)
            beside = None
            if best is not None and where is not None:
                beside = apart((where, best), (location, found))
        except (BadFormat, Unreadable) as error:
            problems.append(f"{location}: {error}")
            continue
        read.append(location)
        compacted |= compacted_topics(found.image)
        if beside is not None and beside.sure:
            histories = histories or beside.said
        elif beside is not None:
            problems.append(beside.said)
        if best is None or found.authority > best.authority:
            best, where = found, location
    if histories is not None:
        return NewestMetadata(None, frozenset(), (*problems, histories + NONE_BELIEVED), compacted)
    ends_early = None
    if best is not None and where is not None:
        problems += [f"{where}: {problem}" for problem in doubts(best)]
        compacted = compacted_topics(best.image)
        if best.stopped is not None:
            ends_early = f"{where}: {_ends_early(best.stopped)}"
    return NewestMetadata(best, frozenset(read), tuple(problems), compacted, ends_early)


def _ends_early(why: str) -> str:
    return f"the metadata log ends early: {why}"


NONE_BELIEVED = (
    ", and none is believed; find out which of them the brokers follow, and leave out the log"
    " directories of the other"
)


def apart(
    one: tuple[Location, ClusterMetadata], other: tuple[Location, ClusterMetadata]
) -> Apart | None:
    """Return what speaks against one quorum having written both. Raises Unreadable."""
    with ExitStack() as opened:
        held = [
            Held(str(where), metadata, opened.enter_context(_files_of(where)))
            for where, metadata in (one, other)
        ]
        return told_apart(*held)


@contextmanager
def _files_of(location: Location) -> Iterator[list[MetadataFile]]:
    with (
        location.open() as parent,
        parent.folder(CLUSTER_METADATA) as folder,
        metadata_files(folder) as found,
    ):
        yield found


def read_node(location: Location) -> ClusterMetadata:
    """Read the `__cluster_metadata-0` in this log directory. Raises BadFormat, Unreadable."""
    with _files_of(location) as found:
        return read_metadata(found)


@contextmanager
def metadata_files(folder: Folder) -> Iterator[list[MetadataFile]]:
    """Open the segments and snapshots in a metadata directory, by name. Raises Unreadable."""
    with ExitStack() as files:
        yield [
            _file(entry.name, files.enter_context(folder.opened(entry.name)))
            for entry in folder.entries()
            if is_metadata_file(entry.name)
        ]


def _file(name: str, file: OpenFile) -> MetadataFile:
    return MetadataFile(name, file.size, file.read_at)


def doubts(metadata: ClusterMetadata) -> Iterator[str]:
    """Yield sentences on what the metadata may leave out."""
    yield from metadata.problems
    if metadata.stopped is not None:
        yield _ends_early(metadata.stopped)
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
    """Return the topics whose own configuration says that they are compacted, and those of
    Kafka's own topics that always are; the brokers' default is not in the metadata log."""
    return frozenset(COMPACTED_TOPICS).union(
        name
        for (kind, name), values in image.configs.items()
        if kind == TOPIC_RESOURCE and "compact" in values.get("cleanup.policy", "").split(",")
    )
