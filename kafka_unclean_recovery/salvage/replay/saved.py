"""manifest.json of a salvage tells which records were saved (salvage-1.schema.json)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.json_fields import Fields
from kafka_unclean_recovery.files.json_text import Place, load_object
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.manifest import FORMAT_VERSION, KIND
from kafka_unclean_recovery.salvage.output_directory import MANIFEST


@dataclass(frozen=True, slots=True)
class SavedFile:
    """The Parquet file of one replica. log_end_offset: the end of the replica's log (exclusive).
    suspect: the replica may be corrupt."""

    path: Path
    broker: int
    log_end_offset: int
    suspect: bool


@dataclass(frozen=True, slots=True)
class SavedPartition:
    """The saved records of one partition. files: one for each replica that held some of them. Where
    two replicas have a record the first counts, so trusted replicas come first, then the longest
    logs."""

    topic_partition: TopicPartition
    topic_id: str
    files: tuple[SavedFile, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """A salvage as its manifest describes it. digest: hexadecimal, identifies this salvage.
    problems: why the salvage may not hold all."""

    cluster_id: str
    digest: str
    partitions: tuple[SavedPartition, ...]
    problems: tuple[str, ...]


def read_saved(directory: Path, includes: Callable[[TopicPartition], bool]) -> Saved:
    """Read the partitions asked for, in order, from the manifest. Raises InputError."""
    path = directory / MANIFEST
    try:
        text = path.read_bytes()
        document = Fields(Place(str(path)), load_object(text.decode(), str(path)))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name what salvage --output wrote") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; use the file as it was written") from None
    document.one_of("kind", [KIND])
    if document.value("format_version") != FORMAT_VERSION:
        raise document.place.error(f"is not of format {FORMAT_VERSION}; salvage with this release")
    found: dict[tuple[TopicPartition, str], list[SavedFile]] = {}
    problems = list(document.texts("problems"))
    for row in document.objects("replicas"):
        partition = TopicPartition(row.text("topic"), row.int32("partition"))
        if includes(partition):
            key = (partition, row.text("topic_id"))
            found.setdefault(key, []).extend(_file(row, directory))
            problems += _problems(row, partition)
    partitions = (
        SavedPartition(*found_in, tuple(sorted(files, key=_rank)))
        for found_in, files in sorted(found.items(), key=lambda item: item[0])
    )
    return Saved(
        document.text("cluster_id"),
        hashlib.sha256(text).hexdigest(),
        tuple(partitions),
        tuple(problems),
    )


def _rank(file: SavedFile) -> tuple[bool, int, int, Path]:
    return file.suspect, -file.log_end_offset, file.broker, file.path


def _file(row: Fields, directory: Path) -> Iterator[SavedFile]:
    if not row.known("records_file"):
        return
    inside = PurePosixPath(row.text("records_file"))
    if inside.is_absolute() or ".." in inside.parts:
        raise row.place.at("records_file").error("leads out of the directory; use it as written")
    end = row.object_at("log").int64("log_end_offset")
    yield SavedFile(directory / inside, row.int32("broker"), end, row.known("suspect"))


def _problems(row: Fields, partition: TopicPartition) -> Iterator[str]:
    who = f"{partition} of broker {row.int32('broker')}"
    for problem in row.texts("problems"):
        yield f"{who}: {problem}"
    if any(True for _ in row.items("segments")) and not row.known("records_file"):
        yield f"{who}: its records are in segment files only; salvage it without --raw-only"
