"""This module damages a replica on the disk of a broker that is down. A seed decides where."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from kafka_unclean_recovery.emulator.disks.log_files import SEGMENT, replica_directories


class Damage(StrEnum):
    """The kind of damage. FLIP changes one bit of the segment, CUT ends the segment earlier."""

    FLIP = "flip"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Damaged:
    """The damage that was done. `position`: the byte of `segment` that was flipped, or at which it
    now ends."""

    topic: str
    partition: int
    segment: Path
    position: int


def corrupt(
    log_directories: list[Path], kind: Damage, seed: int, only: tuple[str, int] | None
) -> Damaged:
    """Damage one replica with records in these log directories: `only`, or any. Raises ValueError
    when there is none."""
    chance = Random(seed)  # noqa: S311 - the same seed must do the same damage
    found = [
        (topic, number, directory / SEGMENT)
        for log_directory in log_directories
        for topic, number, directory in replica_directories(log_directory)
        if only in (None, (topic, number)) and (directory / SEGMENT).stat().st_size
    ]
    if not found:
        raise ValueError(f"no records of {_named(only)} are on the disk")
    topic, number, segment = chance.choice(sorted(found))
    position = chance.randrange(segment.stat().st_size)
    if kind is Damage.CUT:
        os.truncate(segment, position)
    else:
        _flip(segment, position, 1 << chance.randrange(8))
    return Damaged(topic, number, segment, position)


def _flip(segment: Path, position: int, bit: int) -> None:
    with segment.open("r+b") as file:
        before = os.pread(file.fileno(), 1, position)[0]
        os.pwrite(file.fileno(), bytes([before ^ bit]), position)


def _named(only: tuple[str, int] | None) -> str:
    return "any partition" if only is None else f"{only[0]}-{only[1]}"
