"""What happens to the log directories of a broker that is down."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fidelity.disk.faults import FAULTS, MARKER, half_done_swap, starts_of
from tests.real.at_rest import METADATA
from tests.real.properties import new_uuid

META = "meta.properties"
# A compaction that was killed takes records out on purpose, which would count as a loss here.
_FAULTS = tuple(fault for fault in FAULTS if fault is not half_done_swap)
_OTHER_ID = "AAAAAAAAQACAAAAAAAAAEQ"


@dataclass(frozen=True, slots=True)
class Disk:
    """roots: the broker's log directories, the first one with the metadata log. topics: of the
    round, each of partition 0. older: a copy of the disk from a while ago."""

    roots: Sequence[Path]
    topics: Sequence[str]
    older: Path | None
    chance: random.Random

    def replicas(self) -> list[Path]:
        """Return those in use, in any order."""
        names = {f"{topic}-0" for topic in self.topics}
        return [
            path for root in self.roots for path in sorted(root.glob("*-0")) if path.name in names
        ]

    def some(self, most: int = 3) -> list[Path]:
        """Return some replicas. Raises ValueError when there is none."""
        found = self.replicas()
        return self.chance.sample(found, self.chance.randint(1, min(most, len(found))))

    def other_root(self, replica: Path) -> Path:
        return self.roots[1 - list(self.roots).index(replica.parent)]


Damage = Callable[[Disk], str]
"""Changes the disk, and says what it did; raises ValueError or IndexError where it can't."""


def replicas_gone(disk: Disk) -> str:
    gone = disk.some()
    for path in gone:
        shutil.rmtree(path)
    return f"{_names(gone)} gone"


def emptied(disk: Disk) -> str:
    """Empty the disk, under the same directory id, or under a new one."""
    chosen = disk.chance.choice((disk.roots, disk.roots[:1], disk.roots[1:]))
    anew = disk.chance.random() < 0.3
    for root in chosen:
        for path in root.iterdir():
            if path.name != META:
                _remove(path)
        if anew:
            text = (root / META).read_text()
            (root / META).write_text(re.sub("directory.id=.*", f"directory.id={new_uuid()}", text))
    return f"{_names(chosen)} emptied{', with a new id' if anew else ''}"


def older_disk(disk: Disk) -> str:
    if disk.older is None:
        raise ValueError
    for root in disk.roots:
        shutil.rmtree(root)
        shutil.copytree(disk.older / root.name, root)
    return "an older disk put back"


def older_replicas(disk: Disk) -> str:
    """Put back single directories from a backup."""
    if disk.older is None:
        raise ValueError
    chosen = [path for path in disk.some() if (disk.older / path.parent.name / path.name).exists()]
    for path in chosen:
        shutil.rmtree(path)
        shutil.copytree(disk.older / path.parent.name / path.name, path)
    return f"older {_names(chosen)} put back"


def nameless(disk: Disk) -> str:
    chosen = disk.some()
    for path in chosen:
        (path / "partition.metadata").unlink(missing_ok=True)
    return f"{_names(chosen)} without partition.metadata"


def other_topic_id(disk: Disk) -> str:
    chosen = disk.some()
    for path in chosen:
        (path / "partition.metadata").write_text(f"version: 0\ntopic_id: {_OTHER_ID}")
    return f"{_names(chosen)} of another topic id"


def marked(disk: Disk) -> str:
    """Mark a directory as a copy, as deleted, or as put aside: alone, or beside the replica."""
    chosen, told = disk.some(), []
    for path in chosen:
        kind = disk.chance.choice(("future", "future", "stray", "delete"))
        root = path.parent if disk.chance.random() < 0.5 else disk.other_root(path)
        target = root / f"{path.name}.{disk.chance.randrange(1 << 64):032x}-{kind}"
        shutil.copytree(path, target)
        alone = disk.chance.random() < 0.6
        if alone:
            shutil.rmtree(path)
        told.append(f"{path.name} as {root.name}/-{kind}{' alone' if alone else ''}")
    return ", ".join(told)


def in_the_other(disk: Disk) -> str:
    """Move it by hand to the other log directory, or copy it."""
    chosen = disk.some(2)
    for path in chosen:
        shutil.copytree(path, disk.other_root(path) / path.name)
        if disk.chance.random() < 0.7:
            shutil.rmtree(path)
    return f"{_names(chosen)} in the other directory"


