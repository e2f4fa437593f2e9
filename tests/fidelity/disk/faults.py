"""What happens to a log directory: each fault takes the files and changes them in place."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from tests.fidelity.disk.logs import Bytes, Link
from tests.log_dir.segments import checkpoint

Fault = Callable[[Bytes, random.Random], str]
"""Changes the files, and says what it did; raises IndexError or
ValueError where there is nothing to change."""

MARKER = ".kafka_cleanshutdown"
RECOVERY, LOG_START = "recovery-point-offset-checkpoint", "log-start-offset-checkpoint"
HIGH_WATERMARK = "replication-offset-checkpoint"
EPOCHS, METADATA = "leader-epoch-checkpoint", "partition.metadata"


def pick(files: Bytes, g: random.Random, *endings: str) -> str:
    """Return a file of a replica; the last segments are likelier."""
    found = sorted(
        name
        for name, data in files.items()
        if "/" in name and name.endswith(endings) and not isinstance(data, Link)
    )
    return found[-1] if found and g.random() < 0.4 else g.choice(found)


def segment(files: Bytes, g: random.Random) -> str:
    return pick({n: d for n, d in files.items() if d}, g, ".log")


def starts_of(data: bytes | bytearray) -> list[int]:
    """Return the positions of the batches, and where the last ends."""
    at, found = 0, [0]
    while at + 12 <= len(data):
        length: int = struct.unpack_from(">i", data, at + 8)[0]
        if length < 14 or at + 12 + length > len(data):
            break
        at += 12 + length
        found.append(at)
    return found


def cut(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = files[name]
    at = g.choice(starts_of(data)) if g.random() < 0.3 else g.randrange(len(data))
    files[name] = data[:at]
    return f"{name} cut at {at}"


def zeros_behind(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".log")
    count = g.choice((3, 16, 17, 100, 4096, 30_000))
    files[name] += bytes(count)
    return f"{name} {count} zeros behind"


def zeros_within(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = files[name]
    at = g.choice(starts_of(data)) if g.random() < 0.5 else g.randrange(len(data))
    count = min(g.choice((8, 61, 512, 4096, 1 << 20)), len(data) - at)
    files[name] = data[:at] + bytes(count) + data[at + count :]
    return f"{name} {count} zeros at {at}"


def garbage_behind(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".log")
    files[name] += g.randbytes(g.choice((5, 40, 700)))
    return f"{name} garbage behind"


def flip(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = bytearray(files[name])
    at = g.randrange(len(data))
    data[at] ^= 1 << g.randrange(8)
    files[name] = bytes(data)
    return f"{name} bit flipped in byte {at}"


def flip_header(files: Bytes, g: random.Random) -> str:
    """Flip a bit of a field outside of the CRC, or of the length or the offset delta."""
    name = segment(files, g)
    data = bytearray(files[name])
    begin = g.choice(starts_of(data)[:-1])
    first, length = g.choice(((0, 8), (0, 8), (8, 4), (12, 4), (16, 1), (23, 4)))
    at = begin + first + g.randrange(length)
    data[at] ^= 1 << g.randrange(8)
    files[name] = bytes(data)
    return f"{name} byte {at - begin} of the header at {begin} flipped"


def magic(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = bytearray(files[name])
    begin = g.choice(starts_of(data)[:-1])
    data[begin + 16] = g.choice((0, 1, 2, 3, 66, 127, 128, 255))
    files[name] = bytes(data)
    return f"{name} magic {data[begin + 16]} at {begin}"


def counted_again(files: Bytes, g: random.Random) -> str:
    """Let offsets go on from elsewhere: a dip, or a jump."""
    name = segment(files, g)
    data = bytearray(files[name])
    begins = starts_of(data)[:-1]
    begin = g.choice(begins)
    (was,) = struct.unpack_from(">q", data, begin)
    shift = g.choice((-50, -20, -5, -1, 3, 40, 1 << 31, (1 << 31) + 100, -was))
    for at in begins[begins.index(begin) :]:
        (offset,) = struct.unpack_from(">q", data, at)
        struct.pack_into(">q", data, at, offset + shift)
    files[name] = bytes(data)
    return f"{name} offsets from byte {begin} on shifted by {shift}"


def batch_gone(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = files[name]
    begins = starts_of(data)
    place = g.randrange(len(begins) - 1)
    files[name] = data[: begins[place]] + data[begins[place + 1] :]
    return f"{name} without the batch at {begins[place]}"


def batch_twice(files: Bytes, g: random.Random) -> str:
    name = segment(files, g)
    data = files[name]
    begins = starts_of(data)
    place = g.randrange(len(begins) - 1)
    one = data[begins[place] : begins[place + 1]]
    files[name] = data[: begins[place + 1]] + one + data[begins[place + 1] :]
    return f"{name} with the batch at {begins[place]} twice"


def file_gone(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".index", ".timeindex", ".snapshot", ".log", ".txnindex", METADATA)
    del files[name]
    return f"{name} gone"


def index_of_garbage(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".index", ".timeindex")
    data = files[name]
    kind = g.randrange(5)
    if kind == 0:
        files[name] = b"\x7f" * (len(data) or 24)
    elif kind == 1:
        files[name] = g.randbytes(len(data) or 24)
    elif kind == 2:
        files[name] = data + bytes(g.choice((8, 96, 12_000)))
    elif kind == 3:
        files[name] = data[: g.randrange(len(data) + 1)]
    else:
        files[name] = bytes(len(data))
    return f"{name} bad in way {kind}"


def snapshot_of_garbage(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".snapshot")
    files[name] = g.choice((b"", bytes(20), g.randbytes(40), files[name][:-1]))
    return f"{name} bad"


def txnindex(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, ".log").replace(".log", ".txnindex")
    files[name] = g.choice((b"\1" * 50, bytes(34), b"", files.get(name, b"")[:20]))
    return f"{name} of {len(files[name])} bytes"


def epochs(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, EPOCHS)
    data = files[name]
    lines = data.decode().splitlines()[2:]
    choices = (
        b"",
        bytes(len(data)),
        data[: g.randrange(len(data) + 1)],
        checkpoint(),
        checkpoint(*lines[:-1]),
        checkpoint(*lines, *lines[-1:]),
        checkpoint(*lines[1:]),
        checkpoint(*reversed(lines)),
        checkpoint(*lines, "9 500"),
        checkpoint("1 30", *lines),
        data.replace(b"\n", b"\r\n"),
        b"1" + data[1:],
        checkpoint("0 x"),
        checkpoint("0 -1"),
        checkpoint(" 0 0"),
    )
    files[name] = g.choice(choices)
    return f"{name} {files[name][:60]!r}"


def metadata(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, METADATA)
    data = files[name]
    choices = (
        b"",
        bytes(len(data)),
        data[: g.randrange(len(data))],
        data + b"\n",
        b"version: 1\n" + data.split(b"\n")[1],
        b"version: -1\n" + data.split(b"\n")[1],
        data.replace(b"topic_id", b"id"),
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        b"version: 0\ntopic_id: AAAA",
        b"version: 0\ntopic_id: " + b"A" * 30,
        b"version: 0\ntopic_id: ????",
        b"\xff\xfe",
        g.randbytes(30),
    )
    files[name] = g.choice(choices)
    return f"{name} {files[name][:60]!r}"


def offsets(files: Bytes, g: random.Random) -> str:
    """Put offsets that are behind, ahead, or damaged into a checkpoint of offsets."""
    name = g.choice((RECOVERY, RECOVERY, LOG_START))
    topics = sorted({path.split("-0/")[0] for path in files if "-0/" in path})
    topic = g.choice(topics)
    to = g.choice((0, 1, 59, 60, 61, 100, 120, 150, 179, 180, 181, 500, 1 << 40))
    data = files.get(name, checkpoint())
    choices = (
        *([checkpoint(*(f"{each} 0 {to}" for each in topics))] * 6),
        checkpoint(f"{topic} 0 {to}"),
        b"",
        bytes(30),
        data[: g.randrange(len(data) + 1)],
        checkpoint(f"{topic} 0 x"),
        checkpoint(f"{topic} 0"),
        checkpoint(f"{topic} 0 5", f"{topic} 0 7"),
    )
    files[name] = g.choice(choices)
    return f"{name} {files[name][:60]!r}"


def foreign_file(files: Bytes, g: random.Random) -> str:
    replica = pick(files, g, ".log").split("/")[0]
    names = ("backup.log", "x.index", "x.snapshot", "x.log.swap", "x.log.cleaned", "x.timeindex")
    harmless = ("x.txt", "x.log.deleted", "x", "00000000000000000000.bak", "x.log.bak")
    name = f"{replica}/{g.choice((*names, *harmless))}"
    files[name] = b""
    return f"{name} is there"


def foreign_directory(files: Bytes, g: random.Random) -> str:
    bad = ("lost+found", "backup", "orders-0.bak", ".snapshot", "t-", "-0", "t-x", "t-2147483648")
    good = ("remote-log-index-cache", "t--1", "t-1", "t-+2", "x y-0")
    out_of_use = (f"t-3.{'0' * 32}-delete", f"t-4.{'0' * 32}-stray", f"t-5.{'0' * 32}-future")
    name = g.choice((*bad, *good, *out_of_use, "-delete", "x-stray", "a.b-future"))
    files[f"{name}/{0:020d}.log"] = b""
    files[f"{name}/partition.metadata"] = b"version: 0\ntopic_id: AAAAAAAAQACAAAAAAAAAAg"
    return f"directory {name}"


def twice(files: Bytes, g: random.Random) -> str:
    replica = pick(files, g, ".log").split("/")[0]
    again = replica.replace("-0", "-00")
    files.update({n.replace(replica, again): d for n, d in files.items() if n.startswith(replica)})
    return f"{again} beside {replica}"


def half_done_swap(files: Bytes, g: random.Random) -> str:
    """Leave a compaction or a split that was killed: its outcome is there as .cleaned or .swap."""
    name = segment(files, g)
    suffixes = g.choice(((".swap",), (".cleaned",), (".swap", ".cleaned"), (".deleted",)))
    begins = starts_of(files[name])
    kept = [place for place in range(len(begins) - 1) if place == 0 or g.random() < 0.7]
    data = b"".join(files[name][begins[place] : begins[place + 1]] for place in kept)
    for suffix in suffixes:
        files[name + suffix] = data
    if g.random() < 0.3:
        files[name.replace(".log", ".index") + suffixes[0]] = b""
    if g.random() < 0.3:
        del files[name]
    return f"{name} with {', '.join(suffixes)}"


def marker(files: Bytes, g: random.Random) -> str:
    if MARKER in files:
        del files[MARKER]
        return "no clean stop"
    files[MARKER] = g.choice((b"", b'{"version":0,"brokerEpoch":7}', b"garbage"))
    return "clean stop"


FAULTS: tuple[Fault, ...] = (
    cut, cut, zeros_behind, zeros_within, garbage_behind, flip, flip_header, flip_header, magic,
    counted_again, counted_again, batch_gone, batch_twice, file_gone, file_gone, index_of_garbage,
    index_of_garbage, snapshot_of_garbage, txnindex, epochs, epochs, metadata, offsets, offsets,
    offsets, foreign_file, foreign_directory, twice, half_done_swap, half_done_swap, marker,
)  # fmt: skip
