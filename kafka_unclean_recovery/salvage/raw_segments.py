"""Salvaged batches are written byte for byte to files that kafka-dump-log.sh takes for segments.

A batch that straddles the cut can't be cut without writing it anew. The whole batch goes into a
file of its own, `<first offset>.straddling.log`, so that the other files hold nothing that the
designated leader has. The manifest tells which part of the batch counts.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from kafka_unclean_recovery.files.private_files import open_private
from kafka_unclean_recovery.model import EpochLineage
from kafka_unclean_recovery.salvage.tail import TailBatch

_CHUNK = 1 << 20


@dataclass(slots=True)
class RawSegment:
    """One file that was written.

    first_offset is inclusive, end_offset exclusive. salvaged: the part of a straddling batch that
    was lost; None for any other file.
    """

    file: str
    first_offset: int
    end_offset: int
    batches: int = 0
    size: int = 0
    sha256: str = ""
    salvaged: EpochLineage | None = None


@dataclass(slots=True)
class RawSegments:
    """The segment files of one replica, one for each segment that the batches are from. Add the
    batches in order, then close it."""

    directory: Path
    written: list[RawSegment] = field(default_factory=list)
    _file: BinaryIO | None = None
    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    _source: str | None = None

    def add(self, batch: TailBatch) -> None:
        """Write one batch. Raises OSError, and what reading the batch raises."""
        if batch.straddling:
            self._begin(batch, f"{batch.first_offset:020}.straddling.log", None)
            self.written[-1].salvaged = batch.spans
        elif self._source != batch.segment.name:
            self._begin(batch, f"{batch.first_offset:020}.log", batch.segment.name)
        segment = self.written[-1]
        position, stop = batch.position, batch.position + batch.header.length
        assert self._file is not None
        while position < stop:
            piece = batch.read_at(position, min(_CHUNK, stop - position))
            if not piece:
                raise OSError(f"{batch.segment.name} ends at byte {position}, as it did not before")
            self._file.write(piece)
            self._hash.update(piece)
            position += len(piece)
        segment.batches += 1
        segment.size += batch.header.length
        segment.end_offset = batch.header.last_offset + 1

    def _begin(self, batch: TailBatch, name: str, source: str | None) -> None:
        self.close()
        self._file = open_private(self.directory / name, "xb")
        self._hash, self._source = hashlib.sha256(), source
        self.written.append(RawSegment(name, batch.first_offset, batch.first_offset))

    def close(self) -> None:
        """Close the current file after an fsync, and note its SHA-256."""
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            file.flush()
            os.fsync(file.fileno())
        self.written[-1].sha256 = self._hash.hexdigest()
