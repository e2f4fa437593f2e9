"""Damage to a replica's files, one piece at a time, and what no scan can see of it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from random import Random

from tests.log_dir.replica_directories import (
    Files,
    Log,
    Segment,
    file_name,
    index_entries,
    last_offset,
)

PAYLOAD = "payload"
BASE_OFFSET = "base offset"
LEADER_EPOCH = "partition leader epoch"

# Bytes [from, to) of each field of a header; the payload is what follows the last.
_V2_FIELDS = {
    BASE_OFFSET: (0, 8),
    "length": (8, 12),
    LEADER_EPOCH: (12, 16),
    "magic": (16, 17),
    "crc": (17, 21),
    "attributes": (21, 23),
    "last offset delta": (23, 27),
    "base timestamp": (27, 35),
    "max timestamp": (35, 43),
    "producer id": (43, 51),
    "producer epoch": (51, 53),
    "base sequence": (53, 57),
    "record count": (57, 61),
}
_OLD_FIELDS = {
    BASE_OFFSET: (0, 8),
    "length": (8, 12),
    "crc": (12, 16),
    "magic": (16, 17),
    "attributes": (17, 18),
    "timestamp": (18, 26),
}
# Every bit of a payload is like the others to its CRC.
_PAYLOAD_STEP = 5
_PLACES = {"first": 0, "middle": None, "last": -1}
_CHECKPOINTS = ("leader-epoch-checkpoint", "partition.metadata")
# Each kind of header is told from the others by nothing but its magic.
_V2 = 2


@dataclass(frozen=True, slots=True)
class Mutation:
    """New contents of some of a replica's files. `kind` is what the figures are counted by: the
    field whose bit was flipped, or what was done; `where` says the rest."""

    kind: str
    where: str
    files: Mapping[str, bytes]

    def __str__(self) -> str:
        return f"{self.kind}, {self.where}"


def fields(batch: bytes) -> dict[str, tuple[int, int]]:
    """Return the bytes [from, to) of each field of the batch by name."""
    known = _V2_FIELDS if batch[16] == _V2 else _OLD_FIELDS
    begin = max(stop for _, stop in known.values())
    return {**known, PAYLOAD: (begin, len(batch))}


def flips(log: Log) -> Iterator[Mutation]:
    """Yield a flip of every bit of every header, and some of every payload, of first, middle and
    last batch in first, middle and last segment."""
    for (segment_place, batch_place), (segment, number) in _batches(log).items():
        of_batch = f"of the {batch_place} batch of the {segment_place} segment"
        for name, (begin, end) in fields(segment.batches[number]).items():
            for bit in range(begin * 8, end * 8, _PAYLOAD_STEP if name == PAYLOAD else 1):
                flipped = _flipped(segment, segment.positions[number] * 8 + bit)
                yield Mutation(name, f"bit {bit} {of_batch}", {segment.name: flipped})


def _batches(log: Log) -> dict[tuple[str, str], tuple[Segment, int]]:
    found = {}
    for in_log, in_segment in product(_PLACES, _PLACES):
        segment = log.segments[_place(in_log, len(log.segments))]
        found[in_log, in_segment] = segment, _place(in_segment, len(segment.batches))
    return found


def _place(name: str, count: int) -> int:
    place = _PLACES[name]
    return count // 2 if place is None else place % count


def _flipped(segment: Segment, bit: int) -> bytes:
    content = bytearray(segment.content)
    content[bit // 8] ^= 0x80 >> bit % 8
    return bytes(content)


def seeded(log: Log, intact: Files, seed: int) -> Mutation:
    """Return one mutation; the same for the same seed, and never none."""
    random = Random(seed)
    while True:
        mutation = random.choice(_KINDS)(log, intact, random)
        if any(intact[name] != content for name, content in mutation.files.items()):
            return mutation


def _flip(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    number = random.randrange(len(segment.batches))
    name, (begin, end) = random.choice(list(fields(segment.batches[number]).items()))
    bit = random.randrange(begin * 8, end * 8)
    flipped = _flipped(segment, segment.positions[number] * 8 + bit)
    return Mutation(name, f"bit {bit} of batch {number} of {segment.name}", {segment.name: flipped})


def _truncate(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    number = random.randrange(len(segment.batches))
    batch = segment.batches[number]
    header = fields(batch)[PAYLOAD][0]
    within = {
        "at a batch": 0,
        "in a header": random.randrange(1, header),
        "after a header": header,
        "in a payload": random.randrange(header, len(batch)),
    }
    where, cut = random.choice(list(within.items()))
    content = segment.content[: segment.positions[number] + cut]
    return Mutation(
        f"truncated {where}", f"batch {number} of {segment.name}", {segment.name: content}
    )


def _zero(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    begin, end = sorted(random.sample(range(len(segment.content) + 1), 2))
    if random.random() < 0.5:
        begin, end = sorted(random.sample(segment.positions, 2))
    content = segment.content[:begin] + bytes(end - begin) + segment.content[end:]
    return Mutation("zeros", f"[{begin}, {end}) of {segment.name}", {segment.name: content})


def _cut_out(log: Log, intact: Files, random: Random) -> Mutation:
    """Cut out whole batches, what follows moved up: the files look sound, each by itself."""
    segment = random.choice(log.segments)
    begin, end = sorted(random.sample(range(len(segment.batches) + 1), 2))
    content = b"".join(segment.batches[:begin] + segment.batches[end:])
    where = f"batches {begin} to {end} (exclusive) of {segment.name}"
    return Mutation("batches cut out", where, {segment.name: content})


def _swap(log: Log, intact: Files, random: Random) -> Mutation:
    one, other = random.sample(log.segments, 2)
    files = {one.name: other.content, other.name: one.content}
    return Mutation("swapped segments", f"{one.name}, {other.name}", files)


def _length(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    number = random.randrange(len(segment.batches))
    value = random.choice([0, -1, 2**31 - 1, -(2**31), 1, 14, 49, 1 << 20])
    return _overwritten(
        segment, segment.positions[number] + 8, struct.pack(">i", value), "length set"
    )


def _random_bytes(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    count = random.choice([2, 3, 8, 61, 200])
    position = random.randrange(len(segment.content))
    return _overwritten(segment, position, random.randbytes(count), "random bytes")


def _random_outside_crc(log: Log, intact: Files, random: Random) -> Mutation:
    """Change base offset or leader epoch of one batch, or both at once, by any number of bits."""
    segment = random.choice(log.segments)
    number = random.randrange(len(segment.batches))
    batch, near = segment.batches[number], random.choice([8, 1 << 20, 1 << 62])
    base = struct.pack(">q", max(0, last_offset(batch) + random.randrange(-near, near)))
    mutated = base + batch[8:]
    if batch[16] == _V2 and random.random() < 0.5:
        mutated = mutated[:12] + struct.pack(">i", random.randrange(8)) + mutated[16:]
    kind = "base offset and leader epoch set"
    return _overwritten(segment, segment.positions[number], mutated, kind)


def _overwritten(segment: Segment, position: int, data: bytes, kind: str) -> Mutation:
    content = segment.content
    content = content[:position] + data[: len(content) - position] + content[position + len(data) :]
    return Mutation(kind, f"byte {position} of {segment.name}", {segment.name: content})


def _append(log: Log, intact: Files, random: Random) -> Mutation:
    """Append behind the log's end: zeros, noise, a batch once more, one that lies far away."""
    segment = random.choice(log.segments)
    batch = random.choice(segment.batches)
    far = struct.pack(">q", last_offset(segment.batches[-1]) + random.randrange(1, 1 << 33))
    tails = {
        "zeros": bytes(random.randrange(1, 9000)),
        "noise": random.randbytes(random.randrange(1, 200)),
        "a batch once more": batch,
        "a far batch": far + batch[8:],
    }
    what, tail = random.choice(list(tails.items()))
    return Mutation(f"appended {what}", segment.name, {segment.name: segment.content + tail})


