"""The checkpoint of a replay says what has been produced. It is a file of JSON lines, and each line
is on the disk before the next records are sent.

The last line of a partition counts. Records that a target got after that line, before the run was
killed, are found in the target from `next_offset` on.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal

from kafka_unclean_recovery.documents.reading.codec import decode_newer, json_line
from kafka_unclean_recovery.documents.reading.json_text import JsonObject, Place, load_object
from kafka_unclean_recovery.documents.reading.json_values import a_choice
from kafka_unclean_recovery.documents.values import Entry, Int32, Int64
from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.locking import lock
from kafka_unclean_recovery.files.plain_files import read_plain, whole
from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.model import TopicPartition
from kafka_unclean_recovery.salvage.replay.origin import Position
from kafka_unclean_recovery.salvage.replay.records import Fate

_LARGEST = 256 << 20

Key = tuple[TopicPartition, str]
"""A saved partition, and the topic that its records go to."""


class BeginJson(Entry, frozen=True, kw_only=True):
    """The first line.

    salvage: The digest of the salvage that is replayed.
    """

    format_version: Literal[1] = 1
    kind: Literal["salvage-replay"] = "salvage-replay"
    salvage: str


class ProgressJson(Entry, frozen=True):
    """How far one partition is, in any later line.

    target: The topic that its records go to.
    next_offset: An end in the target, exclusive.
    done: The position up to which all is in the target, three numbers, by fate.
    """

    topic: str
    partition: Int32
    target: str
    target_topic_id: str
    next_offset: Int64
    done: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of one partition: everything up to `done` is in the target, by fate, SETTLED and
    OPEN.

    target_topic_id: as text. next_offset: an end in the target (exclusive); all that this progress
    counts lies below it.
    """

    target_topic_id: str
    next_offset: int
    done: Mapping[Fate, Position] = field(default_factory=dict)

    def has(self, fate: Fate, position: Position) -> bool:
        return fate in self.done and position <= self.done[fate]


@dataclass(slots=True)
class Checkpoint:
    known: dict[Key, Progress]
    _file: BinaryIO

    def note(self, key: Key, progress: Progress) -> None:
        """Append the progress; it is on the disk when this returns. Raises OSError."""
        partition, target = key
        line = ProgressJson(
            topic=partition.topic,
            partition=partition.partition,
            target=target,
            target_topic_id=progress.target_topic_id,
            next_offset=progress.next_offset,
            done={fate.value: position for fate, position in progress.done.items()},
        )
        _append(self._file, line)
        self.known[key] = progress


def read_checkpoint(path: Path, digest: str) -> dict[Key, Progress]:
    """Return what the file says, and nothing where there is no file. digest: identifies the
    salvage. Raises InputError."""
    try:
        return _parse(read_plain(path, _LARGEST), path, digest)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a file with --checkpoint") from None


@contextmanager
def open_checkpoint(path: Path, digest: str) -> Iterator[Checkpoint]:
    """Open or create the checkpoint, and lock it meanwhile. Raises InputError, OSError."""
    try:
        opened = open_private(path, "a+b")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name a file with --checkpoint") from None
    with opened as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError(f"{path}: not a plain file; name another with --checkpoint")
        if not lock(file.fileno()):
            raise InputError(f"{path}: another run goes by it; wait for it")
        file.seek(0)
        content = whole(file, _LARGEST)
        known = _parse(content, path, digest)
        # A killed run may have left a line that it had not finished.
        file.truncate(content.rfind(b"\n") + 1)
        if b"\n" not in content:
            _append(file, BeginJson(salvage=digest))
            sync_directory(path.parent)
        yield Checkpoint(known, file)


def _append(file: BinaryIO, line: BeginJson | ProgressJson) -> None:
    file.write(json_line(line).encode())
    file.flush()
    os.fsync(file.fileno())


def _parse(content: bytes, path: Path, digest: str) -> dict[Key, Progress]:
    head, *lines = content[: content.rfind(b"\n") + 1].splitlines() or [b""]
    if not head:
        if content and not b'{"format_version"'.startswith(content[:17]):
            raise InputError(f"{path}: not a checkpoint of salvage replay; name another")
        return {}
    first, place = _object(head, path, 1)
    a_choice(first.get("kind"), place.at("kind"), ["salvage-replay"])
    if decode_newer(first, BeginJson, place).salvage != digest:
        raise InputError(f"{path}: of another salvage; name a new file with --checkpoint")
    return dict(_line(*_object(line, path, number)) for number, line in enumerate(lines, 2))


def _object(line: bytes, path: Path, number: int) -> tuple[JsonObject, Place]:
    source = f"{path}: line {number}"
    try:
        return load_object(line.decode(), source), Place(source)
    except UnicodeDecodeError:
        raise InputError(f"{source}: not UTF-8 text; use the file as it was written") from None


def _line(values: JsonObject, place: Place) -> tuple[Key, Progress]:
    read = decode_newer(values, ProgressJson, place)
    done = {
        fate: _position(read.done[fate], place.at("done").at(fate))
        for fate in (Fate.SETTLED, Fate.OPEN)
        if fate in read.done
    }
    partition = TopicPartition(read.topic, read.partition)
    return (partition, read.target), Progress(read.target_topic_id, read.next_offset, done)


def _position(numbers: tuple[int, ...], place: Place) -> Position:
    if len(numbers) != 3:
        raise place.error("must be three numbers; use the file as written")
    return numbers[0], numbers[1], numbers[2]
