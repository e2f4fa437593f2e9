"""Files and directories that are missing, empty, in another's place, or no files at all."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fidelity.disk.faults import EPOCHS, METADATA, Fault, pick, segment, starts_of
from tests.fidelity.disk.logs import Bytes, Folder, Link
from tests.log_dir.segments import checkpoint

_OF_A_SEGMENT = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_ID = "0123456789abcdef0123456789abcdef"
_KINDS = ("delete", "stray", "future")


def _replica(files: Bytes, g: random.Random) -> str:
    return pick(files, g, ".log").split("/")[0]


def _of(files: Bytes, replica: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name in the replica's directory, content) of each of its files."""
    for name, data in list(files.items()):
        if name.startswith(f"{replica}/"):
            yield name.partition("/")[2], data


def emptied(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, *_OF_A_SEGMENT, EPOCHS)
    files[name] = b""
    return f"{name} of 0 bytes"


def epochs_gone(files: Bytes, g: random.Random) -> str:
    name = pick(files, g, EPOCHS)
    del files[name]
    return f"{name} gone"


def segments_gone(files: Bytes, g: random.Random) -> str:
    """Take away whole segments with their files: from one on, up to one, or in the middle."""
    replica = _replica(files, g)
    bases = sorted({name[:20] for name, _ in _of(files, replica) if name.endswith(".log")})
    place = g.randrange(len(bases))
    lost = g.choice((bases[place:], bases[: place + 1], [bases[place]]))
    endings = g.choice((_OF_A_SEGMENT, (".log",), (".log", ".index")))
    for base in lost:
        for ending in endings:
            files.pop(f"{replica}/{base}{ending}", None)
    return f"{replica} without {', '.join(endings)} of {', '.join(lost)}"


def exchanged(files: Bytes, g: random.Random) -> str:
    """Give a file the content of another of its kind, as after a wrong restore."""
    one = pick(files, g, *_OF_A_SEGMENT, EPOCHS)
    ending = EPOCHS if one.endswith(EPOCHS) else one[one.rindex(".") :]
    same = sorted(name for name in files if name.endswith(ending) and name != one)
    other = g.choice(same)
    files[one] = files[other]
    if g.random() < 0.3:
        files[other] = b""
    return f"{one} has the content of {other}"


def named_otherwise(files: Bytes, g: random.Random) -> str:
    """Name a segment with its files by another offset, which may be one of fewer digits."""
    name = pick(files, g, ".log")
    replica, _, file = name.partition("/")
    base = int(file[:20])
    to = max(0, base + g.choice((-60, -7, -1, 1, 3, 60, 1_000, 1 << 33)))
    endings = g.choice((_OF_A_SEGMENT, (".log",), (".log", ".index", ".timeindex")))
    for ending in endings:
        if (data := files.pop(f"{replica}/{base:020d}{ending}", None)) is not None:
            files[f"{replica}/{to:020d}{ending}"] = data
    return f"{name} is {to}, with {', '.join(endings)}"


def odd_number(files: Bytes, g: random.Random) -> str:
    """Add a file whose offset a broker reads, though it writes none like it."""
    replica = _replica(files, g)
    number = g.choice(("7", "0", "60", "999", "+5", "-1", "000000000000000000000", f"{1 << 63}"))
    ending = g.choice((".log", ".index", ".snapshot", ".txnindex", ".log.swap", ".log.cleaned"))
    files[f"{replica}/{number}{ending}"] = g.choice((b"", b"", bytes(40)))
    return f"{replica}/{number}{ending} is there"


def empty_segment(files: Bytes, g: random.Random) -> str:
    """Add a segment of 0 bytes: at the end, in the middle, or behind a gap."""
    replica = _replica(files, g)
    bases = sorted(int(n[:20]) for n, _ in _of(files, replica) if n.endswith(".log"))
    base = g.choice((bases[-1] + 60, bases[-1] + 1, bases[-1] + 500, bases[0] + 30, bases[-1] + 5))
    files[f"{replica}/{base:020d}.log"] = b""
    if g.random() < 0.5:
        files[f"{replica}/{base:020d}.index"] = bytes(g.choice((0, 0, 8, 4096)))
    return f"{replica} has an empty segment {base}"


