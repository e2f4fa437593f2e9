"""What a run does to the cluster, on the disk before it is done: JSON lines.

`documents/journal` has every event in a table. The time that counts for what may still happen is
that since the boot: the wall clock jumps.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Self

from kafka_unclean_recovery.documents.journal import VERSION, Event, Later, later
from kafka_unclean_recovery.documents.journal_lines import (
    LARGEST_JOURNAL,
    JournalError,
    half_done,
    parse,
)
from kafka_unclean_recovery.documents.reading.codec import compact_json
from kafka_unclean_recovery.files.locking import lock
from kafka_unclean_recovery.files.plain_files import foreign_link
from kafka_unclean_recovery.files.private_files import make_private_directory
from kafka_unclean_recovery.files.sync_directory import sync_directory
from kafka_unclean_recovery.model import TopicPartition

_AT_ONCE = 500
# Of each line; after a crash of the machine zeros may stand where one was to come.
_BEGIN = b'{"v":'


def _begun(event: Event) -> dict[str, object]:
    now_ms = time.time_ns() // 1_000_000
    at = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return {"v": VERSION, "at": at, "at_ms": now_ms, "event": event}


class JournalBusy(JournalError):
    """Another run is writing it."""


class Journal:
    """One file, appended to by one process at a time.

    failure: why a line is missing in it, None while none is. A journal that lost one, or that
    somebody removed, is not relied on any more: `write` refuses, so nothing else is begun. link:
    the entry by which later runs find it, None where it lies among them. held: partitions that are
    not to be elected, because an earlier run's order can't be put back there, and what to do.
    """

    def __init__(self, path: Path, descriptor: int, lines: list[dict[str, Any]]) -> None:
        self.path = path
        self.lines = lines
        self.failure: str | None = None
        self.link: Path | None = None
        self.held: Mapping[TopicPartition, str] = {}
        self._descriptor = descriptor
        self._whole = os.fstat(descriptor).st_size
        self._torn = False
        self._entered = False
        self._counts = Counter(str(line["event"]) for line in lines)
        # A disk may hang, and the event loop must not hang with it: lines are written in threads.
        self._writing = threading.RLock()
        # The size of the file and the number of lines before the last announcement.
        self._before = self._whole, len(lines)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the journal and lock it. Raises JournalError."""
        descriptor = _open(path)
        try:
            _lock(path, descriptor)
            lines = _read_whole_lines(path, descriptor)
            return cls(path, descriptor, lines)
        except OSError as error:
            os.close(descriptor)
            raise JournalError(f"journal {path}: {error.strerror}; choose another") from None
        except BaseException:
            os.close(descriptor)
            raise

    def note(self, event: Event, **fields: object) -> bool:
        """Append one line, on which nothing that is done hangs, and return True when it is written.
        It is on the disk with the next `write`, or when the journal is closed."""
        with self._writing:
            line = {**_begun(event), **fields}
            if not self._append(compact_json(line) + b"\n"):
                return False
            self.lines.append(line)
            self._counts[event] += 1
            return True

    def count(self, event: Event) -> int:
        """Return how many lines of this event there are."""
        return self._counts[event]

    def tell(self, event: Event, rows: Iterable[Mapping[str, object]]) -> None:
        """Append a line with the fields of each row, for who reads the journal later. `lines` is
        without them: no step rests on them."""
        begun = _begun(event)
        lines = (compact_json({**begun, **row}) + b"\n" for row in rows)
        with self._writing:
            while chunk := b"".join(islice(lines, _AT_ONCE)):
                self._append(chunk)

    def write(self, event: Event, **fields: object) -> None:
        """Append one line and wait for the disk. Raises JournalError when it, or a line before it,
        could not be written: then what it announces must not be done."""
        with self._writing:
            if self.failure is None and self.note(event, **fields):
                self._sync()
        if self.failure is not None:
            raise JournalError(self.failure)

    def announce(self, *lines: tuple[Event, Mapping[str, object]]) -> None:
        """Append (event, fields) of coming changes and wait for the disk: all lines, or none.
        Raises JournalError, and then nothing that they announce must be done."""
        *first, (event, fields) = lines
        with self._writing:
            self._before = self._whole, len(self.lines)
            for each, its_fields in first:
                self.note(each, **its_fields)
            try:
                self.write(event, **fields)
            except JournalError:
                self.take_back()
                raise

    def take_back(self) -> None:
        """Cut off the last announcement, unless a request was sent since: whoever reads the journal
        later would wait for requests that were never sent."""
        with self._writing:
            size, count = self._before
            late = self.lines[count:]
            if any(later(line) is Later.WAIT for line in late):
                return
            self._counts.subtract(str(line["event"]) for line in late)
            del self.lines[count:]
            self._whole = size
            self._cut_off()

    def end(self, exit_code: int) -> None:
        """Note the end of a run. Where it leaves nothing to be finished, later runs read no more
        than this line."""
        left = self.failure is not None or half_done(self.lines)
        self.note("end", exit_code=exit_code, half_done=left)

    def _append(self, data: bytes) -> bool:
        """Append the whole line, or nothing of it: the next one would be glued to a part."""
        self.keep()
        if self._torn:
            return False
        left = data
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            self._failed(error)
            self._cut_off()
            return False
        self._whole += len(data)
        return True

    def keep(self) -> None:
        """Write the file anew where somebody removed or emptied it, as who cleans up a state
        directory: the next run finds by it what is to be put back. Nothing more is begun all the
        same."""
        with self._writing:
            if self._removed():
                self._replace()

    def _replace(self) -> None:
        gone = (
            f"journal {self.path}: somebody removed it, or its entry, or emptied it, while this run"
            " wrote it"
        )
        try:
            self._write_anew()
        except OSError as error:
            self.failure = self.failure or f"{gone}, and it can't be written anew: {error.strerror}"
        else:
            self.failure = self.failure or f"{gone}; it is written anew, and nothing more is begun"

    def _removed(self) -> bool:
        try:
            if self.link is not None:
                self.link.lstat()
            there, ours = self.path.stat(), os.fstat(self._descriptor)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False  # not known, and another write tells
        return not os.path.samestat(there, ours) or ours.st_size < self._whole

    def _write_anew(self) -> None:
        """Write the journal under its name again where it is gone or shorter. Raises OSError, also
        where another file has its name by now."""
        if self.link is not None and not os.path.lexists(self.link):
            make_private_directory(self.link.parent)
            self.link.symlink_to(self.path.resolve())
            sync_directory(self.link.parent)
        if self.path.exists() and os.path.samestat(self.path.stat(), os.fstat(self._descriptor)):
            if os.fstat(self._descriptor).st_size < self._whole:
                os.ftruncate(self._descriptor, 0)
                self._filled(self._descriptor)
            return
        make_private_directory(self.path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            lock(descriptor)
            self._filled(descriptor)
            sync_directory(self.path.parent)
        except OSError:
            os.close(descriptor)
            self.path.unlink()
            raise
        os.close(self._descriptor)
        self._descriptor = descriptor

    def _filled(self, descriptor: int) -> None:
        """Write all lines to an empty file. Raises OSError."""
        whole = left = b"".join(compact_json(line) + b"\n" for line in self.lines)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
        self._whole, self._torn = len(whole), False
        self._before = self._whole, len(self.lines)

    def _cut_off(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._whole)
        except OSError:
            # Who opens it next cuts it off; until then nothing may come behind it.
            self._torn = True

    def _sync(self) -> None:
        try:
            os.fsync(self._descriptor)
            if not self._entered:
                # A new file survives a crash only when its directory entry does.
                sync_directory(self.path.parent)
                self._entered = True
        except OSError as error:
            # A later fsync may succeed without what this one lost.
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self.failure = self.failure or f"journal {self.path}: {error.strerror}"

    def close(self) -> None:
        """Close the journal. It never raises: `failure` tells what is not on the disk."""
        self._sync()
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def only_holder(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made if need be. Raises JournalBusy, JournalError."""
    if (link := foreign_link(path)) is not None:
        raise JournalError(f"{path}: {link} is a link of another user")
    descriptor = _open(path, os.O_NOFOLLOW)
    try:
        _lock(path, descriptor)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path, more: int = 0) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | more
    try:
        make_private_directory(path.parent)
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise JournalError(f"journal {path}: {error.strerror}; choose another") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise JournalError(f"journal {path}: not a plain file; choose another")
    return descriptor


def _lock(path: Path, descriptor: int) -> None:
    try:
        ours = lock(descriptor)
    except OSError as error:
        raise JournalError(f"journal {path}: {error.strerror}") from None
    if not ours:
        raise JournalBusy(f"journal {path}: another run is writing it; wait for it")


def _read_whole_lines(path: Path, descriptor: int) -> list[dict[str, Any]]:
    """Return all lines; a torn last one is cut off, for nothing was done on its account."""
    size = os.fstat(descriptor).st_size
    if size > LARGEST_JOURNAL:
        raise JournalError(f"journal {path}: {size} bytes are too many for one; choose another")
    data = os.pread(descriptor, size, 0)
    whole = data.rfind(b"\n") + 1
    lines = parse(data[:whole].decode(errors="replace"), str(path))
    # What was never a journal is not for us to cut off.
    if not whole and not _BEGIN.startswith(data.strip(b"\0")[: len(_BEGIN)]):
        raise JournalError(f"journal {path}: not a journal; choose another")
    if whole < len(data):
        os.ftruncate(descriptor, whole)
    return lines
