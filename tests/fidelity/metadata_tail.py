"""The state of a controller, read from its metadata log while it writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from kafka_unclean_recovery.log_dir.metadata.batches import MetadataFile, read_batches
from kafka_unclean_recovery.log_dir.metadata.image import MetadataImage
from kafka_unclean_recovery.log_dir.metadata.records import (
    decode_control_record,
    decode_record,
)

_CHUNK = 1 << 20


class MetadataTail:
    """`image` after every record up to `end_offset`, which is exclusive; `seen` are their names.

    A controller answers once its records are committed, so that they are in the file by then.
    It is one segment: 1 GiB is more than any run writes.
    """

    def __init__(self, log: Path) -> None:
        self.image = MetadataImage()
        self.end_offset = 0
        self.seen: set[str] = set()
        self._file = os.open(log, os.O_RDONLY)
        self._position = 0

    def catch_up(self) -> None:
        """Replay what was written since. Raises BadFormat."""
        while written := os.pread(self._file, _CHUNK, self._position):
            taken = self._replay(written)
            if taken == 0:
                raise ValueError(f"half a batch at byte {self._position} of the metadata log")
            self._position += taken

    def _replay(self, written: bytes) -> int:
        """Replay whole batches, and return how many of these bytes they were."""
        whole = whole_batches(written)
        for batch in read_batches(MetadataFile.of("metadata log", written[:whole])):
            if batch.base_offset != self.end_offset:
                raise ValueError(f"offset {batch.base_offset} after {self.end_offset}")
            for found in batch.records():
                self._apply(found.key, found.value, batch.control)
            self.end_offset = batch.end_offset
        return whole

    def _apply(self, key: bytes | None, value: bytes | None, control: bool) -> None:
        assert value is not None
        record = decode_control_record(key or b"", value) if control else decode_record(value)
        self.seen.add(record.name)
        self.image.replay(record)

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def whole_batches(written: bytes) -> int:
    """Return how many bytes the whole batches have; a batch is 12 and `length`."""
    end = 0
    while len(written) - end >= 12:
        length = 12 + int.from_bytes(written[end + 8 : end + 12], "big")
        if len(written) - end < length:
            break
        end += length
    return end
