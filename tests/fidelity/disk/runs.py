"""Many random states, one after the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fidelity.disk.comparing import differences, our_start
from tests.fidelity.disk.oracle import KafkaStart, oracle
from tests.fidelity.disk.states import State, made_logs, random_state, write

_STATES_EACH = 2_000
"""Of one JVM: over a state that ends a broker it keeps what that had opened."""


@dataclass(frozen=True, slots=True)
class Judged:
    state: State
    kafka: KafkaStart
    differences: tuple[str, ...]


def judged_states(version: str, seed: int, count: int) -> Iterator[Judged]:
    """Yield the states with this seed and those after it."""
    for first in range(seed, seed + count, _STATES_EACH):
        yield from _judged(version, range(first, min(first + _STATES_EACH, seed + count)))


def _judged(version: str, seeds: range) -> Iterator[Judged]:
    with (
        TemporaryDirectory(prefix="disks-", dir=_in_memory(), ignore_cleanup_errors=True) as root,
        oracle(version) as kafka,
    ):
        logs = made_logs(kafka, Path(root))
        for seed in seeds:
            state = random_state(seed, logs)
            directory = Path(root) / str(seed)
            homes = [directory / str(number) for number in range(len(state.files))]
            for home, files in zip(homes, state.files, strict=True):
                write(home, files)
            ours = our_start(homes, state.compacted)
            theirs = kafka.open(*homes)
            yield Judged(state, theirs, tuple(differences(theirs, ours, old=version < "4")))
            # A start that fails leaves threads behind that still rename files.
            shutil.rmtree(directory, ignore_errors=True)


def _in_memory() -> str | None:
    """Return a directory in memory, where there is one: a start syncs every file that it writes."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
