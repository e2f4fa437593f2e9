"""Random states of one log directory: two sound logs, and one to three faults."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fidelity.disk import batch_faults, faults, file_faults
from tests.fidelity.disk.faults import MARKER, RECOVERY
from tests.fidelity.disk.logs import Bytes, Folder, Link, SoundLog, sound_logs
from tests.fidelity.disk.oracle import Oracle
from tests.log_dir.segments import checkpoint

_FAULTS = (*faults.FAULTS, *faults.FAULTS, *file_faults.FAULTS, *batch_faults.FAULTS)
_META = b"version=1\ncluster.id=disks\nnode.id=1\ndirectory.id=AAAAAAAAQACAAAAAAAAAB%d\n"


@dataclass(frozen=True, slots=True)
class State:
    """files: of each log directory. faults: what was done to them, in words."""

    seed: int
    files: tuple[Bytes, ...]
    faults: tuple[str, ...]
    compacted: frozenset[str]

    def __str__(self) -> str:
        return f"seed {self.seed}: {'; '.join(self.faults)}"


def made_logs(kafka: Oracle, root: Path) -> list[tuple[SoundLog, Bytes]]:
    """Return the sound logs, each with what Kafka adds to it when it stops in order."""
    made = []
    for log in sound_logs():
        directory = root / log.topic
        write(directory, {"meta.properties": _META % 0, MARKER: b"", **log.files})
        told = kafka.make(directory)
        assert told.ends is None, told
        # Index files without an entry are of no bytes then.
        files = {
            str(path.relative_to(directory)): path.read_bytes()
            for path in directory.rglob("*")
            if path.is_file() and path.parent.name == log.name
        }
        made.append((log, files))
    return made


def random_state(seed: int, logs: Sequence[tuple[SoundLog, Bytes]]) -> State:
    g = random.Random(seed)
    made = [_directory(g, logs, number) for number in range(1 if g.random() < 0.9 else 2)]
    compacted = frozenset(log.topic for log, _ in logs if log.compacted)
    return State(seed, tuple(files for files, _ in made), sum((d for _, d in made), ()), compacted)


def _directory(
    g: random.Random, logs: Sequence[tuple[SoundLog, Bytes]], number: int
) -> tuple[Bytes, tuple[str, ...]]:
    chosen = g.sample(logs, g.choice((1, 1, 2)))
    files = {"meta.properties": _META % number}
    for _, of_it in chosen:
        files |= of_it
    ends = {log.topic: max(log.segments) + 60 for log, _ in chosen}
    done = ["stopped in order" if g.random() < 0.4 else "killed"]
    if done == ["killed"]:
        at = {topic: g.choice((0, 0, end // 2, end)) for topic, end in ends.items()}
    else:
        files[MARKER] = b'{"version":0,"brokerEpoch":7}'
        at = ends
    files[RECOVERY] = checkpoint(*(f"{topic} 0 {offset}" for topic, offset in at.items()))
    done[0] += f" at {at}"
    for _ in range(g.choice((1, 1, 2, 3))):
        try:
            done.append(g.choice(_FAULTS)(files, g))
        except (IndexError, ValueError):
            # There was nothing left to damage.
            continue
    return files, tuple(done)


def write(directory: Path, files: Bytes) -> None:
    """Write the files. Zeros at their ends are holes, as a broker's preallocation leaves them."""
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Folder):
            if name.rstrip("/") not in files:
                path.mkdir(exist_ok=True)
        elif isinstance(data, Link):
            path.symlink_to(data.decode())
        else:
            with path.open("wb") as file:
                file.write(data.rstrip(b"\0"))
                file.truncate(len(data))
