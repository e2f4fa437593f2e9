"""Read the metadata logs of several nodes, and keep the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from kafka_unclean_recovery.kafka_names import CLUSTER_METADATA_TOPIC, COMPACTED_TOPICS
from kafka_unclean_recovery.log_dir.errors import BadFormat
from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile
from kafka_unclean_recovery.log_dir.metadata.cluster_metadata import (
    ClusterMetadata,
    is_metadata_file,
    read_metadata,
)
from kafka_unclean_recovery.log_dir.metadata.following import can_be_followed, follows, reach
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
    """Return the newest `__cluster_metadata-0` in these log directories. Those that only repeat it
    are not replayed, and only one more than the newest is in memory at a time."""
    reading = _Reading()
    for location in _furthest_first(log_directories):
        try:
            reading.take(location)
        except (BadFormat, Unreadable) as error:
            reading.problems.append(f"{location}: {error}")
    return reading.end()


@dataclass(slots=True)
class _Reading:
    """What was read so far. best: the newest, and where it is. histories: what proves that there
    are two."""

    best: tuple[Location, ClusterMetadata] | None = None
    read: list[Location] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    compacted: frozenset[str] = frozenset(COMPACTED_TOPICS)
    histories: str | None = None

    def take(self, location: Location) -> None:
        """Read another copy. Raises BadFormat, Unreadable."""
        if self.best is not None and can_be_followed(self.best[1]):
            where, best = self.best
            if repeats(where, best.authority, location):
                self.read.append(location)
                return
        found = read_node(location)
        beside = None if self.best is None else apart(self.best, (location, found))
        self.read.append(location)
        self.compacted |= compacted_topics(found.image)
        if beside is not None and beside.sure:
            self.histories = self.histories or beside.said
        elif beside is not None:
            self.problems.append(beside.said)
        if self.best is None or _rank(found) > _rank(self.best[1]):
            self.best = location, found

    def end(self) -> NewestMetadata:
        if self.histories is not None:
            problems = (*self.problems, self.histories + NONE_BELIEVED)
            return NewestMetadata(None, frozenset(), problems, self.compacted)
        if self.best is None:
            return NewestMetadata(None, frozenset(), tuple(self.problems), self.compacted)
        where, best = self.best
        told = (f"{where}: {problem}" for problem in doubts(best))
        return NewestMetadata(
            best,
            frozenset(self.read),
            (*self.problems, *told),
            compacted_topics(best.image),
            None if best.stopped is None else f"{where}: {_ends_early(best.stopped)}",
        )


def _rank(metadata: ClusterMetadata) -> tuple[tuple[int, int], bool]:
    """Return the authority; of two alike the one counts that is whole."""
    return metadata.authority, metadata.stopped is None


def _furthest_first(locations: Sequence[Location]) -> list[Location]:
    """Return the locations, first those whose log goes furthest by the sizes of its files, so that
    the others need only be compared with it."""
    return sorted(locations, key=lambda location: reach_of(location) or (0,), reverse=True)


def reach_of(location: Location) -> tuple[int, ...] | None:
    """Return how far this log directory's log goes by the sizes of its files; None where reading it
    says why that is not known."""
    try:
        with _files_of(location) as files:
            return reach(files)
    except Unreadable:
        return None


def repeats(best: Location, authority: tuple[int, int], other: Location) -> bool:
    """Return True where the other node's log only repeats the best one, which is sound and has this
    authority. Raises Unreadable."""
    with _files_of(best) as its_files, _files_of(other) as files:
        return follows(authority, its_files, files)


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
