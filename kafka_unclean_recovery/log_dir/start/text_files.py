"""Read the small text files as a starting broker reads them: what it takes, and how it fails.

The parsers in small_files/ are stricter, because they decide what can be trusted; here the question
is whether the broker lives. Source: org.apache.kafka.server.common.CheckpointFile and, in
org.apache.kafka.storage.internals.checkpoint, OffsetCheckpointFile, LeaderEpochCheckpointFile,
PartitionMetadataReadBuffer.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import TypeVar

from kafka_unclean_recovery.log_dir.errors import excerpt
from kafka_unclean_recovery.model import TopicPartition

_INT32, _INT64 = 1 << 31, 1 << 63
# Python reads no number of thousands of digits, and most of those may be zeros.
_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile("[ \t\n\x0b\f\r]+")
_FIELD = re.compile(":[ \t\n\x0b\f\r]+")
_URL_BASE64 = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_LONGEST_UUID = 24
_UUID_BYTES = 16

T = TypeVar("T")


class DiskError(Exception):
    """The broker takes the file for an error of the disk (Java's IOException)."""


class Crash(Exception):
    """The broker fails in a way that it does not expect (any other Java exception)."""


def checkpoint_entries(data: bytes, entry: Callable[[list[str]], T | None]) -> list[T]:
    """Return the entries of a checkpoint file. entry: takes the words of a line, and returns None
    for a wrong number of them. Raises DiskError, and what `entry` raises."""
    lines = _lines(data)
    if not lines:
        return []
    if _number_line(lines[0]) != 0:
        raise DiskError(f"version {excerpt(lines[0])} is not known")
    if len(lines) == 1:
        return []
    count = _number_line(lines[1])
    if count < 0:
        raise Crash(f"it announces {count} entries")
    entries = []
    for line in lines[2:]:
        found = entry(_words(_BLANKS, line))
        if found is None:
            raise DiskError(f"a line that is no entry: {excerpt(line)}")
        entries.append(found)
    if len(entries) != count:
        raise DiskError(f"{count} entries announced, {len(entries)} there")
    return entries


def offset_entry(words: list[str]) -> tuple[str, int, int] | None:
    """Return (topic, partition, offset) of a line of an offset checkpoint. Raises Crash."""
    if len(words) != 3:
        return None
    return words[0], integer(words[1], _INT32), integer(words[2], _INT64)


def offsets_of(data: bytes) -> dict[TopicPartition, int]:
    """Return the offset of each partition in an offset checkpoint; of two lines of one partition a
    broker takes the last. Raises DiskError and Crash."""
    return {
        TopicPartition(topic, partition): offset
        for topic, partition, offset in checkpoint_entries(data, offset_entry)
    }


def epoch_entry(words: list[str]) -> tuple[int, int] | None:
    """Return (leader epoch, start offset) of a line of leader-epoch-checkpoint. Raises Crash."""
    if len(words) != 2:
        return None
    return integer(words[0], _INT32), integer(words[1], _INT64)


def leader_epochs(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return the (leader epoch, start offset) pairs that a broker has after it read the file: an
    entry takes out those before it that do not lie below it. Raises DiskError and Crash."""
    kept: list[tuple[int, int]] = []
    for epoch, start in checkpoint_entries(data, epoch_entry):
        if epoch < 0 or start < 0:
            raise Crash(f"a negative entry: {epoch} {start}")
        assign(kept, epoch, start)
    return tuple(kept)


def assign(kept: list[tuple[int, int]], epoch: int, start: int) -> None:
    """Add an epoch as LeaderEpochFileCache.assign does."""
    if kept and kept[-1][0] == epoch and kept[-1][1] <= start:
        return
    while kept and (kept[-1][0] >= epoch or kept[-1][1] >= start):
        kept.pop()
    kept.append((epoch, start))


def topic_id(data: bytes) -> bytes:
    """Return the topic id in partition.metadata. Raises DiskError and Crash."""
    lines = _lines(data)
    version = _value(lines, 0)
    try:
        number = integer(version, _INT32)
    except Crash:
        raise DiskError(f"a malformed line: {excerpt(lines[0])}") from None
    if number < 0:
        raise DiskError(f"version {number} is not known")
    text = _value(lines, 1)
    found = _uuid(text)
    if found == bytes(_UUID_BYTES):
        raise DiskError("its topic id is zero")
    return found


def _uuid(text: str) -> bytes:
    if len(text) > _LONGEST_UUID or _URL_BASE64.fullmatch(text) is None:
        raise Crash(f"{excerpt(text)} is no topic id")
    bare = text.rstrip("=")
    try:
        found = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != _UUID_BYTES:
        raise Crash(f"{excerpt(text)} is no topic id")
    return found


def _value(lines: list[str], number: int) -> str:
    if len(lines) <= number:
        raise Crash("it is empty" if not lines else "its second line is missing")
    words = _words(_FIELD, lines[number])
    if len(words) != 2:
        raise DiskError(f"a malformed line: {excerpt(lines[number])}")
    return words[1]


def integer(text: str, limit: int) -> int:
    """Parse a number as Java does. Raises Crash."""
    found = _INTEGER.fullmatch(text)
    if found is None or not -limit <= (number := int(f"{found[1]}{found[2]}")) < limit:
        raise Crash(f"{excerpt(text)} is no number")
    return number


def _number_line(line: str) -> int:
    try:
        return integer(line, _INT32)
    except Crash:
        raise DiskError(f"a malformed line: {excerpt(line)}") from None


def _lines(data: bytes) -> list[str]:
    try:
        lines = _LINE_END.split(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DiskError(f"byte {error.start} is not UTF-8") from None
    return lines if lines[-1] else lines[:-1]


def _words(separator: re.Pattern[str], line: str) -> list[str]:
    """Split as Java does: empty words at the end do not count, a line without any is one word."""
    words = separator.split(line)
    while len(words) > 1 and not words[-1]:
        words.pop()
    return words
