"""Copies of a real cluster's metadata log, damaged at random."""

from __future__ import annotations

import random
import shutil
import struct
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from pathlib import Path

from tests.log_dir.cluster_metadata_encoder import NO_OP, batch
from tests.metadata_quorum.contradictions import FATAL
from tests.metadata_quorum.disks import METADATA

_HEADER = struct.Struct(">qiibI")
# Those that contradict any log.
_CONTRADICTIONS = tuple(
    FATAL[name]
    for name in (
        "a partition of a topic that is not there",
        "a removal of a topic that is not there",
        "a change of a broker that is not registered",
        "an unregistration of a broker that is not registered",
        "a removal of an ACL that is not there",
        "an end without a transaction",
        "a transaction within another",
        "producer ids that go back",
        "a level of metadata.version that nobody knows",
    )
)


class Damage(Enum):
    """What was done to a copy. The value: how it is told."""

    NONE = "none"
    CUT = "the last segment is cut"
    FLIP = "a bit is flipped"
    ZEROS = "a stretch is zeros"
    BATCH_GONE = "a batch is gone"
    BATCH_TWICE = "a batch is there twice"
    EPOCH_RAISED = "the epoch of a batch is higher"
    CONTRADICTION = "a record contradicts what is before it"
    CONTRADICTION_AND_MORE = "such a record, and sound ones behind it"
    CHECKPOINT = "the newest checkpoint is damaged"
    CHECKPOINT_GONE = "the newest checkpoint is gone"
    STATE = "quorum-state is garbage"

    @property
    def forgiven(self) -> bool:
        """Return True where a sound copy beside it gives a plan at least now and then."""
        return self in (
            *(Damage.NONE, Damage.CUT, Damage.CONTRADICTION, Damage.CONTRADICTION_AND_MORE),
            *(Damage.STATE, Damage.CHECKPOINT),
        )


def copies_of(logs: Mapping[int, Path], target: Path) -> dict[int, Path]:
    """Return the nodes' metadata directories with their meta.properties, without indexes."""
    made = {}
    for node, metadata in logs.items():
        made[node] = target / f"node-{node}"
        leave = shutil.ignore_patterns("*.index", "*.timeindex", "*.snapshot", "*.deleted")
        shutil.copytree(metadata, made[node] / METADATA, ignore=leave)
        shutil.copy(metadata.parent / "meta.properties", made[node])
    return made


def damaged(
    whole: Mapping[int, Path], target: Path, chance: random.Random
) -> tuple[set[Damage], list[int]]:
    """Copy some nodes, each damaged or not. Return what was done, and whose are not there."""
    nodes = sorted(chance.sample(sorted(whole), chance.randint(1, len(whole))))
    done = set()
    for node in nodes:
        home = target / f"node-{node}"
        shutil.copytree(whole[node], home)
        kind = chance.choice(list(Damage))
        _DAMAGE[kind](home / METADATA, chance)
        done.add(kind)
    return done, [node for node in whole if node not in nodes and node != 101]


def _segment(metadata: Path) -> Path:
    return max(metadata.glob("*.log"))


def _batches(data: bytes) -> list[tuple[int, int]]:
    """Return (position, size) of each."""
    found, at = [], 0
    while at + _HEADER.size <= len(data):
        _, length, _, _, _ = _HEADER.unpack_from(data, at)
        if length <= 0 or at + 12 + length > len(data):
            break
        found.append((at, 12 + length))
        at += 12 + length
    return found


def _rewritten(
    change: Callable[[bytearray, list[tuple[int, int]], random.Random], bytearray],
) -> Callable[[Path, random.Random], None]:
    def write(metadata: Path, chance: random.Random) -> None:
        path = _segment(metadata)
        data = bytearray(path.read_bytes())
        batches = _batches(bytes(data))
        if batches:
            path.write_bytes(change(data, batches, chance))

    return write


def _cut(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    return data[: chance.randrange(len(data))]


def _flip(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data


def _zeros(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    at = chance.randrange(len(data))
    end = min(len(data), at + chance.choice((1, 100, 4096)))
    data[at:end] = bytes(end - at)
    return data


def _gone(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    at, size = chance.choice(batches)
    return data[:at] + data[at + size :]


def _twice(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    at, size = chance.choice(batches)
    return data[: at + size] + data[at : at + size] + data[at + size :]


def _raised(data: bytearray, batches: list[tuple[int, int]], chance: random.Random) -> bytearray:
    at, _ = chance.choice(batches)
    data[at + 12 : at + 16] = struct.pack(">i", chance.choice((3, 50, 1024)))
    return data


def _behind(
    data: bytearray, batches: list[tuple[int, int]], chance: random.Random, *, more: bool
) -> bytearray:
    at, size = batches[-1]
    base, _, epoch, _, _ = _HEADER.unpack_from(data, at)
    base += struct.unpack_from(">i", data, at + 23)[0] + 1
    written_ms = struct.unpack_from(">q", data, at + 35)[0] + 1
    data = data[: at + size]
    written = chance.choice(_CONTRADICTIONS)
    if chance.random() < 0.5:
        written = (NO_OP, *written, NO_OP)
    for values in (written, (NO_OP,), (NO_OP,)) if more else (written,):
        data += batch(base, *values, epoch=epoch, time_ms=written_ms)
        base += len(values)
    return data


def _state(metadata: Path, chance: random.Random) -> None:
    (metadata / "quorum-state").write_bytes(chance.choice((bytes(120), b'{"leaderId":', b"x")))


def _checkpoint(metadata: Path, chance: random.Random) -> None:
    newest = max(metadata.glob("*.checkpoint"))
    data = bytearray(newest.read_bytes())
    at = chance.randrange(len(data))
    if chance.random() < 0.5:
        newest.write_bytes(data[:at])
    else:
        data[at] ^= 1 << chance.randrange(8)
        newest.write_bytes(data)


_DAMAGE: Mapping[Damage, Callable[[Path, random.Random], None]] = {
    Damage.NONE: lambda *_: None,
    Damage.CUT: _rewritten(_cut),
    Damage.FLIP: _rewritten(_flip),
    Damage.ZEROS: _rewritten(_zeros),
    Damage.BATCH_GONE: _rewritten(_gone),
    Damage.BATCH_TWICE: _rewritten(_twice),
    Damage.EPOCH_RAISED: _rewritten(_raised),
    Damage.CONTRADICTION: _rewritten(partial(_behind, more=False)),
    Damage.CONTRADICTION_AND_MORE: _rewritten(partial(_behind, more=True)),
    Damage.CHECKPOINT: _checkpoint,
    Damage.CHECKPOINT_GONE: lambda metadata, _: max(metadata.glob("*.checkpoint")).unlink(),
    Damage.STATE: _state,
}
