"""manifest.json of a salvage tells which records were saved (salvage-1.schema.json)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO

from kafka_unclean_recovery.documents.reading.codec import decode_newer
from kafka_unclean_recovery.documents.reading.json_text import Place, load_object
from kafka_unclean_recovery.documents.reading.json_values import a_choice
from kafka_unclean_recovery.documents.salvage import ReplicaJson, SalvageJson
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.plain_files import open_plain_within, whole
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.output_directory import MANIFEST

_LARGEST_MANIFEST = 256 << 20


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The Parquet file of one replica, below the directory of the salvage. log_end_offset: the end
    of the replica's log (exclusive). suspect: the replica may be corrupt."""

    path: Path
    directory: Path
    broker: int
    log_end_offset: int
    suspect: bool

    def open(self) -> BinaryIO:
        """Open the file. Raises OSError where it is no plain file of this directory."""
        return open_plain_within(self.directory, self.path.relative_to(self.directory))


@dataclass(frozen=True, slots=True)
class SavedPartition:
    """The saved records of one partition. files: one for each replica that held some of them. Where
    two replicas have a record the first counts, so trusted replicas come first, then the longest
    logs."""

    topic_partition: TopicPartition
    topic_id: str
    files: tuple[SavedFile, ...]


@dataclass(frozen=True, slots=True)
class Salvage:
    """A salvage as its manifest describes it. digest: hexadecimal, identifies this salvage.
    problems: why the salvage may not hold all."""

    cluster_id: str
    digest: str
    partitions: tuple[SavedPartition, ...]
    problems: tuple[str, ...]


def read_saved(directory: Path, includes: Callable[[TopicPartition], bool]) -> Salvage:
    """Read the partitions asked for, in order, from the manifest. Raises InputError."""
    path = directory / MANIFEST
    try:
        with open_plain_within(directory, PurePath(MANIFEST)) as file:
            text = whole(file, _LARGEST_MANIFEST)
        document = _manifest(text.decode(), Place(str(path)))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name what salvage --output wrote") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; use the file as it was written") from None
    found: dict[tuple[TopicPartition, str], list[SavedFile]] = {}
    problems = list(document.problems)
    for index, row in enumerate(document.replicas):
        partition = TopicPartition(row.topic, row.partition)
        if includes(partition):
            place = Place(str(path)).at("replicas").item(index)
            files = found.setdefault((partition, row.topic_id), [])
            files.extend(_file(row, directory, place))
            problems += _problems(row, partition)
    partitions = tuple(
        SavedPartition(*found_in, tuple(sorted(files, key=_rank)))
        for found_in, files in sorted(found.items(), key=lambda item: item[0])
    )
    digest = hashlib.sha256(text).hexdigest()
    return Salvage(document.cluster_id, digest, partitions, tuple(problems))


def _manifest(text: str, place: Place) -> SalvageJson:
    document = load_object(text, place.source)
    a_choice(document.get("kind"), place.at("kind"), ["salvage"])
    if document.get("format_version") != 1:
        raise place.error("is not of format 1; salvage with this release")
    return decode_newer(document, SalvageJson, place)


def _rank(file: SavedFile) -> tuple[bool, int, int, Path]:
    return file.suspect, -file.log_end_offset, file.broker, file.path


def _file(row: ReplicaJson, directory: Path, place: Place) -> Iterator[SavedFile]:
    if row.records_file is None:
        return
    inside = PurePosixPath(row.records_file)
    if inside.is_absolute() or ".." in inside.parts:
        raise place.at("records_file").error("leads out of the directory; use it as written")
    if row.log is None or row.log.log_end_offset is None:
        raise place.at("log").error("has no end; use the file as it was written")
    end, suspect = row.log.log_end_offset, row.suspect is not None
    yield SavedFile(directory / inside, directory, row.broker, end, suspect)


def _problems(row: ReplicaJson, partition: TopicPartition) -> Iterator[str]:
    who = f"{partition} of broker {row.broker}"
    for problem in row.problems:
        yield f"{who}: {problem}"
    if row.segments and row.records_file is None:
        yield f"{who}: its records are in segment files only; salvage it without --raw-only"