def _garbage_file(log: Log, intact: Files, random: Random) -> Mutation:
    segment = random.choice(log.segments)
    kinds = ("index", "timeindex", *(("snapshot",) if segment.base_offset else ()))
    indexes = [file_name(segment.base_offset, kind) for kind in kinds]
    name = random.choice([*_CHECKPOINTS, *indexes])
    content = bytearray(intact[name])
    if content and random.random() < 0.5:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    else:
        content = bytearray(random.randbytes(random.randrange(0, 80)))
    return Mutation("garbage " + name.split(".")[-1], name, {name: bytes(content)})


_KINDS: tuple[Callable[[Log, Files, Random], Mutation], ...] = (
    _flip,
    _flip,
    _flip,
    _truncate,
    _zero,
    _cut_out,
    _swap,
    _length,
    _random_bytes,
    _random_outside_crc,
    _append,
    _garbage_file,
)


def log_is_unchanged(log: Log, mutation: Mutation) -> bool:
    """Return True when every batch is where it was: only other files changed, or what lies behind
    the end of a segment."""
    return all(
        mutation.files.get(segment.name, segment.content).startswith(segment.content)
        for segment in log.segments
    )


def passes_for_compaction(log: Log, mutation: Mutation) -> bool:
    """Return True when nothing in the replica's own files tells the mutated log from one that the
    cleaner left: batches are gone as a whole, or moved within a gap between others. In the active
    segment too: a follower copies the gaps of its leader; but its last batch must not lie where a
    flipped bit takes one that follows on.

    The function knows the intact log, and so needs no CRC.
    """
    if not log.compacted:
        return False
    active = log.segments[-1]
    *_, before, last = (b"", b"", *split(mutation.files.get(active.name, active.content)))
    if last != active.batches[-1]:
        return False
    expected = last_offset(before) + 1 if before else active.base_offset
    if (expected ^ struct.unpack_from(">q", last)[0]).bit_count() == 1:
        return False
    return all(
        _may_be_cleaned(log, mutation.files.get(segment.name, segment.content), segment, end)
        for segment, end in zip(log.segments, _next_starts(log), strict=True)
    )