def out_of_use(files: Bytes, g: random.Random) -> str:
    """Make a replica's directory, or a copy of it, one that is put aside, deleted, or copied."""
    replica = _replica(files, g)
    kinds = [g.choice(_KINDS)]
    if g.random() < 0.2:
        kinds += [g.choice(_KINDS)]
    whole = list(_of(files, replica))
    for number, kind in enumerate(kinds):
        to = f"{replica}.{number}{_ID[1:]}-{kind}"
        files.update({f"{to}/{name}": data for name, data in whole})
        if g.random() < 0.2:
            files.pop(f"{to}/{METADATA}", None)
    if g.random() < 0.4:
        for name, _ in whole:
            del files[f"{replica}/{name}"]
        return f"{replica} is -{', -'.join(kinds)}"
    return f"{replica} beside its -{', -'.join(kinds)}"


def no_plain_file(files: Bytes, g: random.Random) -> str:
    """Put a directory or a link in the place of a file."""
    name = pick(files, g, *_OF_A_SEGMENT, EPOCHS, METADATA)
    if g.random() < 0.5:
        del files[name]
        files[f"{name}/"] = Folder()
        return f"{name} is a directory"
    # Kafka writes through a link, and so would make a file here that each later state finds.
    files[name] = Link(b"/no/where")
    return f"{name} is a link that leads nowhere"


def plain_file(files: Bytes, g: random.Random) -> str:
    """Put a file in the place of a replica, which a broker leaves alone."""
    name = g.choice(("t-9", "other", "lost-found", "y-delete"))
    files[name] = b""
    return f"{name} is a file"


def more_snapshots(files: Bytes, g: random.Random) -> str:
    """Add producer snapshots at other offsets: old ones, and some beyond the end."""
    name = pick(files, g, ".snapshot")
    replica = name.split("/")[0]
    offsets = g.sample((1, 30, 59, 61, 95, 119, 121, 150, 178, 181, 240, 500, 9_000), 2)
    for offset in offsets:
        files[f"{replica}/{offset:020d}.snapshot"] = g.choice((files[name], files[name], b"x" * 9))
    return f"{replica} has snapshots {offsets}"


def merged_swap(files: Bytes, g: random.Random) -> str:
    """Leave a compaction of several segments into one, or a split of one into two, killed in the
    middle: parts as .swap or .cleaned, those replaced still there, or .deleted."""
    name = segment(files, g)
    replica, _, file = name.partition("/")
    bases = sorted(int(n[:20]) for n, _ in _of(files, replica) if n.endswith(".log"))
    if g.random() < 0.5:
        first = bases.index(int(file[:20]))
        merged = bases[first : first + 2]
        parts = {merged[0]: b"".join(files[f"{replica}/{base:020d}.log"] for base in merged)}
    else:
        merged = [int(file[:20])]
        data = files[name]
        begins = starts_of(data)
        middle = begins[g.randrange(1, len(begins) - 1)]
        parts = {
            merged[0]: data[:middle],
            int.from_bytes(data[middle : middle + 8], "big"): data[middle:],
        }
    states = []
    for base, data in parts.items():
        state = g.choice((".swap", ".swap", ".cleaned", ""))
        states.append(f"{base}{state}")
        files[f"{replica}/{base:020d}.log{state}"] = data
        if g.random() < 0.5:
            files[f"{replica}/{base:020d}.index{state}"] = b""
    if g.random() < 0.4:
        for base in merged:
            old = files.pop(f"{replica}/{base:020d}.log", b"")
            files[f"{replica}/{base:020d}.log.deleted"] = old
        states.append("the old .deleted")
    return f"{replica}: of {merged} there are {', '.join(states)}"


def deleted_files(files: Bytes, g: random.Random) -> str:
    """Leave files that were to be deleted, with or without their segment."""
    name = pick(files, g, *_OF_A_SEGMENT)
    files[f"{name}.deleted"] = files[name]
    if g.random() < 0.5:
        del files[name]
    return f"{name}.deleted is there"


def negative_offsets(files: Bytes, g: random.Random) -> str:
    """Put offsets below 0 or near the end of all numbers into a checkpoint."""
    name = g.choice(("recovery-point-offset-checkpoint", "log-start-offset-checkpoint"))
    topics = sorted({path.split("-0/")[0] for path in files if "-0/" in path})
    to = g.choice((-1, -9, (1 << 63) - 1, (1 << 63) - 2, 1 << 62))
    files[name] = checkpoint(*(f"{topic} 0 {to}" for topic in topics))
    return f"{name} says {to}"


FAULTS: tuple[Fault, ...] = (
    emptied, emptied, epochs_gone, segments_gone, exchanged, exchanged, named_otherwise, odd_number,
    empty_segment, out_of_use, out_of_use, no_plain_file, plain_file, more_snapshots, merged_swap,
    merged_swap, deleted_files, negative_offsets,
)  # fmt: skip
