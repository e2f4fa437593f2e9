"""A directory that is there whole, or is clearly not: built under another name, renamed at the end.

While it is built it is `<name>.partial`, and holds a file that says so and is locked. What a killed
run left there is removed by the next run; anything else of that name is not ours and stays.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.files.locking import lock
from kafka_unclean_recovery.files.private_files import make_private_directory, private
from kafka_unclean_recovery.files.sync_directory import sync_directory

MANIFEST = "manifest.json"
IN_PROGRESS = "SALVAGE-IN-PROGRESS"
_SAYS = "kafka-unclean-recovery salvage writes here; without manifest.json nothing here is whole\n"


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Where to write; it takes the name `path` if nothing is raised. Else it stays for a look.

    Raises InputError when `path` is there, or somebody else's is in the way; OSError.
    """
    building = path.with_name(f"{path.name}.partial")
    _check_absent(path)
    _clear(building)
    building.mkdir(mode=0o700)
    with _locked(building):
        yield building
        (building / IN_PROGRESS).unlink()
        for directory in (building, *filter(Path.is_dir, building.rglob("*"))):
            sync_directory(directory)
        _check_absent(path)
        building.rename(path)
        sync_directory(path.parent)


def move_into(scratch: Path, building: Path) -> None:
    """Each file to the same place below `building`, in place of what is there. Raises OSError."""
    for file in sorted(path for path in scratch.rglob("*") if path.is_file()):
        place = building / file.relative_to(scratch)
        make_private_directory(place.parent)
        file.replace(place)


def write_manifest(building: Path, parts: Iterable[str]) -> None:
    """Last of all; the text in any number of parts. Raises OSError."""
    with open(building / MANIFEST, "x", encoding="utf-8", opener=private) as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def _check_absent(path: Path) -> None:
    if os.path.lexists(path):
        raise InputError(f"{path}: it exists and nothing is ever overwritten; name a new directory")


def _clear(building: Path) -> None:
    """Remove what a killed run left; a run that is under way holds the lock."""
    if not os.path.lexists(building):
        return
    ours = building.is_dir() and not building.is_symlink()
    if not ours or (any(building.iterdir()) and not (building / IN_PROGRESS).is_file()):
        raise InputError(f"{building}: it is in the way, and not what a salvage left; move it away")
    if (building / IN_PROGRESS).is_file():
        with _locked(building):
            shutil.rmtree(building)
    else:
        building.rmdir()


@contextmanager
def _locked(building: Path) -> Iterator[None]:
    with open(building / IN_PROGRESS, "a", opener=private) as file:
        if not lock(file.fileno()):
            raise InputError(f"{building}: another salvage is writing there; wait for it")
        if file.tell() == 0:
            file.write(_SAYS)
            file.flush()
        yield
