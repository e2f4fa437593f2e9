"""An output directory is there whole or is clearly not: it is built under another name, and renamed
at the end.

While it is built its name is `<name>.partial`, and it holds a file that says so and is locked. The
next run removes what a killed run left there. Anything else of that name is not ours and stays.
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
    """Yield the directory to write in. It takes the name `path` if nothing is raised; else it stays
    for a look.

    Raises InputError when `path` exists or somebody else's directory is in the way, and OSError.
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
    """Move each file to the same place below `building`, and replace others. Raises OSError."""
    for file in sorted(path for path in scratch.rglob("*") if path.is_file()):
        place = building / file.relative_to(scratch)
        make_private_directory(place.parent)
        file.replace(place)


def write_manifest(building: Path, parts: Iterable[str]) -> None:
    """Write the manifest, which is the last file, from any number of parts. Raises OSError."""
    with open(building / MANIFEST, "x", encoding="utf-8", opener=private) as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def _check_absent(path: Path) -> None:
    if os.path.lexists(path):
        raise InputError(f"{path}: it exists and nothing is ever overwritten; name a new directory")


def _clear(building: Path) -> None:
    """Remove what a killed run left. Raises InputError when another run is writing there or
    `building` is not what a salvage left."""
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