def one_lost(disk: Disk) -> str:
    """Lose one of two log directories: no file system, a new empty one, or only its files."""
    root = disk.chance.choice((disk.roots[0], disk.roots[1], disk.roots[1]))
    way = disk.chance.choice(("no directory", "nothing in it", f"no {META}"))
    if way == f"no {META}":
        (root / META).unlink()
    else:
        shutil.rmtree(root)
        if way == "no directory":
            root.write_text("")
        else:
            root.mkdir()
    return f"{root.name}: {way}"


def marker(disk: Disk) -> str:
    """Let the mark of a clean stop be missing, old, of no sense, or there though it was none."""
    found = [root / MARKER for root in disk.roots if (root / MARKER).exists()]
    if found and disk.chance.random() < 0.5:
        for path in found:
            path.unlink()
        return "the mark of the clean stop gone"
    content = disk.chance.choice(
        ("", "?", json.dumps({"version": 0, "brokerEpoch": disk.chance.randrange(1, 40)}))
    )
    for root in disk.roots:
        (root / MARKER).write_text(content)
    return f"a mark of a clean stop: {content!r}"


def torn(disk: Disk) -> str:
    """Cut what was not on the disk yet when the power failed: the end of each log, on a batch's
    border or within one. Log ends that are in no checkpoint yet are all that may be lost so."""
    for root in disk.roots:
        (root / MARKER).unlink(missing_ok=True)
    for path in disk.replicas():
        segment = max(path.glob("*.log"), default=None)
        if segment is None or disk.chance.random() < 0.4:
            continue
        data = segment.read_bytes()
        borders = starts_of(data)
        at = disk.chance.choice(borders)
        at += disk.chance.choice((0, 0, 30)) if at != borders[-1] else 0
        segment.write_bytes(data[:at] + bytes(disk.chance.choice((0, 0, 0, 500))))
    return "torn by a power cut"


def quorum_state(disk: Disk) -> str:
    path = disk.roots[0] / METADATA / "quorum-state"
    data = path.read_bytes()
    content = disk.chance.choice(
        (None, b"", bytes(len(data)), data[: len(data) // 2], data + b"\0")
    )
    if content is None:
        path.unlink()
        return "no quorum-state"
    path.write_bytes(content)
    return f"quorum-state of {content[:20]!r}"


def checkpoint(disk: Disk) -> str:
    root = disk.chance.choice(disk.roots)
    kinds = ("recovery-point-offset", "log-start-offset", "replication-offset", "cleaner-offset")
    path = root / f"{disk.chance.choice(kinds)}-checkpoint"
    data = path.read_bytes() if path.exists() else b"0\n0\n"
    content = disk.chance.choice((None, b"", bytes(len(data)), data[:-3], data + b"x y\n"))
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(content)
    return f"{root.name}/{path.name} {None if content is None else content[-12:]!r}"


def as_of_one_directory(disk: Disk) -> str:
    """Make one of the faults that are tried on Kafka's classes by the thousand
    (tests/fidelity/disk)."""
    root = disk.chance.choice(disk.roots)
    files = dict(_files(root, disk.topics))
    before = dict(files)
    told = disk.chance.choice(_FAULTS)(files, disk.chance)
    for name in before.keys() - files.keys():
        (root / name).unlink()
    for name, data in files.items():
        if before.get(name) != data:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
    return f"{root.name}: {told}"


def _files(root: Path, topics: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield what the faults may change: all replicas of the round, and small files beside."""
    for path in (*root.glob("*-checkpoint"), *root.glob(MARKER)):
        yield path.name, path.read_bytes()
    for topic in topics:
        for path in root.glob(f"{topic}-0/*"):
            yield f"{topic}-0/{path.name}", path.read_bytes()


DAMAGES: tuple[Damage, ...] = (
    *(replicas_gone, emptied, older_disk, older_replicas, nameless, other_topic_id),
    *(marked, marked, in_the_other, one_lost, marker, torn, torn, torn, quorum_state, checkpoint),
    *((as_of_one_directory,) * 6),
)


def damage(disk: Disk) -> list[str]:
    """Make none to three of them; mostly one."""
    told = []
    for _ in range(disk.chance.choice((0, 1, 1, 1, 2, 2, 3))):
        try:
            chosen = disk.chance.choice(DAMAGES)
            told.append(f"{chosen.__name__}: {chosen(disk)}")
        except (IndexError, ValueError, OSError):
            # There is nothing left to damage so.
            continue
    return told


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(f"{path.parent.name}/{path.name}" for path in paths)
