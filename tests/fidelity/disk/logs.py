"""Sound logs of all kinds, small, from which the damaged ones are made. Kafka's own classes then
add indexes, producer snapshots and checkpoints."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.log_dir.segments import checkpoint, legacy, v2
from tests.salvage.batches import batch, marker, old

Bytes = dict[str, bytes]
"""Contents by path below the log directory."""


class Link(bytes):
    """A link in the place of a file; the bytes are where it leads."""


class Folder(bytes):
    """An empty directory; its name ends with a slash."""


FORMAT_0 = ("ancient", "mixed")
"""The topics of the logs that have messages of format 0."""
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_TIME = 1_700_000_000_000
_NOBODY = (-1, -1, -1)


@dataclass(frozen=True, slots=True)
class SoundLog:
    """Segments by base offset, each of whole batches; epochs as leader-epoch-checkpoint has
    them."""

    topic: str
    segments: dict[int, tuple[bytes, ...]]
    epochs: tuple[tuple[int, int], ...]
    compacted: bool = False

    @property
    def name(self) -> str:
        return f"{self.topic}-0"

    @property
    def files(self) -> Bytes:
        topic_id = f"AAAAAAAAQACAAAAA{self.topic[:6]:A<6}"
        files = {
            f"{self.name}/{base:020d}.log": b"".join(batches)
            for base, batches in self.segments.items()
        }
        files[f"{self.name}/partition.metadata"] = f"version: 0\ntopic_id: {topic_id}".encode()
        if self.epochs:
            lines = (f"{epoch} {start}" for epoch, start in self.epochs)
            files[f"{self.name}/leader-epoch-checkpoint"] = checkpoint(*lines)
        return files


def sound_logs() -> tuple[SoundLog, ...]:
    return (
        _plain(),
        _compacted(),
        _codecs(),
        _transactions(),
        _ancient(),
        _upgraded(),
        _deleted_from(),
        SoundLog("void", {0: ()}, ()),
    )


def _records(base: int, count: int, size: int) -> bytes:
    """Return one batch of incompressible records."""
    values = random.Random(base)
    rows = [(_TIME + n, b"k%d" % (n % 7), values.randbytes(size), ()) for n in range(count)]
    return batch(base, rows, epoch=_epoch(base))


def _epoch(offset: int) -> int:
    return 0 if offset < 70 else 2 if offset < 130 else 5


_EPOCHS = ((0, 0), (2, 70), (5, 130))


def _plain() -> SoundLog:
    segments = {
        base: tuple(_records(at, 5, 150) for at in range(base, base + 60, 5))
        for base in (0, 60, 120)
    }
    return SoundLog("plain", segments, _EPOCHS)


def _compacted() -> SoundLog:
    """Return a log in which some batches are gone, and of others some records."""
    gone = (10, 15, 40, 65, 90, 95, 100)
    segments = {
        base: tuple(
            v2(at, 3, epoch=_epoch(at), delta=4, body=random.Random(at).randbytes(700))
            for at in range(base, base + 60, 5)
            if at not in gone
        )
        for base in (0, 60)
    }
    segments[120] = tuple(_records(at, 5, 150) for at in range(120, 180, 5))
    return SoundLog("thin", segments, _EPOCHS, compacted=True)


def _codecs() -> SoundLog:
    def of(place: int) -> bytes:
        base = place * 20
        values = random.Random(base)
        rows = [(_TIME + n, None, values.randbytes(40), ()) for n in range(20)]
        return batch(base, rows, codec=CODECS[place % len(CODECS)], epoch=_epoch(base // 3))

    segments = {0: tuple(map(of, range(12))), 240: tuple(map(of, range(12, 27)))}
    return SoundLog("packed", segments, ((0, 0), (2, 220), (5, 400)))


def _transactions() -> SoundLog:
    """Return a log with a transaction committed, one aborted, and one that is open."""
    segments = {base: tuple(_transactional(base)) for base in (0, 90)}
    return SoundLog("sold", segments, ((0, 0),))


def _transactional(base: int) -> Iterator[bytes]:
    for at in range(base, base + 90, 6):
        sequence = at // 6 * 5
        id_ = 7 + at // 6 % 2
        rows = [(_TIME, None, random.Random(at + n).randbytes(120), ()) for n in range(5)]
        yield batch(at, rows, producer=(id_, 0, sequence), transactional=True)
        yield marker(at + 5, commit=id_ == 7, producer=(id_, 0))


def _ancient() -> SoundLog:
    """Return a log of formats 0 and 1, single and compressed messages."""

    def of(at: int) -> bytes:
        value = random.Random(at).randbytes(300)
        if at % 8 == 0:
            magic = at // 8 % 2
            return old(magic, "gzip", at, [(_TIME, None, value[:90]) for _ in range(4)])
        return legacy(at + 3, magic=at // 4 % 2, value=value)

    segments = {base: tuple(of(at) for at in range(base, base + 120, 4)) for base in (0, 120)}
    return SoundLog("ancient", segments, ())


def _upgraded() -> SoundLog:
    ancient = _ancient().segments
    first = ancient[0]
    return SoundLog("mixed", {0: first, 120: _plain().segments[120]}, ((5, 130),))


def _deleted_from() -> SoundLog:
    segments = _plain().segments
    return SoundLog("young", {120: segments[120]}, ((5, 130),))
