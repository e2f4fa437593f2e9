"""Whole log directories as brokers leave them: segments, indexes, checkpoints and all the rest."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from crc32c import crc32c

from tests.log_dir.segments import checkpoint, index, legacy, v2

TOPIC_ID = UUID(int=0x7DB71630C0924BDA806501A352AD72E4)
CLUSTER = "corruptible"

# A producer snapshot without an entry: version, CRC, number of entries.
_NO_PRODUCERS = struct.pack(">hIi", 1, crc32c(bytes(4)), 0)

Files = dict[str, bytes]
"""Contents by file name."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Whole batches, in order; the first need not begin at `base_offset` where some are gone."""

    base_offset: int
    batches: tuple[bytes, ...]

    @property
    def name(self) -> str:
        return file_name(self.base_offset, "log")

    @property
    def content(self) -> bytes:
        return b"".join(self.batches)

    @property
    def positions(self) -> tuple[int, ...]:
        """Return the position of each batch, and where the last ends."""
        ends = [0]
        for batch in self.batches:
            ends.append(ends[-1] + len(batch))
        return tuple(ends)


@dataclass(frozen=True, slots=True)
class Log:
    """A replica's log. epochs: (leader epoch, start offset) pairs; none in the old formats.
    compacted: the log cleaner was at it."""

    topic: str
    segments: tuple[Segment, ...]
    epochs: tuple[tuple[int, int], ...]
    compacted: bool = False

    @property
    def directory(self) -> str:
        return f"{self.topic}-0"

    @property
    def end_offset(self) -> int:
        """Return the log end offset, exclusive."""
        return last_offset(self.segments[-1].batches[-1]) + 1


def file_name(base_offset: int, kind: str) -> str:
    return f"{base_offset:020}.{kind}"


def text_of(id_: UUID) -> str:
    """Return a UUID as Kafka writes it."""
    return base64.urlsafe_b64encode(id_.bytes).decode().rstrip("=")


def last_offset(batch: bytes) -> int:
    """Return the last offset by the header; of the old formats it is that of the last message."""
    base: int = struct.unpack_from(">q", batch)[0]
    delta: int = struct.unpack_from(">i", batch, 23)[0] if batch[16] == 2 else 0
    return base + delta


# The leader epochs of every log here: 0, then 2 (somebody was elected and wrote nothing), then 3.
_EPOCHS = ((0, 0), (2, 70), (3, 130))


def _epoch_at(offset: int) -> int:
    return [epoch for epoch, start in _EPOCHS if start <= offset][-1]


def plain_log() -> Log:
    """Return a log of offsets 0 to 180 (exclusive) in batches of 5."""
    segments = (
        Segment(base, tuple(_batch(at) for at in range(base, base + 60, 5)))
        for base in (0, 60, 120)
    )
    return Log("orders", tuple(segments), _EPOCHS)


def _batch(base: int) -> bytes:
    return v2(base, 5, epoch=_epoch_at(base), body=b"record %d " % base * 5, producer_id=base % 3)


def compacted_log() -> Log:
    """Return what is left of 180 offsets: in the older segments whole batches are gone, others hold
    fewer records than offsets. The active segment was never cleaned."""
    gone = {10, 15, 35, 60, 65, 90, 100, 105, 115}
    older = [
        Segment(base, tuple(_thinned(at) for at in range(base, base + 60, 5) if at not in gone))
        for base in (0, 60)
    ]
    return Log("users", (*older, plain_log().segments[-1]), _EPOCHS, compacted=True)


def _thinned(base: int) -> bytes:
    left = 1 + base % 4
    return v2(base, left, delta=4, epoch=_epoch_at(base), body=b"record %d " % base * left)


def old_log() -> Log:
    """Return a log of message format 1, as a topic from before 0.11 that nobody wrote to since has
    it; a compressed message here and there. Its leader-epoch-checkpoint is empty."""
    segments = (
        Segment(base, tuple(_message(at) for at in range(base, base + 20))) for base in (0, 20, 40)
    )
    return Log("ancient", tuple(segments), ())


def _message(offset: int) -> bytes:
    return legacy(offset, attributes=1 if offset % 7 == 3 else 0, value=b"value %d" % offset)


def upgraded_log() -> Log:
    """Return a log of message format 1 up to offset 60, then format 2 and leader epochs."""
    old = Segment(0, tuple(_message(at) for at in range(60)))
    return Log("upgraded", (old, *plain_log().segments[1:]), ((0, 60), *_EPOCHS[1:]))


def longer(log: Log) -> Log:
    """Return the log with a batch more at its end."""
    *older, active = log.segments
    more = _batch(log.end_offset) if active.batches[-1][16] == 2 else _message(log.end_offset)
    return replace(log, segments=(*older, replace(active, batches=(*active.batches, more))))


def replica_files(log: Log) -> Files:
    """Return all that a replica's directory holds."""
    files: Files = {
        "leader-epoch-checkpoint": checkpoint(*(f"{e} {start}" for e, start in log.epochs)),
        "partition.metadata": f"version: 0\ntopic_id: {text_of(TOPIC_ID)}".encode(),
    }
    for segment in log.segments:
        base = segment.base_offset
        active = segment is log.segments[-1]
        files[segment.name] = segment.content
        files[file_name(base, "index")] = _index(segment, zeros=64 if active else 0)
        files[file_name(base, "timeindex")] = struct.pack(">qi", 2000, 4) + bytes(12 * active)
        if base:
            files[file_name(base, "snapshot")] = _NO_PRODUCERS
    return files


def index_entries(segment: Segment) -> dict[int, int]:
    """Return the last offset of every third batch but the first, by its position."""
    entries = [
        (position, last_offset(batch))
        for position, batch in zip(segment.positions, segment.batches, strict=False)
        if position
    ]
    return dict(entries[::3])


def _index(segment: Segment, *, zeros: int) -> bytes:
    """Return the index. `zeros`: entries that are preallocated."""
    entries = ((last - segment.base_offset, at) for at, last in index_entries(segment).items())
    return index(*entries, zeros=zeros)


def log_directory_files(node: int, logs: Iterable[Log]) -> Files:
    """Return what lies in a log directory beside its replicas: killed, with everything flushed up
    to the active segments."""
    logs = tuple(logs)
    id_ = text_of(UUID(int=1000 + node))
    return {
        "meta.properties": (
            f"version=1\nnode.id={node}\ncluster.id={CLUSTER}\ndirectory.id={id_}\n".encode()
        ),
        "replication-offset-checkpoint": _offsets({x: x.end_offset - 5 for x in logs}),
        "recovery-point-offset-checkpoint": _offsets({x: recovery_point(x) for x in logs}),
        "log-start-offset-checkpoint": _offsets(dict.fromkeys(logs, 0)),
        "cleaner-offset-checkpoint": _offsets({x: recovery_point(x) for x in logs if x.compacted}),
    }


def recovery_point(log: Log) -> int:
    """Return the recovery point, exclusive: a broker syncs a segment when it begins the next."""
    return log.segments[-1].base_offset


def _offsets(of: Mapping[Log, int]) -> bytes:
    return checkpoint(*(f"{log.topic} 0 {offset}" for log, offset in of.items()))


def write_log_directory(path: Path, node: int, logs: Iterable[Log]) -> Path:
    logs = tuple(logs)
    write_files(path, log_directory_files(node, logs))
    for log in logs:
        write_files(path / log.directory, replica_files(log))
    return path


def write_files(directory: Path, files: Mapping[str, bytes]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_bytes(content)