def _next_starts(log: Log) -> list[int]:
    return [*(segment.base_offset for segment in log.segments[1:]), log.end_offset]


def moves_the_end_unseen(log: Log, mutation: Mutation) -> bool:
    """Return True when the log's last batch is a compressed message of an old format, and its
    offset rose.

    Its first offset is known only after decompressing, so nothing says that it does not follow on.
    """
    segment = log.segments[-1]
    last = segment.batches[-1]
    mutated = mutation.files.get(segment.name, segment.content)[segment.positions[-2] :]
    rose = last_offset(last) < struct.unpack(">q", mutated[:8].rjust(8, b"\0"))[0]
    alone = set(mutation.files) == {segment.name}
    return _first_is_hidden(last) and rose and mutated[8:] == last[8:] and alone


def hides_a_gap(log: Log, mutation: Mutation) -> bool:
    """Return True when what is left follows on wherever that can be told: a compressed message of
    an old format may hold whatever is missing before it."""
    return all(
        _follows_on(mutation.files.get(segment.name, segment.content), segment)
        for segment in log.segments
    )


def _follows_on(content: bytes, segment: Segment) -> bool:
    expected = segment.base_offset
    for batch in split(content):
        if batch not in segment.batches:
            return False
        base = struct.unpack_from(">q", batch)[0]
        if base != expected and not _first_is_hidden(batch):
            return False
        expected = last_offset(batch) + 1
    return expected == last_offset(segment.batches[-1]) + 1


def _first_is_hidden(batch: bytes) -> bool:
    """Return True for a compressed message of an old format: it tells only its last offset."""
    return batch[16] != _V2 and batch[17] & 7 != 0


def split(content: bytes) -> Iterator[bytes]:
    """Yield batches by their lengths, whatever these are; what is left over is one too."""
    position = 0
    while position < len(content):
        length = struct.unpack_from(">i", content[position:].ljust(12), 8)[0]
        stop = position + 12 + length if length > 0 else len(content)
        yield content[position:stop]
        position = stop


def _may_be_cleaned(log: Log, content: bytes, segment: Segment, end: int) -> bool:
    """Return True when all of it are batches of the intact segment, but for their base offsets;
    these rise, stay below `end`, and agree with leader epochs and index."""
    known = {batch[8:] for batch in segment.batches}
    indexed = index_entries(segment)
    least, position = segment.base_offset, 0
    for batch in split(content):
        if batch[8:] not in known:
            return False
        base, last = struct.unpack_from(">q", batch)[0], last_offset(batch)
        if base < least or last > indexed.get(position, last):
            return False
        if not _epoch_at(log, base) == _epoch_at(log, last) == _epoch_of(batch):
            return False
        least, position = last + 1, position + len(batch)
    return least <= end


def _epoch_at(log: Log, offset: int) -> int:
    return [epoch for epoch, start in log.epochs if start <= offset][-1]


def _epoch_of(batch: bytes) -> int:
    epoch: int = struct.unpack_from(">i", batch, 12)[0]
    return epoch
